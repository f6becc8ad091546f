//! The audit chains.

use async_trait::async_trait;

use crate::audit::{AuditEvent, ChainedEvent};
use crate::error::Result;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where audit events are kept.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Adds an event that belongs to no other write.
    ///
    /// # Errors
    /// When the store fails.
    async fn append_audit(&self, scope: TenantScope, at: Timestamp, event: AuditEvent) -> Result<()>;

    /// Events with `seq > after`, in order, at most `limit`.
    ///
    /// # Errors
    /// When the store fails.
    async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>>;

    /// The length and last hash of the tenant's chain, kept apart from its events; `None` before the first.
    ///
    /// # Errors
    /// When the store fails.
    async fn audit_head(&self, scope: TenantScope) -> Result<Option<(i64, String)>>;
}
