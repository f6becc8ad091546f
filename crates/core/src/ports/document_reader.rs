//! Reading documents.

use async_trait::async_trait;
use bytes::Bytes;

use crate::document::{DocumentFault, DocumentText, FaultKind, PageImageRequest, PageLook, PagePicture};
use crate::id::TenantId;

/// Turns bytes into text. It never panics and never returns an empty text.
#[async_trait]
pub trait DocumentReader: Send + Sync {
    /// Reads a document for a tenant, of which no one takes all places. The type is found out from the bytes first, then from the name and the declared type.
    ///
    /// # Errors
    /// A typed fault that says what is wrong with the document.
    async fn read(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<DocumentText, DocumentFault>;

    /// What there is to see on each page, in order; nothing of a document that has no pages to look at.
    ///
    /// # Errors
    /// As for [`DocumentReader::read`].
    async fn looks(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<Vec<PageLook>, DocumentFault> {
        let _ = (tenant, filename, content_type, bytes);
        Ok(Vec::new())
    }

    /// The picture of a page that is read from its picture, for whoever looks at it: the person who compares the two, or
    /// a model that sees. Places of words ([`crate::document::ScanPlace`]) are places in it.
    ///
    /// # Errors
    /// `Empty` when that page is no picture, and as for [`DocumentReader::read`].
    async fn picture(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
        view: PageImageRequest,
    ) -> Result<PagePicture, DocumentFault> {
        let _ = (tenant, filename, content_type, bytes);
        Err(DocumentFault::new(FaultKind::Empty, format!("page {} is not a picture", view.page)))
    }
}
