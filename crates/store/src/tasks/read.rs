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
    let found = tx.fetch_optional(&GET, args![scope, id.as_uuid()]).await?;
    found.map(|mut found| row::task(&mut found)).transpose()
}

/// A task that has to be there.
pub(super) async fn expect(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Task> {
    task(tx, scope, id).await?.ok_or_else(|| StoreError::not_found("task", id))
}

/// Several tasks of one tenant, in no order.
pub(super) async fn many(tx: &mut Tx, scope: TenantScope, ids: Vec<Uuid>) -> Result<Vec<Task>> {
    if tx.is_postgres() {
        let ids = Arg::Uuids(ids.into_iter().map(Some).collect());
        let rows = tx.fetch_all(&GET_MANY, &[scope.into(), ids]).await?;
        return rows.into_iter().map(|mut found| row::task(&mut found)).collect();
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
    let rows = tx.fetch_all(sql, args).await?;
    let listed = |mut row: Row| {
        let mut task = row::task(&mut row)?;
        task.payload = listed_payload(task.channel, &task.payload);
        Ok(task)
    };
    let items = rows.into_iter().map(listed).collect::<Result<Vec<Task>>>()?;
    Ok(crate::page::cut(items, limit, |task| task.id.to_string()))
}

/// A task's children.
pub(super) async fn children(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<TaskId>> {
    let rows = tx.fetch_all(&CHILDREN, args![scope, id.as_uuid()]).await?;
    rows.into_iter().map(|mut row| row.uuid().map(TaskId::from_uuid)).collect()
}

/// What a task and all below it have used.
pub(super) async fn usage_of_tree(tx: &mut Tx, scope: TenantScope, root: TaskId) -> Result<Usage> {
    match tx.fetch_optional(&USAGE_OF_TREE, args![scope, root.as_uuid()]).await? {
        Some(mut found) => row::usage(&mut found),
        None => Ok(Usage::default()),
    }
}

/// How many tasks are in each status.
pub(crate) async fn count_by_status(tx: &mut Tx) -> Result<Vec<(TaskStatus, i64)>> {
    let rows = tx.fetch_all(&COUNT_BY_STATUS, args![]).await?;
    let counts = rows.into_iter().map(|mut row| Ok((row.named(TaskStatus::parse)?, row.i64()?)));
    // The completed ones are counted as the rest, without a look at each, and so also when there are none.
    counts.filter(|count| !matches!(count, Ok((_, 0)))).collect()
}

/// The scope of a tenant's task.
pub(super) async fn scope_of(tx: &mut Tx, tenant: TenantId, id: TaskId) -> Result<Option<TenantScope>> {
    let found = tx.fetch_optional(&SCOPE, args![tenant.as_uuid(), id.as_uuid()]).await?;
    found.map(|mut row| Ok(scope_of_row(TenantId::from_uuid(row.uuid()?)))).transpose()
}

/// Attempts, oldest first.
pub(super) async fn attempts(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<Attempt>> {
    let rows = tx.fetch_all(&ATTEMPTS, args![scope, id.as_uuid()]).await?;
    rows.into_iter()
        .map(|mut row| {
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
        })
        .collect()
}

fn effect_class(name: &str) -> Option<EffectClass> {
    use EffectClass::{Keyed, Local, Queryable, Read, Unkeyed};
    [Read, Local, Keyed, Queryable, Unkeyed].into_iter().find(|class| class.as_str() == name)
}

/// Signals above a number.
pub(super) async fn signals(tx: &mut Tx, scope: TenantScope, id: TaskId, after: i64) -> Result<Vec<(i64, Signal)>> {
    let rows = tx.fetch_all(&SIGNALS, args![scope, id.as_uuid(), after.max(0)]).await?;
    rows.into_iter()
        .map(|mut row| {
            let number = row.i64()?;
            let signal = row.json().unwrap_or_else(|error| Signal::Unreadable { problem: error.to_string() });
            Ok((number, signal))
        })
        .collect()
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
    let rows = tx.fetch_all(&ATTACHMENTS, args![scope, id.as_uuid()]).await?;
    rows.into_iter()
        .map(|mut row| {
            Ok(Attachment {
                n: row.u32()?,
                filename: row.text()?,
                content_type: row.text()?,
                size: row.u64()?,
                hash: row.text()?,
                source: row.named(AttachmentSource::parse)?,
            })
        })
        .collect()
}

/// A task's links to records.
pub(super) async fn artifacts(tx: &mut Tx, scope: TenantScope, id: TaskId) -> Result<Vec<StoredLink>> {
    let rows = tx.fetch_all(&ARTIFACTS, args![scope, id.as_uuid()]).await?;
    rows.into_iter()
        .map(|mut row| {
            let link = ArtifactLink {
                kind: row.text()?,
                record_id: RecordId::from_uuid(row.uuid()?),
                key: row.text()?,
                role: row.named(ArtifactRole::parse)?,
                metadata: row.json()?,
            };
            Ok(StoredLink { link, step_id: row.text()?, tool_key: row.opt_text()?, created_at: row.time()? })
        })
        .collect()
}
