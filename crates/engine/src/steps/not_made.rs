//! What becomes of a step whose call may not be made: it fails, another worker makes it, or a person puts right what has
//! changed under its plan.

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::task::{TaskKind, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::json;

use super::task_steps::TaskSteps;
use crate::executor::TaskRun;
use crate::executor::put_off::put_off;
use crate::executor::step::{Draft, fail, failure, wait_of, wait_row};
use crate::tools::Refusal;

/// What becomes of a step whose call may not be made. That a tool of the tenant's own is gone, or takes other arguments
/// than the plan gives it, is nothing that the task has done: a person puts it right, and the step begins again. A model is
/// told, and does better.
pub(super) fn not_made(
    own: &TaskSteps,
    run: &TaskRun,
    index: usize,
    (tool, refusal): (&str, &Refusal),
    tainted: bool,
    now: Timestamp,
) -> Draft {
    let node = run.walk.node(index);
    let found = own.tools.find(tool);
    let domain = tool.split_once('.').map_or(tool, |(domain, _)| domain);
    let (is_missing, is_own) = match (refusal, found) {
        (Refusal::Unknown(_), _) => (true, !own.tools.is_bundled_domain(domain)),
        (Refusal::Arguments(_), Some(found)) => (false, found.source().is_some()),
        _ => (false, false),
    };
    // Another worker may have a bundled tool, and a source that cannot be asked now may offer it.
    if is_missing
        && (!is_own || own.tools.is_partial())
        && let Some(left) = put_off(node, "tool", tool, now)
    {
        return left;
    }
    if !is_own || node.turn.is_some() || run.task.kind == TaskKind::Call {
        return refused(run, index, tool, refusal, tainted);
    }
    let reason = if is_missing {
        format!("the tool {tool} is not there any more, or not active")
    } else {
        format!("the tool {tool} does not take what this step gives it: {refusal}")
    };
    let mut wait = wait_of(&node.id, WaitKind::Review, reason, now);
    wait.title = Some(format!("Put {tool} right, then answer: the step begins again. Or cancel the task."));
    wait.schema = json!({"type": "object"});
    wait.details = json!({"tool": tool, "toolHash": found.map(|found| found.hash())});
    Draft::row(wait_row(node, wait))
}

/// A step whose call may not be made. That somebody wanted what they may not is in the audit. The refusal may quote an
/// argument.
fn refused(run: &TaskRun, index: usize, tool: &str, refusal: &Refusal, tainted: bool) -> Draft {
    let mut draft = fail(run, index, failure(refusal.code(), refusal.to_string()), tainted);
    if refusal.is_denial() {
        draft.audit.push(denial(run, index, tool, refusal.code()));
    }
    draft
}

pub(super) fn denial(run: &TaskRun, index: usize, tool: &str, code: ErrorCode) -> AuditEvent {
    let detail = json!({"tool": tool, "stepId": run.walk.node(index).id, "code": code});
    AuditEvent::by_executor("tool.deny", format!("task:{}", run.task.id), detail)
}
