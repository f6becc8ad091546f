//! The audit chain: reading it and proving it.

use kybern_core::audit::{self, AuditReport, ChainedEvent};
use kybern_core::error::Result;
use kybern_core::tenant::TenantScope;

use crate::Engine;

impl Engine {
    /// Audit events after `after`, in order.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>> {
        self.inner.store.audit_events(scope, after, limit).await
    }

    /// Walks the tenant's whole chain.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn verify_audit(&self, scope: TenantScope) -> Result<AuditReport> {
        audit::verify(self.inner.store.as_ref(), scope, self.inner.keys.audit_key(scope.tenant())).await
    }
}
