//! Taking in what others left: answers of persons, callbacks, the ends of children, a wish to try again.

use std::sync::Arc;

use kybern_core::approval::ApprovalStatus;
use kybern_core::error::ErrorCode;
use kybern_core::money::Usage;
use kybern_core::plan::StepId;
use kybern_core::task::{
    Effect, EffectClass, JournalEntry, Resolution, Signal, StepError, StepOutcome, TaskStatus, Wait, WaitKind,
};
use serde_json::{Value, json};

use super::drive::{Flow, RunStop};
use super::node::{NodeState, Phase};
use super::run::TaskRun;
use super::step::{AfterJournal, Draft, RowDraft, failed_row, failure};

/// The rows for one signal: that it was taken in, and the end of a step where it ends one. The walk has not taken
/// them in yet.
pub(crate) fn rows(run: &TaskRun, number: i64, signal: &Signal) -> Vec<RowDraft> {
    let mut rows = vec![answered(number, signal)];
    match signal {
        Signal::Review { step, wait_seq, corrections, resolution, note, .. } => {
            if let Some(phase) = Phase::of_step(step.as_str()) {
                let waits = run.walk.phase(phase).and_then(|state| state.wait.as_ref());
                if waits.is_some_and(|wait| wait.seq == *wait_seq) && *resolution == Some(Resolution::Fail) {
                    rows.push(super::phases::refused(phase, note.as_deref()));
                }
            } else if let Some((index, wait)) = waiting(run, step)
                && wait.seq == *wait_seq
            {
                let data = Value::Object(corrections.clone());
                rows.extend(reviewed(run, index, &wait, data, (*resolution, note.as_deref())));
            }
        }
        Signal::Callback { step, workflow_id, .. } => {
            if let Some((index, wait)) = waiting(run, step)
                && wait.kind == WaitKind::Workflow
                && wait.reference.as_deref() == Some(workflow_id)
            {
                rows.push(called_back(run, index, signal));
            }
        }
        Signal::ChildEnded { step, child, status, result, error, .. } => {
            if let Some((index, wait)) = waiting(run, step)
                && wait.kind == WaitKind::Child
                && wait.reference.as_deref() == Some(child.to_string().as_str())
            {
                let end = match status {
                    TaskStatus::Completed => Ok(object(result, child)),
                    _other => Err(child_failure(*status, error.as_ref())),
                };
                let mut row = ended(run, index, end, true);
                // A child that was cancelled for a reason is one to which a person said no.
                if *status == TaskStatus::Cancelled && error.is_some() {
                    refuse(&mut row);
                }
                rows.push(row);
            }
        }
        Signal::Retry { .. } => {
            let answers = run.walk.late_answers();
            rows.extend(answers.into_iter().map(|(index, answer)| called_back(run, index, answer)));
        }
        Signal::Unreadable { .. } => {}
    }
    rows
}

fn answered(number: i64, signal: &Signal) -> RowDraft {
    let step: Option<StepId> = match signal {
        Signal::Review { step, .. } | Signal::Callback { step, .. } | Signal::ChildEnded { step, .. } => {
            Some(step.clone())
        }
        Signal::Retry { .. } | Signal::Unreadable { .. } => None,
    };
    RowDraft::bare(step, 0, "", JournalEntry::Answered { number, signal: Box::new(signal.clone()) })
}

impl TaskRun {
    /// Takes in every signal that has been left.
    pub(super) async fn take_signals(&mut self) -> Result<Flow, RunStop> {
        let seen = self.walk.signals_seen();
        let (scope, id) = (self.lease.scope(), self.task.id);
        let found = self.ask(|kernel| async move { kernel.store.signals(scope, id, seen).await }).await?;
        if found.is_empty() {
            self.wanted.note_missing(seen);
            return Ok(Flow::Continue);
        }
        for (number, signal) in found {
            let rows = rows(self, number, &signal);
            let usage = match &signal {
                // A child that was tried again tells all that it has used; some of it was told before.
                Signal::ChildEnded { child, usage, .. } => usage.minus(self.walk.used_by_child(*child)),
                Signal::Review { .. } | Signal::Callback { .. } | Signal::Retry { .. } | Signal::Unreadable { .. } => {
                    Usage::default()
                }
            };
            self.wanted.note_signal(number);
            let effects = self.steps.learns(self, &signal, self.now()).into_iter().collect();
            let then = match &signal {
                // The task ends for it: nobody knows what it should have done.
                Signal::Unreadable { problem } => AfterJournal::Fails(unreadable(number, problem), None),
                _readable => AfterJournal::Follows,
            };
            let draft = Draft { rows, usage, effects, then, ..Draft::default() };
            if self.settle(draft).await? == Flow::Done {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::Continue)
    }
}

fn unreadable(number: i64, problem: &str) -> StepError {
    let message =
        format!("what was answered cannot be read (signal {number}): {problem}; answer it anew after a retry");
    failure(ErrorCode::Internal, message)
}

fn waiting(run: &TaskRun, step: &StepId) -> Option<(usize, Wait)> {
    let index = run.walk.find(step)?;
    match &run.walk.node(index).state {
        NodeState::Waiting(wait) => Some((index, (**wait).clone())),
        NodeState::Pending | NodeState::Running | NodeState::Opened | NodeState::Backoff(_) | NodeState::Done(_) => {
            None
        }
    }
}

/// The end of a step that a person's answer brings; `None` when the step goes on instead.
fn reviewed(
    run: &TaskRun,
    index: usize,
    wait: &Wait,
    corrections: Value,
    (resolution, note): (Option<Resolution>, Option<&str>),
) -> Option<RowDraft> {
    match (wait.kind, resolution) {
        // Whoever gives up an outside effect says that it did not happen, and somebody has to look why.
        (WaitKind::Ambiguous, Some(Resolution::Fail)) => {
            let message = said("a person decided that this step failed", note);
            Some(ended(run, index, Err(failure(ErrorCode::Unprocessable, message)), false))
        }
        (kind, Some(Resolution::Fail)) => {
            let (code, what) = match kind {
                WaitKind::Confirmation => (ErrorCode::PermissionDenied, "a person denied this call"),
                _ => (ErrorCode::Unprocessable, NO),
            };
            let mut row = ended(run, index, Err(failure(code, said(what, note))), false);
            refuse(&mut row);
            Some(row)
        }
        (WaitKind::Review, None | Some(Resolution::Retry)) if wait.answer_ends => {
            Some(ended(run, index, Ok(corrections), false))
        }
        (WaitKind::Input, _)
        | (WaitKind::Review | WaitKind::Ambiguous | WaitKind::Confirmation, Some(Resolution::Done)) => {
            let mut row = ended(run, index, Ok(corrections), false);
            if wait.kind == WaitKind::Ambiguous
                && let Some(outcome) = row.entry.outcome_mut()
            {
                outcome.effect = Some(effect_asked_about(wait));
                outcome.told_by_person = true;
            }
            Some(row)
        }
        (WaitKind::Confirmation | WaitKind::Review | WaitKind::Ambiguous, None | Some(Resolution::Retry))
        | (
            WaitKind::Intent
            | WaitKind::Document
            | WaitKind::Plan
            | WaitKind::Timer
            | WaitKind::Child
            | WaitKind::Workflow,
            _,
        ) => None,
    }
}

/// The class of the call that a person was asked about.
fn effect_asked_about(wait: &Wait) -> EffectClass {
    let known = wait.details.get("effect").and_then(Value::as_str).and_then(EffectClass::parse);
    known.unwrap_or(EffectClass::Unkeyed)
}

/// What is told of a person's no.
pub(crate) const NO: &str = "a person said no";

/// What a person decided, with what they said about it.
pub(crate) fn said(what: &str, note: Option<&str>) -> String {
    note.map_or_else(|| what.to_owned(), |note| format!("{what}: {note}"))
}

/// Marks a step's failure as a person's no.
pub(crate) fn refuse(row: &mut RowDraft) {
    if let Some(outcome) = row.entry.outcome_mut() {
        outcome.refused = true;
        row.summary =
            if outcome.tolerated { "refused by a person; the task goes on" } else { "refused by a person" }.to_owned();
    }
}

/// The end of a step that a callback brings.
pub(crate) fn called_back(run: &TaskRun, index: usize, signal: &Signal) -> RowDraft {
    let end = match signal {
        Signal::Callback { success: true, data, .. } => Ok(data.clone()),
        Signal::Callback { error: Some(message), .. } => Err(message.clone()),
        Signal::Callback { error: None, .. }
        | Signal::Review { .. }
        | Signal::ChildEnded { .. }
        | Signal::Retry { .. }
        | Signal::Unreadable { .. } => Err("the workflow failed without a reason".to_owned()),
    };
    ended(run, index, end.map_err(|message| failure(ErrorCode::Workflow, message)), true)
}

/// A waiting step's end. What nobody knew of an earlier call of it, nobody knows now. `tainted` says whether its data, or
/// the words of its failure, may be a stranger's.
pub(crate) fn ended(run: &TaskRun, index: usize, end: Result<Value, StepError>, tainted: bool) -> RowDraft {
    let node = run.walk.node(index);
    let mut row = match end {
        Err(error) => failed_row(run, node, node.attempts.max(1), error, tainted),
        Ok(data) => {
            let mut outcome = StepOutcome::completed(data);
            outcome.tainted = tainted;
            let entry = JournalEntry::Finished(Arc::new(outcome));
            RowDraft::of(node, node.attempts.max(1), "answered", entry)
        }
    };
    if let Some(outcome) = row.entry.outcome_mut() {
        outcome.possible_duplicate = node.answer.possible_duplicate;
    }
    row
}

/// The clock ended a wait.
pub(crate) fn time_up(run: &TaskRun, index: usize) -> Draft {
    let node = run.walk.node(index);
    let NodeState::Waiting(wait) = &node.state else { return Draft::default() };
    let row = match wait.kind {
        WaitKind::Timer => ended(run, index, Ok(json!({})), false),
        WaitKind::Workflow => {
            let message = format!("no callback came before the deadline: {}", wait.reason);
            ended(run, index, Err(failure(ErrorCode::Timeout, message)), false)
        }
        WaitKind::Child => {
            let message = format!("the child did not end in time: {}", wait.reason);
            ended(run, index, Err(failure(ErrorCode::Timeout, message)), false)
        }
        WaitKind::Input
        | WaitKind::Intent
        | WaitKind::Document
        | WaitKind::Plan
        | WaitKind::Review
        | WaitKind::Confirmation
        | WaitKind::Ambiguous => {
            let error = failure(ErrorCode::Timeout, "nobody answered in time");
            ended(run, index, Err(error), false)
        }
    };
    let mut draft = Draft::row(row);
    if wait.kind == WaitKind::Child {
        draft.effects.extend(node.child.as_ref().map(|child| Effect::Cancel(child.id)));
    }
    if wait.kind.is_person() {
        let (wait_seq, status) = (Some(wait.seq), ApprovalStatus::Expired);
        draft.effects.push(Effect::Close { wait_seq, status });
    }
    draft
}

/// A child's result as its parent's data.
fn object(result: &Value, child: &kybern_core::id::TaskId) -> Value {
    match result {
        Value::Object(_) => result.clone(),
        other => json!({"result": other, "child_task_id": child}),
    }
}

fn child_failure(status: TaskStatus, error: Option<&StepError>) -> StepError {
    let reason = error.map_or_else(|| "it says no reason".to_owned(), |error| error.message.clone());
    failure(error.map_or(ErrorCode::Unprocessable, |error| error.code), format!("the child task is {status}: {reason}"))
}
