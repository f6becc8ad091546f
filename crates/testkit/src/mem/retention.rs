//! Removing what is over and old.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::TenantId;
use kybern_core::job::JobStatus;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::RetentionStore;
use kybern_core::retention::{Kept, Purge, Purged};
use kybern_core::time::Timestamp;
use serde_json::json;

use super::MemStore;
use super::state::State;

#[async_trait]
impl RetentionStore for MemStore {
    async fn purge(&self, purge: &Purge, at: Timestamp) -> Result<Vec<Purged>> {
        self.run("purge", |state| {
            let names: Vec<_> = state.tenants.values().map(|it| (it.id, it.name.clone(), it.slug.clone())).collect();
            for held in &purge.holds {
                if !names.iter().any(|(_, name, slug)| name == held || slug == held) {
                    return Err(Error::not_found("tenant", held));
                }
            }
            let free = names.into_iter().filter(|(_, name, slug)| !purge.holds(name, slug));
            let purged = free.map(|(tenant, ..)| Purged { tenant, count: state.purge(tenant, purge, at) });
            Ok(purged.filter(|purged| purged.count > 0).collect())
        })
        .await
    }
}

impl State {
    fn purge(&mut self, tenant: TenantId, purge: &Purge, at: Timestamp) -> u64 {
        let rows = |state: &Self| state.jobs.len() + state.outbox.len();
        let before = rows(self);
        match purge.kept {
            Kept::Jobs => self.jobs.retain(|row| {
                let old = row.finished_at.is_some_and(|at| at < purge.before);
                row.tenant != tenant || row.status == JobStatus::Pending || !old
            }),
            Kept::Messages => self.outbox.retain(|(owner, _), row| {
                let open = matches!(row.status, OutboxStatus::Pending | OutboxStatus::Sending);
                *owner != tenant || open || row.created_at >= purge.before
            }),
        }
        let removed = (before - rows(self)) as u64;
        if removed > 0 {
            let detail = json!({"kind": purge.kept.as_str(), "count": removed, "before": purge.before});
            let event = AuditEvent::by_executor("retention.purge", format!("tenant:{tenant}"), detail);
            self.append_audit(tenant, at, event);
        }
        removed
    }
}
