//! Fields of events and spans, written without secrets and personal data, whoever wrote them, the libraries too.
//!
//! Each value is looked at under its name when it is written, a span's once for all lines that repeat it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Debug};

use kybern_core::policy::redact::redact_named;
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, FormattedFields};

use crate::config::telemetry::LogFormat;

/// How fields are written: `name=value` for people, members of a JSON object without its brackets for machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields(pub(super) LogFormat);

impl Fields {
    fn write(self, writer: Writer<'_>, empty: bool, fields: impl RecordFields) -> fmt::Result {
        let mut visitor = Visitor { writer, json: self.0 == LogFormat::Json, empty, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        self.write(writer, true, fields)
    }

    fn add_fields(&self, current: &'w mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let empty = current.fields.is_empty();
        self.write(current.as_writer(), empty, fields)
    }
}

/// How a value looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueStyle {
    /// As it is: numbers, yes and no.
    Bare,
    Text,
    /// What a thing says of itself.
    Told,
}

struct Visitor<'w> {
    writer: Writer<'w>,
    json: bool,
    empty: bool,
    result: fmt::Result,
}

impl Visitor<'_> {
    /// Writes a value, without what it must not say.
    fn put(&mut self, field: &Field, value: &str, look: ValueStyle) {
        let name = field.name();
        if self.result.is_err() || (!self.json && name.starts_with("log.")) {
            return;
        }
        let name = name.strip_prefix("r#").unwrap_or(name);
        let clean = redact_named(name, value);
        let look = if look == ValueStyle::Bare && *clean != *value { ValueStyle::Told } else { look };
        self.result = if self.json { self.member(name, &clean, look) } else { self.pair(name, &clean, look) };
        self.empty = false;
    }

    fn member(&mut self, name: &str, value: &str, look: ValueStyle) -> fmt::Result {
        if !self.empty {
            self.writer.write_char(',')?;
        }
        string(&mut self.writer, name)?;
        self.writer.write_char(':')?;
        if look == ValueStyle::Bare { self.writer.write_str(value) } else { string(&mut self.writer, value) }
    }

    fn pair(&mut self, name: &str, value: &str, look: ValueStyle) -> fmt::Result {
        if !self.empty {
            self.writer.write_char(' ')?;
        }
        if name == "message" {
            return self.writer.write_str(&printable(value));
        }
        if self.writer.has_ansi_escapes() {
            write!(self.writer, "\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m")?;
        } else {
            self.writer.write_str(name)?;
            self.writer.write_char('=')?;
        }
        if look == ValueStyle::Text { write!(self.writer, "{value:?}") } else { self.writer.write_str(value) }
    }
}

impl Visit for Visitor<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no other numbers.
        let look = if value.is_finite() { ValueStyle::Bare } else { ValueStyle::Told };
        self.put(field, &format!("{value:?}"), look);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, &value.to_string(), ValueStyle::Bare);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, &value.to_string(), ValueStyle::Bare);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, if value { "true" } else { "false" }, ValueStyle::Bare);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value, ValueStyle::Text);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let mut text = value.to_string();
        let mut sources = Vec::new();
        let mut source = value.source();
        while let Some(cause) = source {
            sources.push(cause.to_string());
            source = cause.source();
        }
        if !self.json && !sources.is_empty() {
            text = format!("{text} {}.sources=[{}]", field.name(), sources.join(", "));
        }
        self.put(field, &printable(&text), ValueStyle::Told);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, &format!("{value:?}"), ValueStyle::Told);
    }
}

/// Writes a text as JSON does.
pub(super) fn string(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if text.bytes().all(plain) {
        writer.write_char('"')?;
        writer.write_str(text)?;
        return writer.write_char('"');
    }
    writer.write_str(&serde_json::to_string(text).map_err(|_error| fmt::Error)?)
}

/// A text without what would command the terminal that shows it.
fn printable(text: &str) -> Cow<'_, str> {
    let commands = |letter: char| matches!(letter, '\x07' | '\x08' | '\x0c' | '\x1b' | '\x7f'..='\u{9f}');
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let escaped = |letter: char| match letter {
        '\x00'..='\x7f' => format!("\\x{:02x}", u32::from(letter)),
        _beyond => format!("\\u{{{:x}}}", u32::from(letter)),
    };
    Cow::Owned(text.chars().map(|c| if commands(c) { escaped(c) } else { c.to_string() }).collect())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::super::line::LineFormat;
    use super::*;

    /// Keeps what is written.
    #[derive(Clone, Default)]
    struct CapturedLog(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedLog {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(line)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for CapturedLog {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    fn said(format: LogFormat, ansi: bool, work: impl FnOnce()) -> String {
        let kept = CapturedLog::default();
        let layer = tracing_subscriber::fmt::layer().fmt_fields(Fields(format)).event_format(LineFormat(format));
        let layer = layer.with_ansi(ansi).with_writer(kept.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        String::from_utf8(kept.0.lock().unwrap().clone()).unwrap()
    }

    #[derive(Debug, thiserror::Error)]
    #[error("sent to {0}")]
    struct Failed(&'static str, #[source] io::Error);

    /// A secret in every place of a line that can hold a text.
    fn secrets() {
        let inner = io::Error::other("at https://bob:hunter3@db/x");
        let error: &(dyn Error + 'static) = &Failed("eve@example.com", inner);
        let span = tracing::info_span!("work", db.password = "swordfish", to = %"bob@example.com", n = 1, late = tracing::field::Empty);
        span.record("late", "Bearer abc123def456");
        let _entered = span.enter();
        let kept = Some("token=hunter2x");
        tracing::info!(
            token = "hunter2",
            pin = 47_110_815,
            card = 4_111_111_111_111_111_u64,
            number = 4_111_111_111_111_111_i64,
            ?kept,
            error,
            "to {}",
            "ann@example.com"
        );
    }

    // Numbers of seven digits and more: a line begins with its time, whose fraction has six.
    #[test]
    fn a_secret_in_any_field_of_a_line_or_of_its_spans_is_redacted() {
        for (format, ansi) in [(LogFormat::Text, false), (LogFormat::Text, true), (LogFormat::Json, false)] {
            let said = said(format, ansi, secrets);
            for secret in
                ["swordfish", "bob@", "abc123def456", "hunter2", "47110815", "4111111", "hunter2x", "eve@", "ann@"]
            {
                assert!(!said.contains(secret), "{secret}: {said}");
            }
            assert!(!said.contains("hunter3") && said.contains("[redacted:password]"), "{said}");
            if format == LogFormat::Json {
                serde_json::from_str::<Value>(&said).unwrap();
            }
        }
    }

    fn harmless() {
        let outer = tracing::info_span!("request", route = "/api/tasks", id = %"019ac5f2-3b1c-7d2e-9f3a-0123456789ab");
        let _outer = outer.enter();
        let inner = tracing::info_span!("task.run", late = tracing::field::Empty);
        let _inner = inner.enter();
        inner.record("late", 7);
        tracing::warn!(said = "a \"b\"\n", share = 0.5, done = true, less = -3, "\x1b[31mred");
    }

    #[test]
    fn lines_look_as_they_do_by_the_library() {
        let text = said(LogFormat::Text, false, harmless);
        let (time, rest) = text.split_at(27);
        assert!(time.ends_with('Z'), "{text}");
        let id = "019ac5f2-3b1c-7d2e-9f3a-0123456789ab";
        let spans = format!("request{{route=\"/api/tasks\" id={id}}}:task.run{{late=7}}:");
        let fields = r#"\x1b[31mred said="a \"b\"\n" share=0.5 done=true less=-3"#;
        assert_eq!(rest, format!("  WARN {spans} {fields}\n"));

        let mut line: Value = serde_json::from_str(&said(LogFormat::Json, false, harmless)).unwrap();
        let request = json!({"name": "request", "route": "/api/tasks", "id": id});
        let task = json!({"name": "task.run", "late": 7});
        let fields = json!({"message": "\u{1b}[31mred", "said": "a \"b\"\n", "share": 0.5, "done": true, "less": -3});
        line["timestamp"] = json!("then");
        let whole =
            json!({"timestamp": "then", "level": "WARN", "fields": fields, "span": task, "spans": [request, task]});
        assert_eq!(line, whole);
    }
}
