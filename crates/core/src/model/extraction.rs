//! Getting fields out of documents, in two stages: what is in this document; then only those fields.
//!
//! Packs declare what they look for; a model (the offline rules, or a language model) answers. Every field says
//! where it was found and how sure that is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{DocumentText, ScanPlace};
use crate::money::Usage;

/// What a pack looks for in documents.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExtractionSchema {
    /// The name under which it is registered.
    pub name: &'static str,
    /// The kinds of documents it knows.
    pub categories: Vec<CategoryPattern>,
    /// The sections a document may have. A field that names a section is only looked for when it is present.
    pub sections: Vec<SectionPattern>,
    /// The fields.
    pub fields: Vec<FieldPattern>,
    /// The family of the fields that tell about whoever writes a message, for instance `contact` of `contact.phone`.
    pub writer: Option<&'static str>,
    /// The field of the company that a message is about, where that is mostly the company of whoever writes it; `None`
    /// where others write as well.
    pub about: Option<&'static str>,
    /// Labels and terms that a tenant has added to those of the pack.
    pub own_labels: Vec<OwnLabel>,
}

impl ExtractionSchema {
    /// The fields of that [path](FieldPattern::is_at).
    pub fn fields_at<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s FieldPattern> {
        self.fields.iter().filter(move |field| field.is_at(path))
    }

    /// The labels that a tenant has added to a field.
    pub fn own_labels_of<'s>(&'s self, field: &'s FieldPattern) -> impl Iterator<Item = &'s OwnLabel> {
        self.own_labels.iter().filter(move |own| field.is_at(&own.field))
    }
}

impl FieldPattern {
    /// Whether that is its path: `insured.name`, or `policies/policy_number` in a list.
    #[must_use]
    pub fn is_at(&self, path: &str) -> bool {
        match self.group {
            None => self.name == path,
            Some(group) => path.split_once('/') == Some((group, self.name)),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> String {
        self.group.map_or_else(|| self.name.to_owned(), |group| format!("{group}/{}", self.name))
    }
}

/// A label that a tenant has added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnLabel {
    /// The [path](FieldPattern::is_at) of its field.
    pub field: String,
    /// The words, in small letters.
    pub label: String,
    /// The value that the words are; `None` when they lead to one.
    pub value: Option<String>,
}

/// How a kind of document is known.
#[derive(Clone, PartialEq, Debug)]
pub struct CategoryPattern {
    /// Its key, for instance `DEC_PAGE`.
    pub key: &'static str,
    /// Phrases that speak for it, each with a weight from 1 (weak) to 5 (decisive).
    pub markers: &'static [(&'static str, u8)],
}

/// How a section is known.
#[derive(Clone, PartialEq, Debug)]
pub struct SectionPattern {
    /// Its key, for instance `has_vehicles`.
    pub key: &'static str,
    /// Phrases of which one is enough.
    pub markers: &'static [&'static str],
}

/// One field.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldPattern {
    /// Its path in the result, for instance `insured.name`, or `policy_number` inside a group.
    pub name: &'static str,
    /// The labels after, or under, which it stands; lower case, without the colon. `phrase=Value` declares a closed
    /// vocabulary instead: where the phrase stands, the value is `Value`.
    pub labels: &'static [&'static str],
    /// What its value looks like.
    pub value: ValueKind,
    /// The section it belongs to; `None` when it is always looked for.
    pub section: Option<&'static str>,
    /// The list it belongs to, for instance `policies`; `None` for a single value.
    pub group: Option<&'static str>,
    /// Whether this field begins a new item of its group.
    pub opens_item: bool,
    /// Words by which a name that nobody labelled is known to be this field's, for instance `insurance company`; one
    /// after `-` speaks against it. Empty when such a name is nobody's.
    /// For an amount: words beside it by which it is known to be this one, for instance `deductible`.
    pub signs: &'static [&'static str],
    /// Whether it may have several values, or an item of its group several of it.
    pub many: bool,
}

/// What a value looks like, and so how it is found, checked and normalised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A business's or a unit's name: the rest of the line or cell.
    Name,
    /// A person's name: two to five words; `LAST, First` is turned round.
    Person,
    /// Free text to the end of the line or cell.
    Text,
    /// A USDOT number: 4 to 8 digits.
    DotNumber,
    /// A motor carrier number: 4 to 8 digits, perhaps after `MC`.
    McNumber,
    /// An insurer's NAIC code: 5 digits.
    Naic,
    /// A policy number: letters, digits and dashes with at least one digit.
    PolicyNumber,
    /// A number that somebody gave something, such as a claim or a load: letters, digits and dashes with at least two
    /// digits.
    Reference,
    /// A driver's licence number: five digits or more with letters, perhaps after the state.
    License,
    /// The id by which an answer is recognised: a UUID in `[Request:…]`.
    RequestToken,
    /// A date, normalised to `YYYY-MM-DD`.
    Date,
    /// Two dates, as `{"start","end"}`.
    DateRange,
    /// An amount of US dollars, as integer nano-dollars.
    Money,
    /// A telephone number, normalised to ten digits.
    Phone,
    /// An e-mail address, lower-cased.
    Email,
    /// A postal address, up to three lines.
    Address,
    /// A vehicle identification number; a wrong check digit is reported, not dropped.
    Vin,
    /// A four-digit year.
    Year,
    /// A whole number.
    Integer,
    /// Nothing: the label is known, so that it is nobody's value, and what it leads to is not wanted.
    Nothing,
}

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
    /// What is wrong with the value although it was found, for instance a VIN's check digit.
    pub problem: Option<String>,
    /// Where it stood.
    pub source: FieldSource,
    /// Who found it.
    #[serde(default)]
    pub found_by: FoundBy,
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
    /// What the document is.
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
