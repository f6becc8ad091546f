//! Plans: which there are, whether they fit this program, and which one serves an intent.

pub mod catalogue;
pub mod check;
pub(crate) mod intents;
pub mod manage;
