//! Models, as far as intents and extraction go.

use std::sync::Arc;

use async_trait::async_trait;

use crate::document::DocumentText;
use crate::error::Result;
use crate::model::{
    Claim, Classification, ClassifyInput, DocumentAnalysis, Extraction, ExtractionSchema, IntentSpec, Located,
};

/// Finds out what somebody wants.
#[async_trait]
pub trait IntentModel: Send + Sync {
    /// Chooses one of the intents, or none. They are shared, so that what is made of them can be kept.
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn classify(&self, input: &ClassifyInput, intents: &Arc<[IntentSpec]>) -> Result<Classification>;

    /// Whether it answers without asking anybody, so that nobody need be told that it is being asked.
    fn answers_at_once(&self) -> bool {
        false
    }
}

/// Gets fields out of documents. Schemas are shared, so that what is made of them can be kept.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// The first stage: what is in this document?
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis>;

    /// The first stage by several schemas, in their order. An extractor that can reads the document once for all of them.
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn analyse_by(
        &self,
        document: &DocumentText,
        schemas: &[Arc<ExtractionSchema>],
    ) -> Result<Vec<DocumentAnalysis>> {
        let mut by_schema = Vec::with_capacity(schemas.len());
        for schema in schemas {
            by_schema.push(self.analyse(document, schema).await?);
        }
        Ok(by_schema)
    }

    /// The second stage: only the fields of the sections that the first found. `number` is the attachment's.
    ///
    /// # Errors
    /// When the model cannot be asked.
    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
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
