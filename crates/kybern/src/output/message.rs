//! The message that a task is about: from whom, about what, what it says, and its files.

use kybern_core::count::count;
use serde_json::Value;

use super::command::kybern;
use super::paint::Paint;
use super::text::{clean, field, short};

/// The most lines of a message that are shown.
const LINES: usize = 30;

/// The most characters of one line of it that are shown.
const WIDTH: usize = 200;

/// The most of its files that are named.
const FILES: usize = 40;

/// A task's message with its files; `None` when it came with neither text nor files.
pub(crate) fn message(task: &Value, files: &[Value], paint: Paint) -> Option<String> {
    let mut lines = head(task);
    let (text, left_out) = body(task);
    if !text.is_empty() && !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(text);
    let id = field(task, "id");
    if left_out > 0 {
        let hint = match files.iter().any(|file| field(file, "n") == "0") {
            true => format!("{kybern} task attachment {id} 0", kybern = kybern()),
            false => format!("{kybern} task show {id} --json", kybern = kybern()),
        };
        lines.push(paint.dim(&format!("… {}: {hint}", count(left_out, "more line"))));
    }
    let named = self::files(files);
    if !named.is_empty() {
        lines.push(String::new());
        lines.extend(named);
        lines.push(paint.dim(&format!(
            "what a file says: {kybern} task attachment {id} N --text; its bytes: --out FILE",
            kybern = kybern()
        )));
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}").trim_end().to_owned()).collect();
    (!lines.is_empty()).then(|| format!("message\n{}", lines.join("\n")))
}

/// Who wrote a mail to whom, when, and about what.
fn head(task: &Value) -> Vec<String> {
    let Some(mail) = task.get("payload").filter(|_| field(task, "channel") == "email") else { return Vec::new() };
    let of = |address: &Value| match (field(address, "name"), field(address, "address")) {
        (name, address) if name.is_empty() => address,
        (name, address) => format!("{name} <{address}>"),
    };
    let mut lines = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("{name:<9} {text}"));
        }
    };
    let from = mail.get("from").map(of).unwrap_or_default();
    // Only what the own server has found out is worth a word: anybody can write any sender.
    let checked = match mail.pointer("/sender/authenticated").and_then(Value::as_bool) {
        Some(true) => "  (sender confirmed)",
        Some(false) => "  (sender NOT confirmed)",
        None => "",
    };
    add("from", &if from.is_empty() { from } else { format!("{from}{checked}") });
    let receivers: Vec<String> = mail.get("to").and_then(Value::as_array).into_iter().flatten().map(of).collect();
    add("to", &short(&Value::String(receivers.join(", ")), WIDTH));
    add("date", &field(mail, "date"));
    add("subject", &short(mail.get("subject").unwrap_or(&Value::Null), WIDTH));
    lines
}

/// The lines of its text, as many as are shown, and how many are not. Of a mail whose passages are told apart what was
/// quoted, and what stands beneath every mail, counts as not shown.
fn body(task: &Value) -> (Vec<String>, usize) {
    let text = task.get("input").and_then(Value::as_str).unwrap_or_default();
    let shown = |passage: &Value| !matches!(field(passage, "role").as_str(), "quoted" | "footer");
    let place = |passage: &Value, name: &str| usize::try_from(passage.get(name)?.as_u64()?).ok();
    let passages = task.pointer("/payload/passages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<&str> = passages
        .iter()
        .filter(|passage| shown(passage))
        .filter_map(|passage| text.get(place(passage, "start")?..place(passage, "end")?))
        .collect();
    let parts = if parts.is_empty() { vec![text] } else { parts };
    let mut lines: Vec<String> = Vec::new();
    for line in parts.iter().flat_map(|part| part.lines()) {
        let line = short(&Value::String(clean(line)), WIDTH).trim_end().to_owned();
        // One empty line parts paragraphs as well as ten.
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let of_all = text.lines().filter(|line| !line.trim().is_empty()).count();
    lines.truncate(LINES);
    let kept = lines.iter().filter(|line| !line.is_empty()).count();
    (lines, of_all.saturating_sub(kept))
}

fn files(files: &[Value]) -> Vec<String> {
    let attached: Vec<&Value> = files.iter().filter(|file| field(file, "n") != "0").collect();
    let line = |file: &&Value| {
        let size = file.get("size").and_then(Value::as_u64).unwrap_or_default();
        format!(
            "file {:<4} {}  ({}, {})",
            field(file, "n"),
            field(file, "filename"),
            field(file, "contentType"),
            bytes(size)
        )
    };
    let mut lines: Vec<String> = attached.iter().take(FILES).map(line).collect();
    if attached.len() > FILES {
        lines.push(format!("… {}", count(attached.len() - FILES, "more file")));
    }
    lines
}

/// A number of bytes in the unit that suits it.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => count(size, "byte"),
        1024..1_048_576 => format!("{} KB", size / 1024),
        _many => format!("{}.{} MB", size / 1_048_576, size % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(task: &Value, files: &[Value]) -> String {
        message(task, files, Paint::new(false)).unwrap_or_default()
    }

    #[test]
    fn a_mail_shows_its_sender_subject_words_and_files() {
        let text = "Loss runs please.\n\n\nKim\n> old\n> words";
        let task = json!({"id": "t1", "channel": "email", "input": text, "payload": {
            "from": {"name": "Kim", "address": "kim@acme.example"}, "to": [{"name": "", "address": "intake@example.com"}],
            "sender": {"authenticated": false}, "subject": "Losses\u{1b}[2J",
            "passages": [{"role": "newest", "start": 0, "end": 23}, {"role": "quoted", "start": 24, "end": 37}]}});
        let files = [
            json!({"n": 0, "filename": "message.eml", "contentType": "message/rfc822", "size": 900}),
            json!({"n": 1, "filename": "dec.pdf", "contentType": "application/pdf", "size": 1_600_000}),
        ];
        let expected = "message\n  from      Kim <kim@acme.example>  (sender NOT confirmed)\n  to        intake@example.com\n  \
            subject   Losses [2J\n\n  Loss runs please.\n\n  Kim\n  … 2 more lines: kybern task attachment t1 0\n\n  \
            file 1    dec.pdf  (application/pdf, 1.5 MB)\n  what a file says: kybern task attachment t1 N --text; its bytes: --out FILE";
        assert_eq!(shown(&task, &files), expected);
    }

    #[test]
    fn other_messages_show_their_words() {
        let task = json!({"id": "t1", "channel": "sms", "input": "ok see you at 3", "payload": {"from": "+15550100"}});
        assert_eq!(shown(&task, &[]), "message\n  ok see you at 3");
        assert!(message(&json!({"id": "t1", "channel": "api", "input": ""}), &[], Paint::new(false)).is_none());
        // Passages that do not fit are no reason to show nothing.
        let task = json!({"channel": "email", "input": "é", "payload": {"passages": [{"role": "newest", "start": 1, "end": 9}]}});
        assert_eq!(shown(&task, &[]), "message\n  é");
    }

    #[test]
    fn long_messages_say_how_much_is_left_out() {
        let text = (0..50).map(|n| format!("line {n}\n")).collect::<String>();
        let shown = shown(&json!({"id": "t1", "channel": "api", "input": text}), &[]);
        assert!(shown.ends_with("  line 29\n  … 20 more lines: kybern task show t1 --json"), "{shown}");
    }
}
