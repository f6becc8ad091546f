//! Finding out what somebody wants.

use serde::{Deserialize, Serialize};

use crate::mail::{MailKind, Passage, PassageRole, ordered, text_of};

/// An intent that can be chosen, gathered from the plans that serve it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IntentSpec {
    /// Its key, `domain.name`.
    pub key: String,
    /// What it means.
    pub description: String,
    /// Words that speak for it: a phrase, `phrase^weight`, `one|other` for either, `one & other` for both, `one & !other`
    /// for one without the other, `ask:phrase` where it is asked for, `give:phrase` where it is handed over,
    /// `doc:CATEGORY`, which speaks for it when such a document is attached, and `mail:KIND`, when such a machine wrote.
    /// `phrase => reason` raises a doubt: the intent stands, and a person is asked for that reason. `for:KEY` names an
    /// intent for whose sake this one may be named, so that the two are one wish.
    pub keywords: Vec<String>,
    /// Messages that ask for it.
    pub examples: Vec<String>,
}

/// What is to be classified. What somebody wants now stands in `text`; everything else only helps to understand it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClassifyInput {
    /// What sent it; [`MailKind::Personal`] for everything but mail.
    pub kind: MailKind,
    /// A mail's subject; empty otherwise.
    pub subject: String,
    /// The message: of a mail its newest words, without signature and footers.
    pub text: String,
    /// The signature of a mail.
    pub signature: String,
    /// The text that a mail hands on.
    pub forwarded: String,
    /// What a mail quotes of earlier ones.
    pub earlier: String,
    /// Whether subject or text carry a request token.
    pub answers_request: bool,
    /// How many files are attached.
    pub files: usize,
    /// Categories of the attached documents, as far as the first stage of extraction found any.
    pub document_categories: Vec<String>,
    /// The beginning of the documents' text, for messages that say nothing themselves.
    pub document_text: String,
}

impl ClassifyInput {
    /// A mail, with the passages of its text where they belong. Text without passages is new.
    #[must_use]
    pub fn of_mail(kind: MailKind, subject: &str, text: &str, passages: &[Passage]) -> Self {
        let of = |role| text_of(text, passages, role);
        // Who says to go ahead asks for what the message asks for that is answered.
        let ordered = ordered(text, passages).map(|ordered| format!("\n\n{ordered}"));
        let newest = of(PassageRole::Newest) + ordered.as_deref().unwrap_or_default();
        Self {
            kind,
            subject: subject.to_owned(),
            text: if passages.is_empty() { text.to_owned() } else { newest },
            signature: of(PassageRole::Signature),
            forwarded: of(PassageRole::Forwarded),
            earlier: of(PassageRole::Quoted),
            ..Self::default()
        }
    }
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
    /// Why a person must look, however sure the intent is; empty when nothing speaks for it. Sentences for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Which model answered, for instance `offline-rules/1`.
    pub model: String,
}
