//! Who reads the pictures of one document: as many of its pages as the limit allows.

use kybern_core::document::{DocumentFault, FaultKind, PageText, limits};

use super::picture::Picture;
use super::process::ReaderServices;
use crate::workers::StopFlag;

/// What was seen in a picture.
#[derive(Debug)]
pub(super) enum PictureReading {
    Words(PageText),
    /// Nothing, because there is nothing.
    Nothing,
    /// Nobody knows what it shows: it cannot be unpacked, has ink without a word, or is one page too many. It stays a
    /// picture, and a person is asked.
    Unread,
}

/// Reads the pictures of one document.
pub(super) struct Eyes<'a> {
    aids: &'a dyn ReaderServices,
    stop: &'a StopFlag,
    /// Pictures that may still be looked at.
    left: usize,
}

impl<'a> Eyes<'a> {
    pub(super) const fn new(aids: &'a dyn ReaderServices, stop: &'a StopFlag) -> Self {
        Self { aids, stop, left: limits::MAX_SCANNED_PAGES }
    }

    /// What unpacks the pictures that are not unpacked in this process.
    pub(super) const fn aids(&self) -> &'a dyn ReaderServices {
        self.aids
    }

    /// What a picture shows.
    ///
    /// # Errors
    /// When nobody waits any more.
    pub(super) fn read(
        &mut self,
        picture: impl FnOnce() -> Result<Option<Picture>, DocumentFault>,
    ) -> Result<PictureReading, DocumentFault> {
        if self.left == 0 {
            return Ok(PictureReading::Unread);
        }
        self.left -= 1;
        let read = match picture() {
            Ok(Some(picture)) => match self.aids.words(&picture, self.stop) {
                Ok(Some(page)) => Ok(PictureReading::Words(page)),
                // What is no word may be handwriting.
                Ok(None) => Ok(if picture.is_blank() { PictureReading::Nothing } else { PictureReading::Unread }),
                Err(fault) => Err(fault),
            },
            Ok(None) => Ok(PictureReading::Unread),
            Err(fault) => Err(fault.to_string()),
        };
        if self.stop.is_set() {
            return Err(DocumentFault::new(FaultKind::TooLarge, "reading its pictures took too long"));
        }
        Ok(read.unwrap_or_else(|fault| {
            tracing::warn!(error.message = %fault, "a picture could not be read by OCR");
            PictureReading::Unread
        }))
    }
}
