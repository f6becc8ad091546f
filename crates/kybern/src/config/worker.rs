//! `[worker]`: how much is done at once, and how a crash is noticed.

use kybern_core::slots::TenantShare;
use kybern_core::task::limits;
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// The worker inside this process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WorkerOptions {
    /// Tasks of one tenant that are walked at once.
    pub(crate) slots: u32,
    /// Background jobs of one tenant that run at once.
    pub(crate) job_slots: u32,
    /// What one tenant alone can hold of all slots, in percent.
    pub(crate) tenant_share_percent: u32,
    /// How long a task is held without a sign of life, in milliseconds.
    pub(crate) lease_ms: Millis,
    /// How often a sign of life is given, in milliseconds. At most half of the lease.
    pub(crate) heartbeat_ms: Millis,
    /// How often due tasks are looked for when nothing wakes the worker, in milliseconds.
    pub(crate) poll_ms: Millis,
    /// How often a task is taken over from a worker that died before it is given up.
    pub(crate) max_recoveries: u32,
    /// How many steps without any outside effect share a commit at most; 1 commits each by itself.
    pub(crate) steps_per_commit: u32,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            slots: 64,
            job_slots: 12,
            tenant_share_percent: 75,
            lease_ms: limits::LEASE,
            heartbeat_ms: limits::HEARTBEAT,
            poll_ms: Millis(1000),
            max_recoveries: limits::MAX_RECOVERIES,
            steps_per_commit: limits::STEPS_PER_COMMIT,
        }
    }
}

impl WorkerOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        faults.between("worker.slots", self.slots, 1..=10_000);
        faults.between("worker.job_slots", self.job_slots, 1..=10_000);
        if TenantShare::percent(self.tenant_share_percent).is_none() {
            let share = &self.tenant_share_percent;
            faults.add(Fault::bad("worker.tenant_share_percent", share, "is not between 1 and 100"));
        }
        if self.lease_ms < Millis(100) {
            faults.add(Fault::bad("worker.lease_ms", &self.lease_ms.0, "is shorter than 100 ms"));
        }
        if self.heartbeat_ms.0 == 0 || self.heartbeat_ms.0.saturating_mul(2) > self.lease_ms.0 {
            let problem = format!("is not between 1 and half of worker.lease_ms ({})", self.lease_ms.0);
            faults.add(Fault::bad("worker.heartbeat_ms", &self.heartbeat_ms.0, problem));
        }
        faults.between("worker.steps_per_commit", self.steps_per_commit, 1..=1_000);
        if !(10..=60_000).contains(&self.poll_ms.0) {
            faults.add(Fault::bad("worker.poll_ms", &self.poll_ms.0, "is not between 10 and 60000 ms"));
        }
    }
}
