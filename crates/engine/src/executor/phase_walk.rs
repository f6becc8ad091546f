//! Walking the phases before a plan: which comes next, and what its end means for the task.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::money::Usage;
use kybern_core::task::{Channel, StepError, TaskStatus};
use kybern_core::time::Millis;

use super::drive::{Flow, RunStop};
use super::node::Phase;
use super::phases::{self, PhaseInterrupted};
use super::run::TaskRun;
use super::step::{AfterJournal, Draft, RowDraft};
use super::steps::CallNote;

/// How long a task rests after a port failed in one of its phases.
const PHASE_BACKOFF: Millis = Millis(2_000);

impl TaskRun {
    /// Walks the next phase, until it has ended or a person is asked.
    pub(super) async fn walk_phase(&mut self) -> Result<Flow, RunStop> {
        let Some(phase) = self.next_phase() else { return Ok(Flow::Continue) };
        let steps = Arc::clone(&self.steps);
        let takes_time = steps.takes_time(self, phase);
        if takes_time && self.row_status != self.phase_status() && !self.row_status.is_terminal() {
            // The row says where the task is while something slow is asked.
            self.settle(Draft::only(AfterJournal::Stays)).await?;
        }
        let now = self.now();
        let lost = self.active.lost.clone();
        let end = tokio::select! {
            biased;
            () = lost.cancelled() => return Err(RunStop::Fenced),
            end = steps.phase(self, phase, now) => end,
        };
        match end {
            Ok(draft) => self.end_phase(draft).await,
            Err(PhaseInterrupted::Stop(stop)) => Err(stop),
            // Somebody wants something else of the task first.
            Err(PhaseInterrupted::Held) => Ok(Flow::Continue),
            Err(PhaseInterrupted::Port(error)) if error.code() == ErrorCode::Unavailable => {
                tracing::warn!(task.id = %self.task.id, %error, "phase will be tried again");
                let due = self.now().plus(PHASE_BACKOFF);
                self.settle(Draft::only(AfterJournal::Rests(Some(due)))).await
            }
            Err(PhaseInterrupted::Port(error)) => {
                let error = StepError { code: error.code(), message: error.to_string(), retryable: true };
                self.settle(Draft::only(AfterJournal::Fails(error, Some(phase.step_id().to_owned())))).await
            }
        }
    }

    /// Journals a phase's end, or its question.
    async fn end_phase(&mut self, draft: Draft) -> Result<Flow, RunStop> {
        if let AfterJournal::Found { plan: Some(plan), .. } = &draft.then {
            self.look_up_agents(plan).await?;
        }
        self.settle(draft).await
    }

    /// Whether it is a mail whose intent is found out here, or was in the task that it is a fork of: what it and its
    /// papers say is wanted at once, because a person may be asked before any step of a plan reads them.
    pub(crate) fn is_mail_to_understand(&self) -> bool {
        let is_found_out = self.walk.plan().is_none() || self.task.intent.is_some();
        self.task.channel == Channel::Email && is_found_out
    }

    /// The first phase that has not ended.
    pub(super) fn next_phase(&self) -> Option<Phase> {
        let ended = |phase: Phase| self.walk.phase(phase).is_some_and(|state| state.outcome.is_some());
        // A mail says something even without files.
        let says_something = self.has_documents || self.is_mail_to_understand();
        if says_something && !ended(Phase::Extraction) {
            return Some(Phase::Extraction);
        }
        if self.walk.plan().is_some() {
            return None;
        }
        [Phase::Intent, Phase::Planning].into_iter().find(|phase| !ended(*phase))
    }

    pub(super) fn phase_status(&self) -> TaskStatus {
        // A task whose plan was named from the start reads its documents as part of executing it.
        let phase = self.next_phase().filter(|_| self.walk.plan().is_none());
        phase.map_or(TaskStatus::Executing, phases::status_in)
    }

    /// Journals an answer that a call was given, and lets the call go on.
    pub(super) async fn take_note(&mut self, note: CallNote) -> Result<Flow, RunStop> {
        let id = note.row.step.clone();
        let flow = self.keep_answer(note.row, note.usage).await?;
        if let Some(outcome) = id.and_then(|id| self.walk.answers().get(&id)) {
            // A call that was given up waits no more.
            let _ = note.written.send(Arc::clone(outcome));
        }
        Ok(flow)
    }

    /// Journals what a model has answered.
    pub(crate) async fn keep_answer(&mut self, row: RowDraft, usage: Usage) -> Result<Flow, RunStop> {
        Box::pin(self.settle(Draft { usage, ..Draft::row(row) })).await
    }
}
