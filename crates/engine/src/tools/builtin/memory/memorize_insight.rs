//! `core.memorize_insight`: `memory.remember` of an entity, for steps of plans: the entity is the one that an earlier step
//! has resolved, and what is said is an insight when nothing else is stated.

use kybern_core::json_schema::object;
use kybern_core::memory::{MAX_CONTENT, MemoryCategory, NewMemory, Subject};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::maybe;
use super::{confidence, confidence_schema, entity, found_entity_schema, place, place_schema, remember, text};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "entity_id": found_entity_schema(),
        "content": {
            "type": "string", "minLength": 1, "maxLength": MAX_CONTENT, "pattern": "\\S",
            "description": "One sentence that can be understood by itself, and nothing secret. A model has 200 \
                            characters.",
        },
        "category": {
            "type": "string", "enum": ["insight", "event", "preference"],
            "description": "Something learned, something that happened, or how they want things done; insight when left out.",
        },
        "confidence": confidence_schema(),
        "place": place_schema(),
    });
    let description = "Remembers something about an entity for later tasks, which recall it in its dossier. What a \
                       model or a stranger may have worded waits until a person accepts it: memory_status says so. \
                       What is remembered in the same words already is answered as it stands.";
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, task: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        ..ToolSpec::local("core.memorize_insight", description, object(properties, ["content"]))
    }
    .shown(
        &["remember", "memory", "learn", "note"],
        json!({"entity_id": "0198c1de-7c00-7000-8000-000000000001", "content": "Vehicle numbers of its scans are often misread."}),
    );
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let category = maybe(&args, "category").and_then(MemoryCategory::parse).unwrap_or(MemoryCategory::Insight);
    let new = NewMemory {
        category,
        confidence: confidence(&args),
        provenance: place(&args),
        ..NewMemory::fact(Subject::Entity(entity(context, &args)?), text(&args, "content")?)
    };
    remember::keep(context, new).await
}
