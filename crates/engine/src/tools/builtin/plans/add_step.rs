//! `plans.add_step`: stores the next version of a plan, with one step more.

use kybern_core::actor::Right;
use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{invalid, maybe, refused};
use super::super::text;
use super::{key_schema, own, step_schema, stored};

/// What of a plan is the server's to say.
const NOT_WRITTEN: [&str; 6] = ["id", "version", "origin", "active", "createdAt", "quarantine"];

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "plan_key": key_schema(),
        "step": step_schema("The step as plans have it: id, tool and args, or another kind of step."),
        "before": {
            "type": "string", "minLength": 1, "maxLength": 64,
            "description": "The id of the step in front of which it is put; at the end when left out.",
        },
    });
    let description = "Adds a step to a plan of the organisation's own, as its next version. It is checked first, \
                       and the first ten faults are told. Tasks that walk the plan already go on as before.";
    let step = json!({"id": "note", "tool": "core.set", "args": {"noted": true}});
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        risk: Risk::R3,
        level: PermissionLevel::Admin,
        right: Right::Administer,
        ..ToolSpec::local("plans.add_step", description, object(properties, ["plan_key", "step"]))
    }
    .shown(&["workflow", "playbook", "extend"], json!({"plan_key": "desk.greet", "step": step}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let plan = own(context, text(&args, "plan_key")?).await?;
    let place = match maybe(&args, "before") {
        None => plan.steps.len(),
        Some(before) => {
            let place = plan.steps.iter().position(|step| step.id.as_str() == before);
            place.ok_or_else(|| invalid(format!("plan {} has no step {before:?} at its top", plan.key)))?
        }
    };
    let mut written = plan.to_json();
    if let Some(fields) = written.as_object_mut() {
        fields.retain(|name, value| !NOT_WRITTEN.contains(&name.as_str()) && !value.is_null());
    }
    let steps = written.get_mut("steps").and_then(Value::as_array_mut);
    let steps = steps.ok_or_else(|| ToolFailure::permanent(format!("plan {} cannot be read", plan.key)))?;
    steps.insert(place, args.get("step").cloned().unwrap_or_default());
    let newest = context.nouns.plans()?.newest_own(&plan.key).await.map_err(refused)?;
    stored(context, &written, newest.map_or(plan.version, |newest| newest.version) + 1).await
}
