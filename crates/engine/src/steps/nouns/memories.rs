//! What is remembered, for a tool.

use async_trait::async_trait;
use kybern_core::context::Similarity;
use kybern_core::dossier::Dossier;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{MemoryId, RecordId};
use kybern_core::memory::{Memory, Subject};
use kybern_core::ports::MemoryReader;

use super::Payer;

/// The view.
pub(super) struct Memories(pub(super) Payer);

impl Memories {
    fn demand(&self, subject: Subject) -> Result<()> {
        if self.0.seen.behalf.may_remember(subject) {
            return Ok(());
        }
        let message = match subject {
            Subject::User(_) => "a tool sees only what is remembered of the user for whom it works",
            Subject::Entity(_) => "what is remembered of entities asks for the right \"operate\"",
        };
        Err(Error::new(ErrorCode::PermissionDenied, message))
    }
}

#[async_trait]
impl MemoryReader for Memories {
    async fn near(&self, subject: Subject, question: &str, limit: usize) -> Result<Vec<(Similarity, Memory)>> {
        self.demand(subject)?;
        let caller = self.0.caller().await?;
        let found = self.0.seen.services.turns.memories.near(caller, subject, question, limit).await?;
        Ok(found.into_iter().map(|(found, memory)| (found.similarity, memory)).collect())
    }

    async fn of(&self, subject: Subject) -> Result<Vec<Memory>> {
        self.demand(subject)?;
        let seen = &self.0.seen;
        seen.services.turns.memories.must_know(seen.scope, subject, seen.behalf.user).await?;
        let all = seen.services.store.memories_of(seen.scope, subject).await?;
        Ok(all.into_iter().map(|(memory, _)| memory).collect())
    }

    async fn dossier(&self, entity: RecordId, question: Option<&str>) -> Result<Dossier> {
        let sees = self.0.seen.behalf.may_remember(Subject::Entity(entity));
        let caller = self.0.caller().await?;
        self.0.seen.services.dossiers.compile(caller, sees, entity, question).await
    }

    async fn find(&self, id: MemoryId) -> Result<Option<Memory>> {
        let seen = &self.0.seen;
        let found = seen.services.store.memory(seen.scope, id).await?;
        Ok(found.filter(|memory| seen.behalf.may_remember(memory.subject)))
    }
}
