//! `plans.show`: a plan with its steps.

use kybern_core::actor::Right;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{refused, unknown};
use super::super::text;
use super::key_schema;

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"plan_key": key_schema()}), ["plan_key"]);
    let description = "Shows the plan in use under a key, with all its steps.";
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        right: Right::Read,
        ..ToolSpec::read("plans.show", description, schema)
    }
    .shown(&["workflow", "playbook", "steps"], json!({"plan_key": "desk.greet"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let key = text(&args, "plan_key")?;
    let found = context.nouns.plans()?.find(key).await.map_err(refused)?;
    let plan = found.ok_or_else(|| unknown("plan", format!("{key:?}")))?;
    let data = [("plan", plan.to_json())];
    Ok(ToolOutcome::new(data, format!("plan {} has version {}", plan.key, plan.version)))
}
