//! The extraction model as a tenant has taught it: every schema that it is given gets the tenant's own labels first, and a
//! value that the tenant knows to be written otherwise is what it means. Its place stays that of the words.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Claim, DocumentAnalysis, Extraction, ExtractionSchema, FieldPattern, Located};
use kybern_core::ports::Extractor;
use serde_json::Value;

/// Tenants whose schemas are kept in memory, and schemas of one of them.
const KEPT: usize = 256;
const KEPT_SCHEMAS: usize = 16;

/// An extraction model with a tenant's lessons.
struct Taught {
    model: Arc<dyn Extractor>,
    lessons: Lessons,
    /// The schemas that it was given, each with what it has become.
    schemas: Mutex<Vec<(Arc<ExtractionSchema>, Arc<ExtractionSchema>)>>,
}

/// An extraction model with lessons, and their version.
type Versioned = (u32, Arc<dyn Extractor>);

/// The extraction models of tenants, each at the version of the lessons that it has.
#[derive(Default)]
pub(crate) struct TaughtExtractors {
    of: Mutex<HashMap<TenantId, Versioned>>,
}

impl TaughtExtractors {
    /// The model with a tenant's lessons, at a version that the tenant has or had.
    pub(crate) fn get(&self, model: &Arc<dyn Extractor>, tenant: TenantId, lessons: &Lessons) -> Arc<dyn Extractor> {
        if lessons.in_use().next().is_none() {
            return Arc::clone(model);
        }
        let mut known = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, extractor)) = known.get(&tenant)
            && *version == lessons.version()
        {
            return Arc::clone(extractor);
        }
        let extractor = taught(model, lessons);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(tenant, (lessons.version(), Arc::clone(&extractor)));
        extractor
    }
}

/// The model with these lessons; itself when there are none.
pub(crate) fn taught(model: &Arc<dyn Extractor>, lessons: &Lessons) -> Arc<dyn Extractor> {
    if lessons.in_use().next().is_none() {
        return Arc::clone(model);
    }
    Arc::new(Taught { model: Arc::clone(model), lessons: lessons.clone(), schemas: Mutex::default() })
}

impl Taught {
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

impl Taught {
    /// Puts the value that is meant in the place of another spelling of it.
    fn respell(&self, schema: &ExtractionSchema, path: &str, value: &mut Value) {
        let meant = value.as_str().and_then(|written| self.lessons.meant_by(schema, path, written));
        if let Some(meant) = meant.map(str::to_owned) {
            *value = Value::String(meant);
        }
    }

    /// The schema, of those that were read by, to which a field belongs.
    fn schema_of(&self, field: &FieldPattern) -> Option<Arc<ExtractionSchema>> {
        let schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        schemas.iter().map(|(of, _)| of).find(|of| of.fields.contains(field)).cloned()
    }
}

#[async_trait]
impl Extractor for Taught {
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
        let mut found = self.model.extract(number, document, analysis, &self.own(schema)).await?;
        if schema.owner.is_none() {
            for field in &mut found.fields {
                let path =
                    field.group.as_ref().map_or_else(|| field.name.clone(), |group| format!("{group}/{}", field.name));
                self.respell(schema, &path, &mut field.value);
            }
        }
        Ok(found)
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        let mut found = self.model.locate(document, claims).await?;
        // What a language model claims is meant as what the rules read is: otherwise the two would contradict each other.
        for (claim, located) in claims.iter().zip(&mut found).filter(|(claim, _)| claim.field.respelled) {
            if let (Some(located), Some(schema)) = (located, self.schema_of(claim.field)) {
                self.respell(&schema, &claim.field.path(), &mut located.value);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::id::LessonId;
    use kybern_core::lesson::{Lesson, LessonAct, LessonSource, Teaching};
    use kybern_core::model::{ExtractedField, FieldSource, FoundBy, ValueKind};
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

    /// Reads one maker.
    struct Maker;

    #[async_trait]
    impl Extractor for Maker {
        async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
            Ok(DocumentAnalysis::default())
        }

        async fn extract(
            &self,
            number: u32,
            _document: &DocumentText,
            _analysis: &DocumentAnalysis,
            _schema: &Arc<ExtractionSchema>,
        ) -> Result<Extraction> {
            let maker = ExtractedField {
                name: "maker".to_owned(),
                group: Some("cars".to_owned()),
                item: Some(0),
                value: "Fern Holow".into(),
                confidence: 0.9,
                problem: None,
                found_by: FoundBy::Rules,
                source: FieldSource { document: number, page: 1, start: 7, end: 17, ..FieldSource::default() },
            };
            Ok(Extraction { fields: vec![maker], ..Extraction::default() })
        }

        async fn locate(&self, _document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
            let place = |claim: &Claim<'_>| {
                Some(Located { value: claim.text.into(), fit: 1.0, problem: None, page: 1, start: 7, end: 17 })
            };
            Ok(claims.iter().map(place).collect())
        }
    }

    #[tokio::test]
    async fn a_value_that_is_written_otherwise_is_what_it_means_and_keeps_its_place() {
        let teaching = Teaching::Spelling {
            schema: "cars".to_owned(),
            field: "cars/maker".to_owned(),
            label: "fern holow".to_owned(),
            value: "Fern Hollow Motors".to_owned(),
        };
        let lessons = Lessons::new(vec![Lesson { teaching, ..lesson(1, "keeper") }]);
        let maker = FieldPattern { respelled: true, ..FieldPattern::new("maker", &["maker"], ValueKind::Name) };
        let fields = [maker.of("cars")].into();
        let cars = ExtractionSchema { name: "cars".to_owned(), fields, ..ExtractionSchema::default() };
        let document = DocumentText { format: kybern_core::document::DocumentFormat::Text, pages: Vec::new() };
        let extractor = taught(&(Arc::new(Maker) as Arc<dyn Extractor>), &lessons);
        let read = async |schema: ExtractionSchema| {
            let read = extractor.extract(1, &document, &DocumentAnalysis::default(), &Arc::new(schema)).await.unwrap();
            let field = read.fields.into_iter().next().unwrap();
            (field.value, (field.source.start, field.source.end))
        };
        assert_eq!(read(cars.clone()).await, ("Fern Hollow Motors".into(), (7, 17)));
        let claim = Claim { field: &cars.fields[0], item: Some(0), text: "Fern Holow" };
        let located = extractor.locate(&document, &[claim]).await.unwrap();
        assert_eq!(located[0].as_ref().unwrap().value, "Fern Hollow Motors", "a model's claim is meant like it");
        let ships = ExtractionSchema { name: "ships".to_owned(), ..cars };
        assert_eq!(read(ships).await.0, "Fern Holow", "another schema's is not meant");
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
