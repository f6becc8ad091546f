//! `tasks.*`: the tasks that the caller may see, and may steer.

mod cancel;
mod list;
mod show;
mod submit;

use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::ports::ToolContext;
use kybern_core::task::{SteerAction, Task, limits};
use kybern_core::tool::{Submit, ToolFailure, ToolOutcome, Write};
use serde_json::{Map, Value, json};

pub(super) use submit::PER_MINUTE;

use super::given::{self, invalid, refused, unknown};

/// Registers them.
///
/// # Errors
/// When a pack took one of their keys.
pub(super) fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    registry.tool(Arc::new(list::tool()))?;
    registry.tool(Arc::new(show::tool()))?;
    registry.tool(Arc::new(submit::tool()))?;
    registry.tool(Arc::new(cancel::tool()))
}

/// The task that is named, if it may be seen.
async fn named(context: &ToolContext, args: &Map<String, Value>) -> Result<Task, ToolFailure> {
    let id: TaskId = given::id(args, "task_id")?;
    let found = context.nouns.tasks()?.find(id).await.map_err(refused)?;
    found.ok_or_else(|| unknown("task", id))
}

/// Steers the task that is named, which is not the one that the call is made in.
pub(super) async fn steered(
    context: &ToolContext,
    args: &Map<String, Value>,
    wish: SteerAction,
    said: (&str, &str),
) -> Result<ToolOutcome, ToolFailure> {
    let task = named(context, args).await?;
    if context.task == Some(task.id) {
        return Err(invalid("that is the task in which this call is made"));
    }
    if task.status.is_terminal() {
        return Err(invalid(format!("task {} is {} already", task.id, task.status)));
    }
    if !wish.fits(task.paused_at.is_some()) {
        let how = if task.paused_at.is_some() { "paused already" } else { "not paused" };
        return Err(invalid(format!("task {} is {how}", task.id)));
    }
    let (name, summary) = said;
    let mut outcome = ToolOutcome::new([("task_id", json!(task.id)), (name, json!(true))], summary);
    outcome.writes.push(Write::Steer(task.id, wish));
    Ok(outcome)
}

/// A task that is submitted with the step.
pub(super) fn submitted(submit: Submit) -> Result<ToolOutcome, ToolFailure> {
    if submit.input.len() > limits::MAX_INPUT {
        return Err(invalid(format!("the input is over the limit of {} bytes", limits::MAX_INPUT)));
    }
    let key = submit.plan.as_ref().map(|plan| plan.key.clone());
    let data = [("submitted_task_id", json!(submit.id)), ("submitted_plan_key", json!(key))];
    let summary = match key {
        Some(key) => format!("submitted a task with plan {key}"),
        None => "submitted a task".to_owned(),
    };
    let mut outcome = ToolOutcome::new(data, summary);
    outcome.writes.push(Write::Submit(Box::new(submit)));
    Ok(outcome)
}
