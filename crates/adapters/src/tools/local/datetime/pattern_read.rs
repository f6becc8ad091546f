//! Dates read by a format that the caller gives.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use kybern_core::tool::ToolFailure;

use super::super::{refuse, short};
use super::pattern::{self, MONTHS, PatternPart};
use super::read::{WrittenDate, no_day};
use super::words::{Clock, check_weekday};
use super::zone::offset;

/// What was found so far.
#[derive(Default)]
struct DateParts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    hour: i8,
    minute: i8,
    second: i8,
    millisecond: i16,
    afternoon: Option<bool>,
    weekday: Option<String>,
    offset: Option<jiff::tz::Offset>,
    moment: Option<Timestamp>,
}

/// Reads a date by a format.
///
/// # Errors
/// When it is not written like that.
pub(super) fn read(text: &str, format: &str) -> Result<WrittenDate, ToolFailure> {
    let mut found = DateParts::default();
    let mut rest = text.trim();
    for piece in pattern::pieces(format)? {
        let length = match &piece {
            PatternPart::Literal(literal) => rest.starts_with(literal.as_str()).then_some(literal.len()),
            PatternPart::Token(token) => found.take(token, rest),
        };
        let length = length.ok_or_else(|| {
            let wanted = match &piece {
                PatternPart::Literal(literal) => format!("{literal:?}"),
                PatternPart::Token(token) => (*token).to_owned(),
            };
            refuse(format!("{:?} does not fit inputFormat at {:?}: {wanted} is expected", short(text), short(rest)))
        })?;
        rest = &rest[length..];
    }
    if !rest.is_empty() {
        return Err(refuse(format!("{:?} goes on after inputFormat ends: {:?}", short(text), short(rest))));
    }
    found.finish(text)
}

impl DateParts {
    /// Takes a token's value from the beginning of a text, and says how many bytes it has.
    fn take(&mut self, token: &str, rest: &str) -> Option<usize> {
        let digits = |least: usize, most: usize| {
            let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
            (length >= least).then_some(()).and_then(|()| Some((rest[..length].parse::<i16>().ok()?, length)))
        };
        let small =
            |least: usize| digits(least, 2).and_then(|(value, length)| Some((i8::try_from(value).ok()?, length)));
        let two = if token.len() == 2 { 2 } else { 1 };
        match token {
            "YYYY" => digits(4, 4).map(|(value, length)| (self.year = Some(value), length).1),
            "YY" => digits(2, 2).map(|(value, length)| {
                self.year = Some(if value < 70 { 2000 + value } else { 1900 + value });
                length
            }),
            "MM" | "M" => small(two).map(|(value, length)| (self.month = Some(value), length).1),
            "DD" | "D" => small(two).map(|(value, length)| (self.day = Some(value), length).1),
            "Do" => small(1).and_then(|(value, length)| {
                self.day = Some(value);
                let end = rest.get(length..length + 2)?.to_ascii_lowercase();
                ["st", "nd", "rd", "th"].contains(&end.as_str()).then_some(length + 2)
            }),
            "MMMM" | "MMM" => self.month_name(token, rest),
            "dddd" | "ddd" => {
                let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                self.weekday = Some(rest[..length].to_owned());
                (length >= 3).then_some(length)
            }
            "HH" | "H" | "hh" | "h" => small(two).map(|(value, length)| (self.hour = value, length).1),
            "mm" | "m" => small(two).map(|(value, length)| (self.minute = value, length).1),
            "ss" | "s" => small(two).map(|(value, length)| (self.second = value, length).1),
            "SSS" => digits(3, 3).map(|(value, length)| (self.millisecond = value, length).1),
            "A" | "a" => {
                let word = rest.get(..2)?.to_ascii_lowercase();
                self.afternoon = Some(word == "pm");
                matches!(word.as_str(), "am" | "pm").then_some(2)
            }
            "Z" | "ZZ" => self.zone(rest),
            "X" | "x" => self.unix(token, rest),
            _ => None,
        }
    }

    fn month_name(&mut self, token: &str, rest: &str) -> Option<usize> {
        let length = |name: &str| if token == "MMM" { 3 } else { name.len() };
        let place = MONTHS.iter().position(|name| {
            rest.get(..length(name)).is_some_and(|word| word.eq_ignore_ascii_case(&name[..length(name)]))
        })?;
        self.month = i8::try_from(place + 1).ok();
        Some(length(MONTHS[place]))
    }

    fn zone(&mut self, rest: &str) -> Option<usize> {
        if rest.starts_with(['Z', 'z']) {
            self.offset = Some(jiff::tz::Offset::UTC);
            return Some(1);
        }
        let length = rest.bytes().take(6).take_while(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b':')).count();
        self.offset = Some(offset(&rest[..length])?);
        Some(length)
    }

    fn unix(&mut self, token: &str, rest: &str) -> Option<usize> {
        let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        let value: i64 = rest[..length].parse().ok()?;
        let moment = if token == "X" { Timestamp::from_second(value) } else { Timestamp::from_millisecond(value) };
        self.moment = Some(moment.ok()?);
        Some(length)
    }

    fn finish(self, text: &str) -> Result<WrittenDate, ToolFailure> {
        if let Some(moment) = self.moment {
            return Ok(WrittenDate::Moment(moment));
        }
        let (Some(year), Some(month), Some(day)) = (self.year, self.month, self.day) else {
            return Err(refuse("inputFormat must have a year, a month and a day, or X"));
        };
        let date = Date::new(year, month, day).map_err(|_| no_day(text))?;
        if let Some(name) = &self.weekday {
            check_weekday(name, date)?;
        }
        let hour = match self.afternoon {
            None => self.hour,
            Some(_) if !(1..=12).contains(&self.hour) => {
                return Err(refuse(format!("{:?} has no hour between 1 and 12 before AM or PM", short(text))));
            }
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
        };
        let time = Time::new(hour, self.minute, self.second, i32::from(self.millisecond) * 1_000_000)
            .map_err(|_| refuse(format!("{:?} has no time of day", short(text))))?;
        Clock { time, offset: self.offset }.on(date)
    }
}
