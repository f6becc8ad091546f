//! The local tools: arithmetic, dates, JSON and text, worked out in this process and the same on every machine.
//!
//! Some ask a language model, through the port that they are given, and say so. Apart from that none of them reaches
//! the network or the disk, reads a clock of its own, or writes anything.
//!
//! Each bounds its work by counting it, so a call with hostile arguments ends as early on a slow machine as on a fast
//! one. A call that may still take more than a moment (`computes`) runs on a thread of `Workers`, where it can be
//! stopped; any other runs where it is called.

mod asked;
mod calculator;
mod datetime;
mod deep_reasoning;
mod json_parser;
mod text_transform;

use std::sync::Arc;
use std::time::Duration;

use kybern_core::error::ErrorCode;
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::ports::ToolContext;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use crate::workers::{StopFlag, Workers};

use self::calculator::Calculator;
use self::datetime::datetime;
use self::deep_reasoning::deep_reasoning;
use self::json_parser::JsonParser;
use self::text_transform::TextTransform;

/// Registers them.
///
/// # Errors
/// When one of their keys is taken.
pub fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    let workers = Workers::new(STACK_BYTES);
    registry.tool(Arc::new(Calculator::new(workers.clone())))?;
    registry.tool(Arc::new(datetime()))?;
    registry.tool(Arc::new(deep_reasoning()))?;
    registry.tool(Arc::new(JsonParser::new(workers.clone())))?;
    registry.tool(Arc::new(TextTransform::new(workers)))
}

/// How long one call may compute, whatever its own timeout says.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Stack of a thread that computes.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Computes what may take more than a moment, on a thread apart from those that answer requests.
///
/// # Errors
/// When there is no room for it, or it takes longer than the call may.
async fn compute<T, F>(workers: &Workers, context: &ToolContext, work: F) -> Result<T, ToolFailure>
where
    T: Send + 'static,
    F: FnOnce(&StopFlag) -> T + Send + 'static,
{
    let limit = TIME_LIMIT.min(context.timeout.as_duration());
    Ok(workers.run(context.tenant(), limit, work).await?)
}

/// Bytes of text in its arguments up to which a call ends in a moment, where its work grows in line with them.
const SMALL: usize = 16 * 1024;

/// Whether the texts of the arguments are more than [`SMALL`].
fn is_large(args: &Map<String, Value>) -> bool {
    args.values().filter_map(Value::as_str).map(str::len).sum::<usize>() > SMALL
}

/// A refusal of the arguments: the caller can put it right, and another try of the same does not help.
fn refuse(message: impl Into<String>) -> ToolFailure {
    ToolFailure::permanent(message).code(ErrorCode::Validation)
}

/// A text argument that must be there.
fn text<'a>(args: &'a Map<String, Value>, name: &str) -> Result<&'a str, ToolFailure> {
    optional_text(args, name).ok_or_else(|| refuse(format!("argument {name} is missing: give a text")))
}

/// A text argument, when there is one. A template may give `null` for what it does not have.
fn optional_text<'a>(args: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}

/// An object out of its members.
fn fields<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The beginning of a text, for a message.
fn short(text: &str) -> String {
    const MOST: usize = 60;
    let mut letters = text.chars();
    let mut start: String = letters.by_ref().take(MOST).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}
