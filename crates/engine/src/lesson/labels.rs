//! Labels: which can be added to a schema, and under which one a value stands that a person typed in.
//!
//! A typed value is looked for in the task's papers as it is written there. What stands before it, beside it or above
//! it may be its label; it is one when the rules, taught that label, find the value by themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::error::{Error, Result};
use kybern_core::id::LessonId;
use kybern_core::lesson::{Lesson, LessonSource, Teaching};
use kybern_core::model::{DocumentAnalysis, ExtractionSchema, FieldPattern, one_number_word};
use kybern_core::ports::Documents as _;
use kybern_core::task::AttachmentSource;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::LessonService;
use super::learn::AnsweredReview;
use crate::tools::taught::taught;
use crate::understanding::message::message_of;

/// Values of one answer that are looked for.
const MAX_VALUES: usize = 10;
/// Bytes of a value that is looked for.
const MAX_VALUE: usize = 200;
/// Letters and digits with which a value is told from chance.
const LEAST_VALUE: usize = 4;
/// Bytes of a document that is looked at.
const MAX_TEXT: usize = 256 * 1024;
/// How often the rules read a document for one answer.
const MAX_TRIES: usize = 60;
/// Lines above a value in which the head of its column may stand.
const LINES_ABOVE: usize = 12;
/// How sure the rules must be of what they find.
const LEAST_SURE: f64 = 0.5;

/// Refuses a label that says nothing new about a field, or that is known as another's.
pub(super) fn fits(schema: &ExtractionSchema, field: &str, label: &str, value: Option<&str>) -> Result<()> {
    let fields = fields_for(schema, field, label)?;
    let terms: BTreeSet<&str> = fields.iter().flat_map(|field| field.terms()).collect();
    match value {
        Some(value) if !terms.contains(value) => {
            let known = terms.into_iter().collect::<Vec<_>>().join(", ");
            let message = if fields.iter().any(|field| field.respelled) {
                format!(
                    "the values of {field} are no closed list: another spelling of one is a lesson of kind spelling"
                )
            } else if known.is_empty() {
                format!("the values of {field} are no closed list: leave value out")
            } else {
                format!("{field} has no value {value:?}, use one of {known}")
            };
            Err(Error::invalid("/value", message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses words that are no other spelling of a value of that field.
pub(super) fn is_spelling(schema: &ExtractionSchema, field: &str, label: &str, value: &str) -> Result<()> {
    if !fields_for(schema, field, label)?.iter().any(|field| field.respelled) {
        return Err(Error::invalid("/field", format!("the values of {field} are read as they are written")));
    }
    if squashed(value) == squashed(label) {
        return Err(Error::invalid("/value", format!("{label:?} is the value already")));
    }
    Ok(())
}

/// The fields of that name, for which words that are no field's label already can be taught.
fn fields_for<'s>(schema: &'s ExtractionSchema, field: &'s str, label: &str) -> Result<Vec<&'s FieldPattern>> {
    let fields: Vec<&FieldPattern> = schema.fields_at(field).collect();
    if fields.is_empty() {
        let mut paths: Vec<String> = schema.fields.iter().map(FieldPattern::path).collect();
        paths.sort_unstable();
        paths.dedup();
        let message = format!("the schema {} has no field {field:?}, use one of {}", schema.name, paths.join(", "));
        return Err(Error::invalid("/field", message));
    }
    if let Some(owner) = owner_of(schema, label) {
        let message = format!("{label:?} is a label of {owner} already");
        return Err(Error::invalid("/label", message));
    }
    Ok(fields)
}

/// The field that has a label already, in these words or in others that the rules read alike.
fn owner_of(schema: &ExtractionSchema, label: &str) -> Option<String> {
    let (run, read) = (squashed(label), as_read(label));
    let is_it = |known: &str| squashed(known) == run || as_read(known) == read;
    let phrase = |known: &str| is_it(known.split_once('=').map_or(known, |(phrase, _)| phrase));
    let has = |field: &&FieldPattern| field.labels.iter().any(|known| phrase(known));
    schema.fields.iter().find(has).map(FieldPattern::path)
}

/// A label's words as the rules read them, run together: `Policy No.`, `policy nr` and `POLICY #` are one.
fn as_read(label: &str) -> String {
    let label = label.to_lowercase().replace('#', " # ");
    let words = label.split(|c: char| !c.is_alphanumeric() && c != '#').filter(|word| !word.is_empty());
    words.map(one_number_word).collect()
}

/// Letters and digits in small letters.
fn squashed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl LessonService {
    /// The labels under which what a person typed in stands in the papers.
    pub(super) async fn labels_taught(&self, scope: TenantScope, answer: &AnsweredReview) -> Result<Vec<Teaching>> {
        let typed = typed(&answer.corrections);
        if typed.is_empty() {
            return Ok(Vec::new());
        }
        let papers: Vec<Arc<DocumentText>> = self.papers(scope, answer).await?;
        let (mut found, mut left) = (Vec::new(), MAX_TRIES);
        for (path, value) in typed {
            let schemas = self.plan_catalogue.registry().extractions();
            let wanted = schemas.flat_map(|(_, schema)| {
                let fields = schema.fields.iter().filter(|field| path.is_of(field)).map(FieldPattern::path);
                fields.collect::<BTreeSet<_>>().into_iter().map(move |field| (Arc::clone(schema), field))
            });
            for (schema, field) in wanted.collect::<Vec<_>>() {
                for paper in &papers {
                    let label = self.label_of(scope, &schema, &field, (paper, &value), &mut left).await?;
                    found.extend(label);
                }
            }
        }
        Ok(found)
    }

    /// The documents of a task, and the message itself.
    async fn papers(&self, scope: TenantScope, answer: &AnsweredReview) -> Result<Vec<Arc<DocumentText>>> {
        let mut texts = vec![Arc::new(message_of(&answer.task))];
        for (attachment, text) in self.tasks.documents_of(scope, &answer.task, &answer.walk).texts().await? {
            if attachment.source == AttachmentSource::Attached {
                texts.push(text);
            }
        }
        texts.retain(|text| text.pages.iter().map(|page| page.text.len()).sum::<usize>() <= MAX_TEXT);
        Ok(texts)
    }

    /// The label under which a value of a field stands in a document. `left` is how often the rules may still read one:
    /// what is not looked at teaches nothing.
    async fn label_of(
        &self,
        scope: TenantScope,
        schema: &Arc<ExtractionSchema>,
        field: &str,
        (document, value): (&DocumentText, &str),
        left: &mut usize,
    ) -> Result<Option<Teaching>> {
        let labels = candidates(document, value);
        // Where the value does not stand, the rules need not look.
        if labels.is_empty() || !take_one(left) {
            return Ok(None);
        }
        let Some(wanted) = self.normal(schema, field, value).await? else { return Ok(None) };
        let lessons = self.store.lessons_in_use(scope).await?;
        if !take_one(left) || self.finds(&lessons, schema, field, document, &wanted).await? {
            return Ok(None);
        }
        for label in labels {
            let (of, at) = (schema.name.clone(), field.to_owned());
            let teaching = Teaching::Label { schema: of, field: at, label, value: None }.checked();
            let Ok(teaching) = teaching else { continue };
            let Teaching::Label { label, .. } = &teaching else { continue };
            if owner_of(schema, label).is_some() {
                continue;
            }
            if !take_one(left) {
                return Ok(None);
            }
            let source = LessonSource { task_id: None, step_id: None, by: String::new() };
            let (id, at) = (LessonId::from_uuid(Uuid::nil()), Timestamp::from_millis(0));
            let tried = Lesson::suggested(id, teaching.clone(), source, at);
            if self.finds(&lessons.with(&tried), schema, field, document, &wanted).await? {
                return Ok(Some(teaching));
            }
        }
        Ok(None)
    }

    /// Whether the rules find a field's value in a document.
    async fn finds(
        &self,
        lessons: &kybern_core::lesson::Lessons,
        schema: &Arc<ExtractionSchema>,
        field: &str,
        document: &DocumentText,
        wanted: &Value,
    ) -> Result<bool> {
        let extractor = taught(&self.extractor, lessons);
        let analysis = extractor.analyse(document, schema).await?;
        let found = extractor.extract(1, document, &analysis, schema).await?;
        let is_it = |found: &kybern_core::model::ExtractedField| {
            path_of(found) == field && found.value == *wanted && found.confidence >= LEAST_SURE
        };
        Ok(found.fields.iter().any(is_it))
    }

    /// A typed value as the rules would write it down for that field.
    async fn normal(&self, schema: &Arc<ExtractionSchema>, field: &str, value: &str) -> Result<Option<Value>> {
        let Some(pattern) = schema.fields_at(field).next() else { return Ok(None) };
        let Some(label) = pattern.labels.iter().find(|label| !label.contains('=')) else { return Ok(None) };
        let page = PageText { number: 1, text: format!("{label}: {value}\n"), ..PageText::default() };
        let document = DocumentText { format: DocumentFormat::Text, pages: vec![page] };
        let sections = pattern.section.iter().cloned().collect();
        let analysis = DocumentAnalysis { sections, ..DocumentAnalysis::default() };
        let found = self.extractor.extract(1, &document, &analysis, schema).await?;
        Ok(found.fields.into_iter().find(|found| path_of(found) == field).map(|found| found.value))
    }
}

/// Takes one of those that are left.
fn take_one(left: &mut usize) -> bool {
    let has_one = *left > 0;
    *left = left.saturating_sub(1);
    has_one
}

/// The path of the field that a value is of.
pub(super) fn path_of(field: &kybern_core::model::ExtractedField) -> String {
    field.group.as_ref().map_or_else(|| field.name.clone(), |group| format!("{group}/{}", field.name))
}

/// Where in an answer a value stands.
enum TypedPath {
    /// `buyer.name`.
    Single(String),
    /// The list and the name in it: `extracted_items`, `number`.
    Item(String, String),
}

impl TypedPath {
    /// Whether it is a field's: a list is named like the field's group, perhaps with a word before it.
    fn is_of(&self, field: &FieldPattern) -> bool {
        match (self, field.group.as_deref()) {
            (Self::Single(path), None) => field.name == *path,
            (Self::Item(list, name), Some(group)) => {
                field.name == *name
                    && (list == group || list.strip_suffix(group).is_some_and(|rest| rest.ends_with('_')))
            }
            (Self::Single(_), Some(_)) | (Self::Item(..), None) => false,
        }
    }
}

/// The values that an answer holds.
fn typed(corrections: &Map<String, Value>) -> Vec<(TypedPath, String)> {
    let said = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut all = Vec::new();
    for (name, value) in corrections {
        match value {
            Value::Object(members) => {
                let one = |(member, value): (&String, &Value)| {
                    Some((TypedPath::Single(format!("{name}.{member}")), said(value)?))
                };
                all.extend(members.iter().filter_map(one));
            }
            Value::Array(items) => {
                for (member, value) in items.iter().filter_map(Value::as_object).flatten() {
                    all.extend(said(value).map(|value| (TypedPath::Item(name.clone(), member.clone()), value)));
                }
            }
            other => all.extend(said(other).map(|value| (TypedPath::Single(name.clone()), value))),
        }
    }
    all.retain(|(_, value)| value.len() <= MAX_VALUE && squashed(value).chars().count() >= LEAST_VALUE);
    all.truncate(MAX_VALUES);
    all
}

/// How a typed value may be written in a paper, squashed: as it is, and a date in the American ways.
fn spellings(value: &str) -> Vec<String> {
    let mut all = vec![squashed(value)];
    let parts: Vec<&str> = value.split('-').collect();
    if let [year, month, day] = parts[..]
        && year.len() == 4
        && [year, month, day].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
        && let (Ok(m), Ok(d)) = (month.parse::<u8>(), day.parse::<u8>())
    {
        let short = year.get(2..).unwrap_or(year);
        for year in [year, short] {
            all.extend([format!("{month}{day}{year}"), format!("{m}{d}{year}"), format!("{m}{day}{year}")]);
        }
    }
    all
}

/// What may be the label of a value, nearest first: what stands before it in its cell, the cell to its left, and the
/// cells above it.
fn candidates(document: &DocumentText, value: &str) -> Vec<String> {
    let spelled = spellings(value);
    let mut found: Vec<String> = Vec::new();
    for page in &document.pages {
        let lines: Vec<Vec<&str>> = page.text.lines().map(cells).collect();
        for (row, line) in lines.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                let flat = squashed(cell);
                if !spelled.iter().any(|spelled| flat.contains(spelled)) {
                    continue;
                }
                if let Some((before, _)) = cell.split_once([':', '=']) {
                    found.push(before.to_owned());
                }
                found.extend(before_value(cell, value));
                found.extend(column.checked_sub(1).and_then(|left| line.get(left)).map(|left| (*left).to_owned()));
                let above = lines.iter().take(row).rev().take(LINES_ABOVE).filter(|above| !above.is_empty());
                for above in above {
                    let same = above.get(column).or_else(|| above.first().filter(|_| line.len() == 1));
                    found.extend(same.map(|head| (*head).to_owned()));
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|label| seen.insert(squashed(label)));
    found
}

/// The words of a cell before the value, where it is written as it was typed.
fn before_value(cell: &str, value: &str) -> Option<String> {
    let at = cell.to_lowercase().find(&value.to_lowercase())?;
    cell.get(..at).map(str::to_owned).filter(|before| !before.trim().is_empty())
}

/// The cells of a line: parted by tabs, bars, or at least two spaces.
fn cells(line: &str) -> Vec<&str> {
    let parts = line.split(['\t', '|']).flat_map(|part| part.split("  "));
    parts.map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use kybern_core::model::ValueKind;
    use serde_json::json;

    use super::*;

    fn document(text: &str) -> DocumentText {
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        DocumentText { format: DocumentFormat::Text, pages: vec![page] }
    }

    fn schema() -> ExtractionSchema {
        let field = |name: &str, labels: &[&str], group: Option<&str>| FieldPattern {
            name: name.to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            value: ValueKind::Name,
            group: group.map(str::to_owned),
            ..FieldPattern::default()
        };
        let fields = [
            field("owner.name", &["owner", "owner name"], None),
            field("colour", &["colour", "deep red=Red"], Some("cars")),
            field("plate", &["plate number", "reg #"], Some("cars")),
        ];
        ExtractionSchema { name: "cars".to_owned(), fields: fields.into(), ..ExtractionSchema::default() }
    }

    #[test]
    fn a_label_is_new_and_its_field_is_there() {
        let fits = |field: &str, label: &str, value: Option<&str>| {
            fits(&schema(), field, label, value).map_err(|error| error.details()[0].path.clone())
        };
        assert_eq!(fits("owner.name", "named keeper", None), Ok(()));
        assert_eq!(fits("cars/colour", "crimson", Some("Red")), Ok(()));
        assert_eq!(fits("keeper", "named keeper", None), Err("/field".to_owned()));
        assert_eq!(fits("colour", "crimson", None), Err("/field".to_owned()), "a field of a list is named with it");
        assert_eq!(fits("owner.name", "Colour", None), Err("/label".to_owned()), "it is another's");
        assert_eq!(fits("owner.name", "owner  NAME", None), Err("/label".to_owned()));
        for same in ["plate no.", "Plate nr", "plate #", "PLATE-NUMBER", "reg", "reg no", "Reg. number"] {
            assert_eq!(
                fits("owner.name", same, None),
                Err("/label".to_owned()),
                "the rules read {same:?} as the plate's"
            );
        }
        assert_eq!(fits("owner.name", "owner no", None), Ok(()), "a number of the owner is no name of it");
        assert_eq!(fits("cars/colour", "crimson", Some("Blue")), Err("/value".to_owned()), "the list stays closed");
        assert_eq!(fits("owner.name", "crimson", Some("Red")), Err("/value".to_owned()));
    }

    #[test]
    fn another_spelling_is_taught_of_fields_that_have_some() {
        let maker = FieldPattern { respelled: true, ..FieldPattern::new("maker", &["maker"], ValueKind::Name) };
        let cars = ExtractionSchema { fields: [maker].into(), ..schema() };
        let path = |fault: Error| fault.details()[0].path.clone();
        let fits = |label: &str, value: &str| is_spelling(&cars, "maker", label, value).map_err(path);
        assert_eq!(fits("fern holow", "Fern Hollow Motors"), Ok(()));
        assert_eq!(fits("fern hollow motors", "Fern Hollow Motors"), Err("/value".to_owned()), "that is no other one");
        assert_eq!(fits("maker", "Fern Hollow Motors"), Err("/label".to_owned()));
        let label = super::fits(&cars, "maker", "fern holow", Some("Fern Hollow Motors"));
        assert_eq!(label.map_err(path), Err("/value".to_owned()), "a label has no such value");
        let colour = is_spelling(&schema(), "cars/colour", "crimson", "Red");
        assert_eq!(colour.map_err(path), Err("/field".to_owned()), "a closed list has labels with values");
    }

    #[test]
    fn values_of_an_answer_are_told_by_where_they_stand() {
        let corrections = json!({
            "owner": {"name": " Fern Hollow Inc. ", "note": null, "zip": "12"},
            "found_cars": [{"colour": "Deep red"}, {"number": 48_210}],
            "plain": "a text",
        });
        let typed = typed(corrections.as_object().unwrap());
        let values: BTreeSet<&str> = typed.iter().map(|(_, value)| value.as_str()).collect();
        let expected = BTreeSet::from(["Deep red", "48210", "Fern Hollow Inc.", "a text"]);
        assert_eq!(values, expected, "what is short is any word");
        let schema = schema();
        let of = |value: &str| {
            let (path, _) = typed.iter().find(|(_, typed)| typed == value).unwrap();
            schema.fields.iter().filter(|field| path.is_of(field)).map(FieldPattern::path).collect::<Vec<_>>()
        };
        assert_eq!(of("Fern Hollow Inc."), ["owner.name"]);
        assert_eq!(of("Deep red"), ["cars/colour"]);
        assert!(of("a text").is_empty());
    }

    #[test]
    fn what_stands_beside_or_above_a_value_may_be_its_label() {
        let labels = |text: &str, value: &str| candidates(&document(text), value);
        assert_eq!(labels("Named keeper: Fern Hollow Inc.", "fern hollow inc")[0], "Named keeper");
        assert_eq!(labels("Keeper    Fern Hollow Inc.", "Fern Hollow Inc.")[0], "Keeper");
        let table = "Keeper\tSince\nOak Ltd.\t1/2/2025\nFern Hollow Inc.\t03/04/2025\n";
        assert_eq!(labels(table, "Fern Hollow Inc."), ["Oak Ltd.", "Keeper"]);
        assert_eq!(labels(table, "2025-03-04"), ["Fern Hollow Inc.", "1/2/2025", "Since"]);
        assert!(labels(table, "Larch Ltd.").is_empty());
    }
}
