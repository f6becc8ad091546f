//! What tenants have learned.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::LessonId;
use kybern_core::lesson::{self, Lesson, LessonChange, LessonFilter, LessonKind, LessonStatus, Lessons};
use kybern_core::ports::{LessonStore, Page};
use kybern_core::tenant::TenantScope;
use serde_json::json;
use uuid::Uuid;

use crate::db::{Row, Tx, args, count, statements};
use crate::error::{Result, StoreError};
use crate::page::ListQuery;
use crate::store::SqlStore;
use crate::{audit, page, reservations};

statements! {
    INSERT = part "lesson" "insert";
    GET = part "lesson" "get";
    SAME = part "lesson" "same";
    LIST = part "lesson" "list";
    USED = part "lesson" "used";
    ROOM = part "lesson" "room";
    FORGET = shared "lesson_forget";
    UPDATE = part "lesson" "update";
}

fn lesson(row: &mut Row) -> Result<Lesson> {
    Ok(Lesson {
        id: LessonId::from_uuid(row.uuid()?),
        teaching: row.json()?,
        status: row.named(LessonStatus::parse)?,
        source: row.json()?,
        since_version: version(row.opt_i64()?),
        until_version: version(row.opt_i64()?),
        decided_by: row.opt_text()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

fn version(stored: Option<i64>) -> Option<u32> {
    stored.and_then(|version| u32::try_from(version).ok())
}

/// What a tenant has.
#[derive(Default)]
struct LessonCounts {
    suggested: u64,
    accepted: u64,
    accepted_bytes: u64,
    all: u64,
    version: u32,
}

async fn room(tx: &mut Tx, scope: TenantScope) -> Result<LessonCounts> {
    let room = |row: &mut Row| {
        let (suggested, accepted, accepted_bytes, all) = (row.u64()?, row.u64()?, row.u64()?, row.u64()?);
        Ok(LessonCounts { suggested, accepted, accepted_bytes, all, version: row.u32()?.max(row.u32()?) })
    };
    Ok(tx.find(&ROOM, args![scope], room).await?.unwrap_or_default())
}

/// Stores a suggestion, or answers the lesson that teaches the same. The caller's audit is written with it.
async fn add(
    tx: &mut Tx,
    (scope, new, held, event): &(TenantScope, Lesson, bool, AuditEvent),
) -> Result<PortResult<Option<Lesson>>> {
    let scope = *scope;
    // From here on nobody else adds one or decides about one.
    reservations::lock_tenant(tx, scope).await?;
    let fingerprint = new.teaching.fingerprint();
    let of_task = u32::from(new.source.task_id.is_some());
    if let Some(same) = tx.find(&SAME, args![scope, fingerprint.as_str(), of_task], lesson).await? {
        return Ok(Ok(Some(same)));
    }
    let room = room(tx, scope).await?;
    if let Err(full) = lesson::has_room_for_suggestion(room.suggested) {
        return Ok(Err(full));
    }
    let makes_room = room.all >= lesson::MAX_KEPT && !held;
    let has_made_room = makes_room && tx.execute(&FORGET, args![scope, room.version]).await? > 0;
    if let Err(full) = lesson::has_room_to_keep(room.all, has_made_room) {
        return Ok(Err(full));
    }
    let (kind, status, bytes) = (new.teaching.kind().as_str(), new.status.as_str(), count(new.teaching.bytes()));
    let (body, source) = (json!(new.teaching).to_string(), json!(new.source).to_string());
    let fingerprint = fingerprint.as_str();
    let (since, until, by) = (new.since_version, new.until_version, new.decided_by.as_deref());
    let (created, updated) = (new.created_at, new.updated_at);
    let values = args![
        scope,
        new.id.as_uuid(),
        kind,
        body,
        fingerprint,
        bytes,
        status,
        source,
        since,
        until,
        by,
        created,
        updated
    ];
    tx.execute(&INSERT, values).await?;
    audit::append(tx, scope, created, event).await?;
    Ok(Ok(None))
}

async fn get(tx: &mut Tx, scope: TenantScope, id: LessonId) -> Result<Option<Lesson>> {
    tx.find(&GET, args![scope, id.as_uuid()], lesson).await
}

async fn list(tx: &mut Tx, listing: &ListQuery<LessonFilter, LessonId>) -> Result<Page<Lesson>> {
    let ListQuery { scope, filter, after, limit } = listing;
    let status = filter.status.map_or("", LessonStatus::as_str);
    let kind = filter.kind.map_or("", LessonKind::as_str);
    let before = after.map_or(Uuid::max(), LessonId::as_uuid);
    let rows = tx.fetch_all(&LIST, args![*scope, before, status, kind, *limit + 1]).await?;
    page::cut_readable(rows, *limit, lesson)
}

/// What was ever used. One that cannot be read is used no more, and harms itself only: its version counts, or no other
/// could begin the next one.
async fn used(tx: &mut Tx, scope: TenantScope) -> Result<Lessons> {
    let rows = tx.fetch_all(&USED, args![scope]).await?;
    let version = room(tx, scope).await?.version;
    Ok(Lessons::at(version, page::readable(rows, lesson)))
}

async fn change(
    tx: &mut Tx,
    (scope, change, event): &(TenantScope, LessonChange, AuditEvent),
) -> Result<PortResult<()>> {
    let (scope, LessonChange { before, after }) = (*scope, change);
    let other = || StoreError::Conflict(format!("somebody else has decided about lessons meanwhile: {}", before.id));
    reservations::lock_tenant(tx, scope).await?;
    if get(tx, scope, before.id).await?.as_ref() != Some(before) {
        return Err(other());
    }
    let room = room(tx, scope).await?;
    let begins = before.begins_version(after);
    if begins && after.until_version.or(after.since_version) != Some(room.version + 1) {
        return Err(other());
    }
    if after.status == LessonStatus::Accepted
        && let Err(full) = lesson::has_room(room.accepted, room.accepted_bytes, after.teaching.bytes())
    {
        return Ok(Err(full));
    }
    let (id, status, by) = (after.id.as_uuid(), after.status.as_str(), after.decided_by.as_deref());
    let (since, until) = (after.since_version, after.until_version);
    tx.execute(&UPDATE, args![scope, id, status, since, until, by, after.updated_at]).await?;
    if begins {
        tx.outdates_what_is_known();
    }
    audit::append(tx, scope, after.updated_at, event).await?;
    Ok(Ok(()))
}

#[async_trait]
impl<D: 'static> LessonStore for SqlStore<D> {
    async fn add_lesson(
        &self,
        scope: TenantScope,
        new: &Lesson,
        held: bool,
        audit: AuditEvent,
    ) -> PortResult<Option<Lesson>> {
        self.write(scope, (scope, new.clone(), held, audit), |tx, args| Box::pin(add(tx, args))).await?
    }

    async fn lesson(&self, scope: TenantScope, id: LessonId) -> PortResult<Option<Lesson>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn lessons(
        &self,
        scope: TenantScope,
        filter: LessonFilter,
        after: Option<LessonId>,
        limit: u32,
    ) -> PortResult<Page<Lesson>> {
        let listing = ListQuery { scope, filter, after, limit };
        Ok(self.read(scope, listing, |tx, listing| Box::pin(list(tx, listing))).await?)
    }

    async fn lessons_in_use(&self, scope: TenantScope) -> PortResult<Arc<Lessons>> {
        let known = &self.shared.known;
        // Taken before reading, so what changes meanwhile does not fit it.
        let stamp = known.stamp();
        if let Some(lessons) = known.lessons(scope.tenant(), stamp) {
            return Ok(lessons);
        }
        // Boxed, so that who finds them known does not carry the reading along.
        let read = Box::pin(self.read(scope, scope, |tx, scope| Box::pin(used(tx, *scope))));
        let lessons = Arc::new(read.await?);
        known.keep_lessons(scope.tenant(), stamp, &lessons);
        Ok(lessons)
    }

    async fn change_lesson(&self, scope: TenantScope, new: &LessonChange, audit: AuditEvent) -> PortResult<()> {
        let begins = new.before.begins_version(&new.after);
        self.write(scope, (scope, new.clone(), audit), |tx, args| Box::pin(change(tx, args))).await??;
        if begins {
            // Whoever is told that a lesson is used may rely on it in every process.
            self.shared.known.outlived().await;
        }
        Ok(())
    }
}
