//! Reading documents.

use async_trait::async_trait;
use bytes::Bytes;

use crate::document::{DocumentFault, DocumentText};

/// Turns bytes into text. It never panics and never returns an empty text.
#[async_trait]
pub trait DocumentReader: Send + Sync {
    /// Reads a document. The type is found out from the bytes first, then from the name and the declared type.
    ///
    /// # Errors
    /// A typed fault that says what is wrong with the document.
    async fn read(&self, filename: &str, content_type: &str, bytes: Bytes) -> Result<DocumentText, DocumentFault>;
}
