//! Leases and their fence.

use std::fmt;
use std::sync::Arc;

use super::input::Task;
use crate::id::TaskId;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// One run of one worker process; a restart is another worker.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WorkerId(Arc<str>);

impl WorkerId {
    /// Names a worker, for instance by host, process id and a random part.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The right to write one task, until it is given back or a larger epoch appears. When its time is over anybody may claim
/// the task, which makes a larger epoch; until somebody does, its holder may still write. Every commit carries the epoch;
/// a commit with an old one is refused, so a worker that slept past its lease, and lost it, can finish its computation but
/// cannot write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    scope: TenantScope,
    task: TaskId,
    epoch: i64,
    worker: WorkerId,
}

impl Lease {
    /// A lease that the store has just granted on a task of that tenant.
    #[must_use]
    pub fn granted(scope: TenantScope, task: TaskId, epoch: i64, worker: WorkerId) -> Self {
        Self { scope, task, epoch, worker }
    }

    /// The scope of the task's tenant.
    #[must_use]
    pub fn scope(&self) -> TenantScope {
        self.scope
    }

    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The fence.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Who holds it.
    #[must_use]
    pub fn worker(&self) -> &WorkerId {
        &self.worker
    }
}

/// A task under a fresh lease.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The right to write it.
    pub lease: Lease,
    /// The row as it stood after the claim.
    pub task: Task,
    /// The worker that let the lease expire, when there was one. Such a claim counts as a recovery.
    pub recovered_from: Option<WorkerId>,
    /// The moment of the claim by the clock that judges what is due: the database's own where it has one. What was
    /// due by that clock is due for the holder, whatever the holder's clock says.
    pub at: Timestamp,
}
