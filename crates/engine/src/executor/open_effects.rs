//! Calls of which nobody knows how they ended: a person is asked.

use kybern_core::audit::AuditEvent;
use kybern_core::task::{Attempt, EffectClass, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::json;

use super::node::NodeState;
use super::run::Run;
use super::step::{Draft, wait_of, wait_row};

/// Why nobody knows how a call ended.
pub(crate) const DIED: &str = "the process died during the call";

/// Asks a person whether an effect of that class happened, of which nobody else can know.
pub(crate) fn ambiguous(run: &Run, index: usize, effect: EffectClass, what: &str, now: Timestamp) -> Draft {
    let node = run.walk.node(index);
    let tool = node.spec.tool_key().unwrap_or_default();
    let reason = format!("nobody knows whether {tool} had its effect: {what}");
    let mut wait = wait_of(&node.id, WaitKind::Ambiguous, reason, now);
    wait.title = Some("Look outside, then answer with resolution done, retry or fail".to_owned());
    wait.schema = json!({"type": "object"});
    wait.details = json!({"tool": tool, "resolutions": ["done", "retry", "fail"], "effect": effect});
    Draft::row(wait_row(node, wait))
}

/// The question about a call that was cut off, and with it the act: it may have reached the outside, and whoever made it
/// did not live to say so.
pub(crate) fn cut_off(run: &Run, index: usize, open: &Attempt, why: &str, now: Timestamp) -> Draft {
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
    let mut draft = ambiguous(run, index, open.effect, why, now);
    draft.audit.push(AuditEvent::by_executor("tool.call", format!("task:{}", run.task.id), detail));
    draft
}

/// The question about a call that is open, because the process died during it or a record has changed under it, and
/// that cannot be made again. A cancel, or a failure beside it, must not hide it.
pub(crate) fn left_open(run: &Run, index: usize, why: &str, now: Timestamp) -> Option<Draft> {
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
