//! Calls of which nobody knows how they ended: a person is asked.

use kybern_core::audit::AuditEvent;
use kybern_core::task::{Attempt, EffectClass, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::json;

use super::node::NodeState;
use super::run::TaskRun;
use super::step::{Draft, wait_of, wait_row};

/// Why nobody knows how a call ended.
pub(crate) const DIED: &str = "the process died during the call";

/// Asks a person whether an effect of that class happened, of which nobody else can know.
pub(crate) fn ambiguous(run: &TaskRun, index: usize, effect: EffectClass, what: &str, now: Timestamp) -> Draft {
    let node = run.walk.node(index);
    let tool = node.spec.tool_key().unwrap_or_default();
    let reason = format!("nobody knows whether {tool} had its effect: {what}");
    let mut wait = wait_of(&node.id, WaitKind::Ambiguous, reason, now);
    wait.title = Some("Look outside, then answer with resolution done, retry or fail".to_owned());
    wait.schema = json!({"type": "object"});
    wait.details = json!({"tool": tool, "resolutions": ["done", "retry", "fail"], "effect": effect});
    Draft::row(wait_row(node, wait))
}

/// The question about a call that was cut off, and with it the act.
pub(crate) fn cut_off(run: &TaskRun, index: usize, open: &Attempt, why: &str, now: Timestamp) -> Draft {
    let mut draft = ambiguous(run, index, open.effect, why, now);
    draft.audit.push(unknown(run, index, open));
    draft
}

/// The calls that were cut off and will not be made again, because the task ends.
pub(crate) fn never_known(run: &TaskRun) -> Vec<AuditEvent> {
    let open = |index: usize| {
        let node = run.walk.node(index);
        let begun = !matches!(node.state, NodeState::Done(_));
        let open = begun.then(|| run.open_attempt(&node.id, node.generation)).flatten()?;
        // What a person is asked about stands in the trail already.
        (open.effect != EffectClass::Unkeyed).then(|| unknown(run, index, open))
    };
    // A task that never changed its worker knows how its calls ended.
    let all = if run.earlier.attempts.is_empty() { Vec::new() } else { run.walk.in_plan_order() };
    all.into_iter().filter_map(open).collect()
}

/// The act of a call that was cut off: it may have reached the outside, and whoever made it did not live to say so.
fn unknown(run: &TaskRun, index: usize, open: &Attempt) -> AuditEvent {
    let detail = json!({
        "tool": open.tool,
        "stepId": open.step,
        "attempt": open.attempt,
        "effect": open.effect,
        "inputHash": null,
        "possibleDuplicate": run.walk.node(index).answer.possible_duplicate,
        "status": "unknown",
        "durationMs": null,
        "traceId": run.task.trace_id,
    });
    AuditEvent::by_executor("tool.call", format!("task:{}", run.task.id), detail)
}

/// The question about a call that is open, because the process died during it or a record has changed under it, and
/// that cannot be made again. A cancel, or a failure beside it, must not hide it.
pub(crate) fn left_open(run: &TaskRun, index: usize, why: &str, now: Timestamp) -> Option<Draft> {
    let node = run.walk.node(index);
    let open = run.open_attempt(&node.id, node.generation)?;
    match &node.state {
        NodeState::Pending | NodeState::Backoff(_) if open.effect == EffectClass::Unkeyed => {
            Some(cut_off(run, index, open, why, now))
        }
        NodeState::Pending
        | NodeState::Running
        | NodeState::Opened
        | NodeState::Waiting(_)
        | NodeState::Backoff(_)
        | NodeState::Done(_) => None,
    }
}
