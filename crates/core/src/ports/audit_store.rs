//! The audit chains.

use async_trait::async_trait;

use crate::audit::{AuditEvent, ChainStart, ChainedEvent};
use crate::error::Result;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where audit events are kept.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Adds an event that belongs to no other write.
    async fn append_audit(&self, scope: TenantScope, at: Timestamp, event: AuditEvent) -> Result<()>;

    /// Events with `seq > after`, in order, at most `limit`.
    async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>>;

    /// The length and last hash of the tenant's chain, kept apart from its events; `None` before the first.
    async fn audit_head(&self, scope: TenantScope) -> Result<Option<(i64, String)>>;

    /// What the tenant's chain begins after.
    async fn audit_start(&self, scope: TenantScope) -> Result<ChainStart>;

    /// The last event, not beyond `upto`, up to which every event is older than `before` and than every task that is
    /// open or on hold, with all above it; `None` when the chain begins after it already.
    async fn audit_purgeable(&self, scope: TenantScope, upto: i64, before: Timestamp) -> Result<Option<ChainStart>>;

    /// Lets the chain begin after another event, together with the event that says so; `false`, and nothing, when it
    /// does not begin after `from` any more. The events before stay until [`Self::drop_purged_audit`].
    async fn purge_audit(
        &self,
        scope: TenantScope,
        from: &ChainStart,
        to: &ChainStart,
        at: Timestamp,
        event: AuditEvent,
    ) -> Result<bool>;

    /// Removes up to `most` of the oldest events from before the chain's beginning, and answers how many.
    async fn drop_purged_audit(&self, scope: TenantScope, most: u32) -> Result<u64>;
}
