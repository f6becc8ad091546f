//! Documents as text, behind [`kybern_core::ports::DocumentReader`].
//!
//! Each format has its own file and one function `read(bytes, stop) -> Result<DocumentText, DocumentFault>`. What
//! `sniff` finds in the bytes decides which one is called; the name and the declared type only break ties.
//!
//! Invariants: no input panics, recurses without bound, or unpacks without bound; a text that is returned is never
//! blank; a fault is a sentence for people. Limits come from [`kybern_core::document::limits`] and are checked while
//! unpacking, not after. The work runs on a thread of its own (`crate::workers`), so a slow or hostile document
//! costs nobody else.
//!
//! This module does not know what the text is about, who sent it, or where it is kept.

mod archive;
mod csv;
mod docx;
mod html;
mod pages;
mod pdf;
mod sniff;
mod text;
mod xlsx;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::document::{DocumentFault, DocumentText, FaultKind, limits};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader;

use self::sniff::Found;
use crate::workers::Workers;

pub(crate) use self::archive::{is_plain_zip, unzip};
pub(crate) use self::html::{to_text as html_to_text, visible_to_text};
pub(crate) use self::text::decode_lenient;

/// How long one document, or one message, may take.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Deep, for what the libraries below do with deep documents.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Reads PDF, DOCX, XLSX, CSV, HTML and plain text, and takes mail apart ([`crate::mail`]).
///
/// A few are read at the same time, and no tenant has all places.
#[derive(Debug)]
pub struct Reader {
    pub(crate) workers: Workers,
}

impl Reader {
    /// A reader with its own worker slots.
    #[must_use]
    pub fn new() -> Self {
        Self { workers: Workers::new(STACK_BYTES) }
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl DocumentReader for Reader {
    async fn read(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<DocumentText, DocumentFault> {
        if bytes.is_empty() {
            return Err(DocumentFault::new(FaultKind::Empty, "it has no content at all"));
        }
        if bytes.len() > limits::MAX_BYTES {
            let limit = limits::MAX_BYTES / (1024 * 1024);
            return Err(DocumentFault::new(FaultKind::TooLarge, format!("it is larger than {limit} MB")));
        }
        let (filename, content_type) = (filename.to_owned(), content_type.to_owned());
        self.workers
            .run(tenant, TIME_LIMIT, move |stop| match sniff::sniff(&filename, &content_type, &bytes)? {
                Found::Pdf => pdf::read(&bytes, stop),
                Found::Docx => docx::read(&bytes, stop),
                Found::Xlsx => xlsx::read(&bytes, stop),
                Found::Csv => csv::read(&bytes, stop),
                Found::Html => html::read(&bytes, stop),
                Found::Text => text::read(&bytes),
            })
            .await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_bytes_are_an_empty_document() {
        let fault = Reader::new()
            .read(TenantId::from_uuid(uuid::Uuid::nil()), "a.pdf", "application/pdf", Bytes::new())
            .await
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Empty);
    }

    #[tokio::test]
    async fn a_document_over_the_limit_is_too_large() {
        let bytes = Bytes::from(vec![b' '; limits::MAX_BYTES + 1]);
        let fault =
            Reader::new().read(TenantId::from_uuid(uuid::Uuid::nil()), "a.txt", "text/plain", bytes).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::TooLarge);
    }
}
