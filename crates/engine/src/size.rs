//! About how large a value is, and what a model is told: bounds that need no counting.

use kybern_core::model::{Image, Part};
use serde_json::{Map, Value};

/// What a message costs beside its words: its role and its borders.
pub(crate) const PER_MESSAGE: u64 = 8;
/// What an image costs at most at most providers: Anthropic counts up to some 1,600, newer models and Gemini's tiles a
/// few times that.
pub(crate) const PER_IMAGE: u64 = 6_000;

/// About how many bytes an object is as JSON.
pub(crate) fn of_members(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + 4 + of_value(value)).sum::<usize>() + 2
}

/// About how many bytes a value is as JSON.
pub(crate) fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(of_value).sum::<usize>() + 2,
        Value::Object(members) => of_members(members),
    }
}

/// The most tokens of one part of a message.
pub(crate) fn of_part(part: &Part) -> u64 {
    match part {
        Part::Text { text } => bytes(text),
        Part::Image(Image::Data { .. } | Image::Url { .. }) => PER_IMAGE,
        Part::Reasoning(reasoning) => bytes(&reasoning.text) + reasoning.opaque.as_deref().map_or(0, bytes),
        Part::ToolCall(call) => PER_MESSAGE + bytes(&call.name) + bytes(&call.arguments) + bytes(&call.id),
        Part::ToolAnswer(answer) => PER_MESSAGE + bytes(&answer.content) + bytes(&answer.call_id),
    }
}

pub(crate) fn bytes(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
