//! Time as integers with units. The clock itself is a port ([`crate::ports::Clock`]).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest text that may be a moment, in bytes, with an offset, a zone and a calendar.
const MAX_MOMENT: usize = 128;

/// A moment: milliseconds since 1970-01-01T00:00:00Z. On the wire RFC 3339 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `ms` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment `span` later; stays at the end of time instead of overflowing.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }

    /// The moment `span` earlier.
    #[must_use]
    pub const fn minus(self, span: Millis) -> Self {
        Self(self.0.saturating_sub_unsigned(span.0))
    }

    /// Day and time at a place, for people and models: `Sunday, 22 November 2026, 23:40 (UTC)`. UTC where nobody knows
    /// the zone.
    #[must_use]
    pub fn spoken_in(self, zone: &str) -> String {
        let Ok(moment) = jiff::Timestamp::from_millisecond(self.0) else { return self.to_string() };
        let (zone, name) = match jiff::tz::TimeZone::get(zone) {
            Ok(found) => (found, zone),
            Err(_) => (jiff::tz::TimeZone::UTC, "UTC"),
        };
        format!("{} ({name})", moment.to_zoned(zone).strftime("%A, %-d %B %Y, %H:%M"))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        let span = self.0.saturating_sub(earlier.0);
        Millis(if span < 0 { 0 } else { span.unsigned_abs() })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "out-of-range:{}", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The error of one that cannot be read repeats all of it, more than once.
        if text.len() > MAX_MOMENT {
            return Err(jiff::Error::from_args(format_args!("{} bytes are too many for a moment", text.len())));
        }
        text.parse::<jiff::Timestamp>().map(|moment| Self(moment.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A span of time in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// Whether it is no time at all.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// The same span for the standard library.
    #[must_use]
    pub const fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_rfc_3339_in_utc() {
        let moment = Timestamp::from_millis(1_790_000_000_123);
        assert_eq!(moment.to_string(), "2026-09-21T14:13:20.123Z");
        assert_eq!(moment.to_string().parse::<Timestamp>().unwrap(), moment);
    }

    #[test]
    fn what_is_too_long_for_a_moment_is_not_repeated() {
        let told = format!("2026-09-21T{}", "1".repeat(10_000)).parse::<Timestamp>().unwrap_err().to_string();
        assert_eq!(told, "10011 bytes are too many for a moment");
        assert!("2026-09-21T14:13:20.123456789+02:00[Europe/Berlin][u-ca=gregory]".parse::<Timestamp>().is_ok());
    }

    #[test]
    fn spans_never_go_below_zero() {
        assert_eq!(Timestamp::from_millis(5).since(Timestamp::from_millis(9)), Millis(0));
    }
}
