//! The extraction model as a tenant has taught it: every schema that it is given gets the tenant's own labels first.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::ports::Extractor;

/// An extraction model with a tenant's lessons.
struct Taught {
    model: Arc<dyn Extractor>,
    lessons: Lessons,
}

/// The model with these lessons; itself when there are none.
pub(crate) fn taught(model: &Arc<dyn Extractor>, lessons: &Lessons) -> Arc<dyn Extractor> {
    if lessons.in_use().next().is_none() {
        return Arc::clone(model);
    }
    Arc::new(Taught { model: Arc::clone(model), lessons: lessons.clone() })
}

#[async_trait]
impl Extractor for Taught {
    async fn analyse(&self, document: &DocumentText, schema: &ExtractionSchema) -> Result<DocumentAnalysis> {
        let own = self.lessons.taught(schema);
        self.model.analyse(document, own.as_ref().unwrap_or(schema)).await
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &ExtractionSchema,
    ) -> Result<Extraction> {
        let own = self.lessons.taught(schema);
        self.model.extract(number, document, analysis, own.as_ref().unwrap_or(schema)).await
    }
    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.model.locate(document, claims).await
    }
}
