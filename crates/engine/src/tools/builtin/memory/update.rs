//! `memory.update`: changes what is remembered.

use kybern_core::context::Importance;
use kybern_core::error::Detail;
use kybern_core::json_schema::object;
use kybern_core::memory::{MAX_CONTENT, MemoryCategory, MemoryChange, MemoryStatus};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec, Write};
use serde_json::{Map, Value, json};

use super::super::given::{id_schema, maybe, moment};
use super::{category_schema, confidence, confidence_schema, expiry_schema, importance_schema, named, says_schema};

/// What can be changed.
const CHANGES: [&str; 5] = ["content", "category", "importance", "confidence", "expires_at"];

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "memory_id": id_schema("The memory, as memory.search names it."),
        "says": says_schema(),
        "content": {
            "type": "string", "minLength": 1, "maxLength": MAX_CONTENT, "pattern": "\\S",
            "description": "What it is to say. A model has 200 characters.",
        },
        "category": category_schema(),
        "importance": importance_schema(),
        "confidence": confidence_schema(),
        "expires_at": expiry_schema(),
    });
    let description = "Changes a memory of the user or of an entity. What is left out stays. New words of a model \
                       wait until a person accepts them, unless somebody has said yes to the call.";
    let example = json!({
        "memory_id": "0198c1de-7c00-7000-8000-000000000001",
        "says": "Prefers trains to planes.",
        "content": "Prefers night trains to planes.",
    });
    // The words before cannot be had back.
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        risk: Risk::R2,
        ..ToolSpec::local("memory.update", description, object(properties, ["memory_id", "says"]))
    }
    .shown(&["correct", "change", "remember"], example);
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args))).checked_by(faults)
}

fn faults(args: &Map<String, Value>) -> Vec<Detail> {
    if CHANGES.iter().any(|name| args.contains_key(*name)) {
        return Vec::new();
    }
    vec![Detail::new("", format!("nothing changes: name one of {}", CHANGES.join(", ")))]
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let before = named(context, &args).await?;
    let importance = args.get("importance").and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    let change = MemoryChange {
        content: maybe(&args, "content").map(str::to_owned),
        category: maybe(&args, "category").and_then(MemoryCategory::parse),
        importance: importance.and_then(|number| Importance::try_from(number).ok()),
        confidence: confidence(&args),
        expires_at: moment(&args, "expires_at")?,
    };
    let after = context.behalf.reworded(&before, change.clone(), context.now).map_err(super::unkept)?;
    let data = [("memory_id", json!(after.id)), ("memory_status", json!(after.status))];
    let summary = match after.status {
        MemoryStatus::Active | MemoryStatus::Rejected => "changed",
        MemoryStatus::Pending => "changed; waits until a person accepts it",
    };
    let mut outcome = ToolOutcome::new(data, summary);
    outcome.writes.push(Write::Reword(Box::new(before), Box::new(change)));
    Ok(outcome)
}
