//! The audit chains.

use async_trait::async_trait;
use kybern_core::audit::{AuditEvent, ChainedEvent};
use kybern_core::error::Result;
use kybern_core::ports::AuditStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl AuditStore for MemStore {
    async fn append_audit(&self, scope: TenantScope, at: Timestamp, event: AuditEvent) -> Result<()> {
        self.run("append_audit", |state| {
            state.append_audit(scope.tenant(), at, event);
            Ok(())
        })
        .await
    }

    async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>> {
        self.run("audit_events", |state| {
            let chain = state.audit.get(&scope.tenant()).into_iter().flatten();
            Ok(chain.filter(|link| link.seq > after).take(limit as usize).cloned().collect())
        })
        .await
    }

    async fn audit_head(&self, scope: TenantScope) -> Result<Option<(i64, String)>> {
        self.run("audit_head", |state| {
            let last = state.audit.get(&scope.tenant()).and_then(|chain| chain.last());
            Ok(last.map(|link| (link.seq, link.hash.clone())))
        })
        .await
    }
}
