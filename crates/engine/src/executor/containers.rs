//! Steps that hold steps: how they go on, and how they end.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::plan::StepKind;
use kybern_core::task::{ContainerOpening, JournalEntry, StepOutcome, StepStatus};
use serde_json::{Value, json};

use super::run::TaskRun;
use super::step::{Draft, RowDraft, fail, failure, stops};
use super::step_kinds;

/// Looks at a node all of whose lists rest: it ends, or its loop goes on.
pub(super) fn advance(run: &TaskRun, index: usize) -> Draft {
    let node = run.walk.node(index);
    if let StepKind::Loop { source: kybern_core::plan::step::LoopSource::While(test), max_iterations, .. } =
        &node.spec.kind
        && run.walk.stopped_inside(Some(index)).is_none()
        && !run.walk.is_interrupted(index)
    {
        return step_kinds::next_round(run, index, test, *max_iterations);
    }
    container_done(run, index)
}

/// The end of a node that holds steps.
pub(super) fn container_done(run: &TaskRun, index: usize) -> Draft {
    let node = run.walk.node(index);
    if matches!(node.spec.kind, StepKind::Agent { .. }) && !run.walk.is_interrupted(index) {
        return super::turn::done(run, index);
    }
    // What is tolerated is not tried again: it would have ended without what it never came to.
    let goes_on = run.walk.is_cut_short(index) && !stops(run, node);
    if let Some(by) = run.walk.stopped_inside(Some(index)).filter(|_| !goes_on) {
        let inner = run.walk.node(by);
        let error = inner.outcome().and_then(|outcome| outcome.error.clone());
        let message = error.as_ref().map_or("it failed", |error| error.message.as_str());
        let code = error.as_ref().map_or(ErrorCode::Internal, |error| error.code);
        let error = failure(code, format!("step {} inside it failed: {message}", inner.id));
        let mut draft = fail(run, index, error, inner.outcome().is_none_or(|outcome| outcome.tainted));
        if inner.outcome().is_some_and(|outcome| outcome.refused) {
            draft.rows.iter_mut().for_each(super::signals::refuse);
        }
        return draft;
    }
    if run.walk.is_interrupted(index) {
        let entry = JournalEntry::Finished(Arc::new(StepOutcome::bare(StepStatus::Skipped)));
        return Draft::row(RowDraft::of(node, 0, "stopped before it was done, because another step failed", entry));
    }
    let lasts = run.walk.last_results(index);
    let data = match &node.spec.kind {
        StepKind::Condition { .. } => {
            let taken = matches!(node.opening, Some(ContainerOpening::Branch { taken: true }));
            json!({"taken": taken, "result": lasts.into_iter().next().unwrap_or_default()})
        }
        StepKind::Parallel { .. } => json!({"branches": lasts}),
        StepKind::Loop { .. } => json!({"iterations": node.lists.len(), "results": lasts}),
        StepKind::Tool { .. }
        | StepKind::Agent { .. }
        | StepKind::Question
        | StepKind::Decision { .. }
        | StepKind::Input { .. }
        | StepKind::Workflow { .. }
        | StepKind::Task { .. } => Value::Null,
    };
    let mut outcome = StepOutcome::completed(data);
    outcome.tainted = run.walk.tainted_inside(index);
    Draft::row(RowDraft::of(node, 1, "done", JournalEntry::Finished(Arc::new(outcome))))
}
