//! Committing what a step came to, together with what becomes of the task.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::id::{ApprovalId, JobId};
use kybern_core::money::Usage;
use kybern_core::task::{
    Commit, CommitRefused, Effect, Ending, JournalEntry, JournalRow, Signal, StepError, TaskChange, TaskStatus,
    WaitKind,
};
use kybern_core::time::{Millis, Timestamp};

use super::drive::{Flow, Stop};
use super::ending;
use super::node::Node;
use super::phases::PhaseEnd;
use super::run::Run;
use super::step::{Draft, RowDraft, failure};
use super::walk::Walk;
use crate::memory::Suggestions;

/// How often a step begins anew because a record has changed under it, before it fails.
const MAX_REDONE: u32 = 100;

impl Run {
    /// Journals a draft, and with it the end of the task or the return of its lease when nothing else can be done.
    pub(super) async fn settle(&mut self, draft: Draft) -> Result<Flow, Stop> {
        if !draft.usage.is_zero() && !draft.takes_along && self.write_held().await? == Flow::Done {
            // What was used is booked on the rows of its own commit.
            return Ok(Flow::Done);
        }
        let now = self.now();
        let draft = super::step::kept(self, draft);
        let rows = self.stamp(draft.rows, now);
        // A record, or another noun, may have changed under the tool; then nothing is written, and the walk goes back to what is.
        let may_be_refused = draft.effects.iter().any(Effect::may_be_refused);
        let before = may_be_refused.then(|| self.held.clone());
        for row in &rows {
            self.walk.apply(row);
        }
        let change = self.what_follows(now);
        let only_rows = matches!(change, TaskChange::Keep) && draft.effects.is_empty() && draft.audit.is_empty();
        let rows = if draft.may_wait && only_rows {
            match self.hold(rows, draft.usage) {
                Ok(()) => return Ok(Flow::Continue),
                Err(rows) => rows,
            }
        } else {
            rows
        };
        match self.commit_all(rows, draft.effects, change, draft.usage, draft.audit).await {
            Ok(flow) => Ok(flow),
            Err(CommitRefused::Changed { what }) if before.is_some() => {
                if let (Some(held), Some(index)) = (before, draft.redo) {
                    self.walk_again(held).await?;
                    self.walk.unmark_running(index);
                    let redone = self.redone.entry(index).or_default();
                    *redone += 1;
                    if *redone > MAX_REDONE {
                        let message = format!("{what} changed under the step {MAX_REDONE} times");
                        // A record's key may be a stranger's word.
                        let strange = super::taint::anything_is_tainted(&self.walk, index, self.task.channel);
                        let draft = super::step::fail(self, index, failure(ErrorCode::Conflict, message), strange);
                        return Box::pin(self.settle(draft)).await;
                    }
                    if let Some(attempt) = draft.attempt {
                        // It was called, and nothing says what came of it: as after a crash.
                        self.walk.take_up(&attempt);
                        self.earlier_attempts.push(*attempt);
                        let why = format!("{what} changed during the call");
                        if let Some(draft) = super::tool_step::left_open(self, index, &why, now) {
                            return Box::pin(self.settle(draft)).await;
                        }
                    }
                }
                Ok(Flow::Continue)
            }
            Err(refused) => Err(refused.into()),
        }
    }

    /// What becomes of the task's row once the walk stands as it does.
    fn what_follows(&self, now: Timestamp) -> TaskChange {
        let goes_on = !self.calls.is_empty() || self.signals > self.walk.signals_seen();
        if goes_on || self.cancel || self.paused || self.next_phase().is_some() {
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

    /// Nothing runs and nothing can begin: the task ends, or its lease is given back.
    pub(super) async fn rest(&mut self) -> Result<Flow, Stop> {
        let now = self.now();
        if self.cancel {
            self.cancel_children(now).await?;
            let cut = super::step::kept(self, Draft { rows: super::turn::cut(self), ..Draft::default() });
            let rows = self.stamp(cut.rows, now);
            for row in &rows {
                self.walk.apply(row);
            }
            let change = TaskChange::End(Box::new(ending::cancelled(&self.walk)));
            return Ok(self.commit_with(rows, Vec::new(), change, Usage::default()).await?);
        }
        if self.paused || self.inner.stopping.is_cancelled() {
            return self.release(Some(now)).await;
        }
        if let Some(ending) = ending::in_phase(&self.walk) {
            return self.end(ending).await;
        }
        if self.walk.is_finished() && self.next_phase().is_none() {
            let ending = ending::end(&self.walk, &self.surroundings);
            return self.end(ending).await;
        }
        let due = self.walk.next_due();
        if due.is_none() && self.walk.person_waits().is_empty() && self.walk.waiting_nodes().next().is_none() {
            let error = failure(ErrorCode::Internal, "the task can neither go on nor wait for anything");
            return self.fail_task(error, None).await;
        }
        self.release(due).await
    }

    /// What a cancelled task has started is cancelled with it. Done again after a crash, because the end follows.
    async fn cancel_children(&mut self, now: Timestamp) -> Result<(), Stop> {
        let (id, scope) = (self.task.id, self.lease.scope());
        if self.walk.waiting_nodes().all(|(_, wait)| wait.kind != WaitKind::Child) {
            return Ok(());
        }
        for child in self.ask(|inner| async move { inner.store.children(scope, id).await }).await? {
            self.ask(|inner| async move {
                let detail = serde_json::json!({"parent": id});
                let audit = AuditEvent::by_executor("task.cancel", format!("task:{child}"), detail);
                match inner.store.request_cancel(scope, child, now, audit).await {
                    Ok(_) => {
                        inner.active.poke(child);
                        Ok(())
                    }
                    Err(error) if error.code() == ErrorCode::Conflict => Ok(()),
                    Err(error) => Err(error),
                }
            })
            .await?;
        }
        Ok(())
    }

    /// Gives the lease back.
    pub(super) async fn release(&mut self, due: Option<Timestamp>) -> Result<Flow, Stop> {
        let change = self.release_change(due);
        Ok(self.commit_with(Vec::new(), Vec::new(), change, Usage::default()).await?)
    }

    /// Ends the task because it cannot go on.
    pub(super) async fn fail_task(&mut self, error: StepError, step: Option<&str>) -> Result<Flow, Stop> {
        let ending = ending::failed(&self.walk, error, step);
        self.end(ending).await
    }

    async fn end(&mut self, ending: Ending) -> Result<Flow, Stop> {
        Ok(self.commit_with(Vec::new(), Vec::new(), TaskChange::End(Box::new(ending)), Usage::default()).await?)
    }

    /// Journals a phase's end, or its question.
    pub(super) async fn settle_phase(&mut self, end: PhaseEnd) -> Result<Flow, Stop> {
        if let Some(plan) = &end.plan {
            self.look_up_agents(plan).await?;
        }
        let now = self.now();
        let asks = matches!(end.row.entry, JournalEntry::Waiting(_));
        let lessons = asks.then(|| self.first_lessons()).flatten();
        let draft = Draft { rows: lessons.into_iter().chain([end.row]).collect(), ..Draft::default() };
        let rows = self.stamp(super::step::kept(self, draft).rows, now);
        for row in &rows {
            self.walk.apply(row);
        }
        if let Some((intent, confidence)) = &end.intent {
            self.task.intent = Some(intent.clone());
            self.task.confidence = Some(*confidence);
            self.surroundings = self.surroundings.with_intent(Some(intent), Some(*confidence));
        }
        if let Some(plan) = &end.plan {
            self.task.plan = Some((plan.key.clone(), plan.version));
            self.walk.take_plan(self.inner.frozen.keep(plan.clone()));
        }
        if let Some(ending) = ending::in_phase(&self.walk) {
            return Ok(self.commit_with(rows, Vec::new(), TaskChange::End(Box::new(ending)), Usage::default()).await?);
        }
        let change = TaskChange::Progress { status: self.phase_status(), intent: end.intent, plan: end.plan };
        Ok(self.commit_with(rows, Vec::new(), change, Usage::default()).await?)
    }

    /// Takes in every signal that has been left.
    pub(super) async fn take_signals(&mut self) -> Result<Flow, Stop> {
        let seen = self.walk.signals_seen();
        let (scope, id) = (self.lease.scope(), self.task.id);
        let found = self.ask(|inner| async move { inner.store.signals(scope, id, seen).await }).await?;
        if found.is_empty() {
            // The row counts more than there are: believe what can be read, and tell the row so, or this would never end.
            self.missing_signals = self.signals;
            self.signals = seen;
            return Ok(Flow::Continue);
        }
        for (number, signal) in found {
            let drafts = super::signals::rows(self, number, &signal);
            let usage = match &signal {
                // A child that was tried again tells all that it has used; some of it was told before.
                Signal::ChildEnded { child, usage, .. } => usage.minus(self.walk.used_by_child(*child)),
                Signal::Review { .. } | Signal::Callback { .. } | Signal::Retry { .. } | Signal::Unreadable { .. } => {
                    Usage::default()
                }
            };
            if let Signal::Unreadable { problem } = &signal {
                return self.give_up_signal(number, problem, drafts).await;
            }
            self.signals = self.signals.max(number);
            let effects = self.learning(&signal, self.now()).into_iter().collect();
            let draft = Draft { rows: drafts, usage, effects, ..Draft::default() };
            if self.settle(draft).await? == Flow::Done {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::Continue)
    }

    /// Takes in a signal that cannot be read, and ends the task for it: nobody knows what it should have done.
    async fn give_up_signal(&mut self, number: i64, problem: &str, drafts: Vec<RowDraft>) -> Result<Flow, Stop> {
        let rows = self.stamp(drafts, self.now());
        for row in &rows {
            self.walk.apply(row);
        }
        self.signals = self.signals.max(number);
        let message =
            format!("what was answered cannot be read (signal {number}): {problem}; answer it anew after a retry");
        let ending = ending::failed(&self.walk, failure(ErrorCode::Internal, message), None);
        Ok(self.commit_with(rows, Vec::new(), TaskChange::End(Box::new(ending)), Usage::default()).await?)
    }

    /// Journals that the task was taken over, and gives it up when that has happened too often without progress.
    pub(super) async fn give_up_poisoned(&mut self) -> Result<Flow, Stop> {
        let Some(from) = self.recovered_from.take() else { return Ok(Flow::Continue) };
        let recoveries = self.task.recoveries;
        let stuck = self.walk.recoveries_without_progress(recoveries);
        let may_have_begun = self.may_have_begun();
        let rows = self.recovered(JournalEntry::Recovered { from, recoveries, may_have_begun, stopped: false });
        for row in &rows {
            self.walk.apply(row);
        }
        if stuck > self.inner.settings.max_recoveries {
            let message = format!(
                "given up: {stuck} workers in a row died, or let their lease expire, without getting any further"
            );
            let ending = ending::failed(&self.walk, failure(ErrorCode::Internal, message), None);
            return Ok(self.commit_with(rows, Vec::new(), TaskChange::End(Box::new(ending)), Usage::default()).await?);
        }
        let change = self.keep();
        Ok(self.commit_with(rows, Vec::new(), change, Usage::default()).await?)
    }

    /// The run has to stop at once. When its process stops in good order it says what had begun, and that nobody knows
    /// how far that came; after a lost lease it may say nothing.
    pub(super) async fn leave(&mut self) -> Stop {
        let may_have_begun = self.unrecorded_calls();
        if !self.active.abandoned.is_cancelled() || may_have_begun.is_empty() {
            return Stop::Fenced;
        }
        let (from, recoveries) = (self.inner.worker.as_str().to_owned(), self.task.recoveries);
        let rows = self.recovered(JournalEntry::Recovered { from, recoveries, may_have_begun, stopped: true });
        if let Err(error) = self.commit_with(rows, Vec::new(), TaskChange::Keep, Usage::default()).await {
            tracing::warn!(task.id = %self.task.id, %error, "what was given up could not be told");
        }
        Stop::Fenced
    }

    /// The row that says that a worker is gone.
    fn recovered(&mut self, entry: JournalEntry) -> Vec<JournalRow> {
        let row = RowDraft {
            step: None,
            tool: None,
            attempt: 0,
            generation: 0,
            duration: Millis(0),
            summary: String::new(),
            entry,
        };
        self.stamp(vec![row], self.now())
    }

    /// Writes rows and a change.
    pub(super) async fn commit_with(
        &mut self,
        rows: Vec<JournalRow>,
        effects: Vec<Effect>,
        change: TaskChange,
        usage: Usage,
    ) -> Result<Flow, CommitRefused> {
        self.commit_all(rows, effects, change, usage, Vec::new()).await
    }

    async fn commit_all(
        &mut self,
        mut rows: Vec<JournalRow>,
        effects: Vec<Effect>,
        change: TaskChange,
        usage: Usage,
        audit: Vec<AuditEvent>,
    ) -> Result<Flow, CommitRefused> {
        let now = self.now();
        if let TaskChange::End(ending) = &change {
            let (entry, summary) = ending::entry(&self.walk, ending);
            let seq = rows.last().map_or(self.walk.last_seq(), |row| row.seq) + 1;
            rows.push(JournalRow {
                seq,
                step: None,
                tool: None,
                attempt: 0,
                generation: 0,
                at: now,
                duration: Millis(0),
                summary,
                entry,
            });
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
        let awaited = flow == Flow::Done && self.inner.watchers.is_awaited(self.task.id);
        let left = awaited.then(|| change.clone());
        let (rows, usage) = self.held.take_with(rows, usage);
        let (mut effects, audit) = super::asking::questions(self, &rows, &change, effects, audit);
        if let (TaskChange::End(ending), Some(turn)) = (&change, self.turn()) {
            let used = self.task.usage.plus(usage);
            let said = super::turn::said(&self.walk, &self.tools);
            let answer = crate::chat::answer(&self.walk, (turn, self.task.id), (ending.status, used), said, now);
            effects.push(Effect::Answer(Box::new(answer)));
            if self.has_documents {
                let attached = Box::pin(super::turn::attached(self, turn)).await;
                effects.extend(attached.map(Box::new).map(Effect::Attach));
            }
        }
        if let (TaskChange::End(_), Some(user)) = (&change, self.task.user) {
            let memories = super::turn::suggestions(&self.walk);
            if !memories.is_empty() {
                let said = Suggestions { task: self.task.id, user, turn: self.turn(), memories };
                effects.push(Effect::Enqueue(Box::new(said.job(JobId::from_uuid(self.inner.ids.next()), now))));
            }
        }
        let signals_seen = self.walk.signals_seen().max(self.missing_signals);
        let commit = Commit { rows, effects, change, usage, audit, signals_seen, at: now };
        let committed = self.write(Arc::new(commit)).await?;
        self.row_status = status;
        self.task.status = status;
        self.task.usage = self.task.usage.plus(usage);
        self.note(committed);
        if flow == Flow::Done {
            self.log_rest(failed, now);
            self.tell_rest(left, committed, now);
        } else {
            self.inner.watchers.tell_followers(self.task.id);
        }
        Ok(flow)
    }

    /// Gives rows their places.
    fn stamp(&self, drafts: Vec<RowDraft>, now: Timestamp) -> Vec<JournalRow> {
        let mut rows = stamp(&self.walk, drafts, now);
        for row in &mut rows {
            match &mut row.entry {
                JournalEntry::Waiting(wait) if wait.kind.is_person() => {
                    wait.approval_id = Some(ApprovalId::from_uuid(self.inner.ids.next()));
                }
                JournalEntry::Finished(outcome) => {
                    let node = row.step.as_ref().and_then(|step| self.walk.find(step)).map(|at| self.walk.node(at));
                    outcome.begun_earlier = node.is_some_and(Node::has_told_that_it_began);
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
            JournalRow {
                seq,
                step: draft.step,
                tool: draft.tool,
                attempt: draft.attempt,
                generation: draft.generation,
                at: now,
                duration: draft.duration,
                summary: draft.summary,
                entry: draft.entry,
            }
        })
        .collect()
}

const fn progress(status: TaskStatus) -> TaskChange {
    TaskChange::Progress { status, intent: None, plan: None }
}
