//! Which pieces of the published documents say something about a question. All of them are compared.

use kybern_core::context::{Origin, SearchHit, Similarity};
use kybern_core::error::Result;
use kybern_core::knowledge::PublishedPiece;
use kybern_core::memory::by_words;

use super::Knowledge;
use crate::models::CallContext;
use crate::models::embedding::{Query, tokens};

impl Knowledge {
    /// The published pieces that say something about a question, the nearest first. Pieces that were embedded by another
    /// model than the present one are not found: their documents are to be indexed anew. Where there is no model, words
    /// are compared.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED`, and when the store or the model fails.
    pub async fn search(&self, caller: &CallContext, question: &str, limit: usize) -> Result<Vec<SearchHit>> {
        self.found(caller, &Query::new(question), limit).await
    }

    pub(crate) async fn found(&self, caller: &CallContext, query: &Query<'_>, limit: usize) -> Result<Vec<SearchHit>> {
        let (pieces, question) = (self.store.published_pieces(caller.scope).await?, query.text());
        if pieces.is_empty() || question.is_empty() {
            return Ok(Vec::new());
        }
        let asked = query.vector(&self.models, caller).await?;
        let near = |one: &PublishedPiece| match asked {
            None => by_words(question, &one.piece.text),
            Some(asked) => {
                let cosine = one.piece.vector.as_ref().and_then(|vector| asked.cosine(vector));
                cosine.map_or_else(Similarity::default, Similarity::of_cosine)
            }
        };
        let mut ranked: Vec<(Similarity, &PublishedPiece)> = pieces.iter().map(|one| (near(one), one)).collect();
        // The sort keeps the order of documents and places among those that are as near.
        ranked.sort_by_key(|(near, _)| std::cmp::Reverse(*near));
        let found = ranked.into_iter().filter(|(near, _)| near.per_mille() > 0).take(limit);
        Ok(found.map(|(near, one)| found_piece(near, one)).collect())
    }
}

fn found_piece(similarity: Similarity, one: &PublishedPiece) -> SearchHit {
    SearchHit {
        id: format!("{}/{}", one.document, one.n),
        origin: Origin::Document,
        title: one.title.clone(),
        text: one.piece.text.clone(),
        similarity,
        importance: None,
        tokens: tokens(&one.piece.text),
    }
}
