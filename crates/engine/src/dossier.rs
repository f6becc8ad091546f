//! Dossiers: what a tenant knows of an entity, for people and for tools; and which entity somebody means by a name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::dossier::{CalledEntity, Dossier, FoundEntities};
use kybern_core::error::{Error, Result};
use kybern_core::id::RecordId;
use kybern_core::memory::{Memory, Subject};
use kybern_core::model::Vector;
use kybern_core::pack::PackRegistry;
use kybern_core::ports::{Clock, DossierStore, HeldMemories, RecordStore};
use kybern_core::tenant::TenantScope;

use crate::memory::{Memories, NearMemories, by_nearness, may};
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
        // What is not compared with a question needs no vectors.
        let memories = sees_memories.then(|| HeldMemories { at: as_of, vectors: question.is_some() });
        let rows = self.store.dossier_rows(caller.scope, entity, &reads, memories).await?;
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
        mut all: Vec<(Memory, Option<Vector>)>,
        question: Option<&str>,
    ) -> Vec<Memory> {
        let compared = match question {
            None => Vec::new(),
            // A dossier is not lost because a model is down or the budget is spent: the weight orders it all the same.
            Some(question) => {
                let compared = self.memories.compared(caller, &mut all, &Query::new(question)).await;
                compared.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the memories of a dossier are not compared with its question");
                    Vec::new()
                })
            }
        };
        let NearMemories { near, rest } = by_nearness(compared);
        let mut ordered: Vec<Memory> = near.into_iter().map(|one| one.memory).collect();
        // What was not compared is still there.
        let uncompared = all.into_iter().map(|(memory, _)| memory);
        let mut rest: Vec<Memory> = rest.into_iter().map(|one| one.memory).chain(uncompared).collect();
        let weight = |memory: &Memory| {
            let sure = memory.confidence.map_or(1_000, kybern_core::memory::Confidence::per_mille);
            (u32::from(u8::from(memory.importance)) * u32::from(sure), memory.created_at, memory.id)
        };
        rest.sort_by_key(|memory| std::cmp::Reverse(weight(memory)));
        ordered.append(&mut rest);
        ordered
    }

    /// The entities that somebody may mean: by the record's id, by its key, or by what its pack knows of names and
    /// identifiers; the oldest first, at most [`MAX_FOUND`](kybern_core::dossier::MAX_FOUND), or 4 MiB. One that cannot
    /// be read is among them, and says so.
    pub async fn find(&self, scope: TenantScope, called: &str) -> Result<FoundEntities> {
        let called = called.trim();
        if called.is_empty() {
            return Ok(FoundEntities::default());
        }
        if let Ok(id) = called.parse::<RecordId>() {
            let records = self.records.record_by_id(scope, id).await?.into_iter().collect();
            return Ok(FoundEntities { records, more: false });
        }
        let all: Vec<CalledEntity> = self.registry.entity_kinds().map(|kind| kind.called(called)).collect();
        self.store.entities_called(scope, &all).await
    }
}
