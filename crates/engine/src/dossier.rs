//! Dossiers: what a tenant knows of an entity, for people and for tools; and which entity somebody means by a name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::dossier::{Dossier, MAX_FOUND};
use kybern_core::error::{Error, Result};
use kybern_core::id::RecordId;
use kybern_core::memory::{Memory, Subject};
use kybern_core::model::Vector;
use kybern_core::pack::PackRegistry;
use kybern_core::ports::{Clock, DossierStore, RecordStore};
use kybern_core::record::{Lookup, Record};
use kybern_core::tenant::TenantScope;

use crate::memory::{Memories, best, may};
use crate::models::CallContext;
use crate::models::embedding::Query;

/// The dossiers of tenants.
#[derive(Clone)]
pub struct Dossiers {
    pub(crate) store: Arc<dyn DossierStore>,
    pub(crate) records: Arc<dyn RecordStore>,
    pub(crate) registry: Arc<PackRegistry>,
    pub(crate) memories: Memories,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Dossiers {
    /// The dossier of an entity, as an actor may see it: without its memories for who may not see those.
    ///
    /// # Errors
    /// `NOT_FOUND` for a record that the tenant does not have.
    pub async fn get(
        &self,
        actor: &Actor,
        caller: &CallContext,
        entity: RecordId,
        question: Option<&str>,
    ) -> Result<Dossier> {
        self.compile(caller, may(actor, Subject::Entity(entity)), entity, question).await
    }

    /// The dossier of an entity, with its memories or without.
    ///
    /// # Errors
    /// `NOT_FOUND` for a record that the tenant does not have.
    pub(crate) async fn compile(
        &self,
        caller: &CallContext,
        sees_memories: bool,
        entity: RecordId,
        question: Option<&str>,
    ) -> Result<Dossier> {
        let reads: Vec<_> = self.registry.state_providers().flat_map(|provider| provider.reads()).collect();
        let as_of = self.clock.now();
        let rows = self.store.dossier_rows(caller.scope, entity, &reads, sees_memories).await?;
        let rows = rows.ok_or_else(|| Error::not_found("record", entity))?;
        let state = self.registry.state_providers().map(|provider| {
            let said = provider.state(&rows.entity, &rows.records);
            (provider.domain().to_owned(), said)
        });
        let state: BTreeMap<_, _> = state.filter(|(_, said)| !said.is_empty()).collect();
        let memories = match rows.memories {
            None => None,
            Some(memories) => Some(self.ordered(caller, memories, question).await),
        };
        Ok(Dossier::of(rows.entity, state, memories, as_of))
    }

    /// Memories in the order in which they matter: what has to do with the question first, then what weighs most and is
    /// sure, and of two the newer one.
    async fn ordered(
        &self,
        caller: &CallContext,
        all: Vec<(Memory, Option<Vector>)>,
        question: Option<&str>,
    ) -> Vec<Memory> {
        let near = match question {
            None => Vec::new(),
            // A dossier is not lost because a model is down or the budget is spent: the weight orders it all the same.
            Some(question) => {
                let compared = self.memories.compared(caller, all.clone(), &Query::new(question)).await;
                compared.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the memories of a dossier are not compared with its question");
                    Vec::new()
                })
            }
        };
        let mut ordered: Vec<Memory> = best(near, usize::MAX).into_iter().map(|one| one.memory).collect();
        let mut rest: Vec<Memory> = all.into_iter().map(|(memory, _)| memory).collect();
        rest.retain(|memory| ordered.iter().all(|other| other.id != memory.id));
        let weight = |memory: &Memory| {
            let sure = memory.confidence.map_or(1_000, kybern_core::memory::Confidence::per_mille);
            (u32::from(u8::from(memory.importance)) * u32::from(sure), memory.created_at, memory.id)
        };
        rest.sort_by_key(|memory| std::cmp::Reverse(weight(memory)));
        ordered.append(&mut rest);
        ordered
    }

    /// The entities that somebody may mean: by the record's id, by its key, or by what its pack knows of names and
    /// identifiers; the oldest first, at most [`MAX_FOUND`].
    pub async fn find(&self, scope: TenantScope, called: &str) -> Result<Vec<Record>> {
        let called = called.trim();
        if called.is_empty() {
            return Ok(Vec::new());
        }
        if let Ok(id) = called.parse::<RecordId>() {
            return Ok(self.records.record_by_id(scope, id).await?.into_iter().collect());
        }
        let mut found: Vec<Record> = Vec::new();
        for entity in self.registry.entity_kinds() {
            found.extend(self.records.record(scope, entity.kind, called).await?);
            for Lookup { name, value, .. } in (entity.lookups)(called) {
                found.extend(self.records.records_by_lookup(scope, entity.kind, &name, &value).await?);
            }
        }
        found.sort_by_key(|record| record.id);
        found.dedup_by_key(|record| record.id);
        found.truncate(MAX_FOUND);
        Ok(found)
    }
}
