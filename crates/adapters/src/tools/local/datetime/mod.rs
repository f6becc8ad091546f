//! `datetime`: the time now, and dates read, written, compared and moved, in a time zone that the answer names.
//!
//! A date without an offset is read in the zone of the call. Where clocks jump forward, a time that does not exist
//! moves forward by the jump; where they fall back, a time that exists twice is the first of the two. The answer says
//! so. Without a zone it is UTC, never the server's own. Dates that may be read in two ways are refused.

mod pattern;
mod pattern_read;
mod read;
mod spans;
mod words;
mod zone;

use jiff::Zoned;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::spans::Unit;
use self::zone::{CallZone, ZonedMoment};
use super::{fields, optional_text, refuse, text};

pub(super) use read::day_of;

/// How results are written when the call does not say.
const DEFAULT_FORMAT: &str = "YYYY-MM-DD HH:mm:ss";

/// The tool.
pub(super) fn datetime() -> StatelessTool {
    let date = |what: &str| {
        json!({"type": ["string", "null"], "description": format!(
            "{what}: ISO 8601 (2026-11-22 or 2026-11-22T14:30:00Z), RFC 2822, 22 Nov 2026, November 22, 2026 \
             3:30 PM, or unix seconds or milliseconds. Without an offset it is read in the timezone."
        )})
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "operation": {
                "type": "string",
                "enum": ["now", "parse", "format", "diff", "add"],
                "description": "now: the time. parse: reads date. format: writes date (or now) in format. diff: \
                                from date1 to date2 in unit. add: moves date (or now) by amount of unit."
            },
            "timezone": {
                "type": ["string", "null"],
                "description": "IANA name such as Africa/Kigali or America/New_York, an offset such as +02:00, or \
                                UTC, which it is when nothing is given."
            },
            "date": date("parse, format, add: the date"),
            "date1": date("diff: where it begins"),
            "date2": date("diff: where it ends"),
            "inputFormat": {
                "type": ["string", "null"],
                "description": "How the given dates are written when they could be read in two ways: DD/MM/YYYY \
                                or MM/DD/YYYY. The same tokens as format."
            },
            "format": {
                "type": ["string", "null"],
                "description": "How formatted is written: iso, rfc2822, date, time, or tokens: YYYY YY MMMM MMM \
                                MM M DD D Do dddd ddd HH H hh h mm m ss s SSS A a Z ZZ z X x Q; words in \
                                [brackets]. YYYY-MM-DD HH:mm:ss when nothing is given."
            },
            "unit": {
                "type": ["string", "null"],
                "enum": Unit::names(),
                "description": "diff, add: the unit. Days, weeks, months, quarters and years follow the calendar \
                                and the clock on the wall; hours and less are exact time."
            },
            "amount": {
                "type": ["number", "null"],
                "description": "add: how many units; negative goes back. Whole for days and longer."
            },
            "now": date("What now is, for repeating an earlier call; the server's time when nothing is given")
        },
        "required": ["operation"],
        "additionalProperties": false
    });
    let description = "The time now, and dates read, written, compared and moved, in a named time zone. Answers \
                       iso in UTC, local with its offset, formatted, timestamp in milliseconds, timezone and \
                       offset. A date such as 03/04/2026 is refused unless inputFormat says the order.";
    let spec = ToolSpec::read("datetime", description, schema).shown(
        &["date", "time", "timezone", "deadline"],
        json!({"operation": "add", "date": "2026-11-22", "amount": 30, "unit": "days"}),
    );
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    if super::is_large(&args) {
        return Err(refuse(format!(
            "the arguments have more than {} bytes: dates and formats are short",
            super::SMALL
        )));
    }
    let call = Call { context, zone: CallZone::of(optional_text(&args, "timezone"))?, args: &args };
    let operation = text(&args, "operation")?;
    let data = match operation {
        "now" => call.answer(&call.now()?),
        "parse" => call.answer(&call.date("date")?),
        "format" => call.answer(&call.date_or_now()?),
        "diff" => call.difference(),
        "add" => call.moved(),
        other => Err(refuse(format!("there is no operation {other:?}: use now, parse, format, diff or add"))),
    };
    Ok(ToolOutcome::new(data?, format!("{operation} in {}", call.zone.name())))
}

struct Call<'a> {
    context: &'a ToolContext,
    zone: CallZone,
    args: &'a Map<String, Value>,
}

impl Call<'_> {
    fn now(&self) -> Result<ZonedMoment, ToolFailure> {
        if let Some(now) = optional_text(self.args, "now") {
            return self.read("now", now);
        }
        let now = jiff::Timestamp::from_millisecond(self.context.now.as_millis());
        let now = now.map_err(|_| refuse("the clock is out of range: give now"))?;
        Ok(ZonedMoment::exact(self.zone.at(now)))
    }

    fn date(&self, name: &str) -> Result<ZonedMoment, ToolFailure> {
        let given = optional_text(self.args, name);
        let given = given.ok_or_else(|| refuse(format!("argument {name} is missing: give a date")))?;
        self.read(name, given)
    }

    fn date_or_now(&self) -> Result<ZonedMoment, ToolFailure> {
        if optional_text(self.args, "date").is_some() { self.date("date") } else { self.now() }
    }

    fn read(&self, name: &str, given: &str) -> Result<ZonedMoment, ToolFailure> {
        let format = optional_text(self.args, "inputFormat").filter(|_| name != "now");
        read::read(given, format, &self.zone)
            .map_err(|failure| ToolFailure { message: format!("{name}: {}", failure.message), ..failure })
    }

    fn unit(&self) -> Result<Unit, ToolFailure> {
        let name = optional_text(self.args, "unit");
        Unit::of(name.ok_or_else(|| refuse("argument unit is missing: give one such as day or hour"))?)
    }

    fn formatted(&self, zoned: &Zoned) -> Result<String, ToolFailure> {
        pattern::write(zoned, optional_text(self.args, "format").unwrap_or(DEFAULT_FORMAT))
    }

    /// What is told of one moment.
    fn answer(&self, moment: &ZonedMoment) -> Result<Map<String, Value>, ToolFailure> {
        let zoned = &moment.zoned;
        let mut data = fields([
            ("iso", json!(iso(zoned))),
            ("local", json!(local(zoned))),
            ("formatted", json!(self.formatted(zoned)?)),
            ("timestamp", json!(zoned.timestamp().as_millisecond())),
            ("timezone", json!(self.zone.name())),
            ("offset", json!(pattern::offset(zoned, true))),
            ("weekday", json!(pattern::weekday(zoned.date()))),
        ]);
        if let Some(note) = &moment.note {
            data.insert("note".to_owned(), json!(note));
        }
        Ok(data)
    }

    fn difference(&self) -> Result<Map<String, Value>, ToolFailure> {
        let unit = self.unit()?;
        let (from, to) = (self.date("date1")?, self.date("date2")?);
        let mut data = spans::difference(&from.zoned, &to.zoned, unit)?;
        data.insert("unit".to_owned(), json!(unit.name()));
        data.insert("from".to_owned(), json!(local(&from.zoned)));
        data.insert("to".to_owned(), json!(local(&to.zoned)));
        data.insert("timezone".to_owned(), json!(self.zone.name()));
        let notes: Vec<String> = [("date1", from.note), ("date2", to.note)]
            .into_iter()
            .filter_map(|(name, note)| note.map(|note| format!("{name}: {note}")))
            .collect();
        if !notes.is_empty() {
            data.insert("note".to_owned(), json!(notes.join("; ")));
        }
        Ok(data)
    }

    fn moved(&self) -> Result<Map<String, Value>, ToolFailure> {
        let unit = self.unit()?;
        let amount = self.args.get("amount").and_then(Value::as_f64);
        let amount = amount.ok_or_else(|| refuse("argument amount is missing: give a number"))?;
        let from = self.date_or_now()?;
        let to = spans::moved(&from.zoned, amount, unit, &self.zone)?;
        let mut data = self.answer(&to)?;
        data.shift_insert(0, "original".to_owned(), json!(local(&from.zoned)));
        data.shift_insert(1, "result".to_owned(), json!(local(&to.zoned)));
        if let Some(note) = from.note {
            data.insert("originalNote".to_owned(), json!(note));
        }
        Ok(data)
    }
}

/// The moment in UTC, to the millisecond.
fn iso(zoned: &Zoned) -> String {
    format!("{:.3}", zoned.timestamp())
}

/// The moment with the offset that holds there, to the second or as exactly as it is known.
fn local(zoned: &Zoned) -> String {
    format!("{}{}", zoned.datetime(), pattern::offset(zoned, true))
}
