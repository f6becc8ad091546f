//! The tools that every plan may use: `core.*`, and those over the engine's own nouns: memories, knowledge, tasks and
//! plans.

mod ask;
mod fail;
mod get_record;
mod given;
mod http_headers;
mod http_request;
mod knowledge_search;
mod memory;
mod noop;
mod notify;
mod plans;
mod put_record;
mod search_records;
mod set;
mod suggest_memory;
mod tasks;
mod wait;

pub(super) use http_request::HttpCall;

pub(crate) use suggest_memory::SUGGEST_MEMORY;

use std::sync::Arc;

use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

/// Registers them.
///
/// # Errors
/// When a pack took one of their keys.
pub fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    registry.tool(Arc::new(noop::tool()))?;
    registry.tool(Arc::new(set::tool()))?;
    registry.tool(Arc::new(wait::tool()))?;
    registry.tool(Arc::new(fail::tool()))?;
    registry.tool(Arc::new(http_request::HttpCall::new()))?;
    registry.tool(Arc::new(put_record::tool()))?;
    registry.tool(Arc::new(get_record::tool()))?;
    registry.tool(Arc::new(search_records::tool()))?;
    registry.tool(Arc::new(knowledge_search::tool()))?;
    memory::register(registry)?;
    tasks::register(registry)?;
    plans::register(registry)?;
    registry.tool(Arc::new(suggest_memory::tool()))?;
    registry.tool(Arc::new(ask::tool()))?;
    registry.tool(Arc::new(notify::tool()))
}

/// A text argument that the schema has made sure of.
fn text<'a>(args: &'a Map<String, Value>, name: &str) -> Result<&'a str, ToolFailure> {
    args.get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| ToolFailure::permanent(format!("argument {name} must be a text")))
}
