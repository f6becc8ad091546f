//! `plans.execute`: starts a plan, as a task of its own.

use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, Submit, ToolFailure, ToolNeeds, ToolOutcome, ToolRateLimits, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::maybe;
use super::super::tasks::{PER_MINUTE, submitted};
use super::super::text;
use super::{key_schema, usable};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "plan_key": key_schema(),
        "input": {
            "type": "string", "minLength": 1, "maxLength": 20_000,
            "description": "What the plan reads as context.task.input.",
        },
        "payload": {"type": "object", "description": "Values that it reads as context.task.payload."},
    });
    let description = "Starts a plan as a task of its own, which goes on by itself: submitted_task_id names it for \
                       tasks.show. It spends from the budget of the task that starts it.";
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        risk: Risk::R2,
        level: PermissionLevel::Execute,
        rate: ToolRateLimits::per_minute(PER_MINUTE),
        ..ToolSpec::local("plans.execute", description, object(properties, ["plan_key"]))
    }
    .shown(&["start", "run", "workflow", "playbook"], json!({"plan_key": "desk.greet"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    submitted(Submit {
        id: TaskId::from_uuid(context.ids.next()),
        input: maybe(&args, "input").unwrap_or_default().to_owned(),
        payload: args.get("payload").cloned().unwrap_or_default(),
        plan: Some(Arc::new(usable(context, text(&args, "plan_key")?).await?)),
    })
}
