//! The second stage: the values of a document, where the rules are unsure. A model claims them in the document's own
//! words; the rules look each up, read it there, and what is not there is refused.

use std::sync::Arc;

use kybern_core::document::DocumentText;
use kybern_core::error::Error;
use kybern_core::json_schema::object;
use kybern_core::model::{
    Claim, DocumentAnalysis, ExtractedField, Extraction, ExtractionSchema, FieldPattern, FieldSource, FoundBy,
    RefusedClaim, ValueKind,
};
use kybern_core::ports::Extractor;
use serde_json::{Value, json};

use super::asking::{AskModel, NoAnswer, in_shape};
use super::inquiry::Inquiry;
use super::kind::is_unknown;
use super::{ModelUse, UNSURE, clip, merge, rounded};
use crate::models::prompt::UNDERSTAND_FIELDS;

/// Bytes of a document that are asked about at a time, and how many times: the rules read the rest alone.
const PART: usize = 24 * 1024;
const MAX_PARTS: usize = 8;
/// How sure a value is that a model claims and the document has, before it is looked at how well it fits.
const CLAIMED: f64 = 0.85;
/// Labels that explain a field, and bytes of a refused claim that are kept.
const LABELS: usize = 4;
const MAX_CLAIM: usize = 120;
/// Values of one answer that are looked up, and refused ones that are told.
const MAX_CLAIMS: usize = 1_000;
const MAX_REFUSED: usize = 50;
/// Tokens of an answer.
const MAX_OUTPUT: u32 = 6_000;

/// A document that is read.
#[derive(Clone, Copy)]
pub(crate) struct ReadPaper<'p> {
    /// The attachment's number; 0 is the message.
    pub(crate) number: u32,
    /// What it says.
    pub(crate) text: &'p DocumentText,
}

/// What the rules find, with what a model adds where it is wanted.
///
/// # Errors
/// When the rules cannot look, or whoever asks has to stop.
pub(crate) async fn fields(
    asking: &mut dyn AskModel,
    model_use: ModelUse,
    rules: &dyn Extractor,
    paper: ReadPaper<'_>,
    (analysis, schema): (&DocumentAnalysis, &Arc<ExtractionSchema>),
) -> Result<Extraction, Error> {
    let mut extraction = rules.extract(paper.number, paper.text, analysis, schema).await?;
    let wanted = wanted(schema, analysis);
    let is_wanted = match model_use {
        ModelUse::Off => false,
        // What a model has said of its kind does not make the rules know it.
        ModelUse::Unsure => {
            // A tenant's schema that tells no kinds does not know less of one paper than of another.
            let tells = schema.owner.is_none() || !schema.categories.is_empty();
            is_thin(&extraction, &wanted) || tells && is_unknown(&rules.analyse(paper.text, schema).await?)
        }
        ModelUse::Always => true,
    };
    if !is_wanted || wanted.is_empty() {
        return Ok(extraction);
    }
    let mut found = JudgedClaims::default();
    for part in parts(paper.text) {
        match in_shape(asking, inquiry(&wanted, paper.number, part), &mut extraction.usage).await {
            Ok(shaped) => {
                found.take(rules, paper, &wanted, &shaped.value).await?;
                found.model = Some(shaped.model);
            }
            Err(NoAnswer::No(why)) => {
                extraction.unasked = Some(why);
                break;
            }
            Err(NoAnswer::Stopped(error)) => return Err(error),
        }
    }
    if let Some(model) = found.model {
        extraction.model = format!("{}+{model}", extraction.model);
    }
    extraction.refused = found.refused;
    for field in merge::merge_model_fields(&mut extraction.fields, found.fields, schema, paper.text) {
        if extraction.refused.len() < MAX_REFUSED {
            let claimed = field.value.as_str().map_or_else(|| field.value.to_string(), str::to_owned);
            let name = field.group.map_or_else(|| field.name.clone(), |group| format!("{group}[].{}", field.name));
            extraction.refused.push(RefusedClaim { field: name, claimed: clip(&claimed, MAX_CLAIM).to_owned() });
        }
    }
    Ok(extraction)
}

/// The fields that are asked for: of the sections that are present, and of none. What proves that a mail answers a
/// request is no model's to find.
fn wanted<'s>(schema: &'s ExtractionSchema, analysis: &DocumentAnalysis) -> Vec<&'s FieldPattern> {
    let is_present =
        |field: &&FieldPattern| field.section.as_ref().is_none_or(|key| analysis.sections.iter().any(|own| own == key));
    let is_value = |field: &&FieldPattern| !matches!(field.value, ValueKind::Nothing | ValueKind::RequestToken);
    schema.fields.iter().filter(is_value).filter(is_present).collect()
}

/// Whether what the rules found is thin: nothing, not what is required, nothing of a section that is there, or a guess that no other place
/// makes good.
fn is_thin(extraction: &Extraction, wanted: &[&FieldPattern]) -> bool {
    let fields = &extraction.fields;
    let is_sure = |field: &ExtractedField| field.confidence >= UNSURE && field.problem.is_none();
    let of =
        |pattern: &&FieldPattern| fields.iter().any(|field| field.name == pattern.name && field.group == pattern.group);
    let mut sections: Vec<&str> = wanted.iter().filter_map(|pattern| pattern.section.as_deref()).collect();
    sections.sort_unstable();
    sections.dedup();
    let gave = |section: &&str| wanted.iter().filter(|pattern| pattern.section.as_deref() == Some(*section)).any(of);
    let is_made_good = |field: &ExtractedField| {
        fields.iter().any(|other| other.name == field.name && other.item == field.item && is_sure(other))
    };
    fields.is_empty()
        || wanted.iter().any(|pattern| pattern.required && !of(pattern))
        || !sections.iter().all(gave)
        || fields.iter().any(|field| !is_sure(field) && !is_made_good(field))
}

/// The document in parts that fit a question, pages whole where they do.
fn parts(document: &DocumentText) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    for page in &document.pages {
        let mut rest = page.text.as_str();
        let head = if page.label.is_empty() {
            format!("[page {}]\n", page.number)
        } else {
            format!("[page {}: {}]\n", page.number, clip(&page.label, MAX_CLAIM))
        };
        while !rest.trim().is_empty() {
            let piece = clip(rest, PART);
            rest = rest.get(piece.len()..).unwrap_or_default();
            if let Some(last) = parts.last_mut() {
                if !last.is_empty() && last.len() + piece.len() > PART {
                    parts.push(format!("{head}{piece}"));
                } else {
                    last.push_str(&format!("{head}{piece}\n"));
                }
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.truncate(MAX_PARTS);
    parts
}

/// What a field is called in a question.
fn key_of(field: &FieldPattern) -> String {
    field.group.as_ref().map_or_else(|| field.name.clone(), |group| format!("{group}[].{}", field.name))
}

fn inquiry(wanted: &[&FieldPattern], number: u32, part: String) -> Inquiry {
    let mut told = String::from("fields:\n");
    for field in wanted {
        let kind = json!(field.value);
        let kind = kind.as_str().unwrap_or_default().replace('_', " ");
        told.push_str(&format!("- {}: {kind}", key_of(field)));
        let labels: Vec<&str> =
            field.labels.iter().map(String::as_str).filter(|label| !label.contains('=')).take(LABELS).collect();
        if !labels.is_empty() {
            told.push_str(&format!("; stands for instance behind {}", labels.join(", ")));
        }
        let mut terms: Vec<&str> =
            field.labels.iter().filter_map(|label| label.split_once('=')).map(|(_, value)| value).collect();
        terms.retain(|term| !term.is_empty());
        terms.sort_unstable();
        terms.dedup();
        if !terms.is_empty() {
            told.push_str(&format!("; for instance {}", terms.join(", ")));
        }
        told.push('\n');
    }
    let keys: Vec<String> = wanted.iter().map(|field| key_of(field)).collect();
    let properties = json!({
        "values": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "enum": keys},
                    "item": {"type": "integer"},
                    "value": {"type": "string"}
                },
                "required": ["field", "item", "value"],
                "additionalProperties": false
            }
        }
    });
    Inquiry {
        prompt: UNDERSTAND_FIELDS,
        told,
        material: vec![(if number == 0 { "message" } else { "document" }, part)],
        picture: None,
        schema: object(properties, ["values"]),
        max_output: MAX_OUTPUT,
        correction: None,
    }
}

/// What came of the claims so far.
#[derive(Default)]
struct JudgedClaims {
    fields: Vec<ExtractedField>,
    refused: Vec<RefusedClaim>,
    /// The number of the first item of the next part.
    next_item: u32,
    /// The model that answered last.
    model: Option<String>,
}

impl JudgedClaims {
    /// Looks up what an answer claims.
    async fn take(
        &mut self,
        rules: &dyn Extractor,
        paper: ReadPaper<'_>,
        wanted: &[&FieldPattern],
        said: &Value,
    ) -> Result<(), Error> {
        let values = said["values"].as_array().into_iter().flatten().take(MAX_CLAIMS);
        let claims: Vec<Claim<'_>> = values
            .filter_map(|value| {
                let key = value["field"].as_str()?;
                let field = wanted.iter().copied().find(|field| key_of(field) == key)?;
                let number = value["item"].as_u64().and_then(|item| u32::try_from(item).ok()).unwrap_or_default();
                let item = field.group.as_ref().map(|_| self.next_item.saturating_add(number));
                let text = value["value"].as_str()?;
                (!text.trim().is_empty()).then_some(Claim { field, item, text })
            })
            .collect();
        let located = rules.locate(paper.text, &claims).await?;
        for (claim, located) in claims.iter().zip(located) {
            let Some(place) = located else {
                if self.refused.len() < MAX_REFUSED {
                    let claimed = clip(claim.text, MAX_CLAIM).to_owned();
                    self.refused.push(RefusedClaim { field: key_of(claim.field), claimed });
                }
                continue;
            };
            let field = ExtractedField {
                name: claim.field.name.clone(),
                group: claim.field.group.clone(),
                item: claim.item,
                value: place.value,
                confidence: rounded(CLAIMED * place.fit),
                problem: place.problem,
                source: FieldSource {
                    document: paper.number,
                    page: place.page,
                    start: place.start,
                    end: place.end,
                    ..FieldSource::default()
                },
                found_by: FoundBy::Model,
                rival: None,
            };
            self.fields.push(field.placed_in(paper.text));
        }
        let last = claims.iter().filter_map(|claim| claim.item).max();
        self.next_item = last.map_or(self.next_item, |last| last.saturating_add(1));
        Ok(())
    }
}
