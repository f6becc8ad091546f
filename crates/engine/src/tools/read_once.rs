//! What one life of a task has read by the rules is not read by them again: the phases of a mail read it, and so do the
//! steps of its plan, the same papers by the same schemas.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use kybern_core::document::{DocumentText, PageText};
use kybern_core::error::Result;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::ports::Extractor;

/// Bytes that are remembered of one task: its mail and some dozens of usual papers, with what was found in them. What is
/// longer is read again.
const KEPT: usize = 1 << 20;
/// What a document, a line, a word of a picture and a field take beside their texts, about.
const OVERHEAD_BYTES: usize = 64;

/// What was found in a document.
struct ReadFindings {
    /// The version of the lessons that it was read with.
    lessons: u32,
    number: u32,
    document: DocumentText,
    schema: Arc<ExtractionSchema>,
    analysis: DocumentAnalysis,
    extraction: Extraction,
}

/// What was read in one life of a task.
#[derive(Default)]
struct ReadDocuments {
    bytes: usize,
    found: Vec<ReadFindings>,
}

/// Remembers what rules found, for one task in one life of it.
#[derive(Clone, Default)]
pub(crate) struct ExtractionCache(Arc<Mutex<ReadDocuments>>);

impl ExtractionCache {
    /// These rules with that version of a tenant's lessons, which do not look for the fields of a document again that
    /// they have looked for before.
    pub(crate) fn caching(&self, rules: Arc<dyn Extractor>, lessons: u32) -> Arc<dyn Extractor> {
        Arc::new(CachingExtractor { rules, lessons, once: self.clone() })
    }

    fn known(&self) -> MutexGuard<'_, ReadDocuments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// About how many bytes a document takes.
fn size(document: &DocumentText) -> usize {
    let words = |page: &PageText| page.scan.as_ref().map_or(0, |scan| scan.words.len());
    document.pages.iter().map(|page| page.text.len() + (1 + page.lines.len() + words(page)) * OVERHEAD_BYTES).sum()
}

struct CachingExtractor {
    rules: Arc<dyn Extractor>,
    lessons: u32,
    once: ExtractionCache,
}

#[async_trait]
impl Extractor for CachingExtractor {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        self.rules.analyse(document, schema).await
    }

    async fn analyse_by(
        &self,
        document: &DocumentText,
        schemas: &[Arc<ExtractionSchema>],
    ) -> Result<Vec<DocumentAnalysis>> {
        self.rules.analyse_by(document, schemas).await
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let is_it = |found: &&ReadFindings| {
            (found.lessons, found.number) == (self.lessons, number)
                && Arc::ptr_eq(&found.schema, schema)
                && found.analysis == *analysis
                && found.document == *document
        };
        if let Some(found) = self.once.known().found.iter().find(is_it) {
            return Ok(found.extraction.clone());
        }
        let extraction = self.rules.extract(number, document, analysis, schema).await?;
        let bytes = size(document) + (1 + extraction.fields.len()) * OVERHEAD_BYTES;
        let mut known = self.once.known();
        if known.bytes + bytes <= KEPT {
            known.bytes += bytes;
            known.found.push(ReadFindings {
                lessons: self.lessons,
                number,
                document: document.clone(),
                schema: Arc::clone(schema),
                analysis: analysis.clone(),
                extraction: extraction.clone(),
            });
        }
        Ok(extraction)
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.rules.locate(document, claims).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use kybern_core::document::DocumentFormat;

    use super::*;

    /// Counts how often it looks.
    #[derive(Default)]
    struct Counting(AtomicU32);

    #[async_trait]
    impl Extractor for Counting {
        async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
            Ok(DocumentAnalysis::default())
        }

        async fn extract(
            &self,
            _number: u32,
            _document: &DocumentText,
            _analysis: &DocumentAnalysis,
            _schema: &Arc<ExtractionSchema>,
        ) -> Result<Extraction> {
            let time = self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Extraction { model: format!("look {time}"), ..Extraction::default() })
        }
    }

    fn document(text: &str) -> DocumentText {
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        DocumentText { format: DocumentFormat::Text, pages: vec![page] }
    }

    #[tokio::test]
    async fn what_was_read_is_not_read_again_and_whatever_differs_is() {
        let (once, rules) = (ExtractionCache::default(), Arc::new(Counting::default()));
        let first = once.caching(rules.clone(), 0);
        let (paper, plain) = (document("USDOT 9104417"), DocumentAnalysis::default());
        let schema = Arc::<ExtractionSchema>::default();
        let found = first.extract(1, &paper, &plain, &schema).await.unwrap();
        // Another step gets an extractor of its own, and may have built the document anew.
        let second = once.caching(rules.clone(), 0);
        let again = second.extract(1, &document("USDOT 9104417"), &plain, &schema).await.unwrap();
        assert_eq!((found.model.as_str(), again.model.as_str()), ("look 0", "look 0"));

        let present = DocumentAnalysis { sections: vec!["policies".to_owned()], ..DocumentAnalysis::default() };
        let looks = [
            second.extract(2, &paper, &plain, &schema).await,
            second.extract(1, &document("USDOT 9104418"), &plain, &schema).await,
            second.extract(1, &paper, &present, &schema).await,
            second.extract(1, &paper, &plain, &Arc::default()).await,
            once.caching(rules.clone(), 1).extract(1, &paper, &plain, &schema).await,
            ExtractionCache::default().caching(rules.clone(), 0).extract(1, &paper, &plain, &schema).await,
        ];
        let models: Vec<String> = looks.into_iter().map(|look| look.unwrap().model).collect();
        assert_eq!(models, ["look 1", "look 2", "look 3", "look 4", "look 5", "look 6"]);
    }

    #[tokio::test]
    async fn only_so_much_is_remembered() {
        let (once, rules) = (ExtractionCache::default(), Arc::new(Counting::default()));
        let rules = once.caching(rules, 0);
        let (plain, schema) = (DocumentAnalysis::default(), Arc::<ExtractionSchema>::default());
        let (short, long) = (document("USDOT 9104417"), document(&"x".repeat(KEPT)));
        for (paper, models) in [(&short, ["look 0", "look 0"]), (&long, ["look 1", "look 2"])] {
            for model in models {
                assert_eq!(rules.extract(1, paper, &plain, &schema).await.unwrap().model, model);
            }
        }
    }
}
