//! Background jobs: the same leases as tasks, and a handler instead of a plan.

use async_trait::async_trait;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{JobId, TenantId};
use kybern_core::job::{ClaimedJob, JobEnd, JobStatus, NewJob, limits};
use kybern_core::ports::JobStore;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};

use crate::db::{Arg, Tx, args, count, scope_of_row, statements};
use crate::error::Result;
use crate::store::SqlStore;
use crate::tasks::{allotted, due_since, named};

statements! {
    INSERT = shared "job_insert";
    BY_DEDUPE = shared "job_by_dedupe";
    WAITING = split "job_waiting";
    CLAIM = split "job_claim";
    RENEW = shared "job_renew";
    FINISH = shared "job_finish";
    TAKE_OVER = shared "job_take_over";
    SET_BACK = shared "job_set_back";
    DEAD = shared "job_dead";
}

/// Since when the longest due job is due.
pub(crate) async fn longest_due(tx: &mut Tx, now: Timestamp) -> Result<Option<Timestamp>> {
    due_since(tx, &WAITING, now).await
}

/// Stores a job; `false` when one with its dedupe key exists.
pub(crate) async fn insert(tx: &mut Tx, scope: TenantScope, job: &NewJob, at: Timestamp) -> Result<bool> {
    if let Some(key) = &job.dedupe_key {
        let known = tx.fetch_optional(&BY_DEDUPE, args![scope, job.kind.as_str(), key.as_str()]).await?;
        if known.is_some() {
            return Ok(false);
        }
    }
    let args = args![
        scope,
        job.id.as_uuid(),
        job.kind.as_str(),
        job.payload.to_string(),
        job.dedupe_key.as_deref(),
        job.max_attempts,
        job.due_at,
        at,
    ];
    tx.execute(&INSERT, args).await?;
    if job.due_at <= at {
        tx.wake();
    }
    Ok(true)
}

type ClaimJobs = (WorkerId, WorkerCapacity, Millis, Timestamp);

async fn claim(tx: &mut Tx, (worker, offer, lease, now): &ClaimJobs) -> Result<Vec<ClaimedJob>> {
    let mut rows = Vec::new();
    for (tenant, slots) in allotted(tx, &WAITING, offer, *now).await? {
        let running = match tx.is_postgres() {
            true => Arg::Uuids(offer.running.iter().copied().map(Some).collect()),
            false => named(&offer.running).into(),
        };
        let args = args![*now, slots, tenant.as_uuid(), worker.as_str(), *lease, running];
        rows.extend(tx.write_rows(&CLAIM, args).await?);
    }
    rows.into_iter()
        .map(|mut row| {
            let mut unreadable = None;
            let mut job = ClaimedJob {
                scope: scope_of_row(TenantId::from_uuid(row.uuid()?)),
                id: JobId::from_uuid(row.uuid()?),
                kind: row.text()?,
                payload: row.json_or_default(&mut unreadable),
                attempt: row.u32()?,
                max_attempts: row.u32()?,
                epoch: row.i64()?,
                unreadable: None,
            };
            job.unreadable = unreadable;
            Ok(job)
        })
        .collect()
}

async fn renew(tx: &mut Tx, (job, lease, now): &(ClaimedJob, Millis, Timestamp)) -> Result<bool> {
    let args = args![job.scope(), job.id.as_uuid(), job.epoch, *lease, *now];
    Ok(tx.execute(&RENEW, args).await? > 0)
}

async fn finish(tx: &mut Tx, (job, end, now): &(ClaimedJob, JobEnd, Timestamp)) -> Result<bool> {
    let now = *now;
    let (status, error, due, finished) = match end {
        JobEnd::Done => (JobStatus::Done, None, None, Some(now)),
        JobEnd::Retry { error, due_at } | JobEnd::PutOff { error, due_at } => {
            (JobStatus::Pending, Some(error.as_str()), Some(*due_at), None)
        }
        JobEnd::Dead { error } => (JobStatus::Dead, Some(error.as_str()), None, Some(now)),
    };
    let given_back = i64::from(matches!(end, JobEnd::PutOff { .. }));
    let args = args![job.scope(), job.id.as_uuid(), job.epoch, status.as_str(), error, due, finished, given_back, now];
    let ended = tx.execute(&FINISH, args).await? > 0;
    if ended && due.is_some_and(|due| due <= now) {
        tx.wake();
    }
    Ok(ended)
}

async fn take_over(tx: &mut Tx, now: Timestamp) -> Result<u64> {
    if tx.is_postgres() {
        return Ok(0);
    }
    let taken = tx.execute(&TAKE_OVER, args![now, count(limits::LONGEST_PAUSE.0)]).await?;
    if taken > 0 {
        tx.wake();
    }
    Ok(taken)
}

/// A job waits for no moment of its own but for a while, which is as long as it was.
async fn set_back(tx: &mut Tx, from: Timestamp, to: Timestamp) -> Result<u64> {
    if tx.is_postgres() {
        return Ok(0);
    }
    tx.execute(&SET_BACK, args![from, to]).await
}

pub(crate) async fn dead(tx: &mut Tx) -> Result<Vec<(String, i64)>> {
    tx.list(&DEAD, args![], |row| Ok((row.text()?, row.i64()?))).await
}

#[async_trait]
impl<D: 'static> JobStore for SqlStore<D> {
    async fn enqueue(&self, scope: TenantScope, job: &NewJob, at: Timestamp) -> PortResult<bool> {
        let args = (scope, job.clone(), at);
        let run = self
            .write_about(scope, job.id.as_uuid(), args, |tx, (scope, job, at)| Box::pin(insert(tx, *scope, job, *at)));
        Ok(run.await?)
    }

    async fn claim_jobs(
        &self,
        worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> PortResult<Vec<ClaimedJob>> {
        let args = (worker.clone(), offer.clone(), lease, now);
        Ok(self.write_all(args, |tx, args| Box::pin(claim(tx, args))).await?)
    }

    async fn renew_job(&self, job: &ClaimedJob, lease: Millis, now: Timestamp) -> PortResult<bool> {
        let args = (job.clone(), lease, now);
        Ok(self.write_about(job.scope(), job.id.as_uuid(), args, |tx, args| Box::pin(renew(tx, args))).await?)
    }

    async fn finish_job(&self, job: &ClaimedJob, end: JobEnd, now: Timestamp) -> PortResult<bool> {
        let args = (job.clone(), end, now);
        Ok(self.write_about(job.scope(), job.id.as_uuid(), args, |tx, args| Box::pin(finish(tx, args))).await?)
    }

    async fn take_over_jobs(&self, now: Timestamp) -> PortResult<u64> {
        Ok(self.write_all(now, |tx, now| Box::pin(take_over(tx, *now))).await?)
    }

    async fn set_jobs_back(&self, from: Timestamp, to: Timestamp) -> PortResult<u64> {
        Ok(self.write_all((from, to), |tx, (from, to)| Box::pin(set_back(tx, *from, *to))).await?)
    }

    async fn dead_jobs(&self) -> PortResult<Vec<(String, i64)>> {
        Ok(self.read_all((), |tx, ()| Box::pin(dead(tx))).await?)
    }
}
