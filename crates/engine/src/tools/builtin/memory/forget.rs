//! `memory.forget`: removes a memory for good.

use kybern_core::json_schema::object;
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec, Write};
use serde_json::{Map, Value, json};

use super::super::given::id_schema;
use super::{named, says_schema};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "memory_id": id_schema("The memory, as memory.search names it."),
        "says": says_schema(),
    });
    let example = json!({"memory_id": "0198c1de-7c00-7000-8000-000000000001", "says": "Prefers trains to planes."});
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        risk: Risk::R2,
        ..ToolSpec::local(
            "memory.forget",
            "Removes a memory of the user or of an entity for good.",
            object(properties, ["memory_id", "says"]),
        )
    }
    .shown(&["remove", "delete", "remember"], example);
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let memory = named(context, &args).await?;
    let data = [("memory_id", json!(memory.id)), ("memory_forgotten", json!(true))];
    let mut outcome = ToolOutcome::new(data, "forgotten");
    outcome.writes.push(Write::Forget(Box::new(memory)));
    Ok(outcome)
}
