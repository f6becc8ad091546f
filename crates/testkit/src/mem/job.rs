//! Background jobs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::job::{ClaimedJob, JobEnd, JobStatus, NewJob, limits};
use kybern_core::ports::JobStore;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};

use super::MemStore;
use super::state::{JobRow, MemState};

#[async_trait]
impl JobStore for MemStore {
    async fn enqueue(&self, scope: TenantScope, job: &NewJob, at: Timestamp) -> Result<bool> {
        self.run(|state| Ok(state.insert_job(scope.tenant(), job.clone(), at)))
    }

    async fn claim_jobs(
        &self,
        _worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> Result<Vec<ClaimedJob>> {
        self.run(|state| Ok(state.claim_jobs(offer, lease, now)))
    }

    async fn renew_job(&self, job: &ClaimedJob, lease: Millis, now: Timestamp) -> Result<bool> {
        self.run(|state| {
            let now = state.moment(now);
            let Some(row) = state.held_job(job) else { return Ok(false) };
            row.claimable_at = now.plus(lease);
            Ok(true)
        })
    }

    async fn finish_job(&self, job: &ClaimedJob, end: JobEnd, now: Timestamp) -> Result<bool> {
        self.run(|state| {
            // So much later, by a clock that is right.
            let moment = state.moment(now);
            let due = |due_at: Timestamp| moment.plus(due_at.since(now));
            let Some(row) = state.held_job(job) else { return Ok(false) };
            row.leased = false;
            match end {
                JobEnd::Done => {
                    row.status = JobStatus::Done;
                    row.finished_at = Some(now);
                }
                JobEnd::Retry { error, due_at } => {
                    row.error = Some(error);
                    row.claimable_at = due(due_at);
                }
                JobEnd::PutOff { error, due_at } => {
                    row.error = Some(error);
                    row.claimable_at = due(due_at);
                    row.attempts -= 1;
                }
                JobEnd::Dead { error } => {
                    row.error = Some(error);
                    row.status = JobStatus::Dead;
                    row.finished_at = Some(now);
                }
            }
            Ok(true)
        })
    }

    async fn take_over_jobs(&self, now: Timestamp) -> Result<u64> {
        self.run(|state| {
            if state.keeps_time {
                return Ok(0);
            }
            let far = |row: &JobRow| row.error.is_some() && row.claimable_at > now.plus(limits::LONGEST_PAUSE);
            let ahead = |row: &JobRow| (row.claimable_at > now && row.created_at > now) || far(row);
            let pending = state.jobs.iter_mut().filter(|row| row.status == JobStatus::Pending);
            Ok(pending.filter(|row| row.leased || ahead(row)).map(|row| row.claimable_at = now).count() as u64)
        })
    }

    async fn set_jobs_back(&self, from: Timestamp, to: Timestamp) -> Result<u64> {
        self.run(|state| {
            if state.keeps_time {
                return Ok(0);
            }
            let pending = state.jobs.iter_mut().filter(|row| row.status == JobStatus::Pending);
            let rows = pending.filter_map(|row| {
                row.claimable_at = set_back(row.claimable_at, row.leased || row.claimable_at > from, (from, to))?;
                Some(())
            });
            Ok(rows.count() as u64)
        })
    }

    async fn dead_jobs(&self) -> Result<Vec<(String, i64)>> {
        self.run(|state| {
            let mut dead: BTreeMap<String, i64> = BTreeMap::new();
            for row in state.jobs.iter().filter(|row| row.status == JobStatus::Dead) {
                *dead.entry(row.job.kind.clone()).or_default() += 1;
            }
            Ok(dead.into_iter().collect())
        })
    }
}

/// When a row is due after the clock was set back; `None` when nothing changes.
pub(super) fn set_back(due: Timestamp, leased: bool, (from, to): (Timestamp, Timestamp)) -> Option<Timestamp> {
    match leased {
        _ if due <= to => None,
        true => Some(due.minus(from.since(to))),
        false => (due <= from).then_some(to),
    }
}

impl MemState {
    /// The row of a job whose lease is still that one.
    fn held_job(&mut self, job: &ClaimedJob) -> Option<&mut JobRow> {
        self.jobs.iter_mut().find(|row| {
            let same = row.job.id == job.id && row.tenant == job.scope.tenant();
            same && row.leased && row.epoch == job.epoch && row.status == JobStatus::Pending
        })
    }

    fn claim_jobs(&mut self, offer: &WorkerCapacity, lease: Millis, now: Timestamp) -> Vec<ClaimedJob> {
        let now = self.moment(now);
        let runs = |row: &JobRow| offer.running.contains(&row.job.id.as_uuid());
        let due = |row: &&JobRow| row.status == JobStatus::Pending && row.claimable_at <= now && !runs(row);
        let due = self.jobs.iter().filter(due).map(|row| (row.claimable_at, row.job.id, row.tenant));
        let found = super::shared_out(offer, due.collect());
        let claim = |id| self.jobs.iter_mut().find(|row| row.job.id == id).map(|row| row.claim(lease, now));
        found.into_iter().filter_map(claim).collect()
    }
}

impl JobRow {
    fn claim(&mut self, lease: Millis, now: Timestamp) -> ClaimedJob {
        self.leased = true;
        self.claimable_at = now.plus(lease);
        self.attempts += 1;
        self.epoch += 1;
        ClaimedJob {
            scope: crate::actors::scope(self.tenant),
            id: self.job.id,
            kind: self.job.kind.clone(),
            payload: self.job.payload.clone(),
            attempt: self.attempts,
            max_attempts: self.job.max_attempts,
            epoch: self.epoch,
            unreadable: self.unreadable.clone(),
        }
    }
}
