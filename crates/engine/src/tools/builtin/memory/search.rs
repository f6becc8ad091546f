//! `memory.search`: what is remembered about a question.

use kybern_core::actor::Right;
use kybern_core::count::count;
use kybern_core::json_schema::object;
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{limit, refused};
use super::{entity_schema, subject, text};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "query": {
            "type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\S",
            "description": "What is looked for, as a question or in a few words.",
        },
        "entity_id": entity_schema(),
        "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Memories, 5 when left out."},
    });
    let description = "Finds what is remembered of the user, or of an entity, about a question, the nearest first. \
                       Only what has been accepted and has not expired is found.";
    // What is remembered may once have been a stranger's word.
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("memory.search", description, object(properties, ["query"]))
    }
    .shown(&["remember", "recall", "preference"], json!({"query": "How does she like to travel?"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let (subject, most) = (subject(context, &args)?, usize::try_from(limit(&args, 5)).unwrap_or(1));
    let found = context.nouns.memories()?.near(subject, text(&args, "query")?, most).await.map_err(refused)?;
    let memories = found.iter().map(|(similarity, memory)| {
        json!({
            "memory_id": memory.id,
            "says": memory.content,
            "category": memory.category,
            "importance": memory.importance,
            "trust": memory.trust,
            "similarity": similarity,
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
            "expires_at": memory.expires_at,
        })
    });
    let data = [("memories", memories.collect())];
    Ok(ToolOutcome::new(data, format!("found {}", count(found.len(), "memory"))))
}
