//! Tasks and what belongs to them, to read.

use std::sync::Arc;

use kybern_core::id::{RecordId, TaskId, TenantId, UserId};
use kybern_core::money::Usage;
use kybern_core::plan::{FrozenPlan, PlanHash, StepId};
use kybern_core::ports::{Page, TaskFilter};
use kybern_core::record::{ArtifactLink, ArtifactRole, StoredLink};
use kybern_core::task::{Attachment, AttachmentSource, Attempt, EffectClass, Signal, Task, TaskStatus, listed_payload};
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

use super::row;
use crate::db::scope_of_row;
use crate::db::{Arg, Row, Tx, args, statements};
use crate::error::{Result, StoreError};

statements! {
    GET = shared "task_get";
    GET_MANY = postgres "task_get_many";
    LIST = shared "task_list";
    LIST_STATUS = shared "task_list_status";
    LIST_INTENT = shared "task_list_intent";
    CHILDREN = shared "task_children";
    USAGE_OF_TREE = shared "task_usage_of_tree";
    COUNT_BY_STATUS = shared "task_count_by_status";
    SCOPE = shared "task_scope";
    ATTEMPTS = shared "attempt_list";
    SIGNALS = shared "signal_list";
    FROZEN = shared "frozen_get";
    ATTACHMENTS = shared "attachment_list";
    ARTIFACTS = shared "artifact_list";
}

pub(super) async fn task(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Option<Task>> {
    tx.find(&GET, args![scope, id.as_uuid()], row::task).await
}

/// A task that has to be there.
pub(super) async fn expect(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Task> {
    task(tx, scope, id).await?.ok_or_else(|| StoreError::not_found("task", id))
}

/// Several tasks of one tenant, in no order.
pub(super) async fn many(tx: &mut Tx, scope: TenantScope, ids: Vec<Uuid>) -> Result<Vec<Task>> {
    if tx.is_postgres() {
        let ids = Arg::Uuids(ids.into_iter().map(Some).collect());
        return tx.list(&GET_MANY, &[scope.into(), ids], row::task).await;
    }
    let mut tasks = Vec::with_capacity(ids.len());
    for id in ids {
        tasks.extend(task(tx, scope, TaskId::from_uuid(id)).await?);
    }
    Ok(tasks)
}

/// A page, newest first.
pub(super) async fn list(tx: &mut Tx, scope: TenantScope, filter: &TaskFilter) -> Result<Page<Task>> {
    let limit = filter.limit.clamp(1, 200);
    let sql = match (&filter.status, &filter.intent) {
        (Some(status), _) if *status != TaskStatus::Completed => &LIST_STATUS,
        (_, Some(_)) => &LIST_INTENT,
        _ => &LIST,
    };
    let args = args![
        scope,
        filter.before.map_or(Uuid::max(), TaskId::as_uuid),
        filter.status.map(TaskStatus::as_str),
        filter.intent.as_deref(),
        filter.channel.map(kybern_core::task::Channel::as_str),
        limit + 1,
        filter.talks_of.map(UserId::as_uuid),
    ];
    let mut items = tx.list(sql, args, row::task).await?;
    for task in &mut items {
        task.payload = listed_payload(task.channel, &task.payload);
    }
    Ok(crate::page::cut(items, limit, |task| task.id.to_string()))
}

/// A task's children.
pub(super) async fn children(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<TaskId>> {
    tx.list(&CHILDREN, args![scope, id.as_uuid()], |row| row.uuid().map(TaskId::from_uuid)).await
}

/// What a task and all below it have used.
pub(super) async fn usage_of_tree(tx: &mut Tx, scope: TenantScope, root: TaskId) -> Result<Usage> {
    Ok(tx.find(&USAGE_OF_TREE, args![scope, root.as_uuid()], row::usage).await?.unwrap_or_default())
}

/// How many tasks are in each status.
pub(crate) async fn count_by_status(tx: &mut Tx) -> Result<Vec<(TaskStatus, i64)>> {
    let read = |row: &mut Row| Ok((row.named(TaskStatus::parse)?, row.i64()?));
    let mut counts = tx.list(&COUNT_BY_STATUS, args![], read).await?;
    // The completed ones are counted as the rest, without a look at each, and so also when there are none.
    counts.retain(|(_, count)| *count != 0);
    Ok(counts)
}

/// The scope of a tenant's task.
pub(super) async fn scope_of(tx: &mut Tx, tenant: TenantId, id: TaskId) -> Result<Option<TenantScope>> {
    let found = tx.find(&SCOPE, args![tenant.as_uuid(), id.as_uuid()], Row::uuid).await?;
    Ok(found.map(|tenant| scope_of_row(TenantId::from_uuid(tenant))))
}

/// Attempts, oldest first.
pub(super) async fn attempts(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<Attempt>> {
    let attempt = |row: &mut Row| {
        Ok(Attempt {
            step: StepId::trusted(&row.text()?),
            generation: row.u32()?,
            attempt: row.u32()?,
            tool: row.text()?,
            effect: row.named(effect_class)?,
            args_hash: row.text()?,
            at: row.time()?,
            rendered: row.opt_json()?.map(Arc::new),
            tool_hash: row.opt_text()?.map(Arc::from),
        })
    };
    tx.list(&ATTEMPTS, args![scope, id.as_uuid()], attempt).await
}

fn effect_class(name: &str) -> Option<EffectClass> {
    use EffectClass::{Keyed, Local, Queryable, Read, Unkeyed};
    [Read, Local, Keyed, Queryable, Unkeyed].into_iter().find(|class| class.as_str() == name)
}

/// Signals above a number.
pub(super) async fn signals(tx: &mut Tx, scope: TenantScope, id: TaskId, after: i64) -> Result<Vec<(i64, Signal)>> {
    let signal = |row: &mut Row| {
        let number = row.i64()?;
        Ok((number, row.json().unwrap_or_else(|error| Signal::Unreadable { problem: error.to_string() })))
    };
    tx.list(&SIGNALS, args![scope, id.as_uuid(), after.max(0)], signal).await
}

pub(super) async fn frozen(tx: &mut Tx, scope: TenantScope, hash: &PlanHash) -> Result<Option<FrozenPlan>> {
    let Some(mut row) = tx.fetch_optional(&FROZEN, args![scope, hash.as_str()]).await? else { return Ok(None) };
    let plan = FrozenPlan::thaw(&row.text()?).map_err(|problem| row.fault(problem))?;
    if plan.hash() != hash {
        return Err(row.fault(format!("the plan {hash} was edited in the database")));
    }
    Ok(Some(plan))
}

/// A task's attachments.
pub(super) async fn attachments(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<Attachment>> {
    let attachment = |row: &mut Row| {
        Ok(Attachment {
            n: row.u32()?,
            filename: row.text()?,
            content_type: row.text()?,
            size: row.u64()?,
            hash: row.text()?,
            source: row.named(AttachmentSource::parse)?,
        })
    };
    tx.list(&ATTACHMENTS, args![scope, id.as_uuid()], attachment).await
}

/// A task's links to records.
pub(super) async fn artifacts(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<StoredLink>> {
    let stored = |row: &mut Row| {
        let link = ArtifactLink {
            kind: row.text()?,
            record_id: RecordId::from_uuid(row.uuid()?),
            key: row.text()?,
            role: row.named(ArtifactRole::parse)?,
            metadata: row.json()?,
        };
        Ok(StoredLink { link, step_id: row.text()?, tool_key: row.opt_text()?, created_at: row.time()? })
    };
    tx.list(&ARTIFACTS, args![scope, id.as_uuid()], stored).await
}
