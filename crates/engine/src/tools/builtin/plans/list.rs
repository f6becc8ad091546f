//! `plans.list`: the plans in use.

use kybern_core::actor::Right;
use kybern_core::count::count;
use kybern_core::json_schema::object;
use kybern_core::plan::Plan;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{beginning, limit, maybe, refused};

/// Characters of a description that are shown.
const SHOWN: usize = 300;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "text": {
            "type": "string", "minLength": 1, "maxLength": 200,
            "description": "Words that must all stand in the key, the intent or the description.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Plans, 50 when left out."},
        "after": {"type": "string", "maxLength": 100, "description": "next of the answer before."},
    });
    let description = "Lists the plans in use by their keys: what each does, its version, and whether it comes \
                       with the server or is the organisation's own.";
    let spec = ToolSpec {
        needs: ToolNeeds { plans: true, ..ToolNeeds::default() },
        right: Right::Read,
        ..ToolSpec::read("plans.list", description, object(properties, []))
    }
    .shown(&["workflow", "playbook", "procedure"], json!({"limit": 10}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

fn says(plan: &Plan, words: &[String]) -> bool {
    let text = format!("{} {} {}", plan.key, plan.intent_key, plan.description).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn shown(plan: &Plan) -> Value {
    json!({
        "plan_key": plan.key,
        "version": plan.version,
        "origin": plan.origin,
        "description": beginning(&plan.description, SHOWN),
        "steps": plan.steps.len(),
        "usable": plan.quarantine.is_empty(),
    })
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let words: Vec<String> =
        maybe(&args, "text").unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let most = usize::try_from(limit(&args, 50)).unwrap_or(1);
    let after = maybe(&args, "after").unwrap_or_default();
    let all = context.nouns.plans()?.in_use().await.map_err(refused)?;
    let mut found = all.iter().filter(|plan| plan.key.as_str() > after && says(plan, &words));
    let page: Vec<&Plan> = found.by_ref().take(most).collect();
    let next = found.next().and_then(|_| page.last()).map(|last| last.key.clone());
    let data = [("plans", page.iter().map(|plan| shown(plan)).collect()), ("next", json!(next))];
    Ok(ToolOutcome::new(data, format!("listed {}", count(page.len(), "plan"))))
}
