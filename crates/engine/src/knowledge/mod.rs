//! Knowledge: documents that agents may quote, from the upload to the search.

mod index;
mod manage;
mod search;

use std::sync::Arc;

use kybern_core::ports::{BlobStore, Clock, DocumentReader, IdSource, KnowledgeStore};

use crate::models::ModelService;

/// The documents that agents may quote.
#[derive(Clone)]
pub struct Knowledge {
    pub(crate) store: Arc<dyn KnowledgeStore>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) documents: Arc<dyn DocumentReader>,
    pub(crate) models: ModelService,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

pub(crate) use index::JOB as INDEX_JOB;
pub use manage::NewDocument;
