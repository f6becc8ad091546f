//! Which policies a message wants by their dates: `only policies that expired on or after January 1, 2024`.

use kybern_core::list;

use jiff::civil::{Date, date};

use super::super::policies::Policy;
use super::sentences::Sentence;

/// Words for the end of a policy's term, and for its beginning.
const ENDS: &[&str] = &["expired", "expire", "expires", "expiring", "expiration", "ended", "ending"];
const BEGINS: &[&str] =
    &["effective", "incepted", "incepting", "inception", "began", "beginning", "started", "starting", "written"];
/// Turns behind which only later days count, and those behind which only earlier ones do; whether the day itself does.
const AFTER: &[(&str, bool)] =
    &[("on or after", true), ("on and after", true), ("after", false), ("since", true), ("later than", false)];
const BEFORE: &[(&str, bool)] =
    &[("on or before", true), ("on and before", true), ("before", false), ("prior to", false), ("earlier than", false)];
/// Turns behind a period that let later ones count, too.
const OR_LATER: &[&str] =
    &["or later", "and later", "or after", "and after", "or newer", "onward", "onwards", "and on"];
const MONTHS: &[&str] =
    list!("january, february, march, april, may, june, july, august, september, october, november, december");
/// Letters by which a month is known.
const SHORT: usize = 3;
/// What two digits of a year leave out.
const CENTURY: i16 = 2000;
/// The years that a policy may have.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2100;

/// A condition that begins there: which policies meet it, where their dates and the words say so, and the place behind it.
pub(super) fn condition(sentence: &Sentence, at: usize, policies: &[Policy]) -> Option<(Option<Vec<bool>>, usize)> {
    let ends = sentence.is(at, ENDS);
    if !ends && !sentence.is(at, BEGINS) {
        return None;
    }
    // `Terms that began in 2023 or later`.
    if let Some((first, _, end)) = days(sentence, at + 2).filter(|_| sentence.is(at + 1, &["in"]))
        && let Some(end) = sentence.any(end, OR_LATER)
    {
        let from = |policy: &Policy| {
            let date = if ends { &policy.expiration } else { &policy.effective };
            Some(date.as_deref()?.parse::<Date>().ok()? >= first)
        };
        return Some((policies.iter().map(from).collect(), end));
    }
    let longest = |turns: &[(&str, bool)]| {
        turns.iter().filter_map(|(turn, itself)| Some((sentence.has(at + 1, turn)?, *itself))).max()
    };
    let (is_after, (from, itself)) = match (longest(AFTER), longest(BEFORE)) {
        (Some(after), None) => (true, after),
        (None, Some(before)) => (false, before),
        _ => return None,
    };
    let Some((first, last, end)) = days(sentence, from) else {
        // A day that nobody can read.
        let is_day = sentence.words.get(from).is_some_and(|word| word.text.bytes().any(|b| b.is_ascii_digit()));
        return is_day.then_some((None, from));
    };
    let meets = |policy: &Policy| {
        let date = if ends { &policy.expiration } else { &policy.effective };
        let date: Date = date.as_deref()?.parse().ok()?;
        Some(match (is_after, itself) {
            (true, true) => date >= first,
            (true, false) => date > last,
            (false, true) => date <= last,
            (false, false) => date < first,
        })
    };
    Some((policies.iter().map(meets).collect(), end))
}

/// The first and the last day of what is written there, and the place behind it: `January 1, 2024`, `15 July 2024`,
/// `1/1/24`, `2024-01-01`, `July 2024`, `2024`.
fn days(sentence: &Sentence, at: usize) -> Option<(Date, Date, usize)> {
    let text = |at: usize| sentence.words.get(at).map_or("", |word| word.written.as_str());
    let number = |at: usize| text(at).parse::<i16>().ok();
    let year = |at: usize| number(at).filter(|year| YEARS.contains(year));
    let short = |at: usize| year(at).or_else(|| Some(CENTURY + number(at).filter(|_| text(at).len() == 2)?));
    let small = |at: usize| number(at).and_then(|number| i8::try_from(number).ok());
    let month = |at: usize| {
        let found = MONTHS.iter().position(|month| text(at).len() >= SHORT && month.starts_with(text(at)))?;
        i8::try_from(found + 1).ok()
    };
    let joined = |at: usize| sentence.words.get(at).is_some_and(|word| word.joined);
    let day = |year: i16, month: i8, day: i8, end: usize| {
        let day = Date::new(year, month, day).ok()?;
        Some((day, day, end))
    };
    match (month(at), month(at + 1), year(at)) {
        (Some(month), ..) => match (small(at + 1), year(at + 1)) {
            (_, Some(year)) => {
                let first = date(year, month, 1);
                Some((first, first.last_of_month(), at + 2))
            }
            (Some(of), None) => day(year(at + 2)?, month, of, at + 3),
            _ => None,
        },
        (None, Some(month), _) => day(year(at + 2)?, month, small(at)?, at + 3),
        (None, None, Some(year)) if joined(at + 1) && joined(at + 2) => {
            day(year, small(at + 1)?, small(at + 2)?, at + 3)
        }
        (None, None, Some(year)) => Some((date(year, 1, 1), date(year, 12, 31), at + 1)),
        (None, None, None) => day(short(at + 2)?, small(at)?, small(at + 1)?, at + 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meets(text: &str) -> Option<Option<Vec<bool>>> {
        let policy = |number: &str, from: &str, to: &str| Policy {
            number: number.to_owned(),
            effective: Some(from.to_owned()),
            expiration: Some(to.to_owned()),
            ..Policy::default()
        };
        let policies = [policy("A-1", "2022-07-01", "2023-07-01"), policy("A-2", "2023-07-01", "2024-07-01")];
        let sentence = Sentence::of(text);
        (0..sentence.words.len()).find_map(|at| condition(&sentence, at, &policies)).map(|(meets, _)| meets)
    }

    #[test]
    fn a_day_tells_policies_apart_by_their_terms() {
        for (text, meant) in [
            ("only policies that expired on or after January 1, 2024", [false, true]),
            ("only those that expired before 1/1/2024", [true, false]),
            ("just the ones effective after July 1 2022", [false, true]),
            ("only policies effective on or after July 1, 2022", [true, true]),
            ("whatever was written before 2023", [true, false]),
            ("those which expired prior to Jul 2023", [false, false]),
            ("those that expired on or after 2023-07-15", [false, true]),
            ("those that expired after 2023", [false, true]),
            ("only terms that began in 2023 or later", [false, true]),
            ("those that expired on or before 2023", [true, false]),
            ("those that expired after 15 July 2023", [false, true]),
            ("those that expired after 7/15/23", [false, true]),
        ] {
            assert_eq!(meets(text), Some(Some(meant.to_vec())), "{text}");
        }
        assert_eq!(meets("those that expired after 45/2023"), Some(None), "nobody can read it");
        for none in ["it expired on January 1, 2024", "they expired after the storm", "effective 7/1/2023 to 7/1/2024"]
        {
            assert_eq!(meets(none), None, "{none}");
        }
    }
}
