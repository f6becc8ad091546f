//! Which policies a message wants by their dates: `only policies that expired on or after January 1, 2024`.

use jiff::civil::{Date, date};

use super::super::policies::Policy;
use super::sentences::Sentence;

/// Words for the end of a policy's term, and for its beginning.
const ENDS: &[&str] =
    &["expired", "expire", "expires", "expiring", "expiration", "ended", "ending", "vencieron", "vencen", "echues"];
const BEGINS: &[&str] =
    &["effective", "incepted", "incepting", "inception", "began", "beginning", "started", "starting", "written"];
/// Turns behind which only later days count, and those behind which only earlier ones do; whether the day itself does.
const AFTER: &[(&str, bool)] =
    &[("on or after", true), ("on and after", true), ("after", false), ("since", true), ("later than", false)];
const BEFORE: &[(&str, bool)] =
    &[("on or before", true), ("on and before", true), ("before", false), ("prior to", false), ("earlier than", false)];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Letters by which a month is known.
const SHORT: usize = 3;
/// The years that a policy may have.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2100;

/// A condition that begins there: which policies meet it, where their dates say so, and the place behind it.
pub(super) fn condition(sentence: &Sentence, at: usize, policies: &[Policy]) -> Option<(Option<Vec<bool>>, usize)> {
    let ends = sentence.is(at, ENDS);
    if !ends && !sentence.is(at, BEGINS) {
        return None;
    }
    let longest = |turns: &[(&str, bool)]| {
        turns.iter().filter_map(|(turn, itself)| Some((sentence.has(at + 1, turn)?, *itself))).max()
    };
    let (is_after, (from, itself)) = match (longest(AFTER), longest(BEFORE)) {
        (Some(after), None) => (true, after),
        (None, Some(before)) => (false, before),
        _ => return None,
    };
    let (day, end) = day(sentence, from)?;
    let meets = |policy: &Policy| {
        let date = if ends { &policy.expiration } else { &policy.effective };
        let date: Date = date.as_deref()?.parse().ok()?;
        Some(date == day && itself || if is_after { date > day } else { date < day })
    };
    Some((policies.iter().map(meets).collect(), end))
}

/// The day that is written there, and the place behind it: `January 1, 2024`, `1/1/2024`, `2024`.
fn day(sentence: &Sentence, at: usize) -> Option<(Date, usize)> {
    let text = |at: usize| sentence.words.get(at).map_or("", |word| word.written.as_str());
    let number = |at: usize| text(at).parse::<i16>().ok();
    let year = |at: usize| number(at).filter(|year| YEARS.contains(year));
    let month = MONTHS.iter().position(|month| text(at).len() >= SHORT && month.starts_with(text(at)));
    let month = month.and_then(|month| i8::try_from(month + 1).ok());
    let small = |at: usize| number(at).and_then(|number| i8::try_from(number).ok());
    let of = |year: i16, month: i8, day: i8| Date::new(year, month, day).ok();
    match month {
        Some(month) => match (small(at + 1), year(at + 1)) {
            (_, Some(year)) => Some((of(year, month, 1)?, at + 2)),
            (Some(day), None) => Some((of(year(at + 2)?, month, day)?, at + 3)),
            _ => None,
        },
        None => match year(at) {
            Some(year) => Some((date(year, 1, 1), at + 1)),
            None => Some((of(year(at + 2)?, small(at)?, small(at + 1)?)?, at + 3)),
        },
    }
}
