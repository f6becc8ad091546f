//! Documents as text: what could be read, where it stood, and why something could not be read.

mod scan;

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

pub use scan::{MisplacedCorrection, Scan, ScanCorrection, ScanPlace, ScannedWord, WHOLE};

/// Limits on what is taken in. Over one of them a document is [`FaultKind::TooLarge`].
pub mod limits {
    /// Bytes of one attachment.
    pub const MAX_BYTES: usize = 20 * 1024 * 1024;
    /// Pages of one document (sheets of a workbook).
    pub const MAX_PAGES: usize = 500;
    /// Bytes of text taken from one document.
    pub const MAX_TEXT: usize = 4 * 1024 * 1024;
    /// Bytes that one archive (DOCX, XLSX) may unpack to.
    pub const MAX_UNPACKED: u64 = 100 * 1024 * 1024;
    /// Bytes that the archives of one message may unpack to, all together, however small they are: what an attachment
    /// may have.
    pub const FREE_UNPACKED: u64 = 20 * 1024 * 1024;
    /// How many times larger than the archives of a message their files may be beyond that, all together, as they are
    /// kept unpacked. Text in an archive is five to ten times larger than the archive, scans and PDF hardly larger.
    pub const KEPT_EXPANSION: u64 = 10;
    /// How many times larger an archive may unpack than it is.
    pub const MAX_EXPANSION: u64 = 200;
    /// Attachments of one task, nested messages included.
    pub const MAX_ATTACHMENTS: usize = 100;
    /// How deep a message may lie in other messages.
    pub const MAX_NESTING: usize = 5;
    /// Pages of one document that are read from their pictures; those after them stay pictures.
    pub const MAX_SCANNED_PAGES: usize = 20;
    /// Pixels of one picture: a letter page at 600 dots per inch has 34 million.
    pub const MAX_PIXELS: u64 = 40_000_000;
}

words! {
    /// The kinds of documents that can be read.
    pub enum DocumentFormat {
        /// Portable Document Format.
        Pdf = "pdf",
        /// A word processor's document.
        Docx = "docx",
        /// A workbook.
        Xlsx = "xlsx",
        /// Comma-separated values.
        Csv = "csv",
        /// A web page.
        Html = "html",
        /// Plain text.
        Text = "text",
        /// A picture, read by OCR.
        Picture = "picture",
    }
}

/// Where a line stands on its page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LineBox {
    /// First byte of the line in the page's text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Points from the left edge.
    pub x: f32,
    /// Points from the bottom edge.
    pub y: f32,
}

/// One page, or one sheet, as text in reading order.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PageText {
    /// Its number, from 1.
    pub number: u32,
    /// A sheet's name; empty for pages.
    pub label: String,
    /// The text. Cells of a table row are separated by tabs where the format knows cells, otherwise by at least two
    /// spaces.
    pub text: String,
    /// Positions, where the format has them.
    pub lines: Vec<LineBox>,
    /// The words and their places, where the page was read from a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// Whether a picture that may matter was not read, or not all of it: it cannot be unpacked, was one page too many, or
    /// took too long; or whether what the page is packed in is damaged. The text is then not all that the page says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// The day on which it was written, where something beside its text says so, as a mail's header does: days in it that
    /// have no year are read by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<jiff::civil::Date>,
}

/// What there is to see on a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PageLook {
    Picture,
    /// Something else: text, whether it can be read or not.
    Other,
    /// Nothing.
    Blank,
}

/// The picture of a page, as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PagePicture {
    /// Its media type, such as `image/png`.
    pub media_type: &'static str,
    pub bytes: Bytes,
}

/// Which page is looked at, and how closely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageImageRequest {
    /// Its number, from 1.
    pub page: u32,
    /// The most pixels of its longer side; a larger picture is made smaller. `None` for the picture as it was read.
    pub longest: Option<u32>,
}

/// A document that could be read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DocumentText {
    /// What it was.
    pub format: DocumentFormat,
    /// Its pages; never empty, and never all blank.
    pub pages: Vec<PageText>,
}

impl DocumentText {
    /// All pages, one after the other.
    #[must_use]
    pub fn full_text(&self) -> String {
        let texts: Vec<&str> = self.pages.iter().map(|page| page.text.as_str()).collect();
        texts.join("\n\n")
    }

    /// The numbers of its pages that were not read, or not all of them.
    #[must_use]
    pub fn unread_pages(&self) -> Vec<u32> {
        self.pages.iter().filter(|page| page.unread).map(|page| page.number).collect()
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let of_page = |page: &PageText| {
            size_of::<PageText>()
                + page.label.capacity()
                + page.text.capacity()
                + page.lines.capacity() * size_of::<LineBox>()
                + page.scan.as_ref().map_or(0, |scan| scan.words.capacity() * size_of::<ScannedWord>())
        };
        self.pages.iter().map(of_page).sum()
    }
}

words! {
    /// Why a document could not be read.
    pub enum FaultKind {
        /// Only pictures, no text layer.
        Scan = "scan",
        /// Locked with a password.
        Encrypted = "encrypted",
        /// A type that cannot be read.
        Unsupported = "unsupported",
        /// Damaged, or not what it says it is.
        Broken = "broken",
        /// Over a limit.
        TooLarge = "too_large",
        /// Nothing in it.
        Empty = "empty",
        /// Nothing is wrong with it: the reader has too much to do.
        Busy = "busy",
    }
}

impl FaultKind {
    /// Whether it may be read the next time, just as it is.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Busy => true,
            Self::Scan | Self::Encrypted | Self::Unsupported | Self::Broken | Self::TooLarge | Self::Empty => false,
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Scan => "type in what it says, or ask for a version with text",
            Self::Encrypted => "ask for a version without a password, or type in what it says",
            Self::Unsupported => "ask for a PDF, DOCX, XLSX, CSV, HTML or text version, or type in what it says",
            Self::Broken => "ask for it to be sent again, or type in what it says",
            Self::TooLarge => "ask for a smaller version, or type in what it says",
            Self::Empty => "ask for it to be sent again, or ignore it",
            Self::Busy => "try it again in a while, or type in what it says",
        }
    }
}

/// A document that could not be read. Display is a sentence for people, without the file's name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
pub struct DocumentFault {
    pub kind: FaultKind,
    /// What exactly was found.
    pub message: String,
}

impl DocumentFault {
    /// A fault with a sentence that says what was found.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}
