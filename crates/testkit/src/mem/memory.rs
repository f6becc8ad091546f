//! What is remembered.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::MemoryId;
use kybern_core::memory::{MAX_OF_SUBJECT, Memory, MemoryStatus, Subject};
use kybern_core::model::Vector;
use kybern_core::ports::{MemoryFilter, MemoryStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::{RecordRow, State, conflict};
use super::task::page;

#[async_trait]
impl MemoryStore for MemStore {
    async fn add_memory(
        &self,
        scope: TenantScope,
        memory: &Memory,
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("add_memory", |state| {
            let tenant = scope.tenant();
            state.room_for_memory(scope, memory)?;
            state.memories.insert((tenant, memory.id), (memory.clone(), vector.cloned()));
            state.append_audit(tenant, memory.updated_at, audit);
            Ok(())
        })
        .await
    }

    async fn memory(&self, scope: TenantScope, id: MemoryId) -> Result<Option<Memory>> {
        self.run("memory", |state| Ok(state.memories.get(&(scope.tenant(), id)).map(|(memory, _)| memory.clone())))
            .await
    }

    async fn memories(
        &self,
        scope: TenantScope,
        filter: &MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Page<Memory>> {
        self.run("memories", |state| {
            let wanted = |memory: &&Memory| {
                filter.subject.is_none_or(|subject| memory.subject == subject)
                    && filter.kind.is_none_or(|kind| memory.subject.kind() == kind)
                    && filter.status.is_none_or(|status| memory.status == status)
                    && after.is_none_or(|after| memory.id < after)
            };
            let found = state.memories_in(scope).rev().map(|(memory, _)| memory).filter(wanted).cloned();
            Ok(page(found, limit, |memory| memory.id.to_string()))
        })
        .await
    }

    async fn memories_of(&self, scope: TenantScope, subject: Subject) -> Result<Vec<(Memory, Option<Vector>)>> {
        self.run("memories_of", |state| {
            Ok(state.memories_in(scope).filter(|(memory, _)| memory.subject == subject).cloned().collect())
        })
        .await
    }

    async fn memories_named(
        &self,
        scope: TenantScope,
        names: &[String],
        most: u32,
    ) -> Result<Vec<(String, Memory, Option<Vector>)>> {
        self.run("memories_named", |state| {
            let is_named = |row: &RecordRow| {
                let by_lookup = row.lookups.iter().any(|known| known.unique && names.contains(&known.value));
                by_lookup || names.contains(&row.record.key)
            };
            let holds = |memory: &Memory, row: &RecordRow| {
                memory.subject == Subject::Entity(row.record.id) && memory.status == MemoryStatus::Active
            };
            let own = state.records.iter().filter(|((tenant, ..), _)| *tenant == scope.tenant()).map(|(_, row)| row);
            let remembered = |row: &&RecordRow| state.memories_in(scope).any(|(memory, _)| holds(memory, row));
            let mut rows: Vec<&RecordRow> = own.filter(|row| is_named(row)).filter(remembered).collect();
            rows.sort_by_key(|row| row.record.id);
            rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let named = |(memory, vector): &(Memory, Option<Vector>)| {
                let row = rows.iter().find(|row| holds(memory, row))?;
                Some((row.record.key.clone(), memory.clone(), vector.clone()))
            };
            Ok(state.memories_in(scope).filter_map(named).collect())
        })
        .await
    }

    async fn change_memory(
        &self,
        scope: TenantScope,
        (before, after): (&Memory, &Memory),
        vector: Option<&Vector>,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("change_memory", |state| {
            let known = state.memories.get_mut(&(scope.tenant(), before.id)).filter(|(known, _)| known == before);
            let Some((memory, kept)) = known else {
                return Err(conflict(format!("somebody else has changed memory {} meanwhile", before.id)));
            };
            if vector.is_some() || memory.content != after.content {
                *kept = vector.cloned();
            }
            *memory = after.clone();
            state.append_audit(scope.tenant(), after.updated_at, audit);
            Ok(())
        })
        .await
    }

    async fn delete_memory(&self, scope: TenantScope, id: MemoryId, at: Timestamp, audit: AuditEvent) -> Result<bool> {
        self.run("delete_memory", |state| {
            let there = state.memories.remove(&(scope.tenant(), id)).is_some();
            if there {
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(there)
        })
        .await
    }

    async fn keep_vectors(&self, scope: TenantScope, all: Vec<(MemoryId, Timestamp, Vector)>) -> Result<()> {
        self.run("keep_vectors", |state| {
            for (id, as_of, vector) in all {
                let known = state.memories.get_mut(&(scope.tenant(), id));
                if let Some((_, kept)) = known.filter(|(memory, _)| memory.updated_at == as_of) {
                    *kept = Some(vector);
                }
            }
            Ok(())
        })
        .await
    }
}

impl State {
    /// Whether one more of its subject can be written.
    pub(super) fn room_for_memory(&self, scope: TenantScope, memory: &Memory) -> Result<()> {
        let tenant = scope.tenant();
        match memory.subject {
            Subject::User(user) if !self.users.contains_key(&(tenant, user)) => {
                return Err(Error::not_found("user", user));
            }
            Subject::Entity(record) if !self.record_keys.contains_key(&(tenant, record)) => {
                return Err(Error::not_found("record", record));
            }
            Subject::User(_) | Subject::Entity(_) => {}
        }
        let counts = |known: &Memory| known.subject == memory.subject && known.status.counts();
        let there = self.memories_in(scope).filter(|(known, _)| counts(known)).count();
        if there >= usize::try_from(MAX_OF_SUBJECT).unwrap_or(usize::MAX) {
            let message = format!("a subject has at most {MAX_OF_SUBJECT} memories");
            return Err(Error::new(ErrorCode::Unprocessable, message));
        }
        Ok(())
    }

    /// A tenant's memories, the oldest first.
    fn memories_in(&self, scope: TenantScope) -> impl DoubleEndedIterator<Item = &(Memory, Option<Vector>)> {
        let own = self.memories.iter().filter(move |((tenant, _), _)| *tenant == scope.tenant());
        own.map(|(_, known)| known)
    }
}
