//! Tasks: claims, leases, reading, and what persons and outside engines do to them. How a task comes is in `submission`,
//! how it and its children are tried again in `steering`, what its holder writes in `commit`.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::actor::Principal;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{TaskId, TenantId, UserId};
use kybern_core::money::Usage;
use kybern_core::plan::{FrozenPlan, PlanHash, StepId};
use kybern_core::ports::{CallbackOutcome, Heartbeat, Page, ReviewRefused, TaskFilter, TaskStore, UnreadableRow};
use kybern_core::record::StoredLink;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    Attachment, Attempt, Claimed, Commit, CommitRefused, Committed, JournalRow, Lease, NewTask, Signal, Submitted,
    Task, TaskStatus, Wait, WorkerId,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

use super::MemStore;
use super::state::{MemState, TaskRow, conflict};

#[async_trait]
impl TaskStore for MemStore {
    async fn submit(&self, scope: TenantScope, task: NewTask, claim: Option<(&WorkerId, Millis)>) -> Result<Submitted> {
        self.run(|state| state.submit(scope.tenant(), task, claim))
    }

    async fn unreadable(&self, most: usize) -> Result<Vec<UnreadableRow>> {
        self.run(move |state| Ok(state.unreadable(most)))
    }

    async fn claim_due(
        &self,
        worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> Result<Vec<Claimed>> {
        self.run(|state| Ok(state.claim_due(worker, offer, lease, now)))
    }

    async fn take_over(&self, now: Timestamp) -> Result<u64> {
        self.run(|state| {
            if state.keeps_time {
                return Ok(0);
            }
            let ahead =
                |row: &TaskRow| row.can_be_claimed() && row.claimable_at > Some(now) && row.task.created_at > now;
            let taken = state.tasks.values_mut().filter(|row| row.lease_owner.is_some() || ahead(row));
            Ok(taken.map(|row| row.claimable_at = Some(now)).count() as u64)
        })
    }

    async fn set_back(&self, from: Timestamp, to: Timestamp) -> Result<u64> {
        self.run(|state| {
            if state.keeps_time {
                return Ok(0);
            }
            let rows = state.tasks.values_mut().filter_map(|row| {
                let due = super::job::set_back(row.claimable_at?, row.lease_owner.is_some(), (from, to))?;
                row.claimable_at = Some(due);
                Some(())
            });
            Ok(rows.count() as u64)
        })
    }

    async fn time(&self) -> Result<Option<Timestamp>> {
        self.run(|state| Ok(state.keeps_time.then_some(state.now)))
    }

    async fn heartbeat(&self, leases: &[Lease], lease: Millis, now: Timestamp) -> Result<Vec<Heartbeat>> {
        self.run(|state| {
            let now = state.moment(now);
            let beat = |held: &Lease| match state.held(held) {
                Ok(row) => {
                    row.claimable_at = Some(now.plus(lease));
                    Heartbeat::Held(row.committed())
                }
                Err(_fenced) => Heartbeat::Lost,
            };
            Ok(leases.iter().map(beat).collect())
        })
    }

    async fn give_back(&self, leases: &[Lease], now: Timestamp) -> Result<()> {
        self.run(|state| {
            let now = state.moment(now);
            for lease in leases {
                if let Ok(row) = state.held(lease) {
                    (row.lease_owner, row.claimable_at) = (None, Some(now));
                }
            }
            Ok(())
        })
    }

    async fn commit(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        self.run(|state| state.commit(lease, commit.as_ref().clone()))
    }

    async fn commit_again(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        self.run(|state| match state.written(lease, &commit) {
            Some(told) => Ok(told),
            None => state.commit(lease, commit.as_ref().clone()),
        })
    }

    async fn begin_attempt(&self, lease: &Lease, attempt: &Attempt) -> Result<Committed, CommitRefused> {
        self.run(|state| {
            let row = state.held(lease)?;
            let same_call = |known: &&Attempt| known.step == attempt.step && known.generation == attempt.generation;
            let known: Vec<&Attempt> = row.attempts.iter().filter(same_call).collect();
            if known.iter().any(|known| known.args_hash != attempt.args_hash) {
                let message = format!("step {} was begun with other arguments under the same key", attempt.step);
                return Err(conflict(message).into());
            }
            if !known.iter().any(|known| known.attempt == attempt.attempt) {
                row.attempts.push(attempt.clone());
            }
            Ok(row.committed())
        })
    }

    async fn attempts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attempt>> {
        self.read(scope, task, |row| row.attempts.clone())
    }

    async fn signals(&self, scope: TenantScope, task: TaskId, after: i64) -> Result<Vec<(i64, Signal)>> {
        self.read(scope, task, |row| {
            let numbered = (1..).zip(row.signals.iter().map(|stored| stored.signal.clone()));
            numbered.filter(|(number, _)| *number > after).collect()
        })
    }

    async fn task(&self, scope: TenantScope, id: TaskId) -> Result<Option<Task>> {
        self.read(scope, id, |row| Some(row.task.clone()))
    }

    async fn tasks(&self, scope: TenantScope, filter: &TaskFilter) -> Result<Page<Task>> {
        self.run(|state| Ok(state.page(scope.tenant(), filter)))
    }

    async fn journal(&self, scope: TenantScope, task: TaskId, after: i64, limit: u32) -> Result<Vec<JournalRow>> {
        self.read(scope, task, |row| {
            row.journal.iter().filter(|entry| entry.seq > after).take(limit as usize).cloned().collect()
        })
    }

    async fn frozen_plan(&self, scope: TenantScope, hash: &PlanHash) -> Result<Option<FrozenPlan>> {
        let key = (scope.tenant(), hash.as_str().to_owned());
        self.run(|state| match state.spoilt_plans.contains(&key) {
            true => Err(Error::new(ErrorCode::Internal, format!("the plan {hash} was spoilt"))),
            false => Ok(state.frozen.get(&key).cloned()),
        })
    }

    async fn attachments(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attachment>> {
        self.read(scope, task, |row| row.attachments.clone())
    }

    async fn artifacts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<StoredLink>> {
        self.read(scope, task, |row| row.links.clone())
    }

    async fn children(&self, scope: TenantScope, task: TaskId) -> Result<Vec<TaskId>> {
        self.run(|state| Ok(state.children(scope.tenant(), task)))
    }

    async fn answer(
        &self,
        scope: TenantScope,
        id: TaskId,
        wait: &Wait,
        signal: Signal,
        audit: AuditEvent,
    ) -> Result<(), ReviewRefused> {
        self.run(|state| {
            let now = state.now;
            let row = state.row_mut(scope, id).ok_or(ReviewRefused::NotFound)?;
            let dedupe_key = format!("wait:{}", wait.seq);
            let waits = row.task.waits.iter().any(|known| known.step_id == wait.step_id && known.seq == wait.seq);
            if row.task.status.is_terminal() || !waits || row.signal_with(&dedupe_key).is_some() {
                return Err(ReviewRefused::NotWaiting);
            }
            row.push_signal(Some(dedupe_key), None, signal.clone());
            row.make_due(now);
            state.decide((scope.tenant(), id), (wait, &signal), now);
            state.append_audit(scope.tenant(), now, audit);
            Ok(())
        })
    }

    async fn callback(
        &self,
        scope: TenantScope,
        id: TaskId,
        step: &StepId,
        signal: Signal,
        body_hash: &str,
        at: Timestamp,
    ) -> Result<CallbackOutcome> {
        self.run(|state| {
            let Signal::Callback { workflow_id, .. } = &signal else {
                return Err(Error::invalid("/signal", "a callback leaves a callback signal"));
            };
            let (workflow_id, now) = (workflow_id.clone(), state.moment(at));
            let row = state.known(scope, id)?;
            let dedupe_key = format!("callback:{workflow_id}");
            if let Some(first) = row.signal_with(&dedupe_key) {
                if first.body_hash.as_deref() == Some(body_hash) {
                    return Ok(CallbackOutcome::Duplicate);
                }
                let event = AuditEvent {
                    action: "delegation.conflict".to_owned(),
                    actor: Principal::Workflow { workflow_id }.label(),
                    subject: format!("task:{id}"),
                    request_id: None,
                    detail: json!({"step": step}),
                };
                state.append_audit(scope.tenant(), at, event);
                return Ok(CallbackOutcome::Conflict);
            }
            let delegated = row.delegations.iter().any(|(known, ..)| known.workflow_id == workflow_id);
            row.push_signal(Some(dedupe_key), Some(body_hash.to_owned()), signal);
            row.make_due(now);
            Ok(match (row.task.status.is_terminal(), delegated) {
                (true, _) => CallbackOutcome::Late,
                (false, true) => CallbackOutcome::Accepted,
                (false, false) => CallbackOutcome::Kept,
            })
        })
    }

    async fn scope_of(&self, tenant: TenantId, id: TaskId) -> Result<Option<TenantScope>> {
        self.run(|state| {
            let found = state.tasks.get(&id).filter(|row| row.task.tenant == tenant);
            Ok(found.map(|_| crate::actors::scope(tenant)))
        })
    }

    async fn request_cancel(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> Result<Task> {
        self.run(|state| {
            let now = state.moment(at);
            let row = state.running(scope, id)?;
            row.task.cancel_requested = true;
            row.task.paused_at = None;
            row.make_due(now);
            let task = row.task.clone();
            state.append_audit(scope.tenant(), at, audit);
            Ok(task)
        })
    }

    async fn set_paused(
        &self,
        scope: TenantScope,
        id: TaskId,
        paused: bool,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task> {
        self.run(|state| {
            let row = state.running(scope, id)?;
            if row.task.paused_at.is_some() == paused {
                let word = if paused { "paused already" } else { "not paused" };
                return Err(conflict(format!("task {id} is {word}")));
            }
            row.task.paused_at = paused.then_some(at);
            let task = row.task.clone();
            state.append_audit(scope.tenant(), at, audit);
            Ok(task)
        })
    }

    async fn reopen(
        &self,
        scope: TenantScope,
        id: TaskId,
        signal: Signal,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task> {
        self.run(|state| state.reopen(scope, id, signal, at, audit))
    }

    async fn usage_of_tree(&self, scope: TenantScope, root: TaskId) -> Result<Usage> {
        self.run(|state| Ok(state.usage_of_tree(scope, root)))
    }

    async fn count_by_status(&self) -> Result<Vec<(TaskStatus, i64)>> {
        self.run(|state| {
            let count = |status| state.tasks.values().filter(|row| row.task.status == status).count() as i64;
            Ok(TaskStatus::ALL.into_iter().map(|status| (status, count(status))).filter(|(_, n)| *n > 0).collect())
        })
    }
}

impl MemStore {
    /// Reads one task; nothing when it is another tenant's.
    fn read<T: Default>(&self, scope: TenantScope, id: TaskId, look: impl FnOnce(&TaskRow) -> T + Send) -> Result<T> {
        self.run(|state| Ok(state.row(scope, id).map(look).unwrap_or_default()))
    }
}

impl MemState {
    fn claim_due(&mut self, worker: &WorkerId, offer: &WorkerCapacity, lease: Millis, now: Timestamp) -> Vec<Claimed> {
        let now = self.moment(now);
        let runs = |row: &TaskRow| offer.running.contains(&row.task.id.as_uuid());
        let due = |row: &TaskRow| row.claimable_at.filter(|at| *at <= now && row.can_be_claimed() && !runs(row));
        let due = self.tasks.iter().filter_map(|(id, row)| Some((due(row)?, *id, row.task.tenant)));
        let found = super::shared_out(offer, due.collect());
        let claim = |id| self.tasks.get_mut(&id).map(|row| row.claim(worker, lease, now));
        found.into_iter().filter_map(claim).collect()
    }

    /// Whether a task is a turn of somebody else's conversation, where only one user's are asked for.
    pub(super) fn is_talk_of_another(&self, tenant: TenantId, task: TaskId, talks_of: Option<UserId>) -> bool {
        let row = self.tasks.get(&task).filter(|row| row.task.tenant == tenant);
        talks_of.zip(row).is_some_and(|(user, row)| row.task.is_talk_of_another(user))
    }

    fn children(&self, tenant: TenantId, parent: TaskId) -> Vec<TaskId> {
        let tasks = self.tasks.values().map(|row| &row.task).filter(|task| task.tenant == tenant);
        tasks.filter(|task| task.parent.as_ref().is_some_and(|(id, _)| *id == parent)).map(|task| task.id).collect()
    }

    fn usage_of_tree(&self, scope: TenantScope, root: TaskId) -> Usage {
        let own = self.row(scope, root).map(|row| row.task.usage).unwrap_or_default();
        let below = self.children(scope.tenant(), root).into_iter().map(|child| self.usage_of_tree(scope, child));
        below.fold(own, Usage::plus)
    }
}

impl TaskRow {
    /// The next epoch, and a lease. A pending task whose plan is known is executing from now on; any other status
    /// stays what it was.
    pub(super) fn claim(&mut self, worker: &WorkerId, lease: Millis, now: Timestamp) -> Claimed {
        let recovered_from = self.lease_owner.replace(worker.clone());
        self.claimable_at = Some(now.plus(lease));
        self.task.epoch += 1;
        self.task.started_at.get_or_insert(now);
        self.task.recoveries += u32::from(recovered_from.is_some());
        if self.task.status == TaskStatus::Pending && self.task.plan_hash.is_some() {
            self.task.status = TaskStatus::Executing;
        }
        let lease =
            Lease::granted(crate::actors::scope(self.task.tenant), self.task.id, self.task.epoch, worker.clone());
        Claimed { lease, task: self.task.clone(), recovered_from, at: now }
    }
}
