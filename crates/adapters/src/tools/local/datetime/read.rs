//! Dates as people and programs write them, when each can be read in one way only.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use kybern_core::tool::ToolFailure;

use super::super::{refuse, short};
use super::zone::{CallZone, ZonedMoment, with_its_zone};
use super::{pattern_read, words};

/// Letters of a date.
const MAX_DATE: usize = 100;

/// A date as it was written: with an offset, or as the clock on some wall shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrittenDate {
    /// With an offset.
    Moment(Timestamp),
    /// Without.
    Wall(DateTime),
}

/// Reads a date; one without an offset in the zone.
///
/// # Errors
/// When it is none, or may be read in two ways.
pub(super) fn read(text: &str, format: Option<&str>, zone: &CallZone) -> Result<ZonedMoment, ToolFailure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(refuse("the date is empty: give one such as 2026-11-22"));
    }
    if text.chars().count() > MAX_DATE {
        return Err(refuse(format!("a date has up to {MAX_DATE} characters")));
    }
    let written = match format {
        Some(format) => pattern_read::read(text, format)?,
        None => written(text)?,
    };
    match written {
        WrittenDate::Moment(moment) => Ok(ZonedMoment::exact(zone.at(moment))),
        WrittenDate::Wall(wall) => zone.place(wall),
    }
}

/// The day that a text names, for finding dates in prose.
///
/// # Errors
/// When it names none, or may be read in two ways.
pub(in super::super) fn day_of(text: &str) -> Result<Date, ToolFailure> {
    match written(text)? {
        WrittenDate::Wall(wall) => Ok(wall.date()),
        WrittenDate::Moment(moment) => Ok(jiff::tz::TimeZone::UTC.to_datetime(moment).date()),
    }
}

fn written(text: &str) -> Result<WrittenDate, ToolFailure> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return bare_number(text, digits.len());
    }
    if let Some(read) = numeric(text) {
        return read;
    }
    if let Some(read) = iso(text) {
        return read;
    }
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Ok(WrittenDate::Moment(zoned.timestamp()));
    }
    words::read(text)
}

/// Unix seconds or milliseconds, or a day as `20261122`.
fn bare_number(text: &str, digits: usize) -> Result<WrittenDate, ToolFailure> {
    let unclear = || {
        refuse(format!(
            "{:?} is no date: unix seconds have 9 or 10 digits, milliseconds 12 or 13, and a day is 2026-11-22",
            short(text)
        ))
    };
    let value: i64 = text.parse().map_err(|_| unclear())?;
    match digits {
        8 => text
            .parse::<Date>()
            .map(|date| WrittenDate::Wall(date.to_datetime(Time::midnight())))
            .map_err(|_| no_day(text)),
        9 | 10 => Timestamp::from_second(value).map(WrittenDate::Moment).map_err(|_| unclear()),
        12 | 13 => Timestamp::from_millisecond(value).map(WrittenDate::Moment).map_err(|_| unclear()),
        _ => Err(unclear()),
    }
}

/// What ISO 8601 and RFC 3339 allow; `None` when it does not begin like that.
fn iso(text: &str) -> Option<Result<WrittenDate, ToolFailure>> {
    let year = text.trim_start_matches(['+', '-']);
    if !year.as_bytes().get(..4)?.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if text.contains('[') {
        return Some(with_its_zone(text).map(WrittenDate::Moment).ok_or_else(|| no_date(text)));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(Ok(WrittenDate::Moment(moment)));
    }
    match text.parse::<DateTime>() {
        Ok(wall) => Some(Ok(WrittenDate::Wall(wall))),
        Err(_) => Some(year_first(text)),
    }
}

/// What people make of it: `2026-1-5`, `2026-11-22 10:00 PM`, `2026-11-22 10:00:00 +0200`.
fn year_first(text: &str) -> Result<WrittenDate, ToolFailure> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let parts: Vec<&str> = day.split('-').collect();
    let fits = |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let [year, month, number] = parts[..] else { return Err(no_date(text)) };
    if !fits(&month) || !fits(&number) {
        return Err(no_date(text));
    }
    let date = three_numbers(text, year, month, number)?;
    if time.trim().is_empty() {
        return words::Clock::default().on(date);
    }
    words::clock(time).ok_or_else(|| no_date(text))?.on(date)
}

/// Three numbers, such as `03/04/2026`: read only when the order is clear; `None` when they are not three.
fn numeric(text: &str) -> Option<Result<WrittenDate, ToolFailure>> {
    let (day, time) = match text.split_once([' ', 'T', ',']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let separator = day.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '/' | '.' | '-'))?;
    let parts: Vec<&str> = day.split(separator).collect();
    let [first, second, third] = parts[..] else { return None };
    let fits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !parts.iter().all(|part| fits(part)) || (first.len() == 4 && separator == '-') {
        return None;
    }
    Some(three_numbers(text, first, second, third).and_then(|date| {
        let time = match time.map(str::trim).filter(|time| !time.is_empty()) {
            None => words::Clock::default(),
            Some(time) => words::clock(time).ok_or_else(|| no_date(text))?,
        };
        time.on(date)
    }))
}

fn three_numbers(text: &str, first: &str, second: &str, third: &str) -> Result<Date, ToolFailure> {
    let number = |part: &str| part.parse::<i16>().map_err(|_| no_date(text));
    let (a, b, c) = (number(first)?, number(second)?, number(third)?);
    let (year, month, day) = if first.len() == 4 {
        (a, b, c)
    } else if third.len() != 4 {
        return Err(refuse(format!(
            "{:?} has no year of four digits: give the date as YYYY-MM-DD, or say in inputFormat how it is written",
            short(text)
        )));
    } else if a == b || b > 12 {
        (c, a, b)
    } else if a > 12 {
        (c, b, a)
    } else {
        return Err(refuse(format!(
            "{:?} may be day and month or month and day: give it as YYYY-MM-DD, or say inputFormat DD/MM/YYYY or \
             MM/DD/YYYY",
            short(text)
        )));
    };
    let small = |value: i16| i8::try_from(value).map_err(|_| no_day(text));
    Date::new(year, small(month)?, small(day)?).map_err(|_| no_day(text))
}

/// The refusal of a day that no calendar has.
pub(super) fn no_day(text: &str) -> ToolFailure {
    refuse(format!("there is no day {:?} in the calendar: check the day and the month", short(text)))
}

/// The refusal of what is no date.
pub(super) fn no_date(text: &str) -> ToolFailure {
    refuse(format!(
        "{:?} is no date that can be read: give one such as 2026-11-22, 2026-11-22T14:30:00Z, 22 Nov 2026 14:30, or \
         unix seconds",
        short(text)
    ))
}
