//! The audit chain: reading it and proving it.

use kybern_core::audit::{self, AuditHead, AuditReport, ChainedEvent, GENESIS};
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

    /// What the tenant's chain ends with now, signed, to be kept somewhere else.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit_head(&self, scope: TenantScope) -> Result<AuditHead> {
        let head = self.inner.store.audit_head(scope).await?.unwrap_or_else(|| (0, GENESIS.to_owned()));
        let key = self.inner.keys.audit_key(scope.tenant());
        Ok(key.sign_head(scope.tenant(), head, self.inner.clock.now()))
    }

    /// Walks the tenant's whole chain, and holds it against a head that was signed earlier.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn verify_audit_against(&self, scope: TenantScope, head: &AuditHead) -> Result<AuditReport> {
        let mut report = self.verify_audit(scope).await?;
        let key = self.inner.keys.audit_key(scope.tenant());
        let fault = audit::hold_against(self.inner.store.as_ref(), scope, key, head).await?;
        report.faults.extend(fault);
        report.valid = report.faults.is_empty();
        Ok(report)
    }

    /// Walks the tenant's whole chain.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn verify_audit(&self, scope: TenantScope) -> Result<AuditReport> {
        audit::verify(self.inner.store.as_ref(), scope, self.inner.keys.audit_key(scope.tenant())).await
    }
}
