//! `plans.delete`: takes a plan out of use. Its versions stay, because tasks have walked them.

use kybern_core::actor::Right;
use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec, Write};
use serde_json::{Map, Value, json};

use super::super::text;
use super::{key_schema, own};

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"plan_key": key_schema()}), ["plan_key"]);
    let description = "Takes a plan of the organisation's own out of use. Tasks that walk it go on, and an \
                       administrator can bring it back.";
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        risk: Risk::R3,
        level: PermissionLevel::Admin,
        right: Right::Administer,
        ..ToolSpec::local("plans.delete", description, schema)
    }
    .shown(&["remove", "retire", "workflow", "playbook"], json!({"plan_key": "desk.greet"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let plan = own(context, text(&args, "plan_key")?).await?;
    let data = [("plan_key", json!(plan.key)), ("plan_deleted", json!(true))];
    let mut outcome = ToolOutcome::new(data, format!("took plan {} out of use", plan.key));
    outcome.writes.push(Write::RetirePlan(plan.key, plan.version));
    Ok(outcome)
}
