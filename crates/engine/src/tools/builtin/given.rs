//! What a tool of the engine's own nouns is given, read out of arguments that fit its schema; and what it says when a
//! reader refuses.

use std::str::FromStr;

use kybern_core::error::{Error, ErrorCode};
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

/// A text argument that may be left out, or be null.
pub(super) fn maybe<'a>(args: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}

pub(super) fn id<T: FromStr>(args: &Map<String, Value>, name: &str) -> Result<T, ToolFailure> {
    maybe_id(args, name)?.ok_or_else(|| invalid(format!("{name} is missing")))
}

/// An id that may be left out.
pub(super) fn maybe_id<T: FromStr>(args: &Map<String, Value>, name: &str) -> Result<Option<T>, ToolFailure> {
    let read = |text: &str| text.parse().map_err(|_| invalid(format!("{name} {text:.64?} is no id")));
    maybe(args, name).map(read).transpose()
}

/// A moment that may be left out; an inner `None` for null.
pub(super) fn moment(args: &Map<String, Value>, name: &str) -> Result<Option<Option<Timestamp>>, ToolFailure> {
    let Some(value) = args.get(name) else { return Ok(None) };
    let wrong = |_| invalid(format!("{name} is a moment such as 2026-12-31T00:00:00Z"));
    serde_json::from_value(value.clone()).map(Some).map_err(wrong)
}

/// How many are wanted.
pub(super) fn limit(args: &Map<String, Value>, otherwise: u32) -> u32 {
    let wanted = args.get("limit").and_then(Value::as_u64);
    wanted.and_then(|wanted| u32::try_from(wanted).ok()).unwrap_or(otherwise)
}

pub(super) fn id_schema(description: &str) -> Value {
    json!({"type": "string", "minLength": 36, "maxLength": 36, "pattern": "^[0-9a-fA-F-]{36}$", "description": description})
}

/// Arguments that are wrong in a way that no schema says.
pub(super) fn invalid(message: impl Into<String>) -> ToolFailure {
    ToolFailure::permanent(message).code(ErrorCode::Validation)
}

/// There is no such thing, or none that may be seen.
pub(super) fn unknown(noun: &str, id: impl std::fmt::Display) -> ToolFailure {
    ToolFailure::permanent(format!("there is no {noun} {id}")).code(ErrorCode::NotFound)
}

/// What a reader says no to. Another try helps only where it was the store, or a model, that failed.
pub(super) fn refused(error: Error) -> ToolFailure {
    match error.code() {
        ErrorCode::PermissionDenied | ErrorCode::BudgetExceeded | ErrorCode::Validation | ErrorCode::NotFound => {
            ToolFailure::permanent(error.to_string()).code(error.code())
        }
        _ => error.into(),
    }
}

pub(super) fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
