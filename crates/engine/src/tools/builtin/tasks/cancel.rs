//! `tasks.cancel`: wants a task cancelled.

use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::task::SteerAction;
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::id_schema;
use super::steered;

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"task_id": id_schema("The task.")}), ["task_id"]);
    let description = "Cancels a task that has not ended. What it has done stays done, and nothing more of it is \
                       begun.";
    let spec = ToolSpec {
        needs: ToolNeeds { tasks: true, ..ToolNeeds::default() },
        risk: Risk::R2,
        level: PermissionLevel::Execute,
        ..ToolSpec::local("tasks.cancel", description, schema)
    }
    .shown(&["stop", "abort"], json!({"task_id": "0198c1de-7c00-7000-8000-000000000001"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    steered(context, &args, SteerAction::Cancel, ("task_cancel_requested", "asked the task to stop")).await
}
