//! Dates and ranges of dates, with months in English, Spanish, French and German. In numbers the month comes first, as
//! Americans write them, unless the year does.

use kybern_core::list;

use jiff::civil::Date;
use serde_json::json;

use super::{ReadValue, days, indent, times};

/// Two-digit years below this belong to this century: policies reach some twenty years ahead, and whoever was born in 58
/// was born in 1958. It is fixed, because the reader has no clock.
const PIVOT: i16 = 46;
/// A year that has every day.
const LEAP_YEAR: i16 = 2000;
/// The names of the months; a beginning of three letters is enough when no other month has it.
const MONTHS: [&[&str]; 12] = [
    &["january", "enero", "ene", "janvier", "januar"],
    &["february", "febrero", "fevrier", "februar"],
    &["march", "marzo", "mars", "maerz"],
    &["april", "abril", "abr", "avril", "avr"],
    &["may", "mayo", "mai"],
    &["june", "junio", "juin", "juni"],
    &["july", "julio", "juillet", "juil", "juli"],
    &["august", "agosto", "ago", "aout"],
    &["september", "sept", "septiembre", "setiembre", "septembre"],
    &["october", "octubre", "octobre", "oktober"],
    &["november", "noviembre", "novembre"],
    &["december", "diciembre", "dic", "decembre", "dezember", "dez"],
];
/// The letters with which they begin.
const BEGIN_MONTHS: &str = "jefmasond";
/// Bytes between the two dates of a range.
const MAX_BETWEEN: usize = 48;
/// Words that lead to the first date of a range.
const LEADS: &[&str] =
    list!("from, eff, effective, beginning, del, desde el, desde, de, du, vom, von, valid, valide, dal");
/// Words between the two dates of a range.
const JOINTS: &[&str] = list!(
    "to, thru, through, until, till, exp, expiration, expires, expiring, ending, and, -, –, —, /, →, 12:01, 12, 01, \
     12:00, 00:01, a.m, am, noon, standard, time, at, al, hasta, au, à, a, bis, et"
);

/// A date at the beginning of the text, with its day of the week or an article before it.
pub(super) fn date(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let start = start + days::weekday(&text[start..]);
    let (day, length, fit) = parse(&text[start..])?;
    Some(doubted(ReadValue::new(day.to_string(), start, start + length, fit)))
}

/// What is read of numbers whose second cannot be the day is doubted.
fn doubted(read: ReadValue) -> ReadValue {
    let problem = (read.fit < 1.0).then(|| "the day stands before the month".to_owned());
    ReadValue { problem, ..read }
}

/// Two dates with `to`, a dash or the like between them; words such as `from` may stand before.
pub(super) fn range(text: &str) -> Option<ReadValue> {
    let mut start = indent(text);
    for lead in LEADS {
        if text.get(start..start + lead.len()).is_some_and(|word| word.eq_ignore_ascii_case(lead)) {
            let after = &text[start + lead.len()..];
            if after.starts_with([' ', ':', '.', '\t', '\u{a0}']) {
                start += lead.len() + after.len() - after.trim_start_matches([' ', ':', '.', '\t', '\u{a0}']).len();
                break;
            }
        }
    }
    let (first, length, fit) = parse(&text[start..])?;
    let between = start + length;
    let rest = text.get(between..)?;
    if let Some((second, length)) = next_year(first, rest) {
        let value = json!({"start": first.to_string(), "end": second.to_string()});
        return Some(doubted(ReadValue::new(value, start, between + length, fit)));
    }
    let skip = rest.char_indices().take_while(|(at, _)| *at <= MAX_BETWEEN).find_map(|(at, _)| {
        let inside = |c: char| c.is_alphanumeric();
        let glued = at == 0 || rest[..at].ends_with(inside) && rest[at..].starts_with(inside);
        (!glued && rest[at..].starts_with(inside)).then(|| parse(&rest[at..]).map(|second| (at, second))).flatten()
    });
    let (at, (second, second_length, second_fit)) = skip?;
    if !rest[..at].split_whitespace().all(is_joint) || second < first {
        return None;
    }
    let value = json!({"start": first.to_string(), "end": second.to_string()});
    Some(doubted(ReadValue::new(value, start, between + at + second_length, fit.min(second_fit))))
}

/// The same day a year later, where a dash and nothing but that year follow: the `-26` of `5/30/25-26`.
fn next_year(first: Date, rest: &str) -> Option<(Date, usize)> {
    let dash = rest.chars().next().filter(|mark| matches!(mark, '-' | '–'))?.len_utf8();
    let (year, end) = number(rest, dash, 4)?;
    let after = rest[end..].trim_start_matches(['.', ',']);
    let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-'));
    let year = full_year(year, end - dash).filter(|year| *year == first.year() + 1 && !goes_on)?;
    make(year, first.month().into(), first.day().into()).map(|second| (second, end))
}

fn is_joint(word: &str) -> bool {
    let bare = word.trim_matches([':', '.', ',', ';', '(', ')', '-', '–', '—']);
    bare.is_empty() || JOINTS.contains(&bare.to_lowercase().as_str())
}

/// A date, how many bytes it takes, and how well it fits.
fn parse(text: &str) -> Option<(Date, usize, f64)> {
    let first = text.chars().next()?;
    let read = if first.is_ascii_digit() { numeric(text).or_else(|| day_first(text)) } else { month_first(text) }?;
    let after = &text[read.1..];
    let joined = after.starts_with(|c: char| c.is_ascii_digit());
    (!joined).then_some(read)
}

/// How many bytes a date takes at the beginning of a text, or a day without its year: `Oct 15`, `10/15`.
pub(super) fn leading_day(text: &str) -> Option<usize> {
    if let Some((_, length, _)) = parse(text) {
        return Some(length);
    }
    month_and_day(text).map(|(_, _, end)| end)
}

/// The month and the day of a day without its year, and how many bytes it takes.
pub(super) fn month_and_day(text: &str) -> Option<(i16, i16, usize)> {
    let day_of = |month: i16, day: i16, end: usize| make(LEAP_YEAR, month, day).map(|_| (month, day, end));
    if let Some((month, at)) = month(text) {
        let (day, end) = number(text, blanks(text, at), 2)?;
        return day_of(month, day, ordinal(text, end));
    }
    let (first, at) = number(text, 0, 2)?;
    if text[at..].starts_with('/') {
        let (day, end) = number(text, at + 1, 2)?;
        return day_of(first, day, end).filter(|_| !text[end..].starts_with('/'));
    }
    let at = blanks(text, ordinal(text, at));
    let (month, length) = month(text.get(at..)?)?;
    day_of(month, first, at + length)
}

/// Up to `most` digits at the beginning of `text[at..]`.
fn number(text: &str, at: usize, most: usize) -> Option<(i16, usize)> {
    let rest = text.get(at..)?;
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 || length > most {
        return None;
    }
    Some((rest[..length].parse().ok()?, at + length))
}

pub(super) fn make(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn full_year(year: i16, digits: usize) -> Option<i16> {
    match digits {
        4 if (1900..2200).contains(&year) => Some(year),
        2 => Some(if year < PIVOT { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

fn numeric(text: &str) -> Option<(Date, usize, f64)> {
    let (first, at) = number(text, 0, 4)?;
    let separator = text[at..].chars().next().filter(|c| matches!(c, '/' | '-' | '.'))?;
    let (second, end) = number(text, at + 1, 2)?;
    if !text[end..].starts_with(separator) {
        return None;
    }
    if at == 4 {
        let (third, end) = number(text, end + 1, 2)?;
        return Some((make(full_year(first, 4)?, second, third)?, end + time(&text[end..]), 1.0));
    }
    let (third, last) = number(text, end + 1, 4)?;
    let year = full_year(third, last - end - 1)?;
    if let Some(date) = make(year, first, second) {
        return Some((date, last, 1.0));
    }
    make(year, second, first).map(|date| (date, last, 0.7))
}

/// A midnight that a workbook puts after a date.
fn time(text: &str) -> usize {
    ["T00:00:00", " 00:00:00"].iter().find(|midnight| text.starts_with(**midnight)).map_or(0, |midnight| midnight.len())
}

/// Whether a text begins with the name of a month.
pub(super) fn begins_with_month(text: &str) -> bool {
    month(text).is_some()
}

/// The month that a word names, and how many bytes the word takes.
fn month(text: &str) -> Option<(i16, usize)> {
    // Hardly any word begins like a month: the others need no looking up.
    let first = text.chars().next().and_then(|letter| plain(letter).next())?;
    if !BEGIN_MONTHS.contains(first) {
        return None;
    }
    let length: usize = text.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    let word: String = text.get(..length)?.chars().take(12).flat_map(plain).collect();
    if word.chars().count() < 3 {
        return None;
    }
    let fits = |names: &&[&str]| names.iter().any(|name| name.starts_with(&word));
    let mut months = (0_i16..).zip(MONTHS.iter()).filter(|(_, names)| fits(names));
    let (place, _) = months.next()?;
    // `jui` may be two of them.
    months.next().is_none().then(|| (place + 1, length + usize::from(text[length..].starts_with('.'))))
}

/// A letter in lower case and without the accents that months have.
fn plain(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().flat_map(|letter| {
        let (first, second) = match letter {
            'é' | 'è' => ('e', None),
            'û' | 'ù' => ('u', None),
            'ä' => ('a', Some('e')),
            other => (other, None),
        };
        std::iter::once(first).chain(second)
    })
}

/// Past blanks, commas and dashes, and one `de` or `of` with the blanks behind it.
fn blanks(text: &str, at: usize) -> usize {
    let past = |at: usize| at + text[at..].len() - text[at..].trim_start_matches([' ', ',', '-', '\u{a0}']).len();
    let after = past(at);
    for word in ["de ", "del ", "of ", "DE ", "DEL ", "OF "] {
        if after > at && text[after..].starts_with(word) {
            return past(after + word.len());
        }
    }
    after
}

/// Past the ending of an ordinal number: `1st`, `1er`, `1.`
fn ordinal(text: &str, at: usize) -> usize {
    let ending = ["st", "nd", "rd", "th", "er", "º", "."].iter().find(|ending| text[at..].starts_with(**ending));
    at + ending.map_or(0, |ending| ending.len())
}

/// `May 1, 2025`
fn month_first(text: &str) -> Option<(Date, usize, f64)> {
    let (month, at) = month(text)?;
    let (day, at) = number(text, blanks(text, at), 2)?;
    let from = blanks(text, ordinal(text, at));
    let (year, end) = number(text, from, 4).filter(|(_, end)| !times::goes_on(&text[*end..]))?;
    Some((make(full_year(year, end - from)?, month, day)?, end, 1.0))
}

/// `1 May 2025`, `01-MAY-2025`, `1 de mayo de 2025`, `1er mai 2025`
fn day_first(text: &str) -> Option<(Date, usize, f64)> {
    let (day, at) = number(text, 0, 2)?;
    let at = blanks(text, ordinal(text, at));
    let (month, length) = month(text.get(at..)?)?;
    let from = blanks(text, at + length);
    let (year, end) = number(text, from, 4).filter(|(_, end)| !times::goes_on(&text[*end..]))?;
    Some((make(full_year(year, end - from)?, month, day)?, end, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> String {
        date(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn every_month_begins_with_a_letter_of_months() {
        assert!(MONTHS.iter().copied().flatten().all(|name| name.starts_with(|c| BEGIN_MONTHS.contains(c))));
    }

    #[test]
    fn dates_are_normalised() {
        for text in [
            "05/01/2025",
            "5/1/25",
            "5-1-2025",
            "2025-05-01",
            "May 1, 2025",
            "1 May 2025",
            "01-MAY-2025",
            "May 1st 2025",
            "2025-05-01 00:00:00",
            "1 de mayo de 2025",
            "1er mai 2025",
            "1. Mai 2025",
            "2025/05/01",
        ] {
            assert_eq!(day(text), "2025-05-01", "{text}");
        }
        assert_eq!(day("25/12/2025"), "2025-12-25");
        assert_eq!(day("05/01/2025 08:00"), "2025-05-01", "a time behind it changes nothing");
        assert_eq!(day("May 1, 2025 8 am"), "2025-05-01");
        assert_eq!(day("3/1/99"), "1999-03-01");
        assert_eq!(day("03/15/26"), "2026-03-15");
        assert_eq!(day("12/31/45"), "2045-12-31", "policies reach some twenty years ahead");
        assert_eq!(day("06/02/58"), "1958-06-02", "whoever was born in 58 was born in 1958");
        assert_eq!(day("12 février 2026"), "2026-02-12");
        assert_eq!(day("2. März 2026"), "2026-03-02");
        assert_eq!(day("15 de setiembre del 2025"), "2025-09-15");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "13/32/2025",
            "02/30/2025",
            "May",
            "3 jui 2025",
            "555-0142",
            "1/2/345",
            "05/01/20251",
            "12.5",
            "Oct 15 10:30",
            "Oct 15 10 am",
            "15 Oct 10:30",
        ] {
            assert_eq!(day(text), "", "{text}");
        }
    }

    #[test]
    fn ranges_have_a_beginning_and_an_end() {
        let expected = json!({"start": "2025-05-01", "end": "2026-05-01"});
        for text in [
            "05/01/2025 to 05/01/2026",
            "May 1, 2025 - May 1, 2026",
            "From 5/1/25 thru 5/1/26",
            "2025-05-01 – 2026-05-01",
            "05/01/2025-05/01/2026",
            "05/01/2025   05/01/2026",
            "05/01/2025 12:01 AM to 05/01/2026 12:01 AM",
            "del 1 de mayo de 2025 al 1 de mayo de 2026",
            "du 1er mai 2025 au 1er mai 2026",
            "05/01/2025 / 05/01/2026",
        ] {
            assert_eq!(range(text).map(|read| read.value), Some(expected.clone()), "{text}");
        }
        for text in ["5/1/25-26", "05/01/2025-2026", "May 1, 2025–26", "5/1/25-26, all lines", "5/1/25-26."] {
            assert_eq!(range(text).map(|read| read.value), Some(expected.clone()), "{text}");
        }
        for text in ["5/1/25-27", "5/1/25-26-11", "5/1/25-26/1", "5/1/25-26A", "5/1/25 26"] {
            assert_eq!(range(text), None, "{text}");
        }
        for text in ["25/05/2025 to 25/05/2026", "05/01/2025 to 25/12/2025", "25/05/2025-26"] {
            let read = range(text).unwrap();
            assert_eq!(read.problem.as_deref(), Some("the day stands before the month"), "{text}");
        }
        assert_eq!(range("05/01/2025 to 05/01/2026").unwrap().problem, None);
        assert_eq!(range("05/01/2026 to 05/01/2025"), None);
        assert_eq!(range("05/01/2025, premium due 06/01/2025"), None);
    }
}
