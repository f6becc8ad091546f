//! Streams unpacked under limits that hold for the whole document.

use std::borrow::Cow;

use kybern_core::document::{DocumentFault, FaultKind, limits};
use lopdf::{DecompressError, Dictionary, Document, Error, Object, Stream};

use super::super::pages::unpacks_too_far;

/// Bytes of one stream. Pages of this size have no reader.
const MAX_STREAM: usize = 32 * 1024 * 1024;
/// Characters of one document; its text would be over its own limit.
const MAX_GLYPHS: usize = 6_000_000;
/// Forms of one document, each as often as it is drawn.
const MAX_FORMS: usize = 30_000;
/// Filters of one stream.
const MAX_FILTERS: usize = 16;
/// Under this size the rate of expansion says nothing.
const FREE_BYTES: usize = 1024 * 1024;

/// Unpacks streams, and counts what they unpack to.
#[derive(Debug)]
pub(super) struct Unpacker {
    left: usize,
    /// Characters that may still be drawn.
    glyphs: usize,
    /// Forms that may still be drawn.
    forms: usize,
    /// Whether a limit was met; the document is refused then.
    over: bool,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self {
            left: usize::try_from(limits::MAX_UNPACKED).unwrap_or(usize::MAX),
            glyphs: MAX_GLYPHS,
            forms: MAX_FORMS,
            over: false,
        }
    }

    /// The content of a stream, unless it is damaged or over a limit.
    pub(super) fn stream(&mut self, doc: &Document, stream: &Stream) -> Option<Vec<u8>> {
        let stream = &*resolved(doc, stream);
        let rate = usize::try_from(limits::MAX_EXPANSION).unwrap_or(usize::MAX);
        let by_rate = stream.content.len().saturating_mul(rate).max(FREE_BYTES);
        let most = by_rate.min(MAX_STREAM).min(self.left);
        match stream.get_plain_content_with_limit(most) {
            Ok(content) => {
                self.left = self.left.saturating_sub(content.len());
                Some(content)
            }
            Err(Error::Decompress(DecompressError::MemoryLimitExceeded { .. })) => {
                self.over = true;
                None
            }
            Err(_) => None,
        }
    }

    /// Counts characters that were drawn.
    ///
    /// # Errors
    /// `TooLarge` when they are too many for a document.
    pub(super) fn count_glyphs(&mut self, glyphs: usize) -> Result<(), DocumentFault> {
        self.glyphs = self.glyphs.checked_sub(glyphs).ok_or_else(|| {
            DocumentFault::new(FaultKind::TooLarge, format!("it draws more than {MAX_GLYPHS} characters"))
        })?;
        Ok(())
    }

    /// Counts a form that is drawn.
    ///
    /// # Errors
    /// `TooLarge` when they are too many for a document.
    pub(super) fn count_form(&mut self) -> Result<(), DocumentFault> {
        self.forms = self
            .forms
            .checked_sub(1)
            .ok_or_else(|| DocumentFault::new(FaultKind::TooLarge, format!("it draws more than {MAX_FORMS} forms")))?;
        Ok(())
    }

    /// # Errors
    /// `TooLarge` when a stream unpacked too far.
    pub(super) fn check(&self) -> Result<(), DocumentFault> {
        if self.over { Err(unpacks_too_far()) } else { Ok(()) }
    }
}

/// The stream with its filters in place, where its dictionary only refers to them.
pub(super) fn resolved<'a>(doc: &Document, stream: &'a Stream) -> Cow<'a, Stream> {
    let refers = |object: &Object| match object {
        Object::Reference(_) => true,
        Object::Array(items) => items.iter().any(|item| matches!(item, Object::Reference(_))),
        _ => false,
    };
    let found = |key: &[u8]| stream.dict.get(key).is_ok_and(refers);
    if !found(b"Filter") && !found(b"DecodeParms") {
        return Cow::Borrowed(stream);
    }
    let mut dict = Dictionary::new();
    for key in [&b"Filter"[..], b"DecodeParms"] {
        let Ok(object) = stream.dict.get_deref(key, doc) else { continue };
        let object = match object {
            Object::Array(items) => {
                let items = items.iter().take(MAX_FILTERS);
                Object::Array(
                    items.filter_map(|item| doc.dereference(item).ok()).map(|(_, item)| item.clone()).collect(),
                )
            }
            other => other.clone(),
        };
        dict.set(key, object);
    }
    Cow::Owned(Stream { dict, ..stream.clone() })
}
