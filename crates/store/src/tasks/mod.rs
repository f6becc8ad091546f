//! Tasks: their rows, journals, leases, signals.

mod claim;
mod commit;
mod effects;
mod ending;
mod journal;
mod nouns;
mod read;
mod repeat;
mod row;
mod signals;
mod steer;
mod submit;
mod together;

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::id::{TaskId, TenantId};
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

use crate::archive;
use crate::db::Sql;
use crate::store::SqlStore;
pub(crate) use claim::{allotted, due_since, longest_due, named};
pub(crate) use read::count_by_status;
pub(crate) use signals::{may_dispatch, must_exist};
pub(crate) use together::write_at_once;

/// Every statement about tasks.
pub(crate) static STATEMENTS: [&[&Sql]; 11] = [
    claim::STATEMENTS,
    commit::STATEMENTS,
    effects::STATEMENTS,
    ending::STATEMENTS,
    journal::STATEMENTS,
    read::STATEMENTS,
    repeat::STATEMENTS,
    signals::STATEMENTS,
    steer::STATEMENTS,
    submit::STATEMENTS,
    together::STATEMENTS,
];

#[async_trait]
impl<D: 'static> TaskStore for SqlStore<D> {
    async fn submit(&self, scope: TenantScope, task: NewTask, claim: Option<(&WorkerId, Millis)>) -> Result<Submitted> {
        let about = task.id.as_uuid();
        let submission = submit::Submission::prepare(scope, task, claim)?;
        if submission.may_be_plain() {
            return Ok(self.write_plain(scope, submission, |tx, new| Box::pin(submit::submit(tx, new))).await?);
        }
        Ok(self.write_about(scope, about, submission, |tx, new| Box::pin(submit::submit(tx, new))).await?)
    }

    async fn claim_due(
        &self,
        worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> Result<Vec<Claimed>> {
        let wanted = claim::ClaimRequest { worker: worker.clone(), offer: offer.clone(), lease, now };
        Ok(self.write_all(wanted, |tx, wanted| Box::pin(claim::claim_due(tx, wanted))).await?)
    }

    async fn unreadable(&self, most: usize) -> Result<Vec<UnreadableRow>> {
        Ok(self.read_all(most, |tx, most| Box::pin(archive::unreadable::find(tx, *most))).await?)
    }

    async fn take_over(&self, now: Timestamp) -> Result<u64> {
        Ok(self.write_all(now, |tx, now| Box::pin(claim::take_over(tx, *now))).await?)
    }

    async fn set_back(&self, from: Timestamp, to: Timestamp) -> Result<u64> {
        Ok(self.write_all((from, to), |tx, (from, to)| Box::pin(claim::set_back(tx, *from, *to))).await?)
    }

    async fn time(&self) -> Result<Option<Timestamp>> {
        Ok(self.read_all((), |tx, ()| Box::pin(claim::time(tx))).await?)
    }

    async fn heartbeat(&self, leases: &[Lease], lease: Millis, now: Timestamp) -> Result<Vec<Heartbeat>> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let args = (leases.to_vec(), lease, now);
        let run =
            self.write_all(args, |tx, (leases, length, now)| Box::pin(claim::heartbeat(tx, leases, *length, *now)));
        Ok(run.await?)
    }

    async fn give_back(&self, leases: &[Lease], now: Timestamp) -> Result<()> {
        let args = (leases.to_vec(), now);
        Ok(self.write_all(args, |tx, (leases, now)| Box::pin(claim::give_back(tx, leases, *now))).await?)
    }

    async fn commit(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        let prepared = commit::PreparedCommit::new(lease, commit)?;
        let (scope, about) = (lease.scope(), lease.task().as_uuid());
        if prepared.is_mergeable() {
            return Ok(self.write_plain(scope, prepared, |tx, all| Box::pin(commit::commit(tx, all))).await?);
        }
        Ok(self.write_about(scope, about, prepared, |tx, all| Box::pin(commit::commit(tx, all))).await?)
    }

    async fn commit_again(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        let prepared = commit::PreparedCommit::new(lease, commit)?;
        let (scope, about) = (lease.scope(), lease.task().as_uuid());
        Ok(self.write_about(scope, about, prepared, |tx, all| Box::pin(repeat::commit_again(tx, all))).await?)
    }

    async fn begin_attempt(&self, lease: &Lease, attempt: &Attempt) -> Result<Committed, CommitRefused> {
        let args = (lease.clone(), attempt.clone());
        let run = self.write_about(lease.scope(), lease.task().as_uuid(), args, |tx, (lease, attempt)| {
            Box::pin(commit::begin_attempt(tx, lease, attempt))
        });
        Ok(run.await?)
    }

    async fn attempts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attempt>> {
        Ok(self.read_few(scope, (scope, task), |tx, (scope, id)| Box::pin(read::attempts(tx, *scope, *id))).await?)
    }

    async fn signals(&self, scope: TenantScope, task: TaskId, after: i64) -> Result<Vec<(i64, Signal)>> {
        let args = (scope, task, after);
        let run = self.read(scope, args, |tx, (scope, id, after)| Box::pin(read::signals(tx, *scope, *id, *after)));
        Ok(run.await?)
    }

    async fn task(&self, scope: TenantScope, id: TaskId) -> Result<Option<Task>> {
        Ok(self.read(scope, (scope, id), |tx, (scope, id)| Box::pin(read::task(tx, *scope, *id))).await?)
    }

    async fn tasks(&self, scope: TenantScope, filter: &TaskFilter) -> Result<Page<Task>> {
        let args = (scope, filter.clone());
        Ok(self.read(scope, args, |tx, (scope, filter)| Box::pin(read::list(tx, *scope, filter))).await?)
    }

    async fn journal(&self, scope: TenantScope, task: TaskId, after: i64, limit: u32) -> Result<Vec<JournalRow>> {
        Ok(self.read(scope, (scope, task, after, limit), |tx, args| Box::pin(journal::list(tx, args))).await?)
    }

    async fn frozen_plan(&self, scope: TenantScope, hash: &PlanHash) -> Result<Option<FrozenPlan>> {
        let args = (scope, hash.clone());
        Ok(self.read_few(scope, args, |tx, (scope, hash)| Box::pin(read::frozen(tx, *scope, hash))).await?)
    }

    async fn attachments(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attachment>> {
        Ok(self.read_few(scope, (scope, task), |tx, (scope, id)| Box::pin(read::attachments(tx, *scope, *id))).await?)
    }

    async fn artifacts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<StoredLink>> {
        Ok(self.read(scope, (scope, task), |tx, (scope, id)| Box::pin(read::artifacts(tx, *scope, *id))).await?)
    }

    async fn children(&self, scope: TenantScope, task: TaskId) -> Result<Vec<TaskId>> {
        Ok(self.read(scope, (scope, task), |tx, (scope, id)| Box::pin(read::children(tx, *scope, *id))).await?)
    }

    async fn answer(
        &self,
        scope: TenantScope,
        id: TaskId,
        wait: &Wait,
        signal: Signal,
        audit: AuditEvent,
    ) -> Result<(), ReviewRefused> {
        let answer =
            signals::ReviewSignal { scope, id, wait: wait.clone(), signal, audit, at: self.shared.clock.now() };
        let run = self.write_about(scope, id.as_uuid(), answer, |tx, answer| Box::pin(signals::answer(tx, answer)));
        Ok(run.await?)
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
        let (step, body_hash) = (step.as_str().to_owned(), body_hash.to_owned());
        let callback = signals::Callback { scope, id, step, signal, body_hash, at };
        let run = self.write_about(scope, id.as_uuid(), callback, |tx, all| Box::pin(signals::callback(tx, all)));
        Ok(run.await?)
    }

    async fn scope_of(&self, tenant: TenantId, id: TaskId) -> Result<Option<TenantScope>> {
        Ok(self.read_all((tenant, id), |tx, (tenant, id)| Box::pin(read::scope_of(tx, *tenant, *id))).await?)
    }

    async fn request_cancel(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> Result<Task> {
        let aim = steer::SteerAct { scope, id, at, audit };
        Ok(self.write_about(scope, id.as_uuid(), aim, |tx, aim| Box::pin(steer::cancel(tx, aim))).await?)
    }

    async fn set_paused(
        &self,
        scope: TenantScope,
        id: TaskId,
        paused: bool,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task> {
        let aim = (steer::SteerAct { scope, id, at, audit }, paused);
        Ok(self.write_about(scope, id.as_uuid(), aim, |tx, aim| Box::pin(steer::pause(tx, aim))).await?)
    }

    async fn reopen(
        &self,
        scope: TenantScope,
        id: TaskId,
        signal: Signal,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task> {
        let aim = (steer::SteerAct { scope, id, at, audit }, signal);
        Ok(self.write_about(scope, id.as_uuid(), aim, |tx, aim| Box::pin(steer::reopen(tx, aim))).await?)
    }

    async fn usage_of_tree(&self, scope: TenantScope, root: TaskId) -> Result<Usage> {
        Ok(self.read(scope, (scope, root), |tx, (scope, id)| Box::pin(read::usage_of_tree(tx, *scope, *id))).await?)
    }

    async fn count_by_status(&self) -> Result<Vec<(TaskStatus, i64)>> {
        Ok(self.read_all((), |tx, ()| Box::pin(read::count_by_status(tx))).await?)
    }
}
