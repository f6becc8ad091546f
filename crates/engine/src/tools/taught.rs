//! The extraction model as a tenant has taught it: every schema that it is given gets the tenant's own labels first.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, Located};
use kybern_core::ports::Extractor;

use crate::made::LastMade;

/// Schemas of a tenant that are kept in memory.
const KEPT_SCHEMAS: usize = 16;

/// An extraction model with a tenant's lessons.
struct TaughtExtractor {
    model: Arc<dyn Extractor>,
    lessons: Lessons,
    /// The schemas that it was given, each with what it has become.
    schemas: Mutex<Vec<(Arc<ExtractionSchema>, Arc<ExtractionSchema>)>>,
}

/// The extraction models of 256 tenants, each at the version of the lessons that it has.
#[derive(Default)]
pub(crate) struct TaughtExtractors(LastMade<TenantId, u32, Arc<dyn Extractor>, 256>);

impl TaughtExtractors {
    /// The model with a tenant's lessons, at a version that the tenant has or had.
    pub(crate) fn get(&self, model: &Arc<dyn Extractor>, tenant: TenantId, lessons: &Lessons) -> Arc<dyn Extractor> {
        if lessons.in_use().next().is_none() {
            return Arc::clone(model);
        }
        self.0.get_or_make(tenant, lessons.version(), || taught(model, lessons))
    }
}

/// The model with these lessons; itself when there are none.
pub(crate) fn taught(model: &Arc<dyn Extractor>, lessons: &Lessons) -> Arc<dyn Extractor> {
    if lessons.in_use().next().is_none() {
        return Arc::clone(model);
    }
    Arc::new(TaughtExtractor { model: Arc::clone(model), lessons: lessons.clone(), schemas: Mutex::default() })
}

impl TaughtExtractor {
    /// A schema with the tenant's own labels: the same one each time, so that what the model makes of it can be kept.
    fn own(&self, schema: &Arc<ExtractionSchema>) -> Arc<ExtractionSchema> {
        // What a tenant wrote has all its labels.
        if schema.owner.is_some() {
            return Arc::clone(schema);
        }
        let mut schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, own)) = schemas.iter().find(|(of, _)| Arc::ptr_eq(of, schema)) {
            return Arc::clone(own);
        }
        let own = self.lessons.taught(schema).map_or_else(|| Arc::clone(schema), Arc::new);
        if schemas.len() >= KEPT_SCHEMAS {
            schemas.clear();
        }
        schemas.push((Arc::clone(schema), Arc::clone(&own)));
        own
    }
}

#[async_trait]
impl Extractor for TaughtExtractor {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        self.model.analyse(document, &self.own(schema)).await
    }

    async fn analyse_by(
        &self,
        document: &DocumentText,
        schemas: &[Arc<ExtractionSchema>],
    ) -> Result<Vec<DocumentAnalysis>> {
        let own: Vec<Arc<ExtractionSchema>> = schemas.iter().map(|schema| self.own(schema)).collect();
        self.model.analyse_by(document, &own).await
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        self.model.extract(number, document, analysis, &self.own(schema)).await
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        self.model.locate(document, claims).await
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::id::LessonId;
    use kybern_core::lesson::{Lesson, LessonAct, LessonSource, Teaching};
    use kybern_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    /// Keeps the schemas that it was given.
    #[derive(Default)]
    struct Given(Mutex<Vec<Arc<ExtractionSchema>>>);

    #[async_trait]
    impl Extractor for Given {
        async fn analyse(&self, _document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
            self.0.lock().unwrap().push(Arc::clone(schema));
            Ok(DocumentAnalysis::default())
        }

        async fn extract(
            &self,
            _number: u32,
            _document: &DocumentText,
            _analysis: &DocumentAnalysis,
            schema: &Arc<ExtractionSchema>,
        ) -> Result<Extraction> {
            self.0.lock().unwrap().push(Arc::clone(schema));
            Ok(Extraction::default())
        }
    }

    fn lesson(version: u32, label: &str) -> Lesson {
        let (id, at) = (LessonId::from_uuid(Uuid::from_u128(version.into())), Timestamp::from_millis(1));
        let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
        let teaching = Teaching::Label {
            schema: "cars".to_owned(),
            field: "owner.name".to_owned(),
            label: label.to_owned(),
            value: None,
        };
        Lesson::suggested(id, teaching, source, at).after(LessonAct::Accept, "user:1", version, at).unwrap()
    }

    #[tokio::test]
    async fn a_schema_is_taught_once_for_each_version() {
        let given = Arc::new(Given::default());
        let model: Arc<dyn Extractor> = given.clone();
        let (known, tenant) = (TaughtExtractors::default(), TenantId::from_uuid(Uuid::from_u128(1)));
        let now = Lessons::new(vec![lesson(1, "keeper"), lesson(2, "holder")]);
        let cars = Arc::new(ExtractionSchema { name: "cars".to_owned(), ..ExtractionSchema::default() });
        let ships = Arc::new(ExtractionSchema { name: "ships".to_owned(), ..ExtractionSchema::default() });
        let document = DocumentText { format: kybern_core::document::DocumentFormat::Text, pages: Vec::new() };
        for lessons in [&now, &now, &now.as_of(1)] {
            let extractor = known.get(&model, tenant, lessons);
            let schemas = [Arc::clone(&cars), Arc::clone(&ships)];
            let analyses = extractor.analyse_by(&document, &schemas).await.unwrap();
            extractor.extract(0, &document, &analyses[0], &cars).await.unwrap();
        }
        let given = given.0.lock().unwrap();
        let own = |n: usize| given[n].own_labels.len();
        assert!([2, 3, 5].iter().all(|n| Arc::ptr_eq(&given[0], &given[*n])), "the version is the same");
        assert!(Arc::ptr_eq(&given[1], &ships) && Arc::ptr_eq(&given[7], &ships), "nothing was learned of it");
        assert_eq!((own(0), own(6), own(8)), (2, 1, 1));
        assert!(Arc::ptr_eq(&known.get(&model, tenant, &Lessons::default()), &model));
    }

    #[tokio::test]
    async fn what_a_tenant_wrote_is_given_as_it_is() {
        let given = Arc::new(Given::default());
        let model: Arc<dyn Extractor> = given.clone();
        let taught = taught(&model, &Lessons::new(vec![lesson(1, "keeper")]));
        let owner = Some(TenantId::from_uuid(Uuid::from_u128(1)));
        let own = Arc::new(ExtractionSchema { name: "cars".to_owned(), owner, ..ExtractionSchema::default() });
        let document = DocumentText { format: kybern_core::document::DocumentFormat::Text, pages: Vec::new() };
        taught.analyse(&document, &own).await.unwrap();
        assert!(Arc::ptr_eq(&given.0.lock().unwrap()[0], &own));
    }
}
