//! The offline rules model: classification and extraction without any provider.
//!
//! Everything it knows of a domain comes through its arguments: the intents' words and examples, and the schema's
//! markers, labels and value kinds. It has no clock and no randomness, so the same input has the same answer, and it
//! walks a text a fixed number of times, so four megabytes are no danger. It says that it is offline, and it never
//! writes prose. `docs/offline-model.md` tells how good it is.

mod acts;
mod addressees;
mod amounts;
mod analyse;
mod asked;
mod bands;
mod bare;
mod bare_names;
mod chasing;
mod classify;
mod codes;
mod columns;
mod compound;
mod conditions;
mod covering;
mod dated;
mod decks;
mod doubts;
mod examples;
mod extract;
mod items;
mod keywords;
mod label_text;
mod labelled;
mod labels;
mod layout;
mod ledger;
mod legend;
mod letter;
mod lexicon;
mod lists;
mod locate;
mod message;
mod negation;
mod noise;
mod numbered;
mod occurrence;
mod offers;
mod overlaps;
mod page;
mod paired;
mod parties;
mod phrases;
mod pieces;
mod pointing;
mod postal;
mod prepared;
mod reading;
mod requests;
mod rivals;
mod roll;
mod said;
mod search;
mod sentences;
mod sides;
mod signs;
mod stacks;
mod stops;
mod tables;
mod terms;
mod told;
mod transposed;
mod twins;
mod unnamed;
mod values;
mod vocabulary;
mod waits;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{
    Claim, Classification, ClassifyInput, DocumentAnalysis, Extraction, ExtractionSchema, IntentSpec, Located,
};
use kybern_core::ports::model::{Extractor, IntentModel};

use crate::workers::beside_the_runtime;

use prepared::{PreparedIntents, PreparedSchema};

pub use classify::{CALIBRATION, Evidence};

/// The name by which answers say who gave them.
pub const MODEL: &str = "offline-rules/1";

/// The e-mail addresses in a text, in small letters.
pub(crate) fn emails_in(text: &str) -> Vec<String> {
    values::find_emails(text).into_iter().filter_map(|read| read.value.as_str().map(str::to_owned)).collect()
}

/// The telephone numbers in a text: as they are written, and their ten digits.
pub(crate) fn phones_in(text: &str) -> Vec<(String, String)> {
    let found = values::find_phones(text).into_iter();
    found
        .filter_map(|read| Some((text.get(read.start..read.end)?.to_owned(), read.value.as_str()?.to_owned())))
        .collect()
}

/// Rules instead of a language model.
#[derive(Clone, Copy, Debug, Default)]
pub struct RulesModel;

impl RulesModel {
    /// What speaks for the best intent, before it is made a probability; for calibration.
    #[must_use]
    pub fn evidence(&self, input: &ClassifyInput, intents: &Arc<[IntentSpec]>) -> Evidence {
        classify::evidence(input, &PreparedIntents::of(intents))
    }
}

#[async_trait]
impl IntentModel for RulesModel {
    async fn classify(&self, input: &ClassifyInput, intents: &Arc<[IntentSpec]>) -> Result<Classification> {
        let bytes = input.subject.len() + input.text.len() + input.forwarded.len() + input.earlier.len();
        Ok(beside_the_runtime(bytes, || classify::classify(input, &PreparedIntents::of(intents))))
    }

    fn answers_at_once(&self) -> bool {
        true
    }
}

#[async_trait]
impl Extractor for RulesModel {
    async fn analyse(&self, document: &DocumentText, schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        let mut by_schema = self.analyse_by(document, std::slice::from_ref(schema)).await?;
        Ok(by_schema.pop().unwrap_or_default())
    }

    async fn analyse_by(
        &self,
        document: &DocumentText,
        schemas: &[Arc<ExtractionSchema>],
    ) -> Result<Vec<DocumentAnalysis>> {
        Ok(beside_the_runtime(size_of(document), || analyse::analyse(document, schemas)))
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let extract = || extract::extract(number, document, analysis, &PreparedSchema::of(schema));
        Ok(beside_the_runtime(size_of(document), extract))
    }

    async fn locate(&self, document: &DocumentText, claims: &[Claim<'_>]) -> Result<Vec<Option<Located>>> {
        Ok(beside_the_runtime(size_of(document), || locate::locate(document, claims)))
    }
}

fn size_of(document: &DocumentText) -> usize {
    document.pages.iter().map(|page| page.text.len()).sum()
}
