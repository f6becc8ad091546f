//! The extractor that tools get: the rules, aided by a language model where one is to be asked.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::pack::Registry;
use kybern_core::ports::Extractor;
use tokio::sync::Mutex;

use super::asking::Asking;
use super::fields::{Paper, fields};
use super::{ModelUse, kind};

/// Rules and a way to ask, for one call of a tool.
pub(crate) struct AidedExtractor {
    pub(crate) rules: Arc<dyn Extractor>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) model_use: ModelUse,
    pub(crate) asking: Mutex<Box<dyn Asking>>,
}

impl AidedExtractor {
    /// The name of a schema that a pack brought.
    fn name_of(&self, schema: &Arc<ExtractionSchema>) -> Option<&str> {
        self.registry.extractions().find(|(_, known)| *known == schema).map(|(name, _)| name)
    }
}

#[async_trait]
impl Extractor for AidedExtractor {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        let analysis = self.rules.analyse(document, schema).await?;
        let Some(name) = self.name_of(schema) else { return Ok(analysis) };
        let mut asking = self.asking.lock().await;
        let kind = kind(asking.as_mut(), self.model_use, &self.registry, document, &analysis).await?;
        Ok(kind.map_or_else(|| analysis.clone(), |kind| kind.onto(name, schema, analysis.clone())))
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let paper = Paper { number, text: document };
        let mut asking = self.asking.lock().await;
        fields(asking.as_mut(), self.model_use, self.rules.as_ref(), paper, (analysis, schema)).await
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.rules.locate(document, claims).await
    }
}
