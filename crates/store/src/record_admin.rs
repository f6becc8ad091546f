//! Records, as people keep them: pages by a lookup, the history, and changes by hand.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{RecordId, TaskId, UserId};
use kybern_core::ports::{MAX_PAGE_BYTES, Page, RecordAdminStore};
use kybern_core::record::version::{difference, edited};
use kybern_core::record::{ArtifactRole, Lookup, Record, RecordEdit, RecordTask, RecordTaskPlace, RecordVersion};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, page, records};

statements! {
    FOUND = shared "record_found";
    INSERT = part "record_version" "insert";
    LIST = part "record_version" "list";
    TASKS = part "record_version" "tasks";
}

/// Versions that are read at once.
const CHUNK: usize = 16;

/// What made a version of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangedBy<'a> {
    /// A step of a task.
    Step(TaskId, Option<&'a str>),
    /// A person, with their reason.
    Person(Option<UserId>, &'a str),
}

/// Writes a version into the history of a record.
pub(crate) async fn insert_version(
    tx: &mut Tx,
    (scope, id): (TenantScope, RecordId),
    version: i64,
    changed: &Map<String, Value>,
    (by, at): (ChangedBy<'_>, Timestamp),
) -> Result<()> {
    let (task, step, user, reason) = match by {
        ChangedBy::Step(task, step) => (Some(task.as_uuid()), step, None, None),
        ChangedBy::Person(user, reason) => (None, None, user.map(UserId::as_uuid), Some(reason)),
    };
    let changed = json!(changed).to_string();
    tx.execute(&INSERT, args![scope, id.as_uuid(), version, changed, task, step, user, reason, at]).await.map(drop)
}

fn read_version(row: &mut Row, version: i64) -> Result<RecordVersion> {
    let mut unreadable = None;
    let changed = row.json_or_default(&mut unreadable);
    Ok(RecordVersion {
        version,
        changed,
        task_id: row.opt_uuid()?.map(TaskId::from_uuid),
        step_id: row.opt_text()?,
        user_id: row.opt_uuid()?.map(UserId::from_uuid),
        reason: row.opt_text()?,
        created_at: row.time()?,
        unreadable,
    })
}

fn link(row: &mut Row, task_id: TaskId) -> Result<RecordTask> {
    let role = row.text()?;
    let role = ArtifactRole::parse(&role).ok_or_else(|| row.fault(format!("{role:?} is no role")))?;
    Ok(RecordTask { task_id, role, step_id: row.text()?, tool_key: row.opt_text()?, created_at: row.time()? })
}

type Find = (TenantScope, [String; 3], Option<RecordId>, u32);

async fn found(tx: &mut Tx, (scope, [kind, name, value], after, limit): &Find) -> Result<Page<Record>> {
    let begin = after.map_or(Uuid::nil(), RecordId::as_uuid);
    let value = Lookup::kept(value.clone());
    let args = |after: Uuid, most: u32| {
        [(*scope).into(), kind.into(), name.into(), value.as_str().into(), after.into(), most.into()]
    };
    page::of_large(tx, (&FOUND, args), begin, (*limit, MAX_PAGE_BYTES), records::shown).await
}

/// Versions may be as large as records: few are read at once, and the page ends with so many bytes.
async fn versions(
    tx: &mut Tx,
    (scope, id, before, limit): &(TenantScope, RecordId, Option<i64>, u32),
) -> Result<Page<RecordVersion>> {
    let (mut items, mut bytes, mut last) = (Vec::new(), 0_usize, before.unwrap_or(i64::MAX));
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    loop {
        // One more than is wanted tells whether there is a next page.
        let most = CHUNK.min(limit - items.len() + 1);
        let args = args![*scope, id.as_uuid(), last, u32::try_from(most).unwrap_or(1)];
        let rows = tx.fetch_all(&LIST, args).await?;
        let ends = rows.len() < most;
        for mut row in rows {
            bytes = bytes.saturating_add(row.bytes());
            if items.len() == limit || (!items.is_empty() && bytes > MAX_PAGE_BYTES) {
                return Ok(Page { items, next: Some(last.to_string()) });
            }
            last = row.i64()?;
            items.push(read_version(&mut row, last)?);
        }
        if ends {
            return Ok(Page { items, next: None });
        }
    }
}

type TasksOf = (TenantScope, RecordId, Option<RecordTaskPlace>, u32);

async fn tasks(tx: &mut Tx, (scope, id, after, limit): &TasksOf) -> Result<Page<RecordTask>> {
    let (task, n) = after.map_or((Uuid::max(), i64::MAX), |RecordTaskPlace(task, n)| (task.as_uuid(), n));
    let mut rows = tx.fetch_all(&TASKS, args![*scope, id.as_uuid(), task, n, limit + 1]).await?;
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut last = None;
    // A row that cannot be read counts for the page all the same: the next one begins behind it.
    let items = page::readable(rows, |row| {
        let place = RecordTaskPlace(TaskId::from_uuid(row.uuid()?), row.i64()?);
        last = Some(place);
        link(row, place.0)
    });
    Ok(Page { items, next: last.filter(|_| more).map(|place| place.to_string()) })
}

async fn edit(tx: &mut Tx, (scope, edit, event): &(TenantScope, RecordEdit, AuditEvent)) -> Result<Record> {
    let scope = *scope;
    let known = records::by_id(tx, scope, edit.id).await?;
    let Some(known) = known else { return Err(StoreError::not_found("record", edit.id)) };
    // Locked by its key, as commits do.
    let known = records::locked(tx, scope, &known.kind, &known.key).await?;
    let Some(mut record) = known else { return Err(StoreError::not_found("record", edit.id)) };
    edit.must_have_seen(&record).map_err(|error| StoreError::Conflict(error.to_string()))?;
    let after = edited(&record.props, &edit.changed);
    let changed = difference(&record.props, &after);
    if changed.is_empty() {
        return Ok(record);
    }
    record.props = after;
    record.version += 1;
    record.updated_at = edit.at;
    records::overwrite(tx, scope, &record).await?;
    let by = ChangedBy::Person(edit.user, &edit.reason);
    insert_version(tx, (scope, record.id), record.version, &changed, (by, edit.at)).await?;
    audit::append(tx, scope, edit.at, &event.clone().telling("version", json!(record.version))).await?;
    Ok(record)
}

#[async_trait]
impl<D: 'static> RecordAdminStore for SqlStore<D> {
    async fn records_found(
        &self,
        scope: TenantScope,
        kind: &str,
        (name, value): (&str, &str),
        after: Option<RecordId>,
        limit: u32,
    ) -> PortResult<Page<Record>> {
        let args = (scope, [kind, name, value].map(str::to_owned), after, limit);
        Ok(self.read(scope, args, |tx, args| Box::pin(found(tx, args))).await?)
    }

    async fn record_versions(
        &self,
        scope: TenantScope,
        id: RecordId,
        before: Option<i64>,
        limit: u32,
    ) -> PortResult<Page<RecordVersion>> {
        Ok(self.read(scope, (scope, id, before, limit), |tx, args| Box::pin(versions(tx, args))).await?)
    }

    async fn tasks_of_record(
        &self,
        scope: TenantScope,
        id: RecordId,
        after: Option<RecordTaskPlace>,
        limit: u32,
    ) -> PortResult<Page<RecordTask>> {
        Ok(self.read(scope, (scope, id, after, limit), |tx, args| Box::pin(tasks(tx, args))).await?)
    }

    async fn edit_record(&self, scope: TenantScope, change: &RecordEdit, audit: AuditEvent) -> PortResult<Record> {
        let args = (scope, change.clone(), audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(edit(tx, args))).await?)
    }
}
