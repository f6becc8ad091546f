//! Times of the day: `08:00`, `8 am`, `0800 hrs`, `8h30`, alone or behind a date.

use super::{ReadValue, dates, indent};

const HOUR: u16 = 60;
const NOON: u16 = 12;
/// Words, and marks, that may stand before a time.
const LEADS: [&str; 10] = ["at", "by", "from", "between", "before", "after", "a las", "à", "um", "around"];
/// What stands between the two times of a window.
const JOINTS: [&str; 6] = ["-", "–", "—", "to", "and", "until"];
/// Blanks and marks that part a date from its time.
const PARTING: [char; 10] = [' ', '\t', '\u{a0}', ',', '@', '(', '-', '–', '|', '/'];

/// A time as it is written.
#[derive(Clone, Copy)]
struct Clock {
    hour: u16,
    minute: u16,
    /// Whether it says of itself that it is a time: by its minutes, or by a word.
    is_plain: bool,
    /// Whether the afternoon is meant, where that is said.
    afternoon: Option<bool>,
    /// Bytes that it takes.
    length: usize,
}

/// A time; of a window its beginning. A day, also one without its year, may stand before it.
pub(super) fn time(text: &str) -> Option<ReadValue> {
    let first = indent(text);
    let day = dates::leading_day(&text[first..]);
    let mut start = first + day.unwrap_or(0);
    let rest = &text[start..];
    let parted = rest.trim_start_matches(PARTING);
    if day.is_some() && parted.len() == rest.len() && !rest.starts_with('T') {
        return None;
    }
    start += if day.is_some() && rest.starts_with('T') { 1 } else { rest.len() - parted.len() };
    if let Some(lead) = LEADS.iter().find(|lead| is_word(&text[start..], lead)) {
        start += lead.len();
        start += text[start..].len() - text[start..].trim_start().len();
    }
    let clock = clock(&text[start..], day.is_some())?;
    let (of_day, fit) = match (clock.afternoon, window(&text[start + clock.length..])) {
        (None, Some((last, afternoon))) if clock.hour <= NOON => (opening(&clock, last, afternoon), 0.9),
        _ if clock.is_plain => (minutes(&clock, clock.afternoon), 1.0),
        _ => return None,
    };
    let value = format!("{:02}:{:02}", of_day / HOUR, of_day % HOUR);
    Some(ReadValue::new(value, start, start + clock.length, fit))
}

/// Whether a text goes on as a time does behind its hour, so that the number before it is no year.
pub(super) fn goes_on(rest: &str) -> bool {
    let mut letters = rest.chars();
    let minutes = letters.next() == Some(':') && letters.next().is_some_and(|digit| digit.is_ascii_digit());
    minutes || mark(rest).is_some() || word(rest).is_some()
}

fn is_word(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) && text[word.len()..].starts_with(' ')
}

/// Minutes since midnight.
fn minutes(clock: &Clock, afternoon: Option<bool>) -> u16 {
    let hour = match afternoon {
        Some(true) if clock.hour < NOON => clock.hour + NOON,
        Some(false) if clock.hour == NOON => 0,
        _ => clock.hour,
    };
    hour * HOUR + clock.minute
}

/// When a window opens whose end alone says on which side of noon it is: `8-10 pm`, but `10-2 pm` begins before noon.
fn opening(first: &Clock, last: u16, afternoon: bool) -> u16 {
    let on_dial = (first.hour % NOON) * HOUR + first.minute;
    minutes(first, Some(if on_dial <= last { afternoon } else { !afternoon }))
}

/// The end of a window, in minutes on the dial, and whether it is in the afternoon; `None` when it does not say so.
fn window(rest: &str) -> Option<(u16, bool)> {
    let rest = rest.trim_start();
    let joint = JOINTS.iter().find(|joint| rest.starts_with(**joint))?;
    let last = clock(rest[joint.len()..].trim_start(), false)?;
    Some(((last.hour % NOON) * HOUR + last.minute, last.afternoon?))
}

/// A time at the very beginning of a text. Behind a day four digits alone are one.
fn clock(text: &str, after_day: bool) -> Option<Clock> {
    if let Some((hour, length)) = [("noon", NOON), ("12 noon", NOON), ("midnight", 0)]
        .iter()
        .find_map(|(word, hour)| is_name(text, word).then_some((*hour, word.len())))
    {
        return Some(Clock { hour, minute: 0, is_plain: true, afternoon: None, length });
    }
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = &text[..count];
    let number = |text: &str| text.parse::<u16>().ok();
    let (hour, minute, mut length, mut is_plain) = match count {
        1 | 2 => {
            let minutes = text.get(count + 1..count + 3).filter(|two| two.bytes().all(|byte| byte.is_ascii_digit()));
            match (text[count..].chars().next(), minutes) {
                (Some(':' | 'h' | 'H'), Some(minutes)) => (number(digits)?, number(minutes)?, count + 3, true),
                _ => (number(digits)?, 0, count, false),
            }
        }
        4 => (number(&digits[..2])?, number(&digits[2..])?, count, after_day),
        _ => return None,
    };
    let seconds = &text.as_bytes()[length..];
    if let [b':', tens, ones, ..] = seconds
        && tens.is_ascii_digit()
        && ones.is_ascii_digit()
    {
        length += 3;
    }
    let mut afternoon = None;
    if let Some((is_afternoon, marked)) = mark(&text[length..]) {
        (afternoon, is_plain) = (Some(is_afternoon).filter(|_| hour <= NOON), true);
        length += marked;
    } else if let Some(worded) = word(&text[length..]) {
        is_plain = true;
        length += worded;
    }
    let ends = !text[length..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, ':' | '/' | '%' | '$'));
    let valid = hour < 24 && minute < HOUR && ends && (afternoon.is_none() || hour > 0);
    valid.then_some(Clock { hour, minute, is_plain, afternoon, length })
}

fn is_name(text: &str, word: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) && ends(&text[word.len()..])
}

/// Whether `am` or `pm` follows, in any spelling, and how many bytes it takes.
fn mark(rest: &str) -> Option<(bool, usize)> {
    let spelled = rest.trim_start_matches([' ', '\u{a0}']);
    let mut end = rest.len() - spelled.len();
    let mut letters = spelled.chars();
    let afternoon = match letters.next()?.to_ascii_lowercase() {
        'p' => true,
        'a' => false,
        _ => return None,
    };
    end += 1 + usize::from(rest[end + 1..].starts_with('.'));
    if !rest[end..].starts_with(['m', 'M']) || rest[end + 1..].starts_with(char::is_alphanumeric) {
        return None;
    }
    end += 1 + usize::from(rest[end + 1..].starts_with('.'));
    Some((afternoon, end))
}

/// How many bytes a word for hours takes that follows a number.
fn word(rest: &str) -> Option<usize> {
    let spelled = rest.trim_start_matches([' ', '\u{a0}']);
    let blanks = rest.len() - spelled.len();
    let word = ["hours", "hrs", "hr", "h", "uhr"].into_iter().find(|word| is_name(spelled, word))?;
    Some(blanks + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        time(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn times_are_normalised() {
        for text in [
            "08:00",
            "8:00",
            "8 am",
            "8AM",
            "8:00 a.m. sharp",
            "at 8 am",
            "0800 hrs",
            "8h",
            "08:00:00",
            "8 Uhr",
            "10/15/2026 08:00",
            "10/15/2026 0800",
            "10/15/2026 @ 8:00 AM EST",
            "2026-10-15T08:00:00",
            "Oct 15 at 8 am",
            "October 15th, 2026, 8:00am",
            "Oct 15, 08:00",
            "15 Oct 8 am",
            "10/15 08:00",
            "10/15/2026 by 8 am",
            "08:00 - 16:00",
            "8:00-10:00 am",
            "8-10 am",
            "8-2 pm",
            "8 am - 2 pm",
        ] {
            assert_eq!(value(text), "08:00", "{text}");
        }
        for (text, expected) in [
            ("2:30 PM", "14:30"),
            ("12 noon", "12:00"),
            ("12:15 am", "00:15"),
            ("12 pm", "12:00"),
            ("14:30 pm", "14:30"),
            ("8:00 to 10:00 pm", "20:00"),
            ("12:00-2:00 pm", "12:00"),
            ("8h30", "08:30"),
            ("May 1, 2026 noon", "12:00"),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "8",
            "0800",
            "24:00",
            "8:60",
            "13/15/2026",
            "10/15/2026",
            "10/15/2026 2 pallets",
            "$8:00",
            "8:005",
            "0 am",
            "8 amp",
            "555-0142",
            "Oct 15",
            "10/15/202608:00",
            "12:30:4567",
        ] {
            assert_eq!(value(text), "", "{text}");
        }
    }

    #[test]
    fn the_place_is_the_times_own() {
        let text = "Oct 15 at 8 am EST";
        let read = time(text).unwrap();
        assert_eq!(&text[read.start..read.end], "8 am");
    }
}
