//! Committing what a step came to, together with what becomes of the task.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::ApprovalId;
use kybern_core::plan::FrozenPlan;
use kybern_core::task::{Attempt, Commit, CommitRefused, Effect, JournalEntry, JournalRow, TaskChange, TaskStatus};
use kybern_core::time::Timestamp;

use super::drive::{Flow, RunStop};
use super::ending;
use super::node::Node;
use super::run::TaskRun;
use super::step::{AfterJournal, Draft, RowDraft, failure};
use super::walk::Walk;

/// How often a step begins anew because a record has changed under it, before it fails.
const MAX_RESTARTS: u32 = 100;

impl TaskRun {
    /// Journals a draft, and with it what becomes of the task: the one way to the journal, for steps, phases, signals and
    /// whatever else happens to it.
    pub(super) async fn settle(&mut self, mut draft: Draft) -> Result<Flow, RunStop> {
        if !draft.usage.is_zero() && !draft.takes_along && self.write_held().await? == Flow::Done {
            // What was used is booked on the rows of its own commit.
            return Ok(Flow::Done);
        }
        let now = self.now();
        draft = super::step::kept(self, draft);
        let rows = self.stamp(std::mem::take(&mut draft.rows), now);
        // A record, or another noun, may have changed under the tool; then nothing is written, and the walk is rebuilt
        // from the stored rows.
        let may_be_refused = draft.effects.iter().any(Effect::may_be_refused);
        let before = may_be_refused.then(|| self.held.clone());
        for row in &rows {
            self.walk.apply(row);
        }
        let change = self.change(std::mem::take(&mut draft.then), now);
        let only_rows = matches!(change, TaskChange::Keep) && draft.effects.is_empty() && draft.audit.is_empty();
        let rows = if draft.may_wait && only_rows {
            match self.hold(rows, draft.usage) {
                Ok(()) => return Ok(Flow::Continue),
                Err(rows) => rows,
            }
        } else {
            rows
        };
        let (redo, attempt) = (draft.redo, draft.attempt.take());
        match (self.commit(rows, draft, change).await, before) {
            (Err(CommitRefused::Changed { what }), Some(held)) => {
                let Some(index) = redo else { return Ok(Flow::Continue) };
                self.walk_again(held).await?;
                Box::pin(self.restart_step(index, attempt, &what)).await
            }
            (committed, _) => Ok(committed?),
        }
    }

    /// A step begins anew, because a record has changed under it; it fails when that never ends.
    async fn restart_step(&mut self, index: usize, attempt: Option<Box<Attempt>>, what: &str) -> Result<Flow, RunStop> {
        self.walk.unmark_running(index);
        let redone = self.restarts.entry(index).or_default();
        *redone += 1;
        if *redone > MAX_RESTARTS {
            let message = format!("{what} changed under the step {MAX_RESTARTS} times");
            // A record's key may be a stranger's word.
            let strange = super::taint::anything_is_tainted(&self.walk, index, self.task.channel);
            let draft = super::step::fail(self, index, failure(ErrorCode::Conflict, message), strange);
            return self.settle(draft).await;
        }
        if let Some(attempt) = attempt {
            // It was called, and nothing says what came of it: as after a crash.
            self.walk.take_up(&attempt);
            self.earlier.attempts.push(*attempt);
            let why = format!("{what} changed during the call");
            if let Some(draft) = super::open_effects::left_open(self, index, &why, self.now()) {
                return self.settle(draft).await;
            }
        }
        Ok(Flow::Continue)
    }

    /// What becomes of the task's row, now that the walk knows what has happened.
    fn change(&mut self, then: AfterJournal, now: Timestamp) -> TaskChange {
        match then {
            AfterJournal::Follows => self.what_follows(now),
            AfterJournal::Stays => self.keep(),
            AfterJournal::Found { intent, plan } => self.apply_phase_result(intent, plan),
            AfterJournal::Rests(due) => self.release_change(due),
            AfterJournal::Ends(ending) => TaskChange::End(ending),
            AfterJournal::Cancelled => TaskChange::End(Box::new(ending::cancelled(&self.walk))),
            AfterJournal::Fails(error, step) => {
                TaskChange::End(Box::new(ending::failed(&self.walk, error, step.as_deref())))
            }
        }
    }

    /// Takes in what a phase has found out.
    fn apply_phase_result(&mut self, intent: Option<(String, f64)>, plan: Option<Arc<FrozenPlan>>) -> TaskChange {
        if let Some((intent, confidence)) = &intent {
            self.task.intent = Some(intent.clone());
            self.task.confidence = Some(*confidence);
            self.surroundings = self.surroundings.with_intent(Some(intent), Some(*confidence));
        }
        if let Some(plan) = &plan {
            self.task.plan = Some((plan.key.clone(), plan.version));
            self.walk.take_plan(self.kernel.frozen.keep(plan.clone()));
        }
        match ending::in_phase(&self.walk) {
            Some(ending) => TaskChange::End(Box::new(ending)),
            None => TaskChange::Progress { status: self.phase_status(), intent, plan },
        }
    }

    /// What becomes of the task's row once the walk stands as it does.
    fn what_follows(&self, now: Timestamp) -> TaskChange {
        let goes_on = !self.calls.is_empty() || self.has_news();
        if goes_on || self.wanted.cancel || self.wanted.paused || self.next_phase().is_some() {
            return self.keep();
        }
        if !self.walk.actions(now).is_empty() {
            return self.keep();
        }
        if self.walk.is_finished() {
            return TaskChange::End(Box::new(ending::end(&self.walk, &self.surroundings)));
        }
        self.release_change(self.walk.next_due())
    }

    /// Nothing, unless the row still says that the task waits.
    fn keep(&self) -> TaskChange {
        let status = self.phase_status();
        if self.row_status == status { TaskChange::Keep } else { progress(status) }
    }

    fn release_change(&self, due: Option<Timestamp>) -> TaskChange {
        let waits = self.walk.person_waits();
        let workflow_id = self.walk.delegated_to();
        let status = match (waits.is_empty(), &workflow_id) {
            (false, _) => TaskStatus::NeedsReview,
            (true, Some(_)) => TaskStatus::Delegated,
            (true, None) => self.phase_status(),
        };
        let current = waits.first().map(|wait| wait.step_id.as_str().to_owned());
        let waiting = || self.walk.waiting_nodes().next().map(|(_, wait)| wait.step_id.as_str().to_owned());
        TaskChange::Release { status, due, current_step: current.or_else(waiting), waits, workflow_id }
    }

    /// Writes rows, what a draft brings besides, and a change; with everything that was held before.
    pub(super) async fn commit(
        &mut self,
        mut rows: Vec<JournalRow>,
        draft: Draft,
        change: TaskChange,
    ) -> Result<Flow, CommitRefused> {
        let Draft { effects, usage, audit, .. } = draft;
        let now = self.now();
        if let TaskChange::End(ending) = &change {
            let (entry, summary) = ending::entry(&self.walk, ending);
            let seq = rows.last().map_or(self.walk.last_seq(), |row| row.seq) + 1;
            rows.push(RowDraft::bare(None, 0, summary, entry).at(seq, now));
        }
        let (flow, status) = match &change {
            TaskChange::Keep => (Flow::Continue, self.row_status),
            TaskChange::Progress { status, .. } => (Flow::Continue, *status),
            TaskChange::Release { status, .. } => (Flow::Done, *status),
            TaskChange::End(ending) => (Flow::Done, ending.status),
        };
        let failed = match &change {
            TaskChange::End(ending) => ending.error.as_ref().map(|error| (error.code, ending.current_step.clone())),
            _ => None,
        };
        let awaited = flow == Flow::Done && self.kernel.watchers.is_awaited(self.task.id);
        let left = awaited.then(|| change.clone());
        let (rows, usage) = self.held.take_with(rows, usage);
        let (mut effects, audit) = super::asking::questions(self, &rows, &change, effects, audit);
        if let TaskChange::End(ending) = &change {
            let used = self.task.usage.plus(usage);
            effects.extend(self.steps.effects_of_end(self, (ending.status, used), now).await);
        }
        let signals_seen = self.wanted.seen(self.walk.signals_seen());
        let commit = Commit { rows, effects, change, usage, audit, signals_seen, at: now };
        let committed = self.write(Arc::new(commit)).await?;
        self.row_status = status;
        self.task.status = status;
        self.task.usage = self.task.usage.plus(usage);
        self.wanted.note(committed);
        if flow == Flow::Done {
            self.log_rest(failed, now);
            self.tell_rest(left, committed, now);
        } else {
            self.kernel.watchers.tell_followers(self.task.id);
        }
        Ok(flow)
    }

    /// Gives rows their places.
    fn stamp(&self, drafts: Vec<RowDraft>, now: Timestamp) -> Vec<JournalRow> {
        let mut rows = stamp(&self.walk, drafts, now);
        for row in &mut rows {
            match &mut row.entry {
                JournalEntry::Waiting(wait) if wait.kind.is_person() => {
                    wait.approval_id = Some(ApprovalId::from_uuid(self.kernel.ids.next()));
                }
                JournalEntry::Finished(outcome) => {
                    let node = row.step.as_ref().and_then(|step| self.walk.find(step)).map(|at| self.walk.node(at));
                    Arc::make_mut(outcome).begun_earlier = node.is_some_and(Node::has_told_that_it_began);
                }
                JournalEntry::Waiting(_)
                | JournalEntry::Opened(_)
                | JournalEntry::Retrying { .. }
                | JournalEntry::Answered { .. }
                | JournalEntry::Recovered { .. }
                | JournalEntry::Ended { .. }
                | JournalEntry::Unreadable { .. } => {}
            }
        }
        rows
    }
}

fn stamp(walk: &Walk, drafts: Vec<RowDraft>, now: Timestamp) -> Vec<JournalRow> {
    let mut seq = walk.last_seq();
    drafts
        .into_iter()
        .map(|mut draft| {
            seq += 1;
            if let JournalEntry::Waiting(wait) = &mut draft.entry {
                wait.seq = seq;
            }
            draft.at(seq, now)
        })
        .collect()
}

const fn progress(status: TaskStatus) -> TaskChange {
    TaskChange::Progress { status, intent: None, plan: None }
}
