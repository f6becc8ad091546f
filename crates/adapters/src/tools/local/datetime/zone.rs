//! Time zones, and times on the wall made moments. The rules of the zones are those that the program brings, never the
//! machine's files, so the answer is the same everywhere.

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};
use kybern_core::tool::ToolFailure;

use super::super::{refuse, short};

/// A moment, and what had to be decided to find it.
#[derive(Clone, Debug)]
pub(super) struct ZonedMoment {
    pub(super) zoned: Zoned,
    pub(super) note: Option<String>,
}

impl ZonedMoment {
    /// One that left nothing to decide.
    pub(super) const fn exact(zoned: Zoned) -> Self {
        Self { zoned, note: None }
    }
}

/// The zone of a call.
#[derive(Clone, Debug)]
pub(super) struct CallZone {
    zone: TimeZone,
    name: String,
}

impl CallZone {
    /// The zone of that name or offset; UTC without one.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn of(given: Option<&str>) -> Result<Self, ToolFailure> {
        let given = given.map(str::trim).filter(|given| !given.is_empty()).unwrap_or("UTC");
        if matches!(given, "UTC" | "utc" | "Z" | "z" | "GMT" | "Etc/UTC") {
            return Ok(Self { zone: TimeZone::UTC, name: "UTC".to_owned() });
        }
        if let Some(offset) = offset(given) {
            return Ok(Self { zone: TimeZone::fixed(offset), name: super::pattern::offset_text(offset, true) });
        }
        let known = given.len() <= 64 && given.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c));
        let zone = if known { TimeZoneDatabase::bundled().get(given).ok() } else { None };
        let zone = zone.ok_or_else(|| {
            refuse(format!(
                "there is no time zone {:?}: give an IANA name such as America/New_York, an offset such as -05:00, or UTC",
                short(given)
            ))
        })?;
        let name = zone.iana_name().unwrap_or(given).to_owned();
        Ok(Self { zone, name })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn at(&self, moment: Timestamp) -> Zoned {
        moment.to_zoned(self.zone.clone())
    }

    /// A time on this zone's wall as a moment, with a note where there was none or were two.
    ///
    /// # Errors
    /// When it is out of range.
    pub(super) fn place(&self, wall: DateTime) -> Result<ZonedMoment, ToolFailure> {
        let ambiguous = self.zone.to_ambiguous_zoned(wall);
        let offset = ambiguous.offset();
        let zoned = ambiguous.compatible().map_err(|_| out_of_range())?;
        let note = match offset {
            AmbiguousOffset::Unambiguous { .. } => None,
            AmbiguousOffset::Gap { .. } => Some(format!(
                "{wall} does not exist in {}, where clocks jump forward: {} was taken",
                self.name,
                zoned.datetime()
            )),
            AmbiguousOffset::Fold { before, after } => Some(format!(
                "{wall} exists twice in {}, where clocks fall back: the first, at {}, was taken, not the one at {}",
                self.name,
                super::pattern::offset_text(before, true),
                super::pattern::offset_text(after, true)
            )),
        };
        Ok(ZonedMoment { zoned, note })
    }
}

/// A moment with the name of its zone behind it, such as `2026-11-22T10:30:00-05:00[America/New_York]`; `None` when it
/// is none, or its offset is not the zone's.
pub(super) fn with_its_zone(text: &str) -> Option<Timestamp> {
    const READER: DateTimeParser = DateTimeParser::new();
    READER.parse_zoned_with(&TimeZoneDatabase::bundled(), text).ok().map(|zoned| zoned.timestamp())
}

/// An offset such as `+02:00`, `-0530` or `+2`.
pub(super) fn offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "00"),
    };
    let number = |digits: &str, most: i32| {
        let short = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<i32>().ok().filter(|value| short && *value <= most)
    };
    Offset::from_seconds(sign * (number(hours, 18)? * 3_600 + number(minutes, 59)? * 60)).ok()
}

/// The refusal of what no calendar reaches.
pub(super) fn out_of_range() -> ToolFailure {
    refuse("the date is out of range: dates lie between 2 January -9999 and 30 December 9999")
}
