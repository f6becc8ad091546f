//! Formats made of tokens, such as `YYYY-MM-DD HH:mm:ss`: taken apart and written.

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::Offset;
use kybern_core::list;
use kybern_core::tool::ToolFailure;

use super::super::{refuse, short};
use super::zone::out_of_range;

/// Letters of a format.
const MAX_FORMAT: usize = 200;

/// The months' names; the first three letters are the short ones.
pub(super) const MONTHS: &[&str] =
    list!("January, February, March, April, May, June, July, August, September, October, November, December");

/// The days' names, likewise.
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The tokens, as they are written.
const TOKENS: &[&str] = &[
    "YYYY", "YY", "MMMM", "MMM", "MM", "M", "DD", "D", "Do", "dddd", "ddd", "HH", "H", "hh", "h", "mm", "m", "ss", "s",
    "SSS", "A", "a", "ZZ", "Z", "z", "X", "x", "Q",
];

/// A piece of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PatternPart {
    Token(&'static str),
    /// What is written as it stands.
    Literal(String),
}

/// Takes a format apart.
///
/// # Errors
/// When it has letters that are no token.
pub(super) fn pieces(format: &str) -> Result<Vec<PatternPart>, ToolFailure> {
    if format.is_empty() || format.chars().count() > MAX_FORMAT {
        return Err(refuse(format!("a format has between 1 and {MAX_FORMAT} characters")));
    }
    let format = match format {
        "iso" => "YYYY-MM-DDTHH:mm:ssZ",
        "rfc2822" => "ddd, DD MMM YYYY HH:mm:ss ZZ",
        "date" => "YYYY-MM-DD",
        "time" => "HH:mm:ss",
        other => other,
    };
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '[' {
            let end = rest.find(']').ok_or_else(|| refuse("the format has a [ without a ]"))?;
            pieces.push(PatternPart::Literal(rest[1..end].to_owned()));
            end + 1
        } else if letter.is_ascii_alphabetic() {
            let run = rest.len() - rest.trim_start_matches(letter).len();
            let run = if run == 1 && rest.starts_with("Do") { 2 } else { run };
            let token = TOKENS.iter().find(|token| **token == &rest[..run]);
            match token {
                Some(token) => pieces.push(PatternPart::Token(token)),
                None if rest[..run] == *"T" => pieces.push(PatternPart::Literal("T".to_owned())),
                None => return Err(no_token(&rest[..run])),
            }
            run
        } else if letter == '%' {
            return Err(no_token("%"));
        } else {
            pieces.push(PatternPart::Literal(letter.to_string()));
            letter.len_utf8()
        };
        rest = &rest[length..];
    }
    Ok(pieces)
}

fn no_token(text: &str) -> ToolFailure {
    refuse(format!(
        "{:?} is no token of a format: use iso, rfc2822, date, time or tokens such as YYYY-MM-DD HH:mm:ss ({}), and \
         put words in [brackets]",
        short(text),
        TOKENS.join(" ")
    ))
}

/// Writes a moment.
///
/// # Errors
/// When the format is none, or the year does not fit it.
pub(super) fn write(zoned: &Zoned, format: &str) -> Result<String, ToolFailure> {
    let mut text = String::new();
    for piece in pieces(format)? {
        match piece {
            PatternPart::Literal(literal) => text.push_str(&literal),
            PatternPart::Token(token) => text.push_str(&token_text(zoned, token)?),
        }
    }
    Ok(text)
}

fn token_text(zoned: &Zoned, token: &str) -> Result<String, ToolFailure> {
    let month = MONTHS[usize::try_from(zoned.month() - 1).unwrap_or(0) % 12];
    let hour = match zoned.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    Ok(match token {
        "YYYY" if zoned.year() < 0 => return Err(out_of_range()),
        "YYYY" => format!("{:04}", zoned.year()),
        "YY" => format!("{:02}", zoned.year().rem_euclid(100)),
        "MMMM" => month.to_owned(),
        "MMM" => month[..3].to_owned(),
        "MM" => format!("{:02}", zoned.month()),
        "M" => zoned.month().to_string(),
        "DD" => format!("{:02}", zoned.day()),
        "D" => zoned.day().to_string(),
        "Do" => ordinal(zoned.day()),
        "dddd" => weekday(zoned.date()).to_owned(),
        "ddd" => weekday(zoned.date())[..3].to_owned(),
        "HH" => format!("{:02}", zoned.hour()),
        "H" => zoned.hour().to_string(),
        "hh" => format!("{hour:02}"),
        "h" => hour.to_string(),
        "mm" => format!("{:02}", zoned.minute()),
        "m" => zoned.minute().to_string(),
        "ss" => format!("{:02}", zoned.second()),
        "s" => zoned.second().to_string(),
        "SSS" => format!("{:03}", zoned.millisecond()),
        "A" => if zoned.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        "a" => if zoned.hour() < 12 { "am" } else { "pm" }.to_owned(),
        "Z" => offset(zoned, true),
        "ZZ" => offset(zoned, false),
        "z" => zoned.time_zone().to_offset_info(zoned.timestamp()).abbreviation().to_owned(),
        "X" => zoned.timestamp().as_second().to_string(),
        "x" => zoned.timestamp().as_millisecond().to_string(),
        _ => ((zoned.month() - 1) / 3 + 1).to_string(),
    })
}

fn ordinal(day: i8) -> String {
    let end = match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{day}{end}")
}

/// The day's name.
pub(super) fn weekday(date: Date) -> &'static str {
    WEEKDAYS[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())]
}

/// The offset that holds then: `+02:00`, or `+0200`.
pub(super) fn offset(zoned: &Zoned, colon: bool) -> String {
    offset_text(zoned.offset(), colon)
}

pub(super) fn offset_text(offset: Offset, colon: bool) -> String {
    let seconds = offset.seconds();
    let (sign, seconds) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let colon = if colon { ":" } else { "" };
    format!("{sign}{hours:02}{colon}{minutes:02}")
}
