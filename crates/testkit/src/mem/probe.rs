//! Whether the store takes writes.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kybern_core::approval::ApprovalStatus;
use kybern_core::error::Result;
use kybern_core::job::JobStatus;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::{DiskSpace, OldestWork, OpenWork, ProbeStore};
use kybern_core::task::TaskStatus;
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl ProbeStore for MemStore {
    async fn probe(&self, _at: Timestamp) -> Result<()> {
        self.run(|_state| Ok(()))
    }

    async fn open_work(&self) -> Result<OpenWork> {
        self.run(|state| {
            let pending = |approval: &&kybern_core::approval::Approval| approval.status == ApprovalStatus::Pending;
            let approvals = i64::try_from(state.approvals.values().filter(pending).count()).unwrap_or(i64::MAX);
            let mut messages: BTreeMap<&str, (OutboxStatus, i64)> = BTreeMap::new();
            for message in state.outbox.values().filter(|message| message.status != OutboxStatus::Sent) {
                messages.entry(message.status.as_str()).or_insert((message.status, 0)).1 += 1;
            }
            let jobs_in = |status: JobStatus| {
                let mut kinds: BTreeMap<String, i64> = BTreeMap::new();
                for row in state.jobs.iter().filter(|row| row.status == status) {
                    *kinds.entry(row.job.kind.clone()).or_default() += 1;
                }
                kinds.into_iter().collect()
            };
            let (jobs, dead_jobs) = (jobs_in(JobStatus::Pending), jobs_in(JobStatus::Dead));
            Ok(OpenWork { approvals, messages: messages.into_values().collect(), jobs, dead_jobs })
        })
    }

    async fn oldest_work(&self, now: Timestamp) -> Result<OldestWork> {
        self.run(|state| {
            let is_due = |since: &Timestamp| *since <= state.moment(now);
            let tasks = || state.tasks.values();
            let asked = state.approvals.values().filter(|approval| approval.status == ApprovalStatus::Pending);
            let delegated = tasks().filter(|row| row.task.status == TaskStatus::Delegated);
            let open = state.jobs.iter().filter(|row| row.status == JobStatus::Pending);
            let to_leave = |status| matches!(status, OutboxStatus::Pending | OutboxStatus::Sending);
            Ok(OldestWork {
                task: tasks()
                    .filter(|row| row.task.paused_at.is_none())
                    .filter_map(|row| row.claimable_at)
                    .filter(is_due)
                    .min(),
                approval: asked.map(|approval| approval.created_at).min(),
                delegation: delegated.filter_map(|row| row.delegations.iter().map(|(.., at)| *at).max()).min(),
                job: open.map(|row| row.claimable_at).filter(is_due).min(),
                message: state.outbox.values().filter(|row| to_leave(row.status)).map(|row| row.created_at).min(),
            })
        })
    }

    async fn room(&self) -> Option<DiskSpace> {
        None
    }
}
