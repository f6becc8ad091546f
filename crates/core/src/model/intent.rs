//! Finding out what somebody wants.

use serde::{Deserialize, Serialize};

/// An intent that can be chosen, gathered from the plans that serve it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IntentSpec {
    /// Its key, `domain.name`.
    pub key: String,
    /// What it means.
    pub description: String,
    /// Words that speak for it: a phrase, `phrase^weight`, `one & other` for both, and `doc:CATEGORY`, which speaks
    /// for it when such a document is attached.
    pub keywords: Vec<String>,
    /// Messages that ask for it.
    pub examples: Vec<String>,
}

/// What is to be classified.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClassifyInput {
    /// A mail's subject; empty otherwise.
    pub subject: String,
    /// The message.
    pub text: String,
    /// Categories of the attached documents, as far as the first stage of extraction found any.
    pub document_categories: Vec<String>,
    /// The beginning of the documents' text, for messages that say nothing themselves.
    pub document_text: String,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Classification {
    /// The chosen intent; `None` when nothing matches.
    pub intent: Option<String>,
    /// How sure, from 0 to 1: among answers with 0.8, about eight in ten are right.
    pub confidence: f64,
    /// Why, for people.
    pub reasoning: String,
    /// The next best, with their confidence.
    pub alternatives: Vec<(String, f64)>,
    /// Which model answered, for instance `offline-rules/1`.
    pub model: String,
}
