//! Pages under construction: every character is counted against the limits of the whole document.

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind, LineBox, PageText, limits};

/// Collects the pages of one document.
#[derive(Debug)]
pub(super) struct Pages {
    format: DocumentFormat,
    pages: Vec<PageText>,
    bytes: usize,
}

impl Pages {
    /// No page yet.
    pub(super) const fn new(format: DocumentFormat) -> Self {
        Self { format, pages: Vec::new(), bytes: 0 }
    }

    /// Counts text that is about to be kept.
    ///
    /// # Errors
    /// `TooLarge` over the limit of a document.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), DocumentFault> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > limits::MAX_TEXT {
            let limit = limits::MAX_TEXT / (1024 * 1024);
            return Err(DocumentFault::new(FaultKind::TooLarge, format!("it has more than {limit} MB of text")));
        }
        Ok(())
    }

    /// Adds a page whose text has been counted already.
    ///
    /// # Errors
    /// `TooLarge` over the limit of pages.
    pub(super) fn add_counted(&mut self, label: &str, text: String, lines: Vec<LineBox>) -> Result<(), DocumentFault> {
        self.add_page(PageText { label: label.to_owned(), text, lines, ..PageText::default() })
    }

    /// Adds a page as it is but for its number, whose text has been counted already.
    ///
    /// # Errors
    /// `TooLarge` over the limit of pages.
    pub(super) fn add_page(&mut self, page: PageText) -> Result<(), DocumentFault> {
        if self.pages.len() >= limits::MAX_PAGES {
            return Err(too_many_pages());
        }
        let number = u32::try_from(self.pages.len() + 1).unwrap_or(u32::MAX);
        self.pages.push(PageText { number, ..page });
        Ok(())
    }

    /// Adds a page.
    ///
    /// # Errors
    /// `TooLarge` over the limit of pages or text.
    pub(super) fn add(&mut self, label: &str, text: String) -> Result<(), DocumentFault> {
        self.count(text.len())?;
        self.add_counted(label, text, Vec::new())
    }

    /// The document.
    ///
    /// # Errors
    /// `Empty` with `nothing` as its sentence when every page is blank.
    pub(super) fn finish(self, nothing: &str) -> Result<DocumentText, DocumentFault> {
        if self.pages.iter().all(|page| page.text.trim().is_empty()) {
            return Err(DocumentFault::new(FaultKind::Empty, nothing));
        }
        Ok(DocumentText { format: self.format, pages: self.pages })
    }
}

pub(super) fn too_many_pages() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, format!("it has more than {} pages", limits::MAX_PAGES))
}

pub(super) fn unpacks_too_far() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, "it unpacks to far more than its own size, so it was not unpacked")
}
