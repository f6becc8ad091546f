//! `memory.*`: what is remembered of the user for whom a tool works, and of entities. `core.memorize_insight` and
//! `core.recall_dossier`: the same of an entity, by the names under which plans about entities know it.

mod forget;
mod memorize_insight;
mod recall_dossier;
mod remember;
mod search;
mod update;

use std::sync::Arc;

use kybern_core::id::{MemoryId, RecordId};
use kybern_core::memory::{Confidence, MAX_PLACE, Memory, MemoryCategory, Provenance, Subject};
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::ports::ToolContext;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::given::{self, id_schema, invalid, maybe_id, refused, unknown};
use super::text;

/// Registers them.
///
/// # Errors
/// When a pack took one of their keys.
pub(super) fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    registry.tool(Arc::new(search::tool()))?;
    registry.tool(Arc::new(remember::tool()))?;
    registry.tool(Arc::new(update::tool()))?;
    registry.tool(Arc::new(memorize_insight::tool()))?;
    registry.tool(Arc::new(recall_dossier::tool()))?;
    registry.tool(Arc::new(forget::tool()))
}

/// Of whom or what: the entity that is named, else the user.
fn subject(context: &ToolContext, args: &Map<String, Value>) -> Result<Subject, ToolFailure> {
    let entity: Option<RecordId> = maybe_id(args, "entity_id")?;
    let own = || context.behalf.user.map(Subject::User);
    let nobody = || invalid("name an entity_id: there is no user for whom this is called");
    entity.map(Subject::Entity).or_else(own).ok_or_else(nobody)
}

fn entity_schema() -> Value {
    id_schema("The record of which it is, for instance a company; the user when left out.")
}

fn category_schema() -> Value {
    let names: Vec<&str> = MemoryCategory::ALL.into_iter().map(MemoryCategory::as_str).collect();
    json!({"type": "string", "enum": names, "description": "What kind of memory it is; fact when left out of a new one."})
}

fn importance_schema() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 10, "description": "How much it matters; 5 when left out of a new one."})
}

fn confidence_schema() -> Value {
    json!({"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": "How sure it is; null when nobody can say."})
}

fn confidence(args: &Map<String, Value>) -> Option<Confidence> {
    args.get("confidence").and_then(Value::as_f64).and_then(|share| Confidence::try_from(share).ok())
}

fn place_schema() -> Value {
    json!({
        "type": ["string", "null"], "maxLength": MAX_PLACE,
        "description": "Where it stands in what was read, for instance a file and its page.",
    })
}

/// Where it stands; the rest of where it comes from the executor knows.
fn place(args: &Map<String, Value>) -> Provenance {
    Provenance { place: given::maybe(args, "place").map(str::to_owned), ..Provenance::default() }
}

/// The entity that an argument names, or that an earlier step has found.
fn entity(context: &ToolContext, args: &Map<String, Value>) -> Result<RecordId, ToolFailure> {
    let from_state = || maybe_id(&context.state, "entity_id");
    let missing = || invalid("entity_id is neither an argument nor in the state: resolve the entity first");
    maybe_id(args, "entity_id")?.map_or_else(from_state, |id| Ok(Some(id)))?.ok_or_else(missing)
}

fn found_entity_schema() -> Value {
    json!({
        "type": ["string", "null"], "minLength": 36, "maxLength": 36, "pattern": "^[0-9a-fA-F-]{36}$",
        "description": "The record of the entity; entity_id of the state when left out.",
    })
}

fn expiry_schema() -> Value {
    json!({
        "type": ["string", "null"], "maxLength": 40,
        "description": "When it holds no more, as 2026-12-31T00:00:00Z; null for never.",
    })
}

/// The words by which a person who is asked sees which memory it is about.
fn says_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": kybern_core::memory::MAX_CONTENT,
        "description": "What the memory says now, word for word, so that whoever is asked sees which one it is.",
    })
}

/// The memory that is named, where it still says what the caller believes.
async fn named(context: &ToolContext, args: &Map<String, Value>) -> Result<Memory, ToolFailure> {
    let id: MemoryId = given::id(args, "memory_id")?;
    let found = context.nouns.memories()?.find(id).await.map_err(refused)?;
    let memory = found.ok_or_else(|| unknown("memory", id))?;
    if text(args, "says")?.trim() != memory.content {
        return Err(invalid(format!("memory {id} does not say that: search for it and quote it as it stands")));
    }
    Ok(memory)
}

/// Why a memory cannot be kept: its words, or its end.
fn unkept(error: kybern_core::error::Error) -> ToolFailure {
    let places: Vec<&str> = error.details().iter().map(|detail| detail.message.as_str()).collect();
    let message = if places.is_empty() { error.to_string() } else { places.join("; ") };
    ToolFailure::permanent(message).code(error.code())
}
