//! The first stage: what is in this document?

use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::Arc;

use kybern_core::document::DocumentText;
use kybern_core::model::{DocumentAnalysis, ExtractionSchema, ValueKind};

use super::phrases::Phrases;
use super::prepared::PreparedSchema;
use super::values;
use super::words::{Word, words};

/// Text that is looked at; what a document is shows early.
const MAX_LOOK: usize = 256 * 1024;
/// A marker in this much text at the beginning is a title and counts more.
const TITLE: usize = 240;
const TITLE_FACTOR: f64 = 1.6;
/// What a marker counts that is a whole line of the title, as the name of the paper is; and the least weight of such a
/// marker, since labels may have a line of their own too.
const NAME_FACTOR: f64 = 3.0;
const LEAST_NAME: f64 = 4.0;
/// Below this a category is a guess that helps nobody.
const LEAST_SCORE: f64 = 3.0;
/// How fast a score becomes certainty.
const SCALE: f64 = 4.0;
/// Letters and digits of a vehicle's number.
const VIN: usize = 17;
/// Lines with three cells that make a table.
const TABLE_LINES: usize = 3;

/// What tells a schema's categories and sections, ready to be looked for.
#[derive(Debug)]
pub(super) struct Markers {
    categories: Phrases,
    /// For each marker its category and its weight.
    weights: Vec<(usize, f64)>,
    /// Phrases of sections, each under its section's index.
    sections: Phrases,
    /// Sections that papers of a category have.
    by_category: Vec<(String, usize)>,
}

/// How a marker of a section begins that is the category of a paper.
const OF_CATEGORY: &str = "doc:";

/// What is in this document, by each of these schemas.
pub(super) fn analyse(document: &DocumentText, schemas: &[Arc<ExtractionSchema>]) -> Vec<DocumentAnalysis> {
    let DocumentWords { title, lines, all } = look(document);
    let has_tabular_data = document.pages.iter().any(|page| is_tabular(&page.text));
    let has_contact_info = document.pages.iter().any(|page| {
        let text = clip(&page.text, MAX_LOOK);
        !values::find_emails(text).is_empty()
            || !values::find_phones(text).is_empty()
            || text.lines().any(values::ends_with_zip)
    });
    let has_vin = LazyCell::new(|| all.iter().any(is_vin));
    let by_schema = |schema: &Arc<ExtractionSchema>| {
        let known = PreparedSchema::of(schema);
        let (category, confidence) = category(&title, &lines, &all, &known);
        let sections = present_sections(&all, &known, &has_vin, category.as_deref());
        DocumentAnalysis { category, confidence, sections, has_tabular_data, has_contact_info }
    };
    schemas.iter().map(by_schema).collect()
}

/// The beginning of a text, cut between characters.
pub(super) fn clip(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The words of a document.
struct DocumentWords {
    title: Vec<Word>,
    /// Those of the title by its lines.
    lines: Vec<Vec<Word>>,
    all: Vec<Word>,
}

fn look(document: &DocumentText) -> DocumentWords {
    let mut left = MAX_LOOK;
    let mut all = Vec::new();
    for page in &document.pages {
        let text = clip(&page.text, left);
        left -= text.len();
        all.extend(words(&page.label, 0));
        all.extend(words(text, 0));
    }
    let title = document.pages.first().map(|page| clip(page.text.trim_start(), TITLE)).unwrap_or_default();
    DocumentWords { title: words(title, 0), lines: title.lines().map(|line| words(line, 0)).collect(), all }
}

impl Markers {
    /// The markers of a schema.
    pub(super) fn new(schema: &ExtractionSchema) -> Self {
        let (mut categories, mut weights) = (Phrases::default(), Vec::new());
        for (index, category) in schema.categories.iter().enumerate() {
            for (phrase, weight) in &category.markers {
                categories.add(phrase, weights.len());
                weights.push((index, f64::from(*weight)));
            }
        }
        let markers = schema.sections.iter().enumerate().flat_map(|(index, section)| {
            section.markers.iter().filter_map(move |marker| Some((marker.strip_prefix(OF_CATEGORY)?.to_owned(), index)))
        });
        Self { categories, weights, sections: Self::of_sections(schema), by_category: markers.collect() }
    }

    fn of_sections(schema: &ExtractionSchema) -> Phrases {
        let mut phrases = Phrases::default();
        for (index, section) in schema.sections.iter().enumerate() {
            for marker in section.markers.iter().filter(|marker| !marker.starts_with(OF_CATEGORY)) {
                phrases.add(marker, index);
            }
            // A section of which a label or a term is there is there, but for those of a category of papers.
            if !section.markers.is_empty() && section.markers.iter().all(|marker| marker.starts_with(OF_CATEGORY)) {
                continue;
            }
            let own = schema.fields.iter().filter(|field| field.section.as_ref() == Some(&section.key));
            for (field, label) in own.flat_map(|field| field.labels.iter().map(move |label| (field, label.as_str()))) {
                let (phrase, is_term) = label.split_once('=').map_or((label, false), |(phrase, _)| (phrase, true));
                // What is asked for in a sentence makes no section.
                if phrase.contains(' ') && (!is_term || field.group.is_some()) {
                    phrases.add(phrase, index);
                }
            }
            let own = schema.fields.iter().filter(|field| field.section.as_ref() == Some(&section.key));
            for own in own.flat_map(|field| schema.own_labels_of(field)).filter(|own| own.label.contains(' ')) {
                phrases.add(&own.label, index);
            }
        }
        phrases
    }

    /// Whether a text has a word by which a section is known.
    pub(super) fn is_of_section(&self, text: &str, section: usize) -> bool {
        self.sections.find_all(&words(text, 0)).iter().any(|found| found.phrase == section)
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.categories.bytes() + self.sections.bytes() + size_of_val(self.weights.as_slice())
    }
}

fn category(title: &[Word], lines: &[Vec<Word>], all: &[Word], known: &PreparedSchema) -> (Option<String>, f64) {
    let (schema, markers) = (&known.schema, &known.markers);
    let titles: HashSet<usize> = markers.categories.find_all(title).iter().map(|found| found.phrase).collect();
    let whole = lines.iter().flat_map(|line| markers.categories.at(line, 0).filter(|found| found.last == line.len()));
    let names: HashSet<usize> = whole.map(|found| found.phrase).collect();
    let found: HashSet<usize> = markers.categories.find_all(all).iter().map(|found| found.phrase).collect();
    let mut scores = vec![0.0; schema.categories.len()];
    for marker in found {
        let (category, weight) = markers.weights[marker];
        scores[category] += match marker {
            marker if weight >= LEAST_NAME && names.contains(&marker) => weight * NAME_FACTOR,
            marker if titles.contains(&marker) => weight * TITLE_FACTOR,
            _ => weight,
        };
    }
    let mut best: Option<(usize, f64)> = None;
    let mut second = 0.0;
    for (index, score) in scores.into_iter().enumerate() {
        match best {
            Some((_, highest)) if score <= highest => second = f64::max(second, score),
            _ => {
                second = best.map_or(0.0, |(_, score)| score);
                best = Some((index, score));
            }
        }
    }
    match best {
        Some((index, score)) if score >= LEAST_SCORE => {
            let sure = (1.0 - (-score / SCALE).exp()) * (0.5 + 0.5 * (score - second) / score);
            (Some(schema.categories[index].key.clone()), round(sure))
        }
        _ => (None, 0.0),
    }
}

fn present_sections(
    all: &[Word],
    known: &PreparedSchema,
    has_vin: &LazyCell<bool, impl FnOnce() -> bool>,
    category: Option<&str>,
) -> Vec<String> {
    let schema = &known.schema;
    let mut found: HashSet<usize> = known.markers.sections.find_all(all).iter().map(|found| found.phrase).collect();
    let by_category = known.markers.by_category.iter().filter(|(other, _)| Some(other.as_str()) == category);
    found.extend(by_category.map(|(_, section)| *section));
    let vins =
        schema.fields.iter().filter(|field| field.value == ValueKind::Vin).filter_map(|field| field.section.as_ref());
    for section in vins {
        if let Some(index) = schema.sections.iter().position(|other| other.key == *section)
            && **has_vin
        {
            found.insert(index);
        }
    }
    let named = schema.sections.iter().enumerate().filter(|(index, _)| found.contains(index));
    named.map(|(_, section)| section.key.clone()).collect()
}

fn is_vin(word: &Word) -> bool {
    word.text.len() == VIN && !values::find_vins(&word.text.to_uppercase()).is_empty()
}

fn is_tabular(text: &str) -> bool {
    let rows = super::layout::lines(clip(text, MAX_LOOK))
        .iter()
        .filter(|line| line.cells.len() >= 3)
        .take(TABLE_LINES)
        .count();
    rows >= TABLE_LINES
}

/// Two decimals: more would pretend to know more.
pub(super) fn round(confidence: f64) -> f64 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0
}
