//! The beginning and the end of a worker's time with a task: what an earlier one left, and what is said when this one has
//! to stop at once.

use kybern_core::error::ErrorCode;
use kybern_core::plan::StepId;
use kybern_core::task::JournalEntry;

use super::drive::{Flow, RunStop};
use super::node::{Node, NodeState};
use super::open_effects;
use super::run::TaskRun;
use super::step::{self, AfterJournal, Draft, RowDraft, failure};
use super::steps::StepBegin;
use super::walk::WalkAction;

impl TaskRun {
    /// Takes over what an earlier worker left.
    pub(super) async fn take_over(&mut self) -> Result<Flow, RunStop> {
        if self.give_up_poisoned().await? == Flow::Done {
            return Ok(Flow::Done);
        }
        self.take_up_open_effects().await
    }

    /// Journals that the task was taken over, and gives it up when that has happened too often without progress.
    async fn give_up_poisoned(&mut self) -> Result<Flow, RunStop> {
        let Some(from) = self.earlier.recovered_from.take() else { return Ok(Flow::Continue) };
        let recoveries = self.task.recoveries;
        let stuck = self.walk.recoveries_without_progress(recoveries);
        let may_have_begun = self.may_have_begun();
        let then = if stuck > self.kernel.settings.max_recoveries {
            let message = format!(
                "given up: {stuck} workers in a row died, or let their lease expire, without getting any further"
            );
            AfterJournal::Fails(failure(ErrorCode::Internal, message), None)
        } else {
            AfterJournal::Stays
        };
        let entry = JournalEntry::Recovered { from, recoveries, may_have_begun, stopped: false };
        self.settle(Draft { then, ..Draft::row(RowDraft::bare(None, 0, "", entry)) }).await
    }

    /// A call that was open when the process died, and of which only a person can say what came of it, is asked about
    /// before anything else is looked at.
    async fn take_up_open_effects(&mut self) -> Result<Flow, RunStop> {
        for index in self.walk.in_plan_order() {
            if let Some(draft) = open_effects::left_open(self, index, open_effects::DIED, self.now())
                && self.settle(draft).await? == Flow::Done
            {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::Continue)
    }

    /// The run has to stop at once. When its process stops in good order it says what had begun, and that nobody knows
    /// how far that came; after a lost lease it may say nothing.
    pub(super) async fn leave(&mut self) -> RunStop {
        let may_have_begun = self.unrecorded_calls();
        if !self.active.abandoned.is_cancelled() || may_have_begun.is_empty() {
            return RunStop::Fenced;
        }
        let (from, recoveries) = (self.kernel.worker.as_str().to_owned(), self.task.recoveries);
        let entry = JournalEntry::Recovered { from, recoveries, may_have_begun, stopped: true };
        let draft = Draft { then: AfterJournal::Stays, ..Draft::row(RowDraft::bare(None, 0, "", entry)) };
        if let Err(error) = self.settle(draft).await {
            tracing::warn!(task.id = %self.task.id, %error, "could not journal the calls that the stop cut short");
        }
        RunStop::Fenced
    }

    /// The steps that a worker may have begun before it died, although no row says so: those whose turn it is, and whose
    /// calls are not recorded before they begin.
    fn may_have_begun(&self) -> Vec<StepId> {
        let now = self.now();
        let unrecorded = |index: usize| match step::begin(self, index, now) {
            StepBegin::Call(call) => !call.facts().is_effectful,
            StepBegin::Rows(_) => false,
        };
        let start = |action| match action {
            WalkAction::Start(index) if unrecorded(index) => Some(self.walk.node(index).id.clone()),
            WalkAction::Start(_) | WalkAction::Advance(_) | WalkAction::TimeUp(_) => None,
        };
        self.walk.actions(now).into_iter().filter_map(start).collect()
    }

    /// The steps whose calls are on their way, and are not recorded before they begin.
    fn unrecorded_calls(&self) -> Vec<StepId> {
        let is_recorded = |node: &Node| {
            let tool = node.spec.tool_key().and_then(|tool| self.steps.tool(tool));
            tool.is_some_and(|tool| tool.effect.needs_attempt_row())
        };
        let nodes = self.walk.in_plan_order().into_iter().map(|index| self.walk.node(index));
        let running = nodes.filter(|node| node.state == NodeState::Running && !is_recorded(node));
        running.map(|node| node.id.clone()).collect()
    }
}
