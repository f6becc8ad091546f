//! Background jobs.

use async_trait::async_trait;

use crate::error::Result;
use crate::job::{ClaimedJob, JobEnd, NewJob};
use crate::slots::WorkerCapacity;
use crate::task::WorkerId;
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};

/// Where jobs are kept.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Stores a job; `false` when one with its dedupe key exists.
    async fn enqueue(&self, scope: TenantScope, job: &NewJob, at: Timestamp) -> Result<bool>;

    /// Claims due jobs under a lease, shared out among tenants as tasks are; each claim counts as a try. A job whose lease
    /// expired in its last try is claimed as well, with more attempts than it has tries: it is not tried again then,
    /// but wound up by its holder.
    async fn claim_jobs(
        &self,
        worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> Result<Vec<ClaimedJob>>;

    /// Prolongs a job's lease from now on; `false` when it is somebody else's by now, or the job has ended.
    async fn renew_job(&self, job: &ClaimedJob, lease: Millis, now: Timestamp) -> Result<bool>;

    /// Ends a try; `false` when the lease is somebody else's by now.
    async fn finish_job(&self, job: &ClaimedJob, end: JobEnd, now: Timestamp) -> Result<bool>;

    /// Makes every leased job claimable at once; see [`super::TaskStore::take_over`].
    async fn take_over_jobs(&self, now: Timestamp) -> Result<u64>;

    /// The clock was set back; see [`super::TaskStore::set_back`].
    async fn set_jobs_back(&self, from: Timestamp, to: Timestamp) -> Result<u64>;

    /// How many jobs are dead, by kind, for metrics and the doctor.
    async fn dead_jobs(&self) -> Result<Vec<(String, i64)>>;
}
