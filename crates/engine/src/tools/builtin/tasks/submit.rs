//! `tasks.submit`: submits a task. It is a child of the task that submits it, and nobody waits for it.

use std::sync::Arc;

use kybern_core::error::Detail;
use kybern_core::id::TaskId;
use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, Submit, ToolFailure, ToolNeeds, ToolOutcome, ToolRateLimits, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::maybe;
use super::super::plans::usable;
use super::submitted;

/// Tasks that each user may have submitted within any minute.
pub(in super::super) const PER_MINUTE: u32 = 30;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "input": {
            "type": "string", "minLength": 1, "maxLength": 20_000, "pattern": "\\S",
            "description": "What is wanted, in plain words and with all that has to be known.",
        },
        "plan_key": {
            "type": "string", "minLength": 1, "maxLength": 100,
            "description": "The plan to walk; found out from the input when left out.",
        },
        "payload": {"type": "object", "description": "Values that the plan reads as context.task.payload."},
    });
    let description = "Submits a task of its own, which goes on by itself: submitted_task_id names it for \
                       tasks.show. It spends from the budget of the task that submits it.";
    let example = json!({"input": "Send me the invoices of Acme for the last five years."});
    // What the task does may reach anybody.
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        risk: Risk::R2,
        level: PermissionLevel::Execute,
        rate: ToolRateLimits::per_minute(PER_MINUTE),
        ..ToolSpec::local("tasks.submit", description, object(properties, []))
    }
    .shown(&["start", "delegate", "work", "background"], example);
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args))).checked_by(faults)
}

fn faults(args: &Map<String, Value>) -> Vec<Detail> {
    if args.contains_key("input") || args.contains_key("plan_key") {
        return Vec::new();
    }
    vec![Detail::new("/input", "say what is wanted in input, or name a plan_key")]
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let plan = match maybe(&args, "plan_key") {
        Some(key) => Some(Arc::new(usable(context, key).await?)),
        None => None,
    };
    submitted(Submit {
        id: TaskId::from_uuid(context.ids.next()),
        input: maybe(&args, "input").unwrap_or_default().to_owned(),
        payload: args.get("payload").cloned().unwrap_or_default(),
        plan,
    })
}
