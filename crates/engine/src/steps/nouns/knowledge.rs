//! The tenant's published documents, for a tool.

use async_trait::async_trait;
use kybern_core::context::SearchHit;
use kybern_core::error::Result;
use kybern_core::ports::KnowledgeReader;

use super::Payer;

/// The view.
pub(super) struct Knowledge(pub(super) Payer);

#[async_trait]
impl KnowledgeReader for Knowledge {
    async fn near(&self, question: &str, limit: usize) -> Result<Vec<SearchHit>> {
        self.0.seen.services.turns.knowledge.search(self.0.caller().await?, question, limit).await
    }
}
