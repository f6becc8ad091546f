//! Dates and ranges of dates, as Americans write them.

use jiff::civil::Date;
use serde_json::json;

use super::{Read, indent};

/// Two-digit years below this belong to this century.
const PIVOT: i16 = 70;
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
/// Bytes between the two dates of a range.
const MAX_BETWEEN: usize = 24;

/// A date at the beginning of the text.
pub(super) fn date(text: &str) -> Option<Read> {
    let start = indent(text);
    let (day, length, fit) = parse(&text[start..])?;
    let mut read = Read::new(day.to_string(), start, start + length, fit);
    if fit < 1.0 {
        read.problem = Some("the day stands before the month".to_owned());
    }
    Some(read)
}

/// Two dates with `to`, a dash or the like between them; words such as `from` may stand before.
pub(super) fn range(text: &str) -> Option<Read> {
    let mut start = indent(text);
    for lead in ["from", "eff", "effective", "beginning"] {
        if text.get(start..start + lead.len()).is_some_and(|word| word.eq_ignore_ascii_case(lead)) {
            let after = &text[start + lead.len()..];
            if after.starts_with([' ', ':', '.', '\t']) {
                start += lead.len() + after.len() - after.trim_start_matches([' ', ':', '.', '\t']).len();
                break;
            }
        }
    }
    let (first, length, fit) = parse(&text[start..])?;
    let between = start + length;
    let rest = text.get(between..)?;
    let skip = rest.char_indices().take_while(|(at, _)| *at <= MAX_BETWEEN).find_map(|(at, _)| {
        let glued = at == 0
            || rest[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
                && rest[at..].starts_with(|c: char| c.is_ascii_alphanumeric());
        (!glued && rest[at..].starts_with(|c: char| c.is_ascii_alphanumeric()))
            .then(|| parse(&rest[at..]).map(|second| (at, second)))
            .flatten()
    });
    let (at, (second, second_length, second_fit)) = skip?;
    let joint = rest[..at].trim().trim_matches(['-', '–', '—', ':', ',', '.', ';']).trim();
    let joins = joint.len() <= 16
        && joint.split_whitespace().all(|word| {
            [
                "to",
                "thru",
                "through",
                "until",
                "till",
                "exp",
                "expiration",
                "expires",
                "ending",
                "and",
                "-",
                "–",
                "12:01",
                "am",
                "a.m.",
            ]
            .contains(&word.trim_matches([':', '.', ',']).to_ascii_lowercase().as_str())
        });
    if !joins || second < first {
        return None;
    }
    let value = json!({"start": first.to_string(), "end": second.to_string()});
    Some(Read::new(value, start, between + at + second_length, fit.min(second_fit)))
}

/// A date, how many bytes it takes, and how well it fits.
fn parse(text: &str) -> Option<(Date, usize, f64)> {
    let first = text.chars().next()?;
    let read = if first.is_ascii_digit() { numeric(text).or_else(|| day_first(text)) } else { month_first(text) }?;
    let joined = text[read.1..].starts_with(|c: char| c.is_ascii_digit());
    (!joined).then_some(read)
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

fn make(year: i16, month: i16, day: i16) -> Option<Date> {
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

/// The month that a word names, and how many bytes the word takes.
fn month(text: &str) -> Option<(i16, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = text.get(..length)?.to_ascii_lowercase();
    let place = MONTHS
        .iter()
        .position(|name| word.len() >= 3 && (name.starts_with(&word) || (word == "sept" && *name == "september")))?;
    Some((i16::try_from(place).ok()? + 1, length + usize::from(text[length..].starts_with('.'))))
}

fn blanks(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start_matches([' ', ',', '-', '\u{a0}']).len()
}

/// `May 1, 2025`
fn month_first(text: &str) -> Option<(Date, usize, f64)> {
    let (month, at) = month(text)?;
    let (day, at) = number(text, blanks(text, at), 2)?;
    let at = if ["st", "nd", "rd", "th"].iter().any(|end| text[at..].starts_with(end)) { at + 2 } else { at };
    let from = blanks(text, at);
    let (year, end) = number(text, from, 4)?;
    Some((make(full_year(year, end - from)?, month, day)?, end, 1.0))
}

/// `1 May 2025`, `01-MAY-2025`
fn day_first(text: &str) -> Option<(Date, usize, f64)> {
    let (day, at) = number(text, 0, 2)?;
    let at = blanks(text, at);
    let (month, length) = month(text.get(at..)?)?;
    let from = blanks(text, at + length);
    let (year, end) = number(text, from, 4)?;
    Some((make(full_year(year, end - from)?, month, day)?, end, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> String {
        date(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
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
        ] {
            assert_eq!(day(text), "2025-05-01", "{text}");
        }
        assert_eq!(day("25/12/2025"), "2025-12-25");
        assert_eq!(day("3/1/99"), "1999-03-01");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["13/32/2025", "02/30/2025", "May", "555-0142", "1/2/345", "05/01/20251", "12.5"] {
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
        ] {
            assert_eq!(range(text).map(|read| read.value), Some(expected.clone()), "{text}");
        }
        assert_eq!(range("05/01/2026 to 05/01/2025"), None);
        assert_eq!(range("05/01/2025, premium due 06/01/2025"), None);
    }
}
