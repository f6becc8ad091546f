//! What is remembered, with the vectors of what it says.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::context::Importance;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{MemoryId, RecordId};
use kybern_core::memory::{
    Confidence, MAX_OF_SUBJECT, Memory, MemoryCategory, MemoryStatus, Provenance, Subject, Trust,
};
use kybern_core::model::Vector;
use kybern_core::ports::{HeldMemories, MemoryFilter, MemoryStore, Page};
use kybern_core::task::MemoryEffect;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::identity::must_know;
use crate::page::ListQuery;
use crate::store::SqlStore;
use crate::{audit, page, records, reservations, vectors};

statements! {
    INSERT = part "memory" "insert";
    GET = part "memory" "get";
    LIST = part "memory" "list";
    LIST_SUBJECT = part "memory" "list_subject";
    OF_SUBJECT = part "memory" "of_subject";
    HELD = part "memory" "held";
    HELD_WITH_VECTORS = part "memory" "held_with_vectors";
    NAMED = split "memory_named";
    ENTITIES_EXIST = part "memory" "entities_exist";
    COUNT = part "memory" "count";
    SAME_WORDS = part "memory" "same_words";
    UPDATE = part "memory" "update";
    VECTOR = part "memory" "vector";
    DELETE = part "memory" "delete";
}

/// The column `provenance`: where a memory comes from, and how sure that was.
#[derive(Serialize, Deserialize)]
pub(crate) struct MemorySource {
    #[serde(flatten)]
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<Confidence>,
}

fn source(memory: &Memory) -> String {
    json!(MemorySource { provenance: memory.provenance.clone(), confidence: memory.confidence }).to_string()
}

fn memory(row: &mut Row) -> Result<Memory> {
    let (id, kind, subject) = (MemoryId::from_uuid(row.uuid()?), row.text()?, row.uuid()?);
    let subject = Subject::of(&kind, subject).ok_or_else(|| row.fault(format!("{kind:?} is no kind of subject")))?;
    let (content, category, importance) = (row.text()?, row.named(MemoryCategory::parse)?, importance(row)?);
    let (trust, status) = (row.named(Trust::parse)?, row.named(MemoryStatus::parse)?);
    let MemorySource { provenance, confidence } = row.json()?;
    Ok(Memory {
        id,
        subject,
        content,
        category,
        importance,
        confidence,
        trust,
        status,
        provenance,
        expires_at: row.opt_time()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

fn importance(row: &mut Row) -> Result<Importance> {
    let number = row.u32()?;
    let known = u8::try_from(number).ok().and_then(|number| Importance::try_from(number).ok());
    known.ok_or_else(|| row.fault(format!("{number} is no importance")))
}

fn number(importance: Importance) -> u32 {
    u32::from(u8::from(importance))
}

async fn get(tx: &mut Tx, scope: TenantScope, id: MemoryId) -> Result<Option<Memory>> {
    tx.find(&GET, args![scope, id.as_uuid()], memory).await
}

/// A memory to be stored, or a change of one.
struct WriteMemory {
    scope: TenantScope,
    before: Option<Memory>,
    memory: Memory,
    vector: Option<Vector>,
    audit: AuditEvent,
}

async fn add(tx: &mut Tx, writing: &WriteMemory) -> Result<Memory> {
    let WriteMemory { scope, memory, vector, audit, .. } = writing;
    reservations::lock_tenant(tx, *scope).await?;
    if let Some(known) = in_same_words(tx, *scope, memory).await? {
        return Ok(known);
    }
    ensure_room(tx, *scope, memory).await?;
    insert(tx, *scope, memory, vector.as_ref(), audit).await?;
    Ok(memory.clone())
}

/// What is remembered of the same subject in exactly these words, was not rejected and has not expired; nothing for an
/// event, which may have happened again. Nobody else writes one until this commits, where whoever asks holds the tenant's
/// lock.
async fn in_same_words(tx: &mut Tx, scope: TenantScope, new: &Memory) -> Result<Option<Memory>> {
    if new.category.recurs() {
        return Ok(None);
    }
    let (kind, id) = (new.subject.kind(), new.subject.id());
    let found = tx.find(&SAME_WORDS, args![scope, kind, id, new.content.as_str(), new.created_at], memory).await?;
    if found.is_some() {
        // Whoever believed that it was not said may have it from what this process remembers of an empty list.
        tx.shared().known.remembered();
    }
    Ok(found)
}

/// Refuses a memory whose subject is not known, or has as many as it may. Whoever asks holds the tenant's lock.
async fn ensure_room(tx: &mut Tx, scope: TenantScope, memory: &Memory) -> Result<()> {
    let subject = memory.subject;
    match subject {
        Subject::User(user) => must_know(tx, scope, user).await?,
        Subject::Entity(record) => ensure_record_exists(tx, scope, record).await?,
    }
    if tx.count(&COUNT, args![scope, subject.kind(), subject.id()]).await? >= i64::from(MAX_OF_SUBJECT) {
        let message = format!("a subject has at most {MAX_OF_SUBJECT} memories: remove some that do not matter");
        return Err(StoreError::Full(message));
    }
    Ok(())
}

async fn insert(
    tx: &mut Tx,
    scope: TenantScope,
    memory: &Memory,
    vector: Option<&Vector>,
    audit: &AuditEvent,
) -> Result<()> {
    let subject = memory.subject;
    let (model, values) = vectors::columns(vector);
    let provenance = source(memory);
    let row = args![
        scope,
        memory.id.as_uuid(),
        subject.kind(),
        subject.id(),
        memory.content.as_str(),
        memory.category.as_str(),
        number(memory.importance),
        memory.trust.as_str(),
        memory.status.as_str(),
        provenance,
        memory.expires_at,
        model,
        values,
        memory.created_at,
        memory.updated_at,
    ];
    tx.execute(&INSERT, row).await?;
    tx.remembers();
    audit::append(tx, scope, memory.updated_at, audit).await
}

async fn ensure_record_exists(tx: &mut Tx, scope: TenantScope, id: RecordId) -> Result<()> {
    let known = records::by_id(tx, scope, id).await?;
    known.map(drop).ok_or_else(|| StoreError::not_found("record", id))
}

async fn change(tx: &mut Tx, writing: &WriteMemory) -> Result<()> {
    let WriteMemory { scope, before, memory, vector, audit } = writing;
    let scope = *scope;
    reservations::lock_tenant(tx, scope).await?;
    if get(tx, scope, memory.id).await? != *before {
        return Err(StoreError::Conflict(format!("somebody else has changed memory {} meanwhile", memory.id)));
    }
    let says_the_same = before.as_ref().is_some_and(|before| before.content == memory.content);
    update(tx, scope, (memory, says_the_same), vector.as_ref(), audit).await
}

async fn update(
    tx: &mut Tx,
    scope: TenantScope,
    (memory, says_the_same): (&Memory, bool),
    vector: Option<&Vector>,
    audit: &AuditEvent,
) -> Result<()> {
    let id = memory.id.as_uuid();
    let (content, category, trust) = (memory.content.as_str(), memory.category.as_str(), memory.trust.as_str());
    let (status, importance) = (memory.status.as_str(), number(memory.importance));
    let (expires_at, updated_at, provenance) = (memory.expires_at, memory.updated_at, source(memory));
    let row = args![scope, id, content, category, importance, trust, status, expires_at, updated_at, provenance];
    tx.execute(&UPDATE, row).await?;
    if vector.is_some() || !says_the_same {
        let (model, values) = vectors::columns(vector);
        tx.execute(&VECTOR, args![scope, id, memory.updated_at, model, values]).await?;
    }
    audit::append(tx, scope, memory.updated_at, audit).await
}

/// Checks what a step believed about a memory that it changes.
pub(crate) async fn check(tx: &mut Tx, scope: TenantScope, effect: &MemoryEffect) -> Result<()> {
    let changed = || StoreError::Changed(format!("memory {}", effect.memory().id));
    match effect {
        MemoryEffect::Add(memory) => {
            reservations::lock_tenant(tx, scope).await?;
            let changed = || StoreError::Changed(format!("what is remembered of {}", memory.subject));
            // The tool believed that nobody has said it: called again, it answers what somebody said meanwhile.
            if in_same_words(tx, scope, memory).await?.is_some() {
                return Err(changed());
            }
            match ensure_room(tx, scope, memory).await {
                Err(StoreError::NotFound { .. } | StoreError::Full(_)) => Err(changed()),
                checked => checked,
            }
        }
        MemoryEffect::Change { before, .. } | MemoryEffect::Remove(before) => {
            reservations::lock_tenant(tx, scope).await?;
            let known = get(tx, scope, before.id).await?;
            if known.as_ref() == Some(before) { Ok(()) } else { Err(changed()) }
        }
    }
}

/// Writes what a step makes of a memory. What it believed has been checked in this transaction.
pub(crate) async fn write(
    tx: &mut Tx,
    scope: TenantScope,
    effect: &MemoryEffect,
    at: Timestamp,
    audit: &AuditEvent,
) -> Result<()> {
    match effect {
        MemoryEffect::Add(memory) => insert(tx, scope, memory, None, audit).await,
        MemoryEffect::Change { before, after } => {
            update(tx, scope, (after.as_ref(), before.content == after.content), None, audit).await
        }
        MemoryEffect::Remove(memory) => {
            tx.execute(&DELETE, args![scope, memory.id.as_uuid()]).await?;
            audit::append(tx, scope, at, audit).await
        }
    }
}

type DeleteMemory = (TenantScope, MemoryId, Timestamp, AuditEvent);

async fn delete(tx: &mut Tx, (scope, id, at, event): &DeleteMemory) -> Result<bool> {
    reservations::lock_tenant(tx, *scope).await?;
    let there = tx.execute(&DELETE, args![*scope, id.as_uuid()]).await? > 0;
    if there {
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

async fn list(tx: &mut Tx, listing: &ListQuery<MemoryFilter, MemoryId>) -> Result<Page<Memory>> {
    let ListQuery { scope, filter, after, limit } = listing;
    let status = filter.status.map_or("", MemoryStatus::as_str);
    let (before, limit) = (after.map_or(Uuid::max(), MemoryId::as_uuid), *limit);
    let rows = match filter.subject {
        Some(subject) => {
            let args = args![*scope, subject.kind(), subject.id(), before, status, limit + 1];
            tx.fetch_all(&LIST_SUBJECT, args).await?
        }
        None => {
            let kind = filter.kind.unwrap_or_default();
            tx.fetch_all(&LIST, args![*scope, before, kind, status, limit + 1]).await?
        }
    };
    page::cut_readable(rows, limit, memory)
}

async fn of_subject(tx: &mut Tx, scope: TenantScope, subject: Subject) -> Result<Vec<(Memory, Option<Vector>)>> {
    let rows = tx.fetch_all(&OF_SUBJECT, args![scope, subject.kind(), subject.id()]).await?;
    Ok(page::readable(rows, |row| Ok((memory(row)?, vectors::read(row)?))))
}

/// What holds of a subject, with vectors or without.
pub(crate) async fn held(
    tx: &mut Tx,
    scope: TenantScope,
    subject: Subject,
    wanted: HeldMemories,
) -> Result<Vec<(Memory, Option<Vector>)>> {
    let args = args![scope, subject.kind(), subject.id(), wanted.at];
    if wanted.vectors {
        let rows = tx.fetch_all(&HELD_WITH_VECTORS, args).await?;
        return Ok(page::readable(rows, |row| Ok((memory(row)?, vectors::read(row)?))));
    }
    Ok(page::readable(tx.fetch_all(&HELD, args).await?, |row| Ok((memory(row)?, None))))
}

type MemoriesByRecordName = Vec<(String, Memory, Option<Vector>)>;

/// What is remembered of named records; `None` when nothing is remembered of any record of the tenant.
async fn named(tx: &mut Tx, scope: TenantScope, names: &[String], most: u32) -> Result<Option<MemoriesByRecordName>> {
    let rows = tx.fetch_all(&NAMED, args![scope, json!(names).to_string(), most]).await?;
    if rows.is_empty() && tx.fetch_optional(&ENTITIES_EXIST, args![scope]).await?.is_none() {
        return Ok(None);
    }
    let read = |row: &mut Row| {
        let (memory, vector) = (memory(row)?, vectors::read(row)?);
        Ok((row.text()?, memory, vector))
    };
    Ok(Some(page::readable(rows, read)))
}

type KeepVectors = (TenantScope, Vec<(MemoryId, Timestamp, Vector)>);

async fn keep(tx: &mut Tx, (scope, all): &KeepVectors) -> Result<()> {
    for (id, as_of, vector) in all {
        let (model, values) = vectors::columns(Some(vector));
        tx.execute(&VECTOR, args![*scope, id.as_uuid(), *as_of, model, values]).await?;
    }
    Ok(())
}

#[async_trait]
impl<D: 'static> MemoryStore for SqlStore<D> {
    async fn add_memory(
        &self,
        scope: TenantScope,
        memory: &Memory,
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> PortResult<Memory> {
        let writing = WriteMemory { scope, before: None, memory: memory.clone(), vector: vector.cloned(), audit };
        Ok(self.write(scope, writing, |tx, writing| Box::pin(add(tx, writing))).await?)
    }

    async fn memory_in_same_words(&self, scope: TenantScope, new: &Memory) -> PortResult<Option<Memory>> {
        let find =
            self.read_few(scope, (scope, new.clone()), |tx, (scope, new)| Box::pin(in_same_words(tx, *scope, new)));
        Ok(find.await?)
    }

    async fn memory(&self, scope: TenantScope, id: MemoryId) -> PortResult<Option<Memory>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn memories(
        &self,
        scope: TenantScope,
        filter: &MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> PortResult<Page<Memory>> {
        let listing = ListQuery { scope, filter: *filter, after, limit };
        Ok(self.read(scope, listing, |tx, listing| Box::pin(list(tx, listing))).await?)
    }

    async fn memories_of(&self, scope: TenantScope, subject: Subject) -> PortResult<Vec<(Memory, Option<Vector>)>> {
        let known = &self.shared.known;
        let stamp = known.stamp_of_memories();
        if known.is_unremembered((scope.tenant(), subject), stamp) {
            return Ok(Vec::new());
        }
        let read =
            self.read(scope, (scope, subject), |tx, (scope, subject)| Box::pin(of_subject(tx, *scope, *subject)));
        // Boxed, so that who finds it known does not carry the reading along.
        let found = Box::pin(read).await?;
        if found.is_empty() {
            known.keep_unremembered((scope.tenant(), subject), stamp);
        }
        Ok(found)
    }

    async fn memories_named(
        &self,
        scope: TenantScope,
        names: &[String],
        most: u32,
    ) -> PortResult<MemoriesByRecordName> {
        let known = &self.shared.known;
        let stamp = known.stamp_of_memories();
        if names.is_empty() || known.has_no_entities(scope.tenant(), stamp) {
            return Ok(Vec::new());
        }
        let read = self.read(scope, (scope, names.to_vec(), most), |tx, (scope, names, most)| {
            Box::pin(named(tx, *scope, names, *most))
        });
        // Boxed, so that who finds it known does not carry the reading along.
        let found = Box::pin(read).await?;
        if found.is_none() {
            known.keep_no_entities(scope.tenant(), stamp);
        }
        Ok(found.unwrap_or_default())
    }

    async fn change_memory(
        &self,
        scope: TenantScope,
        (before, after): (&Memory, &Memory),
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let (before, memory) = (Some(before.clone()), after.clone());
        let writing = WriteMemory { scope, before, memory, vector: vector.cloned(), audit };
        Ok(self.write(scope, writing, |tx, writing| Box::pin(change(tx, writing))).await?)
    }

    async fn delete_memory(
        &self,
        scope: TenantScope,
        id: MemoryId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        Ok(self.write(scope, (scope, id, at, audit), |tx, args| Box::pin(delete(tx, args))).await?)
    }

    async fn keep_vectors(&self, scope: TenantScope, all: Vec<(MemoryId, Timestamp, Vector)>) -> PortResult<()> {
        Ok(self.write(scope, (scope, all), |tx, args| Box::pin(keep(tx, args))).await?)
    }
}
