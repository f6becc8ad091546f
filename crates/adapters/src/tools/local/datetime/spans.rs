//! Units, and how far apart two moments are.
//!
//! Days and longer follow the calendar and the clock on the wall: a day later is the same time on the next day, also
//! when clocks change between. Hours and shorter are exact time.

use jiff::{SignedDuration, Span, Unit as Step, Zoned};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::super::{fields, refuse, short};
use super::zone::{CallZone, ZonedMoment, out_of_range};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

const UNITS: [(Unit, &str, &str); 9] = [
    (Unit::Millisecond, "millisecond", "milliseconds"),
    (Unit::Second, "second", "seconds"),
    (Unit::Minute, "minute", "minutes"),
    (Unit::Hour, "hour", "hours"),
    (Unit::Day, "day", "days"),
    (Unit::Week, "week", "weeks"),
    (Unit::Month, "month", "months"),
    (Unit::Quarter, "quarter", "quarters"),
    (Unit::Year, "year", "years"),
];

impl Unit {
    /// Every name of a unit, for the schema; null is no unit.
    pub(super) fn names() -> Vec<Option<&'static str>> {
        UNITS.iter().flat_map(|(_, one, many)| [Some(*one), Some(*many)]).chain([None]).collect()
    }

    /// The unit of that name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn of(name: &str) -> Result<Self, ToolFailure> {
        let found = UNITS.iter().find(|(_, one, many)| *one == name || *many == name);
        found.map(|(unit, ..)| *unit).ok_or_else(|| {
            let known: Vec<&str> = UNITS.iter().map(|(_, one, _)| *one).collect();
            refuse(format!("there is no unit {:?}: use {}", short(name), known.join(", ")))
        })
    }

    /// Its name in the singular.
    pub(super) fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, ..)| *unit == self).map_or("", |(_, name, _)| name)
    }

    /// Its milliseconds, when it has always as many.
    const fn millis(self) -> Option<i64> {
        match self {
            Self::Millisecond => Some(1),
            Self::Second => Some(1_000),
            Self::Minute => Some(60_000),
            Self::Hour => Some(3_600_000),
            Self::Day | Self::Week | Self::Month | Self::Quarter | Self::Year => None,
        }
    }
}

/// How far it is, in a unit: positive when `to` is later. Exact time has `milliseconds`; the calendar has whole units
/// and a `remainder`.
///
/// # Errors
/// When it is out of range.
pub(super) fn difference(from: &Zoned, to: &Zoned, unit: Unit) -> Result<Map<String, Value>, ToolFailure> {
    let millis = to.timestamp().as_millisecond() - from.timestamp().as_millisecond();
    if let Some(length) = unit.millis() {
        return Ok(fields([("difference", quotient(millis, length)), ("milliseconds", json!(millis))]));
    }
    let (largest, size) = match unit {
        Unit::Week => (Step::Day, 7),
        Unit::Month => (Step::Month, 1),
        Unit::Quarter => (Step::Month, 3),
        Unit::Year => (Step::Year, 1),
        _ => (Step::Day, 1),
    };
    let span = from.until((largest, to)).map_err(|_| out_of_range())?;
    let whole = match largest {
        Step::Year => i64::from(span.get_years()),
        Step::Month => i64::from(span.get_months()),
        _ => i64::from(span.get_days()),
    };
    let months = match unit {
        Unit::Year => i64::from(span.get_months()),
        Unit::Quarter => whole % size,
        _ => 0,
    };
    let days = match unit {
        Unit::Day => 0,
        Unit::Week => whole % size,
        _ => i64::from(span.get_days()),
    };
    let rest = fields([
        ("months", json!(months)),
        ("days", json!(days)),
        ("hours", json!(span.get_hours())),
        ("minutes", json!(span.get_minutes())),
        ("seconds", json!(span.get_seconds())),
        ("milliseconds", json!(span.get_milliseconds())),
    ]);
    Ok(fields([
        ("difference", json!(whole / size)),
        ("remainder", Value::Object(rest)),
        ("milliseconds", json!(millis)),
    ]))
}

/// A quotient: whole when it is, otherwise the nearest decimal number.
fn quotient(millis: i64, length: i64) -> Value {
    if millis % length == 0 {
        return json!(millis / length);
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds within the calendar have 49 bits")]
    let (millis, length) = (millis as f64, length as f64);
    json!(millis / length)
}

/// The moment so many units later. A day that a month does not have becomes its last one.
///
/// # Errors
/// When the amount is not whole where it must be, or the result out of range.
pub(super) fn moved(from: &Zoned, amount: f64, unit: Unit, zone: &CallZone) -> Result<ZonedMoment, ToolFailure> {
    if let Some(length) = unit.millis() {
        #[expect(clippy::cast_precision_loss, reason = "a unit has few milliseconds")]
        let exact = amount * length as f64;
        if (exact - exact.round()).abs() > 1e-3 {
            return Err(refuse(format!("{amount} {} is no whole number of milliseconds: round it", unit.name())));
        }
        let span = SignedDuration::from_millis(integer(exact.round())?);
        let later = from.timestamp().checked_add(span).map_err(|_| out_of_range())?;
        return Ok(ZonedMoment::exact(zone.at(later)));
    }
    if amount.fract() != 0.0 {
        return Err(refuse(format!(
            "amount must be whole for the unit {}, not {amount}: use a smaller unit, such as hour",
            unit.name()
        )));
    }
    let amount = integer(amount)?;
    if amount == 0 {
        return Ok(ZonedMoment::exact(from.clone()));
    }
    let span = match unit {
        Unit::Week => Span::new().try_weeks(amount),
        Unit::Month => Span::new().try_months(amount),
        Unit::Quarter => Span::new().try_months(amount.checked_mul(3).ok_or_else(out_of_range)?),
        Unit::Year => Span::new().try_years(amount),
        _ => Span::new().try_days(amount),
    };
    let span = span.map_err(|_| out_of_range())?;
    zone.place(from.datetime().checked_add(span).map_err(|_| out_of_range())?)
}

/// A machine number that is whole, as one.
fn integer(value: f64) -> Result<i64, ToolFailure> {
    const MOST: f64 = 1e15;
    if value.abs() > MOST {
        return Err(out_of_range());
    }
    format!("{value:.0}").parse().map_err(|_| out_of_range())
}
