//! What the store knows of itself: whether it takes writes, for how long still, and how much is open in it.

use async_trait::async_trait;

use crate::error::Result;
use crate::outbox::OutboxStatus;
use crate::time::Timestamp;

/// The room where the store keeps its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskSpace {
    /// Bytes that may still be written.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}

/// What is open, of all tenants together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpenWork {
    /// Questions that wait for a person.
    pub approvals: i64,
    /// Messages that are not sent, by status.
    pub messages: Vec<(OutboxStatus, i64)>,
    /// Jobs that wait for their time or are worked on, by kind.
    pub jobs: Vec<(String, i64)>,
    /// Jobs that were given up after their tries, by kind.
    pub dead_jobs: Vec<(String, i64)>,
}

/// Since when the oldest open work is open, of all tenants together; `None` where there is none of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OldestWork {
    /// Since when the task is due that has waited longest for a worker.
    pub task: Option<Timestamp>,
    /// When the oldest question was asked that waits for a person.
    pub approval: Option<Timestamp>,
    /// When the delegated task that waits longest was handed over.
    pub delegation: Option<Timestamp>,
    /// Since when the job is due that has waited longest for a worker.
    pub job: Option<Timestamp>,
    /// When the oldest message was written that is still to leave.
    pub message: Option<Timestamp>,
}

/// Looks at the store itself.
#[async_trait]
pub trait ProbeStore: Send + Sync {
    /// Writes something small, as every other write is written.
    ///
    /// # Errors
    /// Why the store takes no writes.
    async fn probe(&self, at: Timestamp) -> Result<()>;

    /// Counts what is open, for metrics.
    async fn open_work(&self) -> Result<OpenWork>;

    /// Finds the oldest open work, for metrics.
    async fn oldest_work(&self, now: Timestamp) -> Result<OldestWork>;

    /// The room that is left; `None` when that is another machine's to know.
    async fn room(&self) -> Option<DiskSpace>;
}
