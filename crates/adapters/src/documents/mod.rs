//! Documents as text, behind [`kybern_core::ports::DocumentReader`].
//!
//! Each format has its own file and one function `read(bytes, stop) -> Result<DocumentText, DocumentFault>`. What
//! `sniff` finds in the bytes decides which one is called; the name and the declared type only break ties.
//!
//! Invariants: no input panics, recurses without bound, or unpacks without bound; a text that is returned is never
//! blank; a fault is a sentence for people. Limits come from [`kybern_core::document::limits`] and are checked while
//! unpacking, not after. A server reads each document in a process of its own ([`process`]) that ends with it, so one that
//! is slow or hostile, or brings the reader down, costs nobody else. How many are read at once is decided by slots
//! (`crate::workers`), of which no tenant has all.
//!
//! What is a picture is read by OCR where Tesseract is installed ([`Tesseract`]): in a second pass, on slots of its own,
//! because it takes seconds where text takes milliseconds. Without it a scan is a fault.
//!
//! This module does not know what the text is about, who sent it, or where it is kept.

mod archive;
mod csv;
mod docx;
mod eyes;
pub(crate) mod html;
mod ocr;
mod pages;
mod pdf;
mod picture;
mod process;
mod sniff;
mod text;
mod xlsx;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::document::{
    DocumentFault, DocumentFormat, DocumentText, FaultKind, PageImageRequest, PageLook, PagePicture, PageText, limits,
};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader;

use self::eyes::{Eyes, PictureReading};
use self::pages::Pages;
use self::picture::Picture;
use self::process::{ReaderServices, ServerAids};
use self::sniff::DetectedFormat;
use crate::workers::{StopFlag, WorkerFault, Workers};

pub(crate) use self::archive::{is_plain_zip, unzip};
pub(crate) use self::html::to_text as html_to_text;
pub use self::ocr::{Tesseract, TesseractFault};
pub use self::process::{READER_VERB, ReaderProgram, read_as_child};
pub(crate) use self::text::decode_lenient;

/// How long one document, or one message, may take.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Deep, for what the libraries below do with deep documents.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Reads PDF, DOCX, XLSX, CSV, HTML and plain text, scans and pictures where there is OCR, and takes mail apart
/// ([`crate::mail`]).
///
/// A few are read at the same time, and no tenant has all places.
#[derive(Debug)]
pub struct Reader {
    workers: Workers,
    /// Where mail is taken apart: it is taken in whatever papers are being read.
    pub(crate) mail: Workers,
    ocr: Option<Ocr>,
    /// What reads in a process of its own.
    program: Option<ReaderProgram>,
    /// Where pictures are drawn for people. Each keeps a core busy and takes a few hundred megabytes, so fewer are drawn
    /// at the same time than documents are read, and none of them waits in front of a document.
    drawing: Workers,
}

/// What reads pictures, with its own worker slots.
#[derive(Debug)]
struct Ocr {
    tesseract: Tesseract,
    workers: Workers,
}

impl Reader {
    /// A reader with its own worker slots, to which a scan is a fault. It reads in this process, for tests of what is
    /// read; a server's reads [by children](Self::reading_by).
    #[must_use]
    pub fn new() -> Self {
        Self::with_ocr(None)
    }

    /// A reader that reads pictures, too, when there is something that does.
    #[must_use]
    pub fn with_ocr(tesseract: Option<Tesseract>) -> Self {
        let ocr = tesseract.map(|tesseract| Ocr { tesseract, workers: Workers::one_a_core(STACK_BYTES) });
        let drawing = Workers::one_a_core(STACK_BYTES);
        let [workers, mail] = [(); 2].map(|()| Workers::new(STACK_BYTES));
        Self { workers, mail, ocr, program: None, drawing }
    }

    /// The same reading each document in a process of its own, which is this program. Only then are pictures in JPEG 2000
    /// and JBIG2 unpacked: without it a page that has nothing else is a picture that nobody can read.
    #[must_use]
    pub fn reading_by(self, program: ReaderProgram) -> Self {
        Self { program: Some(program), ..self }
    }

    /// How long a document without pictures may take.
    fn time_limit(&self) -> Duration {
        self.program.as_ref().map_or(TIME_LIMIT, ReaderProgram::time)
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

/// A document as it came.
#[derive(Clone)]
struct File {
    name: String,
    content_type: String,
    bytes: Bytes,
}

impl File {
    /// # Errors
    /// `Empty`, or `TooLarge`.
    fn new(name: &str, content_type: &str, bytes: Bytes) -> Result<Self, DocumentFault> {
        if bytes.is_empty() {
            return Err(DocumentFault::new(FaultKind::Empty, "it has no content at all"));
        }
        if bytes.len() > limits::MAX_BYTES {
            let limit = limits::MAX_BYTES / (1024 * 1024);
            return Err(DocumentFault::new(FaultKind::TooLarge, format!("it is larger than {limit} MB")));
        }
        Ok(Self { name: name.to_owned(), content_type: content_type.to_owned(), bytes })
    }

    /// Its text, and whether there are pictures in it that were not read.
    fn read(&self, seeing: Option<&dyn ReaderServices>, stop: &StopFlag) -> Result<pdf::PdfReading, DocumentFault> {
        let bytes = &self.bytes;
        let mut eyes = seeing.map(|aids| Eyes::new(aids, stop));
        let eyes = eyes.as_mut();
        let text = match sniff::sniff(&self.name, &self.content_type, bytes)? {
            DetectedFormat::Pdf => return pdf::read(bytes, stop, eyes),
            DetectedFormat::Picture(format) => return picture(bytes, format, eyes),
            DetectedFormat::Docx => docx::read(bytes, stop),
            DetectedFormat::Xlsx => xlsx::read(bytes, stop),
            DetectedFormat::Csv => csv::read(bytes, stop),
            DetectedFormat::Html => html::read(bytes, stop),
            DetectedFormat::Text => text::read(bytes),
        };
        Ok(pdf::PdfReading { text, has_pictures: false })
    }

    /// What there is to see on its pages.
    fn looks(&self, stop: &StopFlag) -> Result<Vec<PageLook>, DocumentFault> {
        match sniff::sniff(&self.name, &self.content_type, &self.bytes)? {
            DetectedFormat::Pdf => pdf::looks(&self.bytes, stop),
            DetectedFormat::Picture(_) => Ok(vec![PageLook::Picture; picture::pages(&self.bytes)]),
            DetectedFormat::Docx
            | DetectedFormat::Xlsx
            | DetectedFormat::Csv
            | DetectedFormat::Html
            | DetectedFormat::Text => Ok(Vec::new()),
        }
    }

    fn picture(
        &self,
        view: PageImageRequest,
        aids: &dyn ReaderServices,
        stop: &StopFlag,
    ) -> Result<PagePicture, DocumentFault> {
        let page = view.page;
        let picture = match sniff::sniff(&self.name, &self.content_type, &self.bytes)? {
            DetectedFormat::Pdf => pdf::picture(&self.bytes, page, aids, stop)?,
            DetectedFormat::Picture(_) if page == 1 => Picture::unpack(&self.bytes)?,
            _ => return Err(DocumentFault::new(FaultKind::Empty, format!("page {page} is not a picture"))),
        };
        stop.check()?;
        match view.longest {
            Some(longest) => picture.within(longest).to_png(),
            None => picture.to_png(),
        }
    }
}

/// Reads a file that is a picture. Of one with several pages the first is read.
fn picture(bytes: &[u8], format: &str, eyes: Option<&mut Eyes<'_>>) -> Result<pdf::PdfReading, DocumentFault> {
    let seen = match eyes {
        Some(eyes) => eyes.read(|| Picture::unpack(bytes).map(Some))?,
        None => PictureReading::Unread,
    };
    let format = format.to_ascii_uppercase();
    let mut pages = Pages::new(DocumentFormat::Picture);
    let text = match seen {
        PictureReading::Words(page) => pages
            .count(page.text.len())
            .and_then(|()| pages.add_page(page))
            .and_then(|()| (1..picture::pages(bytes)).try_for_each(|_| pages.add_page(PageText::not_read(0))))
            .and_then(|()| pages.finish("it has no text")),
        PictureReading::Nothing | PictureReading::Unread => {
            let message = format!("it is a picture ({format}) without a text layer");
            Err(DocumentFault::new(FaultKind::Scan, message))
        }
    };
    Ok(pdf::PdfReading { text, has_pictures: true })
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
        let file = File::new(filename, content_type, bytes)?;
        let (plain, program) = (file.clone(), self.program.clone());
        let read = move |stop: &StopFlag| match &program {
            Some(program) => program.read(&plain, None, stop),
            None => plain.read(None, stop),
        };
        let read = self.workers.run(tenant, self.time_limit(), read).await??;
        let Some(ocr) = self.ocr.as_ref().filter(|_| read.has_pictures) else { return read.text };
        let (tesseract, program) = (ocr.tesseract.clone(), self.program.clone());
        let look = move |stop: &StopFlag| {
            let aids = ServerAids { tesseract: Some(&tesseract), program: program.as_ref() };
            match &program {
                Some(program) => program.read(&file, Some((aids, ocr::time_limit())), stop),
                None => file.read(Some(&aids), stop),
            }
        };
        match ocr.workers.run(tenant, ocr::time_limit(), look).await {
            Ok(seen) => seen?.text,
            // It can be read, later: that some of its pages were left out would depend on the moment.
            Err(WorkerFault::Busy) => Err(WorkerFault::Busy.into()),
            // What could be read without its pictures is still what it says.
            Err(fault @ (WorkerFault::TooLong(_) | WorkerFault::Panicked)) => {
                tracing::warn!(?fault, "the pictures of a document could not be read by OCR");
                read.text
            }
        }
    }

    async fn looks(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<Vec<PageLook>, DocumentFault> {
        let file = File::new(filename, content_type, bytes)?;
        let program = self.program.clone();
        let look = move |stop: &StopFlag| match &program {
            Some(program) => program.looks(&file, stop),
            None => file.looks(stop),
        };
        self.workers.run(tenant, self.time_limit(), look).await?
    }

    async fn picture(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
        view: PageImageRequest,
    ) -> Result<PagePicture, DocumentFault> {
        let file = File::new(filename, content_type, bytes)?;
        let program = self.program.clone();
        let draw = move |stop: &StopFlag| match &program {
            Some(program) => program.picture(&file, view, stop),
            None => file.picture(view, &ServerAids::default(), stop),
        };
        self.drawing.run(tenant, self.time_limit(), draw).await?
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
