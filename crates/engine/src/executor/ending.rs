//! How a task ends: its status, its result, and what never ran.
//!
//! What a person's no stops is `cancelled`, with what they said as the reason: nothing broke, and nobody has to look.

use kybern_core::error::ErrorCode;
use kybern_core::policy::redact::redact_text;
use kybern_core::task::{JournalEntry, StepError, StepStatus, TaskEnding, TaskStatus};
use serde_json::{Map, Value, json};

use super::node::{Node, Phase};
use super::snapshot::RunContext;
use super::walk::Walk;
use crate::templates;

/// The end of a finished walk: `cancelled` when a person's no stopped it, `failed` when a failure did, otherwise
/// `completed`.
pub(super) fn end(walk: &Walk, surroundings: &RunContext) -> TaskEnding {
    if let Some(by) = walk.stopped_inside(None) {
        let node = walk.node(by);
        let error = node.outcome().and_then(|outcome| outcome.error.clone()).unwrap_or_else(unexplained);
        let is_refused = node.outcome().is_some_and(|outcome| outcome.refused);
        let ended = if is_refused { refused } else { failed };
        return ended(walk, error, Some(node.id.as_str()));
    }
    let output = walk.plan().and_then(|plan| plan.output.clone());
    let result = match output {
        None => Ok(last_result(walk)),
        Some(template) => templates::render(&Value::String(template), &surroundings.context(walk, None)),
    };
    match result {
        Ok(result) => TaskEnding { status: TaskStatus::Completed, result, error: None, current_step: None },
        Err(error) => {
            let message = format!("the plan's output cannot be made: {error}");
            failed(walk, StepError { code: ErrorCode::Unprocessable, message, retryable: false }, None)
        }
    }
}

/// The end of a task with a phase that failed, or to which a person said no.
pub(super) fn in_phase(walk: &Walk) -> Option<TaskEnding> {
    [Phase::Extraction, Phase::Intent, Phase::Planning].into_iter().find_map(|phase| {
        let outcome = walk.phase(phase)?.outcome.as_ref()?;
        let error = outcome.error.clone()?;
        let ended = if outcome.refused { refused } else { failed };
        Some(ended(walk, error, Some(phase.step_id())))
    })
}

/// The end of a task that cannot go on. What succeeded is in the result, marked as a part.
pub(super) fn failed(walk: &Walk, error: StepError, step: Option<&str>) -> TaskEnding {
    let completed: Map<String, Value> = walk
        .outcomes()
        .filter(|(_, outcome)| outcome.status == StepStatus::Completed)
        .map(|(id, outcome)| (id.as_str().to_owned(), outcome.data.clone()))
        .collect();
    let result = json!({
        "partial": true,
        "completed": completed,
        "failedStep": step,
        "failedSteps": walk.failed(),
        // It leaves with the result, and is held to what holds for errors.
        "error": {"code": error.code, "message": redact_text(&error.message)},
    });
    TaskEnding { status: TaskStatus::Failed, result, error: Some(error), current_step: step.map(str::to_owned) }
}

/// The end of a task that a person's no stopped.
pub(super) fn refused(walk: &Walk, error: StepError, step: Option<&str>) -> TaskEnding {
    let result = json!({
        "partial": true,
        "completed": walk.completed(),
        "refusedStep": step,
        "reason": redact_text(&error.message),
    });
    TaskEnding { status: TaskStatus::Cancelled, result, error: Some(error), current_step: step.map(str::to_owned) }
}

/// The end of a task that somebody cancelled.
pub(super) fn cancelled(walk: &Walk) -> TaskEnding {
    let result = json!({"partial": true, "completed": walk.completed()});
    TaskEnding { status: TaskStatus::Cancelled, result, error: None, current_step: None }
}

/// The journal's last entry.
pub(super) fn entry(walk: &Walk, ending: &TaskEnding) -> (JournalEntry, String) {
    let summary = match ending.status {
        TaskStatus::Completed if walk.failed().is_empty() => "every step is done".to_owned(),
        TaskStatus::Completed => format!("done; tolerated failures: {}", walk.failed().join(", ")),
        TaskStatus::Cancelled if ending.error.is_some() => "a person said no; nothing more is started".to_owned(),
        TaskStatus::Cancelled => "cancelled; nothing more is started".to_owned(),
        _failed => match &ending.current_step {
            Some(step) => format!("stopped at step {step}"),
            None => "cannot go on".to_owned(),
        },
    };
    let (skipped, may_have_run) =
        if ending.status == TaskStatus::Completed { Default::default() } else { walk.without_end() };
    let entry = JournalEntry::Ended { status: ending.status, error: ending.error.clone(), skipped, may_have_run };
    (entry, summary)
}

/// The data of the last step, in plan order, that completed.
fn last_result(walk: &Walk) -> Value {
    // What an agent asks and calls in its turn is on the way to its answer, and stands behind it in plan order.
    let own = walk.in_plan_order().into_iter().rev().map(|index| walk.node(index)).filter(|node| node.turn.is_none());
    let last = own.filter_map(Node::outcome).find(|outcome| outcome.status == StepStatus::Completed);
    last.map(|outcome| outcome.data.clone()).unwrap_or_default()
}

pub(super) fn unexplained() -> StepError {
    StepError { code: ErrorCode::Internal, message: "a step failed without saying why".to_owned(), retryable: false }
}
