//! `plans.create`: stores a plan. It is walked when somebody starts it by its key: no message is ever taken for its
//! intent, because it has no words and no examples.

use kybern_core::actor::Right;
use kybern_core::json_schema::object;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{invalid, maybe, refused};
use super::super::text;
use super::{step_schema, stored};

/// Steps with which a plan can begin.
const MOST: usize = 50;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "plan_key": {
            "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[a-z][a-z0-9_.-]*$",
            "description": "A key that no plan has, such as office.month_end.",
        },
        "description": {
            "type": "string", "minLength": 1, "maxLength": 2_000,
            "description": "What the plan does, for people.",
        },
        "steps": {
            "type": "array", "minItems": 1, "maxItems": MOST,
            "items": step_schema("A step as plans have it: id, tool and args, or another kind of step."),
            "description": "The steps, one after the other.",
        },
        "output": {
            "type": "string", "minLength": 1, "maxLength": 2_000,
            "description": "The expression that makes the result; the last step's data when left out.",
        },
    });
    let description = "Stores a plan under a new key. It is checked first, and the first ten faults are told. It \
                       runs when it is started with plans.execute, and never by itself.";
    let step = json!({"id": "greet", "tool": "core.set", "args": {"greeting": "Hello"}});
    let example = json!({"plan_key": "desk.welcome", "description": "Says hello.", "steps": [step]});
    // A stored plan may do what its steps say, for whoever starts it.
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        risk: Risk::R3,
        level: PermissionLevel::Admin,
        right: Right::Administer,
        ..ToolSpec::local("plans.create", description, object(properties, ["plan_key", "description", "steps"]))
    }
    .shown(&["workflow", "playbook", "automate", "new"], example);
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let (plans, key) = (context.nouns.plans()?, text(&args, "plan_key")?);
    if plans.find(key).await.map_err(refused)?.is_some() {
        return Err(invalid(format!("there is a plan {key} already: choose another key")));
    }
    // A plan without an intent of its own serves the one that its key spells: it would take that one's messages.
    if plans.in_use().await.map_err(refused)?.iter().any(|plan| plan.intent_key == key) {
        return Err(invalid(format!("{key} is an intent that a plan serves already: choose another key")));
    }
    // One that was taken out of use keeps its versions, and this is the next.
    let before = plans.newest_own(key).await.map_err(refused)?.map_or(0, |plan| plan.version);
    let mut plan = json!({
        "key": key,
        "description": text(&args, "description")?,
        "steps": args.get("steps"),
    });
    if let Some(output) = maybe(&args, "output") {
        plan["output"] = json!(output);
    }
    stored(context, &plan, before + 1).await
}
