//! Removing what is over and old, in small transactions.

mod chats;
mod files;
mod hold;
mod trees;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::TaskId;
use kybern_core::ports::{IdentityStore, RetentionStore};
use kybern_core::retention::{KeptTenant, Purge, PurgeStep, RetentionKind, TaskHold};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::audit;
use crate::db::scope_of_row;
use crate::db::{Arg, Row, Sql, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;

pub(crate) use files::touch_or_place;
pub(crate) use hold::refuse_if_held;

statements! {
    JOBS = shared "retention_jobs";
    JOBS_COUNT = shared "retention_jobs_count";
    MESSAGES = shared "retention_messages";
    MESSAGES_COUNT = shared "retention_messages_count";
    KEYS = shared "retention_keys";
    KEYS_COUNT = shared "retention_keys_count";
}

/// Every list of statements here.
pub(crate) static NOUNS: [&[&Sql]; 5] =
    [STATEMENTS, chats::STATEMENTS, files::STATEMENTS, hold::STATEMENTS, trees::STATEMENTS];

/// Rows that one transaction removes at most.
const BATCH: u32 = 200;

/// What one transaction is asked for.
struct PurgeUnit {
    scope: TenantScope,
    purge: Purge,
    after: Option<String>,
    at: Timestamp,
}

impl PurgeUnit {
    /// The id after which is looked.
    fn after(&self) -> Result<Uuid> {
        let Some(after) = self.after.as_deref() else { return Ok(Uuid::nil()) };
        let wrong = |_| StoreError::Conflict(format!("{after} is no place at which a removal goes on"));
        after.parse::<Uuid>().map_err(wrong)
    }

    /// The smallest id that can have been made at the moment before which is removed: ids begin with their time, so what
    /// is younger is not looked at.
    fn first_young(&self) -> Uuid {
        Uuid::from_u128(u128::try_from(self.purge.before.as_millis()).unwrap_or(0) << 80)
    }
}

async fn purge(tx: &mut Tx, asked: &PurgeUnit) -> Result<PurgeStep> {
    let (scope, before) = (asked.scope, asked.purge.before);
    let step = match asked.purge.kept {
        RetentionKind::Files => files::rows(tx, asked).await?,
        RetentionKind::Chats => chats::purge(tx, asked).await?,
        RetentionKind::Tasks => trees::purge(tx, asked).await?,
        RetentionKind::Messages => {
            rows(tx, asked, [&MESSAGES, &MESSAGES_COUNT], args![scope, asked.first_young(), before, BATCH]).await?
        }
        RetentionKind::Jobs => {
            rows(tx, asked, [&JOBS, &JOBS_COUNT], args![scope, asked.first_young(), before, BATCH]).await?
        }
        RetentionKind::IdempotencyKeys => rows(tx, asked, [&KEYS, &KEYS_COUNT], args![scope, before, BATCH]).await?,
    };
    note(tx, asked, step.count).await?;
    Ok(step)
}

/// Removes rows of one table, or counts them. The last argument says how many at most.
async fn rows(
    tx: &mut Tx,
    asked: &PurgeUnit,
    [remove, count]: [&'static Sql; 2],
    args: &[Arg<'_>],
) -> Result<PurgeStep> {
    if asked.purge.dry_run {
        let count = tx.find(count, args.get(..args.len() - 1).unwrap_or_default(), Row::u64).await?;
        return Ok(PurgeStep { count: count.unwrap_or(0), next: None });
    }
    let count = tx.execute(remove, args).await?;
    Ok(PurgeStep { count, next: (count >= u64::from(BATCH)).then(String::new) })
}

/// Says in the audit what was removed.
async fn note(tx: &mut Tx, asked: &PurgeUnit, count: u64) -> Result<()> {
    let PurgeUnit { scope, purge, at, .. } = asked;
    if count == 0 || purge.dry_run {
        return Ok(());
    }
    let detail = json!({"kind": purge.kept.as_str(), "count": count, "before": purge.before});
    let event = AuditEvent::by_executor("retention.purge", format!("tenant:{}", scope.tenant()), detail);
    audit::append(tx, *scope, *at, &event).await
}

#[async_trait]
impl<D: 'static> RetentionStore for SqlStore<D> {
    async fn kept_tenants(&self) -> PortResult<Vec<KeptTenant>> {
        let kept = |tenant: kybern_core::identity::Tenant| KeptTenant {
            scope: scope_of_row(tenant.id),
            name: tenant.name,
            slug: tenant.slug,
        };
        Ok(self.tenants().await?.into_iter().map(kept).collect())
    }

    async fn purge(
        &self,
        scope: TenantScope,
        what: &Purge,
        after: Option<&str>,
        at: Timestamp,
    ) -> PortResult<PurgeStep> {
        let asked = PurgeUnit { scope, purge: what.clone(), after: after.map(str::to_owned), at };
        match self.folder() {
            Some(folder) if what.kept == RetentionKind::Files => Ok(files::in_folder(self, folder, asked).await?),
            _ => Ok(self.write(scope, asked, |tx, asked| Box::pin(purge(tx, asked))).await?),
        }
    }

    async fn hold_task(&self, scope: TenantScope, held: &TaskHold, audit: AuditEvent) -> PortResult<()> {
        let args = (scope, held.clone(), audit);
        Ok(self.write_about(scope, held.task_id.as_uuid(), args, |tx, args| Box::pin(hold::hold(tx, args))).await?)
    }

    async fn release_task(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> PortResult<()> {
        let args = (scope, id, at, audit);
        Ok(self.write_about(scope, id.as_uuid(), args, |tx, args| Box::pin(hold::release(tx, args))).await?)
    }

    async fn task_hold(&self, scope: TenantScope, id: TaskId) -> PortResult<Option<TaskHold>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(hold::get(tx, *scope, *id))).await?)
    }
}
