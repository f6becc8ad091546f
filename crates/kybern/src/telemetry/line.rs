//! A line of the log: when, how grave, in which spans, and the event's own fields.

use std::fmt::{self, Write as _};

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields as _, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use super::fields::Fields;
use crate::config::telemetry::LogFormat;

/// Writes lines: one JSON object each, or a text for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineFormat(pub(super) LogFormat);

impl<S: Subscriber + for<'a> LookupSpan<'a>> FormatEvent<S, Fields> for LineFormat {
    fn format_event(&self, ctx: &FmtContext<'_, S, Fields>, writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        match self.0 {
            LogFormat::Json => json(ctx, writer, event),
            LogFormat::Text => text(ctx, writer, event),
        }
    }
}

fn json<S>(ctx: &FmtContext<'_, S, Fields>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    writer.write_str(r#"{"timestamp":""#)?;
    SystemTime.format_time(&mut writer)?;
    write!(writer, r#"","level":"{}","fields":{{"#, event.metadata().level())?;
    ctx.format_fields(writer.by_ref(), event)?;
    writer.write_char('}')?;
    if let Some(scope) = ctx.event_scope() {
        let mut spans = String::new();
        let mut last = 0;
        for span in scope.from_root() {
            if !spans.is_empty() {
                spans.push(',');
            }
            last = spans.len();
            object(&mut spans, &span)?;
        }
        let current = spans.get(last..).unwrap_or_default();
        write!(writer, r#","span":{current},"spans":[{spans}]"#)?;
    }
    writer.write_str("}\n")
}

/// A span as an object: its fields and its name.
fn object<S: for<'a> LookupSpan<'a>>(spans: &mut String, span: &SpanRef<'_, S>) -> fmt::Result {
    spans.push('{');
    if let Some(fields) = span.extensions().get::<FormattedFields<Fields>>().filter(|fields| !fields.is_empty()) {
        spans.push_str(&fields.fields);
        spans.push(',');
    }
    write!(spans, r#""name":"{}"}}"#, span.name())
}

fn text<S>(ctx: &FmtContext<'_, S, Fields>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let is_ansi = writer.has_ansi_escapes();
    let paint = |code: &'static str| if is_ansi { code } else { "" };
    let (dim, bold, end) = (paint("\x1b[2m"), paint("\x1b[1m"), paint("\x1b[0m"));
    writer.write_str(dim)?;
    SystemTime.format_time(&mut writer)?;
    let (colour, level) = match *event.metadata().level() {
        Level::TRACE => ("\x1b[35m", "TRACE"),
        Level::DEBUG => ("\x1b[34m", "DEBUG"),
        Level::INFO => ("\x1b[32m", " INFO"),
        Level::WARN => ("\x1b[33m", " WARN"),
        Level::ERROR => ("\x1b[31m", "ERROR"),
    };
    for part in [end, " ", paint(colour), level, end, " "] {
        writer.write_str(part)?;
    }
    if let Some(scope) = ctx.event_scope() {
        for span in scope.from_root() {
            for part in [bold, span.name(), end] {
                writer.write_str(part)?;
            }
            if let Some(fields) = span.extensions().get::<FormattedFields<Fields>>().filter(|fields| !fields.is_empty())
            {
                for part in [bold, "{", end, &fields.fields, bold, "}", end] {
                    writer.write_str(part)?;
                }
            }
            for part in [dim, ":", end] {
                writer.write_str(part)?;
            }
        }
        writer.write_char(' ')?;
    }
    ctx.format_fields(writer.by_ref(), event)?;
    writer.write_char('\n')
}
