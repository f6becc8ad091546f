//! Getting fields out of documents, in two stages: what is in this document; then only those fields.
//!
//! A [schema](super::schema) says what is looked for; a model (the offline rules, or a language model) answers. Every
//! field says where it was found and how sure that is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::FieldPattern;
use crate::document::{DocumentText, ScanPlace};
use crate::money::Usage;

/// The first stage: what is in this document.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentAnalysis {
    /// The best category; `None` when none fits.
    pub category: Option<String>,
    /// How sure, from 0 to 1.
    pub confidence: f64,
    /// The sections that are present.
    pub sections: Vec<String>,
    /// Whether there are tables.
    pub has_tabular_data: bool,
    /// Whether there are addresses, telephone numbers or e-mail addresses.
    pub has_contact_info: bool,
}

/// Where a field was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldSource {
    /// The attachment's number in its task; 0 is the message itself.
    pub document: u32,
    /// The page, from 1.
    pub page: u32,
    /// First byte in the page's text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Where it stands in the page's picture, when the page was read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<ScanPlace>,
    /// What stands there, in one line; a long text is cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// Who found a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The offline rules.
    #[default]
    Rules,
    /// A language model, whose claim was found in the document.
    Model,
    /// Both, and they read the same.
    Both,
}

/// One field that was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractedField {
    /// Its path, as declared.
    pub name: String,
    /// The list it belongs to.
    pub group: Option<String>,
    /// Its item in that list, from 0; items of one document are numbered in order of appearance.
    pub item: Option<u32>,
    /// The normalised value.
    pub value: Value,
    /// From 0 to 1.
    pub confidence: f64,
    /// What is wrong with the value although it was found, for instance a wrong check digit.
    pub problem: Option<String>,
    /// Where it stood.
    pub source: FieldSource,
    #[serde(default)]
    pub found_by: FoundBy,
    /// What was read in its stead, where the rules and a language model contradict each other and neither guesses: a
    /// person has to say which it is before anything hangs on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Value>,
}

/// A value that a language model claims to have read, before anybody has looked whether it is there.
#[derive(Clone, Debug)]
pub struct Claim<'c> {
    /// What it is said to be.
    pub field: &'c FieldPattern,
    /// The item of its list; `None` for a single value.
    pub item: Option<u32>,
    /// The value as the model wrote it.
    pub text: &'c str,
}

/// A claim that was found in its document.
#[derive(Clone, PartialEq, Debug)]
pub struct Located {
    /// The value, read from the document's own words and normalised.
    pub value: Value,
    /// From 0 to 1: how well the words fit the field's kind.
    pub fit: f64,
    /// What is wrong with the value although it stands there.
    pub problem: Option<String>,
    /// The page, from 1.
    pub page: u32,
    /// First byte in the page's text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value that a language model claimed and the document does not say. It is shown to people and used for nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedClaim {
    /// The field, `name` or `group.name`.
    pub field: String,
    /// The beginning of what was claimed.
    pub claimed: String,
}

/// The second stage: the fields of one document.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extraction {
    pub analysis: DocumentAnalysis,
    /// What was found in it, in order of appearance.
    pub fields: Vec<ExtractedField>,
    /// Which model answered; rules and language model with `+` between them where both did.
    pub model: String,
    /// What the language model took and cost; nothing where none was asked.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// What the language model claimed and the document does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedClaim>,
    /// Why a language model that should have been asked was not, or gave no answer that could be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<String>,
}

/// The most characters of [`FieldSource::words`].
const MAX_WORDS: usize = 200;

impl ExtractedField {
    /// Says which words stand where it was found. Of a page that was read from a picture it also says where they stand
    /// there, and it becomes as unsure as the least sure of them.
    #[must_use]
    pub fn placed_in(mut self, text: &DocumentText) -> Self {
        let source = &mut self.source;
        let Some(page) = text.pages.iter().find(|page| page.number == source.page) else { return self };
        let words = page.text.get(source.start..source.end).unwrap_or_default();
        let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        source.words = line.chars().take(MAX_WORDS).collect();
        source.scan = page.place_in_picture(source.start, source.end);
        if let Some(place) = source.scan {
            self.confidence *= f64::from(place.confidence) / 100.0;
        }
        self
    }
}

impl Extraction {
    /// Says of each field where it was found, as [`ExtractedField::placed_in`] does.
    #[must_use]
    pub fn placed_in(mut self, text: &DocumentText) -> Self {
        self.fields = self.fields.into_iter().map(|field| field.placed_in(text)).collect();
        self
    }
}
