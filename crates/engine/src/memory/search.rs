//! Which memories say something about a question. All of a subject's are compared: there are few, and none is missed.

use std::collections::HashMap;

use kybern_core::context::{Origin, SearchHit, Similarity};
use kybern_core::error::Result;
use kybern_core::id::{MemoryId, UserId};
use kybern_core::memory::{Memory, Subject, by_keywords, fused, names_in, nearness, places};
use kybern_core::model::Vector;

use super::Memories;
use crate::models::CallContext;
use crate::models::embedding::{BATCH, Query, tokens};

/// The most records whose memories a turn is told.
const ENTITIES: u32 = 3;

/// A memory that was compared with a question.
pub(crate) struct ComparedMemory {
    hit: SearchHit,
    pub(crate) memory: Memory,
    /// Which part of the question's words it has, where vectors were compared as well.
    keywords: Similarity,
}

impl ComparedMemory {
    /// By how near it is and how much it matters.
    fn weighed(&self, near: Similarity) -> u32 {
        u32::from(near.per_mille()) * u32::from(self.hit.importance.map_or(1, u8::from))
    }
}

/// Memories by what they have to do with a question.
pub(crate) struct NearMemories {
    /// Those that have to do with it, the nearest and weightiest first.
    pub(crate) near: Vec<ComparedMemory>,
    /// The others, the oldest first.
    pub(crate) rest: Vec<ComparedMemory>,
}

/// Where there are vectors, the ranking by them and the one by words are fused: a name or a number that vectors do not
/// know is found too.
pub(crate) fn by_nearness(mut found: Vec<ComparedMemory>) -> NearMemories {
    for one in &mut found {
        if one.keywords > Similarity::default() {
            one.hit.similarity = one.hit.similarity.max(Similarity::LEAST);
        }
    }
    let (found, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.hit.similarity > Similarity::default());
    let near: Vec<u32> = found.iter().map(|one| one.weighed(one.hit.similarity)).collect();
    let worded: Vec<u32> = found.iter().map(|one| one.weighed(one.keywords)).collect();
    let scores =
        places(&near).into_iter().zip(places(&worded)).map(|(near, worded)| fused(near.into_iter().chain(worded)));
    let mut scored: Vec<(u64, u32, ComparedMemory)> =
        scores.zip(near).zip(found).map(|((score, near), one)| (score, near, one)).collect();
    scored.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.hit.id.cmp(&b.2.hit.id)));
    NearMemories { near: scored.into_iter().map(|(_, _, one)| one).collect(), rest }
}

/// The nearest and weightiest first; what has nothing to do with the question is none of them.
fn best(found: Vec<ComparedMemory>, limit: usize) -> impl Iterator<Item = ComparedMemory> {
    by_nearness(found).near.into_iter().take(limit)
}

impl Memories {
    /// The memories of a subject that say something about a question, the nearest and weightiest first: active ones
    /// that have not expired. What is not embedded by the present model yet is embedded here, at most 64 of them; where
    /// there is no such model, words are compared.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`, and when the store or the model fails.
    pub async fn search(
        &self,
        caller: &CallContext,
        subject: Subject,
        question: &str,
        limit: usize,
    ) -> Result<Vec<SearchHit>> {
        let found = self.near(caller, subject, question, limit).await?;
        Ok(found.into_iter().map(|(found, _)| found).collect())
    }

    /// The same, each with the memory itself.
    ///
    /// # Errors
    /// The same.
    pub async fn near(
        &self,
        caller: &CallContext,
        subject: Subject,
        question: &str,
        limit: usize,
    ) -> Result<Vec<(SearchHit, Memory)>> {
        let mut all = self.store.memories_of(caller.scope, subject).await?;
        let found = best(self.compared(caller, &mut all, &Query::new(question)).await?, limit);
        Ok(found.map(|one| (one.hit, one.memory)).collect())
    }

    /// What a turn is told: what is remembered of its user, and, where they may see that, of the records that the
    /// message names by key or identifier, ranked together, in the order in which they are to be told. What is
    /// remembered of a named record has to do with the message however it is worded, so it is never left out for that;
    /// where neither its meaning nor its words are near, it comes after what is.
    ///
    /// # Errors
    /// As [`Memories::search`].
    pub(crate) async fn for_turn(
        &self,
        caller: &CallContext,
        user: UserId,
        sees_entities: bool,
        query: &Query<'_>,
        limit: usize,
    ) -> Result<Vec<SearchHit>> {
        let store = &self.store;
        let own = store.memories_of(caller.scope, Subject::User(user)).await?;
        let names = if sees_entities { names_in(query.text()) } else { Vec::new() };
        let named = match names.as_slice() {
            [] => Vec::new(),
            names => store.memories_named(caller.scope, names, ENTITIES).await?,
        };
        let keys: HashMap<MemoryId, String> = named.iter().map(|(key, memory, _)| (memory.id, key.clone())).collect();
        let mut all = own.into_iter().chain(named.into_iter().map(|(_, memory, vector)| (memory, vector))).collect();
        let mut found = self.compared(caller, &mut all, query).await?;
        for ComparedMemory { hit, memory, .. } in &mut found {
            if let Some(key) = keys.get(&memory.id) {
                hit.title = format!("{} about {key}", hit.title);
                hit.similarity = hit.similarity.max(Similarity::LEAST);
            }
        }
        Ok(best(found, limit).map(|one| one.hit).collect())
    }

    /// How near each of these is that holds. They are taken out of `all` once they have been compared: after an error
    /// they are still there.
    pub(crate) async fn compared(
        &self,
        caller: &CallContext,
        all: &mut Vec<(Memory, Option<Vector>)>,
        query: &Query<'_>,
    ) -> Result<Vec<ComparedMemory>> {
        let (now, question) = (self.clock.now(), query.text());
        all.retain(|(memory, _)| memory.holds(now));
        if all.is_empty() || question.is_empty() {
            return Ok(Vec::new());
        }
        let asked = query.vector(&self.models, caller).await?;
        if let Some(asked) = asked {
            self.embed_the_rest(caller, asked, all).await?;
        }
        let found = std::mem::take(all)
            .into_iter()
            .map(|(memory, vector)| {
                let similarity = nearness((question, asked), (&memory.content, vector.as_ref()));
                let keywords = asked.map(|_| by_keywords(question, &memory.content)).unwrap_or_default();
                let hit = SearchHit {
                    id: memory.id.to_string(),
                    origin: Origin::Memory,
                    title: memory.category.as_str().to_owned(),
                    text: memory.content.clone(),
                    similarity,
                    importance: Some(memory.importance),
                    tokens: tokens(&memory.content),
                };
                ComparedMemory { hit, memory, keywords }
            })
            .collect();
        Ok(found)
    }

    /// Embeds what has no vector of the question's model, and keeps the vectors.
    async fn embed_the_rest(
        &self,
        caller: &CallContext,
        asked: &Vector,
        all: &mut [(Memory, Option<Vector>)],
    ) -> Result<()> {
        let lacks = |vector: &Option<Vector>| vector.as_ref().is_none_or(|vector| vector.model != asked.model);
        let mut rest: Vec<&mut (Memory, Option<Vector>)> =
            all.iter_mut().filter(|(_, vector)| lacks(vector)).take(BATCH).collect();
        if rest.is_empty() {
            return Ok(());
        }
        let texts = rest.iter().map(|(memory, _)| memory.content.clone()).collect();
        let Some(vectors) = self.models.vectors_of(caller, texts).await? else { return Ok(()) };
        let mut made = Vec::new();
        for ((memory, place), vector) in rest.iter_mut().map(|one| (&one.0, &mut one.1)).zip(vectors) {
            made.push((memory.id, memory.updated_at, vector.clone()));
            *place = Some(vector);
        }
        self.store.keep_vectors(caller.scope, made).await
    }
}
