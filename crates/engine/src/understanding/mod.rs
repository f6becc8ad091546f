//! What messages want and what documents say, where a language model helps the rules.
//!
//! The rules come first. Where they are unsure or silent, or always, by setting, a model is asked: which intent, what
//! kind of document, which values. Its answer is data: an intent is one of those that exist, and a value counts only
//! when the rules find it in the document; they read it there themselves. Each answer is journaled before anything is
//! made of it, and a question that the journal has answered is not asked again. Where no model may or can be asked, the
//! rules' answer stands.
//!
//! This part knows no store and no run: whoever reads brings a way to ask ([`AskModel`]).

mod asking;
pub(crate) mod corrections;
mod extractor;
mod fields;
mod inquiry;
mod intent;
mod kind;
mod merge;
pub(crate) mod message;
mod picture;
mod rows;

pub use crate::settings::ModelUse;
pub(crate) use asking::{AskModel, Inquirer, NoAnswer};
pub(crate) use extractor::AidedExtractor;
pub(crate) use fields::{ReadPaper, fields};
pub(crate) use inquiry::Inquiry;
pub(crate) use intent::{UnderstoodIntent, understood};
pub(crate) use kind::kind;
pub(crate) use picture::{WhyUnread, transcript};

/// Below this confidence a value, or the kind of a document, is a guess of the rules.
const UNSURE: f64 = 0.5;

/// The beginning of a text, cut between characters.
fn clip(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// Two decimals: more would pretend to know more.
fn rounded(confidence: f64) -> f64 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// How sure two are that agree and have looked each for themselves; never quite sure.
fn together(one: f64, other: f64) -> f64 {
    rounded((1.0 - (1.0 - one) * (1.0 - other)).min(0.99))
}
