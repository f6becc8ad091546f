//! The first stage: what kind of document it is, and which sections it has, where the rules are unsure. A document is
//! asked about once, for all packs together.

use std::sync::Arc;

use kybern_core::document::DocumentText;
use kybern_core::error::Error;
use kybern_core::json_schema::object;
use kybern_core::model::{DocumentAnalysis, ExtractionSchema};
use kybern_core::money::Usage;
use serde_json::{Value, json};

use super::asking::{AskModel, NoAnswer, in_shape};
use super::inquiry::Inquiry;
use super::{ModelUse, UNSURE, clip, rounded};
use crate::models::prompt::UNDERSTAND_KIND;

/// The category of a document that no pack knows.
const OTHER: &str = "other";
/// Bytes of a document that are shown: what it is shows early.
const MAX_TEXT: usize = 8_000;
/// Phrases that explain a category or a section.
const PHRASES: usize = 4;
/// Models say that they are sure of more than they are.
const MOST_SURE: f64 = 0.9;
/// Tokens of an answer.
const MAX_OUTPUT: u32 = 600;

/// What a model said of a document's kind.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct ModelDocumentKind {
    /// The schema that knows the category, and the category.
    category: Option<(String, String)>,
    confidence: f64,
    /// Sections that are present, each with the schema that knows it.
    sections: Vec<(String, String)>,
    /// What it took.
    pub(crate) usage: Usage,
    /// Why no model helped.
    pub(crate) unasked: Option<String>,
}

impl ModelDocumentKind {
    /// The schema that knows the document better than rules with that confidence.
    pub(crate) fn schema(&self, than: f64) -> Option<&str> {
        self.category.as_ref().filter(|_| self.confidence > than).map(|(schema, _)| schema.as_str())
    }

    /// What the rules found by that schema, with what the model said of it.
    pub(crate) fn onto(&self, name: &str, schema: &ExtractionSchema, mut rules: DocumentAnalysis) -> DocumentAnalysis {
        if let Some((of, category)) = &self.category
            && of == name
            && (rules.category.is_none() || self.confidence > rules.confidence)
        {
            rules.category = Some(category.clone());
            rules.confidence = self.confidence;
        }
        let has = |key: &str| self.sections.iter().any(|(of, section)| of == name && section == key);
        let known = schema.sections.iter().map(|section| &section.key);
        rules.sections = known.filter(|key| rules.sections.contains(key) || has(key)).cloned().collect();
        rules
    }
}

/// Whether the rules do not know what kind of document it is.
pub(super) fn is_unknown(rules: &DocumentAnalysis) -> bool {
    rules.category.is_none() || rules.confidence < UNSURE
}

/// Asks what kind of document it is, of those that these schemas know; nothing where the rules know.
///
/// # Errors
/// When whoever asks has to stop.
pub(crate) async fn kind(
    asking: &mut dyn AskModel,
    model_use: ModelUse,
    known: &[(&str, &Arc<ExtractionSchema>)],
    document: &DocumentText,
    rules: &DocumentAnalysis,
) -> Result<Option<ModelDocumentKind>, Error> {
    let is_wanted = match model_use {
        ModelUse::Off => false,
        ModelUse::Unsure => is_unknown(rules),
        ModelUse::Always => true,
    };
    if !is_wanted || known.is_empty() {
        return Ok(None);
    }
    let mut usage = Usage::default();
    match in_shape(asking, inquiry(known, document), &mut usage).await {
        Ok(shaped) => Ok(Some(ModelDocumentKind { usage, ..read(&shaped.value) })),
        Err(NoAnswer::No(why)) => {
            Ok(Some(ModelDocumentKind { usage, unasked: Some(why), ..ModelDocumentKind::default() }))
        }
        Err(NoAnswer::Stopped(error)) => Err(error),
    }
}

fn read(said: &Value) -> ModelDocumentKind {
    let parted = |text: &str| text.split_once('/').map(|(schema, key)| (schema.to_owned(), key.to_owned()));
    let sections = said["sections"].as_array().into_iter().flatten().filter_map(Value::as_str);
    ModelDocumentKind {
        category: said["category"].as_str().and_then(parted),
        confidence: rounded(said["confidence"].as_f64().unwrap_or_default().clamp(0.0, MOST_SURE)),
        sections: sections.filter_map(parted).collect(),
        ..ModelDocumentKind::default()
    }
}

fn inquiry(schemas: &[(&str, &Arc<ExtractionSchema>)], document: &DocumentText) -> Inquiry {
    let (mut categories, mut sections) = (Vec::new(), Vec::new());
    let mut told = String::from("kinds of documents:\n");
    for (name, schema) in schemas {
        for category in schema.categories.iter() {
            let key = format!("{name}/{}", category.key);
            let phrases: Vec<&str> = category.markers.iter().take(PHRASES).map(|(phrase, _)| phrase.as_str()).collect();
            told.push_str(&format!("- {key}: {}\n", phrases.join(", ")));
            categories.push(key);
        }
    }
    told.push_str("kinds of sections:\n");
    for (name, schema) in schemas {
        for section in schema.sections.iter() {
            let key = format!("{name}/{}", section.key);
            let phrases: Vec<&str> = section.markers.iter().take(PHRASES).map(String::as_str).collect();
            told.push_str(&format!("- {key}: {}\n", phrases.join(", ")));
            sections.push(key);
        }
    }
    categories.push(OTHER.to_owned());
    let section =
        if sections.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": sections}) };
    let properties = json!({
        "category": {"type": "string", "enum": categories},
        "confidence": {"type": "number"},
        "sections": {"type": "array", "items": section}
    });
    Inquiry {
        prompt: UNDERSTAND_KIND,
        told,
        material: vec![("document", clip(&document.full_text(), MAX_TEXT).to_owned())],
        picture: None,
        schema: object(properties, ["category", "confidence", "sections"]),
        max_output: MAX_OUTPUT,
        correction: None,
    }
}
