//! What was said to an insurer about a request and what came back, and when: it stands on the request.

use kybern_core::ports::ToolContext;
use serde_json::{Map, Value, json};

use crate::args::objects;

/// The member of a request that lists it, oldest first.
pub(super) const CORRESPONDENCE: &str = "correspondence";
/// Entries that it keeps.
const MAX_ENTRIES: usize = 50;

/// What an entry tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Asked,
    Chased,
    Answered,
}

impl Entry {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Chased => "chased",
            Self::Answered => "answered",
        }
    }
}

/// The list with one more entry: `address` is whom the mail went to, or who sent it where it is an answer, and `message`
/// its `Message-ID`, where it has one.
pub(super) fn with(
    context: &ToolContext,
    request: &Map<String, Value>,
    entry: Entry,
    (address, message): (&str, Option<&str>),
) -> Value {
    let mut entries: Vec<Value> = objects(request, CORRESPONDENCE).into_iter().map(Value::Object).collect();
    entries.push(json!({
        "what": entry.as_str(),
        "at": context.now,
        "address": address,
        "message_id": message,
        "task": context.task,
    }));
    entries.drain(..entries.len().saturating_sub(MAX_ENTRIES));
    Value::Array(entries)
}

/// How many entries of that kind there are.
pub(super) fn count_of(request: &Map<String, Value>, entry: Entry) -> usize {
    let entries = objects(request, CORRESPONDENCE);
    entries.iter().filter(|one| one.get("what").and_then(Value::as_str) == Some(entry.as_str())).count()
}
