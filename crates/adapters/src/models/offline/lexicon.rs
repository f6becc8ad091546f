//! The labels, terms and signs of all fields of a schema.

use kybern_core::model::ExtractionSchema;

use super::phrases::Phrases;
use super::signs::FieldSigns;

/// What a term says.
#[derive(Debug)]
pub(super) struct TermMeaning {
    pub(super) field: usize,
    /// The value that it stands for.
    pub(super) value: String,
    /// Whether it is an everyday word, which is a term only where one is expected.
    pub(super) everyday: bool,
}

/// What all labels and terms of a schema are, ready to be looked up. A label `phrase=Value` is a **term**: the phrase
/// itself is the value, wherever it stands by itself; `phrase?=Value` is one where a term is expected. Fields are known
/// by their index in the schema.
#[derive(Debug)]
pub(super) struct Lexicon {
    pub(super) phrases: Phrases,
    /// For each phrase the field that has it as a label.
    pub(super) owners: Vec<usize>,
    /// The words that speak for names of a field, and those that speak against them.
    pub(super) signs: FieldSigns,
    pub(super) terms: Phrases,
    /// For each term what it says.
    pub(super) meanings: Vec<TermMeaning>,
}

impl Lexicon {
    /// The labels, terms and signs of a schema's fields.
    pub(super) fn new(schema: &ExtractionSchema) -> Self {
        let (mut phrases, mut terms) = (Phrases::default(), Phrases::default());
        let (mut owners, mut meanings) = (Vec::new(), Vec::new());
        let mut signs = FieldSigns::default();
        for (index, field) in schema.fields.iter().enumerate() {
            field.signs.iter().for_each(|sign| signs.add(index, sign));
            for label in &field.labels {
                if let Some((phrase, value)) = label.split_once('=') {
                    terms.add(phrase.trim_end_matches('?'), meanings.len());
                    let everyday = phrase.ends_with('?');
                    meanings.push(TermMeaning { field: index, value: value.to_owned(), everyday });
                } else {
                    phrases.add(label, owners.len());
                    owners.push(index);
                }
            }
            for own in schema.own_labels_of(field) {
                if let Some(value) = &own.value {
                    terms.add(&own.label, meanings.len());
                    meanings.push(TermMeaning { field: index, value: value.clone(), everyday: false });
                } else {
                    phrases.add(&own.label, owners.len());
                    owners.push(index);
                }
            }
        }
        Self { phrases, owners, signs, terms, meanings }
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let indices = size_of_val(self.owners.as_slice()) + size_of_val(self.meanings.as_slice());
        let indices = indices + self.meanings.iter().map(|meaning| meaning.value.len()).sum::<usize>();
        self.phrases.bytes() + self.terms.bytes() + self.signs.bytes() + indices
    }
}
