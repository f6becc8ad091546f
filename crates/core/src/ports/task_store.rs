//! Tasks, their journals, attempts, signals and delegations.

use std::sync::Arc;

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::{TaskId, TenantId, UserId};
use crate::money::Usage;
use crate::plan::{FrozenPlan, PlanHash, StepId};
use crate::record::StoredLink;
use crate::slots::WorkerCapacity;
use crate::task::{
    Attachment, Attempt, Channel, Claimed, Commit, CommitRefused, Committed, JournalRow, Lease, NewTask, Signal,
    Submitted, Task, TaskStatus, Wait, WorkerId,
};
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// Bytes of what is stored, beyond which a page of records, of messages or of the outbox ends before its limit: each of
/// them may be large, and whoever may list them shall not fill the memory of the server.
pub const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Which tasks to list, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskFilter {
    /// Only of that status.
    pub status: Option<TaskStatus>,
    /// Only of that intent.
    pub intent: Option<String>,
    /// Only of that channel.
    pub channel: Option<Channel>,
    /// Of the turns of conversations only those of that user, and those of nobody; `None` for all.
    pub talks_of: Option<UserId>,
    /// After that task: the cursor.
    pub before: Option<TaskId>,
    /// At most so many, from 1 to 200.
    pub limit: u32,
}

/// A row that this program cannot read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadableRow {
    pub table: &'static str,
    /// Its id, and its number among its like where it has one.
    pub id: String,
    /// The column, and what is wrong with it.
    pub problem: String,
}

/// What became of a lease at a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heartbeat {
    /// It holds on.
    Held(Committed),
    /// It is somebody else's.
    Lost,
}

/// Why a review was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReviewRefused {
    /// The task does not wait there any more, or this wait has been answered.
    #[error("the task is not waiting for this answer")]
    NotWaiting,
    /// There is no such task in this tenant.
    #[error("no such task")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] crate::error::Error),
}

/// What became of a callback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallbackOutcome {
    /// The step is delegated; the callback will end it.
    Accepted,
    /// The step is not delegated yet; the callback is kept until it is.
    Kept,
    /// The same callback came before.
    Duplicate,
    /// Another callback came before.
    Conflict,
    /// The task has ended, or the delegation has been given up; it is recorded and changes nothing.
    Late,
}

/// Tells workers that a task may be due. Spurious and lost wake-ups are both allowed: workers also poll.
#[async_trait]
pub trait WakeUps: Send + Sync {
    /// Waits for the next hint, at most `at_most`.
    ///
    /// # Cancel safety
    /// Dropping it loses at most one hint.
    async fn wait(&self, at_most: Millis);
}

/// Where tasks are kept.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Stores a new task with its attachments and the journal rows of a fork, in one commit; with `claim`, under a
    /// lease of that worker. The frozen plan is stored when it is new.
    ///
    /// # Errors
    /// When the store cannot take it; then nothing was stored.
    async fn submit(&self, scope: TenantScope, task: NewTask, claim: Option<(&WorkerId, Millis)>) -> Result<Submitted>;

    /// Claims tasks that are due or whose lease has expired: for each tenant as many as [`WorkerCapacity::allot`] gives it, its
    /// longest due first. Each gets the next epoch and a lease of that length; a pending task whose plan is known is
    /// `executing` from then on. Terminal and paused tasks are never claimed. Fewer than were offered may come back
    /// although more are due; none come back only when the offer holds for none, or others are claiming them.
    ///
    /// # Errors
    /// When the store fails; then nothing was claimed.
    async fn claim_due(
        &self,
        worker: &WorkerId,
        offer: &WorkerCapacity,
        lease: Millis,
        now: Timestamp,
    ) -> Result<Vec<Claimed>>;

    /// The rows of all tenants that this program cannot read, the first `most` of each table. It reads everything: for
    /// the doctor.
    async fn unreadable(&self, most: usize) -> Result<Vec<UnreadableRow>>;

    /// Makes every leased task claimable at once: the one process of a SQLite file calls it at its start, because no
    /// other process can hold a lease. A PostgreSQL store does nothing here.
    async fn take_over(&self, now: Timestamp) -> Result<u64>;

    /// The clock of the one process of a SQLite file was set back: what was due by `from` is due at `to`, and leases end
    /// as much earlier. A PostgreSQL store, which has a clock of its own, does nothing here.
    async fn set_back(&self, from: Timestamp, to: Timestamp) -> Result<u64>;

    /// What time it is by the clock that judges what is due and when leases end, where that is the store's own; `None`
    /// where it is the processes'.
    async fn time(&self) -> Result<Option<Timestamp>>;

    /// Prolongs leases, and tells which are lost.
    ///
    /// # Errors
    /// When the store fails; then nobody knows, and the leases may expire.
    async fn heartbeat(&self, leases: &[Lease], lease: Millis, now: Timestamp) -> Result<Vec<Heartbeat>>;

    /// Gives back leases whose holder stops before its work is done. The tasks are due at once, and whoever claims them
    /// recovers them from nobody: a stop is no death. A lease that is not held any more is passed over.
    ///
    /// # Errors
    /// When the store fails; then the leases expire.
    async fn give_back(&self, leases: &[Lease], now: Timestamp) -> Result<()>;

    /// Writes one commit under the lease's fence, all or nothing.
    ///
    /// # Errors
    /// [`CommitRefused::Fenced`] when the epoch is old, [`CommitRefused::Changed`] when a tool's belief no
    /// longer holds; in each case nothing was written. After `UNAVAILABLE` nobody knows whether it was written; ask
    /// with [`TaskStore::commit_again`].
    async fn commit(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused>;

    /// Writes a commit whose first try ended with `UNAVAILABLE`, unless that try has written it: then it is answered as
    /// written, and nothing is written twice. The holder repeats a commit before it writes anything else.
    ///
    /// A commit is recognised by its last row; one without rows by the lease that it has given back. One with neither does the same
    /// when it is written again, as long as it carries no usage, effects or audit events.
    ///
    /// # Errors
    /// The same as of [`TaskStore::commit`]. A release without rows is also `Fenced` when it was written and somebody
    /// has claimed the task since.
    async fn commit_again(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused>;

    /// Records that an outside effect is about to begin, under the lease's fence. The same step, generation and
    /// attempt twice is allowed when the arguments are the same.
    ///
    /// # Errors
    /// Fenced, or the store failed; then the effect must not begin.
    async fn begin_attempt(&self, lease: &Lease, attempt: &Attempt) -> Result<Committed, CommitRefused>;

    /// Attempts of a task, oldest first.
    async fn attempts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attempt>>;

    /// Signals with a number above `after`, in order.
    async fn signals(&self, scope: TenantScope, task: TaskId, after: i64) -> Result<Vec<(i64, Signal)>>;

    /// A task's row.
    ///
    /// # Errors
    /// When the store fails. Another tenant's task is `None`.
    async fn task(&self, scope: TenantScope, id: TaskId) -> Result<Option<Task>>;

    /// A page of tasks, newest first, as a list shows them: without result, which is not even read, with what
    /// [`listed_payload`](crate::task::listed_payload) leaves of the payload, with at most
    /// [`limits::LISTED_INPUT`](crate::task::limits::LISTED_INPUT) characters of input, and without waits that are longer
    /// than [`limits::LISTED_WAITS`](crate::task::limits::LISTED_WAITS). Of a mail whose payload is longer than
    /// [`limits::LISTED_PAYLOAD`](crate::task::limits::LISTED_PAYLOAD) it says neither sender nor subject.
    async fn tasks(&self, scope: TenantScope, filter: &TaskFilter) -> Result<Page<Task>>;

    /// Journal rows with `seq > after`, in order, at most `limit`.
    ///
    /// # Errors
    /// When the store fails, or a row cannot be read by this program.
    async fn journal(&self, scope: TenantScope, task: TaskId, after: i64, limit: u32) -> Result<Vec<JournalRow>>;

    /// A frozen plan.
    ///
    /// # Errors
    /// When the store fails, or the plan was frozen by a newer program.
    async fn frozen_plan(&self, scope: TenantScope, hash: &PlanHash) -> Result<Option<FrozenPlan>>;

    /// A task's attachments in order.
    async fn attachments(&self, scope: TenantScope, task: TaskId) -> Result<Vec<Attachment>>;

    /// A task's links to records, oldest first.
    async fn artifacts(&self, scope: TenantScope, task: TaskId) -> Result<Vec<StoredLink>>;

    /// A task's children, oldest first.
    async fn children(&self, scope: TenantScope, task: TaskId) -> Result<Vec<TaskId>>;

    /// Answers one wait of a task, exactly once: stores the signal and makes the task due. The waits on the row are
    /// left to the holder of the next lease.
    ///
    /// # Errors
    /// [`ReviewRefused::NotWaiting`] when the task does not wait with that step and row any more, or it was answered.
    async fn answer(
        &self,
        scope: TenantScope,
        id: TaskId,
        wait: &Wait,
        signal: Signal,
        audit: AuditEvent,
    ) -> Result<(), ReviewRefused>;

    /// Stores a workflow's callback for a step, at most one body per workflow id, and makes the task due. The caller
    /// has verified the secret. `body_hash` tells a repeat from a conflict, which is audited.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no such task.
    async fn callback(
        &self,
        scope: TenantScope,
        id: TaskId,
        step: &StepId,
        signal: Signal,
        body_hash: &str,
        at: Timestamp,
    ) -> Result<CallbackOutcome>;

    /// The scope of a tenant's task, for callers who have proved themselves by the task's own secret.
    async fn scope_of(&self, tenant: TenantId, id: TaskId) -> Result<Option<TenantScope>>;

    /// Wants the task cancelled. A task that nobody holds becomes due, so that a worker ends it.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has ended.
    async fn request_cancel(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> Result<Task>;

    /// Pauses a task: it keeps its status and cannot be claimed. Resumes it with `false`.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has ended, or is paused (not paused) already.
    async fn set_paused(
        &self,
        scope: TenantScope,
        id: TaskId,
        paused: bool,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task>;

    /// Reopens a failed task, leaving the signal for its next holder.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has not failed.
    async fn reopen(
        &self,
        scope: TenantScope,
        id: TaskId,
        signal: Signal,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<Task>;

    /// What a task and all below it have used.
    async fn usage_of_tree(&self, scope: TenantScope, root: TaskId) -> Result<Usage>;

    /// How many tasks of all tenants are in each status, for metrics.
    async fn count_by_status(&self) -> Result<Vec<(TaskStatus, i64)>>;
}
