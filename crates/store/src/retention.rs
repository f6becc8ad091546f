//! Removing what is over and old, in small transactions.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result as PortResult};
use kybern_core::ports::{IdentityStore, RetentionStore};
use kybern_core::retention::{Kept, Purge, Purged};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::audit;
use crate::db::scope_of_row;
use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::store::SqlStore;

statements! {
    JOBS = shared "retention_jobs";
    MESSAGES = shared "retention_messages";
}

/// Rows that one transaction removes at most.
const BATCH: u32 = 200;

/// The smallest id that can have been made at a moment: ids begin with their time, so what is younger is not looked at.
fn first_id(at: Timestamp) -> Uuid {
    Uuid::from_u128(u128::try_from(at.as_millis()).unwrap_or(0) << 80)
}

async fn purge(tx: &mut Tx, (scope, purge, at): &(TenantScope, Purge, Timestamp)) -> Result<u64> {
    let statement = match purge.kept {
        Kept::Jobs => &JOBS,
        Kept::Messages => &MESSAGES,
    };
    let removed = tx.execute(statement, args![*scope, first_id(purge.before), purge.before, BATCH]).await?;
    if removed > 0 {
        let detail = json!({"kind": purge.kept.as_str(), "count": removed, "before": purge.before});
        let event = AuditEvent::by_executor("retention.purge", format!("tenant:{}", scope.tenant()), detail);
        audit::append(tx, *scope, *at, &event).await?;
    }
    Ok(removed)
}

#[async_trait]
impl<D: 'static> RetentionStore for SqlStore<D> {
    async fn purge(&self, what: &Purge, at: Timestamp) -> PortResult<Vec<Purged>> {
        let tenants = self.tenants().await?;
        for held in &what.holds {
            if !tenants.iter().any(|tenant| tenant.name == *held || tenant.slug == *held) {
                return Err(Error::not_found("tenant", held));
            }
        }
        let mut purged = Vec::new();
        for tenant in tenants.into_iter().filter(|tenant| !what.holds(&tenant.name, &tenant.slug)) {
            let scope = scope_of_row(tenant.id);
            let mut count = 0;
            loop {
                let args = (scope, what.clone(), at);
                let removed = self.write(scope, args, |tx, args| Box::pin(purge(tx, args))).await?;
                count += removed;
                if removed < u64::from(BATCH) {
                    break;
                }
            }
            if count > 0 {
                purged.push(Purged { tenant: tenant.id, count });
            }
        }
        Ok(purged)
    }
}
