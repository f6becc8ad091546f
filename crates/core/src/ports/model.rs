//! Models, as far as intents and extraction go.

use async_trait::async_trait;

use crate::document::DocumentText;
use crate::error::Result;
use crate::model::{
    Claim, Classification, ClassifyInput, DocumentAnalysis, Extraction, ExtractionSchema, IntentSpec, Located,
};

/// Finds out what somebody wants.
#[async_trait]
pub trait IntentModel: Send + Sync {
    /// Chooses one of the intents, or none.
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn classify(&self, input: &ClassifyInput, intents: &[IntentSpec]) -> Result<Classification>;

    /// Whether it answers without asking anybody, so that nobody need be told that it is being asked.
    fn answers_at_once(&self) -> bool {
        false
    }
}

/// Gets fields out of documents.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// The first stage: what is in this document?
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn analyse(&self, document: &DocumentText, schema: &ExtractionSchema) -> Result<DocumentAnalysis>;

    /// The second stage: only the fields of the sections that the first found. `number` is the attachment's.
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &ExtractionSchema,
    ) -> Result<Extraction>;

    /// Where claimed values stand in the document, each read anew from the document's own words; `None` for what is not
    /// there. An extractor that cannot look finds nothing.
    ///
    /// # Errors
    /// When the document cannot be looked through.
    async fn locate(&self, _document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        Ok(claims.iter().map(|_| None).collect())
    }
}
