//! Plans: which there are, whether they fit this program, and which one serves an intent.

pub mod catalog;
pub mod check;
pub(crate) mod intents;
pub mod manage;
