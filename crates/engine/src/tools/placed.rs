//! Fields know the words that stand where they were found, and their place in a picture, whoever found them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::ports::Extractor;

/// An extractor whose fields have their words and their places in pictures, and are as unsure as those words were.
pub(crate) struct PlacedExtractor(pub(crate) Arc<dyn Extractor>);

#[async_trait]
impl Extractor for PlacedExtractor {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        self.0.analyse(document, schema).await
    }

    async fn analyse_by(
        &self,
        document: &DocumentText,
        schemas: &[Arc<ExtractionSchema>],
    ) -> Result<Vec<DocumentAnalysis>> {
        self.0.analyse_by(document, schemas).await
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        Ok(self.0.extract(number, document, analysis, schema).await?.placed_in(document))
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.0.locate(document, claims).await
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::document::{DocumentFormat, PageText, Scan, ScanPlace, ScannedWord};
    use kybern_core::model::{ExtractedField, FieldSource, FoundBy};
    use serde_json::json;

    use super::*;

    /// Finds one value, the first seven bytes of a page, and is sure of it to 90 percent.
    struct First;

    #[async_trait]
    impl Extractor for First {
        async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
            Ok(DocumentAnalysis::default())
        }

        async fn extract(
            &self,
            number: u32,
            document: &DocumentText,
            _analysis: &DocumentAnalysis,
            _schema: &Arc<ExtractionSchema>,
        ) -> Result<Extraction> {
            let source = FieldSource { document: number, page: 1, end: 7, ..FieldSource::default() };
            let value = json!(document.pages[0].text[..7]);
            let name = "insured.dot_number".to_owned();
            let field = ExtractedField {
                name,
                group: None,
                item: None,
                value,
                confidence: 0.9,
                problem: None,
                source,
                found_by: FoundBy::Rules,
                rival: None,
            };
            Ok(Extraction { fields: vec![field], ..Extraction::default() })
        }
    }

    async fn field(scan: Option<Scan>) -> ExtractedField {
        let page = PageText { number: 1, text: "9104417".to_owned(), scan, ..PageText::default() };
        let text = DocumentText { format: DocumentFormat::Pdf, pages: vec![page] };
        let analysis = DocumentAnalysis::default();
        let found = PlacedExtractor(Arc::new(First)).extract(3, &text, &analysis, &Arc::default()).await;
        found.unwrap().fields.remove(0)
    }

    #[tokio::test]
    async fn a_field_of_a_scan_names_its_place_and_is_as_unsure_as_its_words() {
        let place = ScanPlace { x: 352, y: 182, width: 63, height: 10, confidence: 50 };
        let field = field(Some(Scan { words: vec![ScannedWord { start: 0, end: 7, place }] })).await;
        assert_eq!((field.confidence, field.source.scan), (0.45, Some(place)));
        assert_eq!(field.source.words, "9104417");
        let source = serde_json::to_value(&field.source).unwrap();
        assert_eq!(source["scan"], json!({"x": 352, "y": 182, "width": 63, "height": 10, "confidence": 50}));
    }

    #[tokio::test]
    async fn a_field_of_a_text_stays_as_it_was() {
        let field = field(None).await;
        assert_eq!((field.confidence, field.source.scan), (0.9, None));
        assert_eq!(serde_json::to_value(&field.source).unwrap().get("scan"), None);
    }
}
