//! Which memories say something about a question. All of a subject's are compared: there are few, and none is missed.

use std::collections::HashMap;

use kybern_core::context::{Found, Origin, Similarity};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{MemoryId, UserId};
use kybern_core::memory::{Memory, Subject, names_in, nearness};
use kybern_core::model::{EmbedRequest, Vector};
use kybern_core::money::Tokens;

use tokio::sync::OnceCell;

use crate::Engine;
use crate::models::{Caller, estimate};

/// The most texts that are embedded at once.
pub(crate) const BATCH: usize = 64;
/// The most characters of a question that are read.
const MAX_QUESTION: usize = 4_000;
/// The most records whose memories a turn is told.
const ENTITIES: u32 = 3;
/// What the frame around a text takes in a prompt.
const FRAME: u64 = 16;

/// About how many tokens a text takes in a prompt, its frame included.
pub(crate) fn tokens(text: &str) -> Tokens {
    Tokens(FRAME + estimate::of_bytes(u64::try_from(text.len()).unwrap_or(u64::MAX)))
}

/// The beginning of a question.
fn beginning(question: &str) -> &str {
    let end = question.char_indices().nth(MAX_QUESTION).map_or(question.len(), |(at, _)| at);
    question.get(..end).unwrap_or(question).trim()
}

/// What is looked for. Its vector is made once, by whoever needs it first.
pub(crate) struct Sought<'a> {
    text: &'a str,
    vector: OnceCell<Option<Vector>>,
}

impl<'a> Sought<'a> {
    pub(crate) fn new(question: &'a str) -> Self {
        Self { text: beginning(question), vector: OnceCell::new() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The vector; `None` where there is no model that makes any.
    pub(crate) async fn vector(&self, engine: &Engine, caller: &Caller) -> Result<Option<&Vector>> {
        let made = self.vector.get_or_try_init(|| engine.vector_of(caller, self.text)).await?;
        Ok(made.as_ref())
    }
}

/// The nearest and weightiest first; what has nothing to do with the question is none of them.
fn best(mut found: Vec<(Found, Memory)>, limit: usize) -> Vec<(Found, Memory)> {
    found.retain(|(found, _)| found.similarity.per_mille() > 0);
    let rank =
        |found: &Found| u32::from(found.similarity.per_mille()) * u32::from(found.importance.map_or(1, u8::from));
    found.sort_by(|(a, _), (b, _)| rank(b).cmp(&rank(a)).then_with(|| a.id.cmp(&b.id)));
    found.truncate(limit);
    found
}

impl Engine {
    /// The memories of a subject that say something about a question, the nearest and weightiest first: active ones
    /// that have not expired. What is not embedded by the present model yet is embedded here, at most 64 of them; where
    /// there is no such model, words are compared.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`, and when the store or the model fails.
    pub async fn search_memories(
        &self,
        caller: &Caller,
        subject: Subject,
        question: &str,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let found = self.near_memories(caller, subject, question, limit).await?;
        Ok(found.into_iter().map(|(found, _)| found).collect())
    }

    /// The same, each with the memory itself.
    ///
    /// # Errors
    /// The same.
    pub async fn near_memories(
        &self,
        caller: &Caller,
        subject: Subject,
        question: &str,
        limit: usize,
    ) -> Result<Vec<(Found, Memory)>> {
        let all = self.inner.store.memories_of(caller.scope, subject).await?;
        Ok(best(self.nearest_of(caller, all, &Sought::new(question)).await?, limit))
    }

    /// What a turn is told: what is remembered of its user, and, where they may see that, of the records that the
    /// message names by key or identifier, ranked together. What is remembered of a named record has to do with the
    /// message however it is worded, so it is never left out for that, and comes after all that is near.
    ///
    /// # Errors
    /// As [`Engine::search_memories`].
    pub(crate) async fn memories_for_turn(
        &self,
        caller: &Caller,
        user: UserId,
        sees_entities: bool,
        sought: &Sought<'_>,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let store = &self.inner.store;
        let own = store.memories_of(caller.scope, Subject::User(user)).await?;
        let names = if sees_entities { names_in(sought.text()) } else { Vec::new() };
        let named = match names.as_slice() {
            [] => Vec::new(),
            names => store.memories_named(caller.scope, names, ENTITIES).await?,
        };
        let keys: HashMap<MemoryId, String> = named.iter().map(|(key, memory, _)| (memory.id, key.clone())).collect();
        let all = own.into_iter().chain(named.into_iter().map(|(_, memory, vector)| (memory, vector))).collect();
        let mut found = self.nearest_of(caller, all, sought).await?;
        for (found, memory) in &mut found {
            if let Some(key) = keys.get(&memory.id) {
                found.title = format!("{} about {key}", found.title);
                found.similarity = found.similarity.max(Similarity::LEAST);
            }
        }
        Ok(best(found, limit).into_iter().map(|(found, _)| found).collect())
    }

    /// How near each of these is that holds.
    async fn nearest_of(
        &self,
        caller: &Caller,
        all: Vec<(Memory, Option<Vector>)>,
        sought: &Sought<'_>,
    ) -> Result<Vec<(Found, Memory)>> {
        let (now, question) = (self.inner.clock.now(), sought.text());
        let mut all: Vec<(Memory, Option<Vector>)> = all.into_iter().filter(|(memory, _)| memory.holds(now)).collect();
        if all.is_empty() || question.is_empty() {
            return Ok(Vec::new());
        }
        let asked = sought.vector(self, caller).await?;
        if let Some(asked) = asked {
            self.embed_the_rest(caller, asked, &mut all).await?;
        }
        let found = all
            .into_iter()
            .map(|(memory, vector)| {
                let similarity = nearness((question, asked), (&memory.content, vector.as_ref()));
                let found = Found {
                    id: memory.id.to_string(),
                    origin: Origin::Memory,
                    title: memory.category.as_str().to_owned(),
                    text: memory.content.clone(),
                    similarity,
                    importance: Some(memory.importance),
                    tokens: tokens(&memory.content),
                };
                (found, memory)
            })
            .collect();
        Ok(found)
    }

    /// Embeds what has no vector of the question's model, and keeps the vectors.
    async fn embed_the_rest(
        &self,
        caller: &Caller,
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
        let Some(vectors) = self.vectors_of(caller, texts).await? else { return Ok(()) };
        let mut made = Vec::new();
        for ((memory, place), vector) in rest.iter_mut().map(|one| (&one.0, &mut one.1)).zip(vectors) {
            made.push((memory.id, memory.updated_at, vector.clone()));
            *place = Some(vector);
        }
        self.inner.store.keep_vectors(caller.scope, made).await
    }

    /// The vector of a text; `None` where there is no model that makes any.
    pub(crate) async fn vector_of(&self, caller: &Caller, text: &str) -> Result<Option<Vector>> {
        let vectors = self.vectors_of(caller, vec![text.to_owned()]).await?;
        Ok(vectors.and_then(|vectors| vectors.into_iter().next()))
    }

    /// The vectors of texts, by the configured model; `None` where there is none, or the tenant does not allow its
    /// provider.
    pub(crate) async fn vectors_of(&self, caller: &Caller, texts: Vec<String>) -> Result<Option<Vec<Vector>>> {
        let models = &self.inner.models;
        let (wanted, model) = (texts.len(), models.settings().embedding.clone());
        let request = EmbedRequest { texts, ..EmbedRequest::default() };
        let (embedded, model) = match models.embed(caller, &model, request).await {
            Ok(embedded) => embedded,
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::PermissionDenied) => return Ok(None),
            Err(error) if error.code() == ErrorCode::Unprocessable => return Ok(None),
            Err(error) => return Err(error),
        };
        if embedded.vectors.len() != wanted {
            let message = format!("{model} gave {} vectors for {wanted} texts", embedded.vectors.len());
            return Err(Error::new(ErrorCode::Model, message));
        }
        let vector = |values| Vector { model: model.clone(), values };
        Ok(Some(embedded.vectors.into_iter().map(vector).collect()))
    }
}
