//! Values as text for people.

use serde_json::Value;

/// The text without anything that a terminal acts on: control characters, and characters that turn the direction.
pub(crate) fn clean(text: &str) -> String {
    let harmful = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if harmful(c) { ' ' } else { c }).collect()
}

/// A field as one clean line; empty when it is not there.
pub(crate) fn field(value: &Value, name: &str) -> String {
    value.get(name).map(plain).unwrap_or_default()
}

/// A value as one clean line: texts without quotes, everything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => clean(text),
        other => clean(&other.to_string()),
    }
}

/// A value as one clean line of at most `width` characters.
pub(crate) fn short(value: &Value, width: usize) -> String {
    shorten(&plain(value), width)
}

/// A value in full, indented; nothing in it can act on the terminal.
pub(crate) fn in_full(value: &Value, indent: &str) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    let lines: Vec<String> = text.lines().map(|line| format!("{indent}{}", clean(line))).collect();
    lines.join("\n")
}

/// The text in at most `width` characters.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `2026-09-21T14:13:20.123Z` as `2026-09-21 14:13:20`; another text stays as it is.
pub(crate) fn moment(text: &str) -> String {
    match (text.get(..10), text.get(10..11), text.get(11..19)) {
        (Some(day), Some("T"), Some(time)) => clean(&format!("{day} {time}")),
        _other => clean(text),
    }
}

/// A span of milliseconds in the unit that suits it.
pub(crate) fn span(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{seconds}.{} s", (ms % 1000) / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        _longer => format!("{hours} h {} min", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\r\nb\u{202e}c"), "a [31mred  b c");
        assert_eq!(in_full(&json!("one\ntwo\u{7}"), "  "), "  one\n  two ");
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        assert_eq!(short(&json!("grün und blau"), 5), "grün…");
        assert_eq!(short(&json!({"a": 1}), 20), "{\"a\":1}");
        assert_eq!(short(&Value::Null, 5), "");
    }

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        let shown: Vec<String> = [0, 999, 1250, 61_000, 7_260_000].into_iter().map(span).collect();
        assert_eq!(shown, ["0 ms", "999 ms", "1.2 s", "1 min 1 s", "2 h 1 min"]);
    }

    #[test]
    fn moments_lose_their_milliseconds() {
        assert_eq!(moment("2026-09-21T14:13:20.123Z"), "2026-09-21 14:13:20");
        assert_eq!(moment("soon"), "soon");
    }
}
