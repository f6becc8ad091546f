//! An extraction model that finds what a test writes: lines `Label: value` by the schema's labels, and lines
//! `@path = value` or `@list[n].path = value` as they stand. ` ?0.4` at the end states the confidence, ` !` a problem,
//! ` ~other` what a language model read in its stead, ` *` that only such a model read it.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{DocumentAnalysis, ExtractedField, Extraction, ExtractionSchema, FieldSource, FoundBy};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

/// The model.
pub(crate) struct LineExtractor;

#[async_trait]
impl Extractor for LineExtractor {
    async fn analyse(&self, document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        let text = document.full_text();
        let category = text.lines().find_map(|line| line.strip_prefix("@category = ")).map(str::to_owned);
        Ok(DocumentAnalysis {
            confidence: if category.is_some() { 0.9 } else { 0.0 },
            category,
            ..DocumentAnalysis::default()
        })
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let text = document.full_text();
        let fields = text.lines().filter_map(|line| direct(line).or_else(|| labelled(line, schema)));
        let source = FieldSource { document: number, page: 1, ..FieldSource::default() };
        let fields = fields.map(|field| ExtractedField { source: source.clone(), ..field }).collect();
        Ok(Extraction { analysis: analysis.clone(), fields, model: "lines/1".to_owned(), ..Extraction::default() })
    }
}

fn direct(line: &str) -> Option<ExtractedField> {
    let (path, value) = line.strip_prefix('@')?.split_once(" = ")?;
    match path.split_once("].") {
        Some((item, name)) => {
            let (group, item) = item.split_once('[')?;
            Some(ExtractedField { group: Some(group.to_owned()), item: item.parse().ok(), ..field(name, value) })
        }
        None if path == "category" => None,
        None => Some(field(path, value)),
    }
}

fn labelled(line: &str, schema: &ExtractionSchema) -> Option<ExtractedField> {
    let (label, value) = line.split_once(": ")?;
    let label = label.trim().to_lowercase();
    let pattern = schema.fields.iter().find(|pattern| pattern.group.is_none() && pattern.labels.contains(&label))?;
    Some(field(&pattern.name, value))
}

fn field(name: &str, written: &str) -> ExtractedField {
    let (written, found_by) = match written.strip_suffix(" *") {
        Some(value) => (value, FoundBy::Model),
        None => (written, FoundBy::Rules),
    };
    let (written, rival) = match written.split_once(" ~") {
        Some((value, other)) => (value, Some(json!(other))),
        None => (written, None),
    };
    let (written, problem) = match written.strip_suffix(" !") {
        Some(value) => (value, Some("does not check".to_owned())),
        None => (written, None),
    };
    let (text, confidence) = match written.rsplit_once(" ?") {
        Some((text, confidence)) => (text, confidence.parse().unwrap()),
        None => (written, 0.9),
    };
    let value = serde_json::from_str::<Value>(text).ok().filter(|value| !value.is_number());
    ExtractedField {
        name: name.to_owned(),
        group: None,
        item: None,
        value: value.unwrap_or_else(|| json!(text.trim())),
        confidence,
        problem,
        source: FieldSource { document: 0, page: 1, ..FieldSource::default() },
        found_by,
        rival,
    }
}
