//! `plans.*`: the plans of the tenant and the bundled ones; tasks that walk them.

mod add_step;
mod create;
mod delete;
mod execute;
mod list;
mod pause;
mod show;

use std::sync::Arc;

use kybern_core::count::count;
use kybern_core::error::ErrorCode;
use kybern_core::id::PlanId;
use kybern_core::json::bytes_of;
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::plan::parse::PlanDraft;
use kybern_core::plan::{Plan, PlanFault, PlanOrigin, no_room};
use kybern_core::ports::ToolContext;
use kybern_core::tool::{ToolFailure, ToolOutcome, Write};
use serde_json::{Value, json};

use super::given::{invalid, refused, unknown};

/// Faults that are told at once; the descriptions of the tools say so.
const TOLD: usize = 10;

/// Registers them.
///
/// # Errors
/// When a pack took one of their keys.
pub(super) fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    registry.tool(Arc::new(list::tool()))?;
    registry.tool(Arc::new(show::tool()))?;
    registry.tool(Arc::new(create::tool()))?;
    registry.tool(Arc::new(add_step::tool()))?;
    registry.tool(Arc::new(execute::tool()))?;
    registry.tool(Arc::new(pause::pausing()))?;
    registry.tool(Arc::new(pause::resuming()))?;
    registry.tool(Arc::new(delete::tool()))
}

fn key_schema() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 100, "description": "The plan's key."})
}

fn step_schema(description: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"id": {"type": "string", "minLength": 1, "maxLength": 64}},
        "required": ["id"],
        "additionalProperties": true,
        "description": description,
    })
}

/// The plan in use under a key that can be walked.
pub(super) async fn usable(context: &ToolContext, key: &str) -> Result<Plan, ToolFailure> {
    let found = context.nouns.plans()?.find(key).await.map_err(refused)?;
    let plan = found.ok_or_else(|| unknown("plan", format!("{key:?}")))?;
    match plan.quarantine.first() {
        None => Ok(plan),
        Some(fault) => Err(invalid(format!("plan {key} is in quarantine: {fault}"))),
    }
}

/// The plan of the tenant's own that is in use under a key: only such a one can be changed.
async fn own(context: &ToolContext, key: &str) -> Result<Plan, ToolFailure> {
    let found = context.nouns.plans()?.find(key).await.map_err(refused)?;
    let plan = found.ok_or_else(|| unknown("plan", format!("{key:?}")))?;
    match plan.origin {
        PlanOrigin::Tenant => Ok(plan),
        PlanOrigin::Bundled => Err(invalid(format!("plan {key} comes with the server and cannot be changed"))),
    }
}

fn faulty(faults: &[PlanFault]) -> ToolFailure {
    let told: Vec<String> = faults.iter().take(TOLD).map(PlanFault::to_string).collect();
    let message = format!("the plan has {}, nothing was stored: {}", count(faults.len(), "fault"), told.join("; "));
    ToolFailure::permanent(message).code(ErrorCode::Unprocessable)
}

/// Stores a plan as the next version of its key: checked like any that an administrator writes.
async fn stored(context: &ToolContext, plan: &Value, version: u32) -> Result<ToolOutcome, ToolFailure> {
    let plans = context.nouns.plans()?;
    let draft = plans.check(plan).await.map_err(refused)?.map_err(|faults| faulty(&faults))?;
    let draft = PlanDraft { version: Some(version), ..draft };
    let others: Vec<Plan> = plans.in_use().await.map_err(refused)?;
    let others = others.iter().filter(|other| other.origin == PlanOrigin::Tenant && other.key != draft.key);
    let (count, bytes) = others.fold((0, 0), |(count, bytes), other| (count + 1, bytes + bytes_of(&other.to_json())));
    if let Some(why) = no_room(count, bytes as u64, bytes_of(plan) as u64) {
        return Err(ToolFailure::permanent(why).code(ErrorCode::Unprocessable));
    }
    let data = [("plan_key", json!(draft.key)), ("plan_version", json!(version))];
    let mut outcome = ToolOutcome::new(data, format!("stored version {version} of plan {}", draft.key));
    let id = PlanId::from_uuid(context.ids.next());
    outcome.writes.push(Write::PutPlan(id, Box::new(draft)));
    Ok(outcome)
}
