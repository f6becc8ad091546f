//! Knowledge: documents that agents may quote, from the upload to the search.

mod index;
mod manage;
mod search;

pub(crate) use index::JOB as INDEX_JOB;
pub use manage::NewDocument;
