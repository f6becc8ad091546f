//! The audit chains.

use async_trait::async_trait;
use kybern_core::audit::{AuditEvent, ChainStart, ChainedEvent};
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::ports::AuditStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::{MemState, TaskRow};

#[async_trait]
impl AuditStore for MemStore {
    async fn append_audit(&self, scope: TenantScope, at: Timestamp, event: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.append_audit(scope.tenant(), at, event);
            Ok(())
        })
    }

    async fn audit_events(&self, scope: TenantScope, after: i64, limit: u32) -> Result<Vec<ChainedEvent>> {
        self.run(|state| {
            let chain = state.audit.get(&scope.tenant()).into_iter().flatten();
            Ok(chain.filter(|link| link.seq > after).take(limit as usize).cloned().collect())
        })
    }

    async fn audit_head(&self, scope: TenantScope) -> Result<Option<(i64, String)>> {
        self.run(|state| {
            let last = state.audit.get(&scope.tenant()).and_then(|chain| chain.last());
            Ok(last.map(|link| (link.seq, link.hash.clone())))
        })
    }

    async fn audit_start(&self, scope: TenantScope) -> Result<ChainStart> {
        self.run(|state| Ok(state.audit_start(scope.tenant())))
    }

    async fn audit_purgeable(&self, scope: TenantScope, upto: i64, before: Timestamp) -> Result<Option<ChainStart>> {
        self.run(|state| {
            let tenant = scope.tenant();
            let before = state.audit_kept_since(tenant).map_or(before, |kept| kept.min(before));
            let start = state.audit_start(tenant).seq;
            let chain = state.audit.get(&tenant).into_iter().flatten().filter(|link| link.seq > start);
            let old = chain.take_while(|link| link.seq <= upto && link.at < before).last();
            Ok(old.map(|link| ChainStart { seq: link.seq, hash: link.hash.clone() }))
        })
    }

    async fn purge_audit(
        &self,
        scope: TenantScope,
        from: &ChainStart,
        to: &ChainStart,
        at: Timestamp,
        event: AuditEvent,
    ) -> Result<bool> {
        self.run(|state| {
            let tenant = scope.tenant();
            if state.audit_start(tenant) != *from {
                return Ok(false);
            }
            state.audit_starts.insert(tenant, to.clone());
            state.append_audit(tenant, at, event);
            Ok(true)
        })
    }

    async fn drop_purged_audit(&self, scope: TenantScope, most: u32) -> Result<u64> {
        self.run(|state| {
            let start = state.audit_start(scope.tenant()).seq;
            let chain = state.audit.entry(scope.tenant()).or_default();
            let old = chain.iter().take_while(|link| link.seq <= start).count().min(most as usize);
            chain.drain(..old);
            Ok(old as u64)
        })
    }
}

impl MemState {
    fn audit_start(&self, tenant: TenantId) -> ChainStart {
        self.audit_starts.get(&tenant).cloned().unwrap_or_default()
    }

    /// When the oldest task was made that is open or on hold, or above such a one.
    fn audit_kept_since(&self, tenant: TenantId) -> Option<Timestamp> {
        let kept = |row: &&TaskRow| {
            let held = self.task_holds.contains_key(&(tenant, row.task.id));
            row.task.tenant == tenant && (held || !row.task.status.is_terminal())
        };
        let made = |row: &TaskRow| {
            let above = |row: &&TaskRow| self.tasks.get(&row.task.parent.as_ref()?.0);
            std::iter::successors(Some(row), above).map(|row| row.task.created_at).min()
        };
        self.tasks.values().filter(kept).filter_map(made).min()
    }
}
