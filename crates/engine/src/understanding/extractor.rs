//! The extractor that tools get: the rules, aided by a language model where one is to be asked.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::Extractor;
use tokio::sync::Mutex;

use super::asking::AskModel;
use super::fields::{ReadPaper, fields};
use super::{ModelUse, kind};

/// A schema with its name.
type NamedSchema<'s> = (&'s str, &'s Arc<ExtractionSchema>);

/// Rules and a way to ask, for one call of a tool.
pub(crate) struct AidedExtractor {
    pub(crate) rules: Arc<dyn Extractor>,
    pub(crate) registry: Arc<PackRegistry>,
    pub(crate) model_use: ModelUse,
    pub(crate) asking: Mutex<Box<dyn AskModel>>,
}

impl AidedExtractor {
    /// The schemas among which a model chooses what kind of document it is, and the name of the one that is read by:
    /// those of all packs together, so that a document is asked about once, or a tenant's own alone.
    fn choice<'s>(&'s self, schema: &'s Arc<ExtractionSchema>) -> Option<(&'s str, Vec<NamedSchema<'s>>)> {
        if schema.owner.is_some() {
            let tells = !schema.categories.is_empty() || !schema.sections.is_empty();
            return tells.then(|| (schema.name.as_str(), vec![(schema.name.as_str(), schema)]));
        }
        let all: Vec<NamedSchema<'s>> = self.registry.extractions().collect();
        let (name, _) = *all.iter().find(|(_, known)| Arc::ptr_eq(known, schema) || *known == schema)?;
        Some((name, all))
    }
}

#[async_trait]
impl Extractor for AidedExtractor {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        let analysis = self.rules.analyse(document, schema).await?;
        let Some((name, known)) = self.choice(schema) else { return Ok(analysis) };
        let mut asking = self.asking.lock().await;
        let kind = kind(asking.as_mut(), self.model_use, &known, document, &analysis).await?;
        Ok(kind.map_or_else(|| analysis.clone(), |kind| kind.onto(name, schema, analysis.clone())))
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let paper = ReadPaper { number, text: document };
        let mut asking = self.asking.lock().await;
        fields(asking.as_mut(), self.model_use, self.rules.as_ref(), paper, (analysis, schema)).await
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.rules.locate(document, claims).await
    }
}
