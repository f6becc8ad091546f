//! `knowledge.search`: looks through the tenant's published documents.

use kybern_core::actor::Right;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::given::{limit, refused};
use super::text;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "query": {
            "type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\S",
            "description": "What is to be known, as a question or in a few words.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Passages, 5 when left out."},
    });
    let description = "Finds passages of the organisation's published documents that say something about a question, \
                       the nearest first, each with the title of its document.";
    let spec = ToolSpec {
        needs: ToolNeeds { knowledge: true, ..ToolNeeds::default() },
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("knowledge.search", description, object(properties, ["query"]))
    }
    .shown(&["documents", "handbook", "policy", "look up"], json!({"query": "How long do we keep invoices?"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let most = usize::try_from(limit(&args, 5)).unwrap_or(1);
    let found = context.nouns.knowledge()?.near(text(&args, "query")?, most).await.map_err(refused)?;
    let passage = |found: &kybern_core::context::SearchHit| json!({"passage": found.id, "title": found.title, "text": found.text, "similarity": found.similarity});
    let passages: Vec<Value> = found.iter().map(passage).collect();
    let summary = format!("found {} passages", passages.len());
    let data = [("passages", Value::Array(passages))];
    Ok(ToolOutcome::new(data, summary))
}
