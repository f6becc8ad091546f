//! What is removed when its time is over, and what is kept all the same.

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::TaskId;
use crate::retention::{KeptTenant, Purge, PurgeStep, TaskHold};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Removes what is over and old. A round of removal walks through all tenants.
#[async_trait]
pub trait RetentionStore: Send + Sync {
    /// Every tenant, each with the right to remove what is its.
    async fn kept_tenants(&self) -> Result<Vec<KeptTenant>>;

    /// Removes a little of what is over and old of one tenant, in one small transaction, so that nobody waits long for
    /// it. A transaction that removes something writes an audit event `retention.purge` with what it was. What is open,
    /// billed in the month at `at`, or on hold stays; so does a task as long as a conversation shows it. The holds that
    /// name tenants are the caller's to look at.
    ///
    /// # Errors
    /// When the store fails; what earlier transactions removed stays removed.
    async fn purge(&self, scope: TenantScope, purge: &Purge, after: Option<&str>, at: Timestamp) -> Result<PurgeStep>;

    /// Puts a task on hold: its whole tree is kept until it is released, and so is the conversation that shows it.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it is on hold already.
    async fn hold_task(&self, scope: TenantScope, hold: &TaskHold, audit: AuditEvent) -> Result<()>;

    /// Releases a task from its hold.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it is not on hold.
    async fn release_task(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> Result<()>;

    /// The hold that a task was put on itself.
    async fn task_hold(&self, scope: TenantScope, id: TaskId) -> Result<Option<TaskHold>>;
}
