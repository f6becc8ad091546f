//! Dates with a month's name, such as `Sunday, November 22nd 2026 at 3:30 PM`, and times of day.

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use kybern_core::tool::ToolFailure;

use super::super::{refuse, short};
use super::pattern::{self, MONTHS, WEEKDAYS};
use super::read::{WrittenDate, no_date, no_day};
use super::zone::{offset, out_of_range};

/// Reads a date with a month's name.
///
/// # Errors
/// When it is none.
pub(super) fn read(text: &str) -> Result<WrittenDate, ToolFailure> {
    let text = without_zone_name(text)?;
    let words: Vec<&str> = text.split([' ', ',', '\t', '\u{a0}']).filter(|word| !word.is_empty()).collect();
    let mut weekday = None;
    let (mut year, mut month, mut day) = (None, None, None);
    let mut taken = 0;
    for (index, word) in words.iter().enumerate() {
        let bare = word.trim_end_matches('.');
        if month.is_none() && is_weekday(bare) && weekday.is_none() && day.is_none() {
            weekday = Some(bare);
        } else if let Some(number) = month_number(bare).filter(|_| month.is_none()) {
            month = Some(number);
        } else if let Some(number) = day_number(bare).filter(|_| day.is_none()) {
            day = Some(number);
        } else if word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit()) && year.is_none() && month.is_some() {
            year = word.parse::<i16>().ok();
        } else if *word == "of" && day.is_some() && month.is_none() {
            continue;
        } else {
            break;
        }
        taken = index + 1;
        if year.is_some() && day.is_some() {
            break;
        }
    }
    let (Some(month), Some(day)) = (month, day) else { return dashed(text) };
    let year = year.ok_or_else(|| refuse(format!("{:?} has no year: add one of four digits", short(text))))?;
    let date = Date::new(year, month, day).map_err(|_| no_day(text))?;
    if let Some(weekday) = weekday {
        check_weekday(weekday, date)?;
    }
    let rest: Vec<&str> = words[taken..].iter().copied().filter(|word| *word != "at").collect();
    if rest.is_empty() {
        return Clock::default().on(date);
    }
    clock(&rest.join(" ")).ok_or_else(|| no_date(text))?.on(date)
}

/// The text without the zone's name that some programs write behind its offset. Anything else in parentheses may say
/// what counts.
///
/// # Errors
/// When something else stands in parentheses.
fn without_zone_name(text: &str) -> Result<&str, ToolFailure> {
    let Some((before, behind)) = text.split_once(" (") else { return Ok(text) };
    let last = before.split_whitespace().next_back().unwrap_or_default().to_ascii_uppercase();
    let hours = last.strip_prefix("GMT").or_else(|| last.strip_prefix("UTC")).unwrap_or(&last);
    let is_offset = hours.is_empty()
        || hours == "Z"
        || hours.strip_prefix(['+', '-']).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b':'));
    let name = behind.strip_suffix(')').unwrap_or_default();
    let is_name = !name.is_empty() && !name.bytes().any(|b| b.is_ascii_digit()) && !is_weekday(name);
    if is_offset && is_name {
        return Ok(before);
    }
    Err(refuse(format!("{:?} says something in parentheses: write the date without them", short(text))))
}

/// `22-Nov-2026`
fn dashed(text: &str) -> Result<WrittenDate, ToolFailure> {
    let lower = text.trim().to_ascii_lowercase();
    if ["now", "today", "tomorrow", "yesterday"].contains(&lower.as_str()) {
        return Err(refuse(format!("{lower:?} is no date: use operation now or add, or give the day itself")));
    }
    let parts: Vec<&str> = text.trim().split('-').collect();
    if let [day, month, year] = parts[..]
        && month_number(month).is_some()
        && day_number(day).is_some()
    {
        return read(&format!("{day} {month} {year}"));
    }
    Err(no_date(text))
}

/// Refuses a weekday that is not the date's.
///
/// # Errors
/// When it is another day's name, or none.
pub(super) fn check_weekday(name: &str, date: Date) -> Result<(), ToolFailure> {
    let real = pattern::weekday(date);
    let same = name.len() >= 3 && real.to_ascii_lowercase().starts_with(&name.to_ascii_lowercase());
    if same { Ok(()) } else { Err(refuse(format!("{date} is a {real}, not a {}: correct one of them", short(name)))) }
}

fn is_weekday(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.len() >= 3 && WEEKDAYS.iter().any(|name| name.to_ascii_lowercase().starts_with(&word))
}

fn month_number(word: &str) -> Option<i8> {
    let word = word.to_ascii_lowercase();
    let place = MONTHS.iter().position(|name| {
        let name = name.to_ascii_lowercase();
        word.len() >= 3 && name.starts_with(&word) || word == "sept" && name == "september"
    });
    i8::try_from(place? + 1).ok()
}

fn day_number(word: &str) -> Option<i8> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let end = word[digits..].to_ascii_lowercase();
    let fits = (1..=2).contains(&digits) && ["", "st", "nd", "rd", "th"].contains(&end.as_str());
    word.get(..digits)?.parse().ok().filter(|_| fits)
}

/// A time of day, and its offset when it has one.
#[derive(Clone, Copy, Default)]
pub(super) struct Clock {
    pub(super) time: Time,
    pub(super) offset: Option<Offset>,
}

impl Clock {
    /// That time on a day.
    ///
    /// # Errors
    /// When it is out of range.
    pub(super) fn on(self, date: Date) -> Result<WrittenDate, ToolFailure> {
        let wall = date.to_datetime(self.time);
        match self.offset {
            None => Ok(WrittenDate::Wall(wall)),
            Some(offset) => offset.to_timestamp(wall).map(WrittenDate::Moment).map_err(|_| out_of_range()),
        }
    }
}

/// `14:30`, `14:30:15.250`, `3pm`, `3:30 PM`, with `Z`, `UTC`, `GMT` or an offset behind.
pub(super) fn clock(text: &str) -> Option<Clock> {
    let lower = text.trim().to_ascii_lowercase();
    let (rest, offset) = split_offset(&lower)?;
    let (rest, afternoon) = match rest.strip_suffix("am").or_else(|| rest.strip_suffix("a.m.")) {
        Some(rest) => (rest.trim_end(), Some(false)),
        None => match rest.strip_suffix("pm").or_else(|| rest.strip_suffix("p.m.")) {
            Some(rest) => (rest.trim_end(), Some(true)),
            None => (rest, None),
        },
    };
    let (rest, nanos) = match rest.split_once('.') {
        Some((rest, fraction)) => (rest, nanoseconds(fraction)?),
        None => (rest, 0),
    };
    let mut parts = rest.split(':');
    let number = |part: &str| {
        let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<i8>().ok().filter(|_| fits)
    };
    let hour = number(parts.next()?)?;
    let minute = parts.next().map(number);
    let second = parts.next().map(number);
    // A single number is an hour only with AM or PM, and a fraction belongs to seconds.
    if parts.next().is_some() || minute.is_none() && afternoon.is_none() || second.is_none() && nanos > 0 {
        return None;
    }
    let hour = match afternoon {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
    };
    let time = Time::new(hour, minute.unwrap_or(Some(0))?, second.unwrap_or(Some(0))?, nanos).ok()?;
    Some(Clock { time, offset })
}

fn nanoseconds(fraction: &str) -> Option<i32> {
    let fits = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit());
    format!("{fraction:0<9}").parse().ok().filter(|_| fits)
}

/// What stands before the offset, and the offset; `None` when there is an offset that is none.
fn split_offset(text: &str) -> Option<(&str, Option<Offset>)> {
    for name in ["utc", "gmt", "z"] {
        if let Some(rest) = text.strip_suffix(name) {
            return Some((rest.trim_end(), Some(Offset::UTC)));
        }
    }
    match text.rfind(['+', '-']) {
        None => Some((text, None)),
        Some(at) => {
            let rest = text[..at].trim_end();
            let rest = rest.strip_suffix("gmt").or_else(|| rest.strip_suffix("utc")).unwrap_or(rest);
            Some((rest.trim_end(), Some(offset(&text[at..])?)))
        }
    }
}
