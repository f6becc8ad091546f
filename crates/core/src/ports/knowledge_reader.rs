//! The tenant's published documents, as a tool may read them.

use async_trait::async_trait;

use crate::context::SearchHit;
use crate::error::Result;

/// The pieces of published documents.
#[async_trait]
pub trait KnowledgeReader: Send + Sync {
    /// Those that say something about a question, the nearest first, at most `limit`.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`, and when the store or the model fails.
    async fn near(&self, question: &str, limit: usize) -> Result<Vec<SearchHit>>;
}
