//! Streams unpacked under limits that hold for the whole document.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
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
/// Bytes of the checksum that follows what is packed by Flate.
const CHECKSUM: usize = 4;
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
    /// Whether a stream was not as it was packed.
    torn: bool,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self {
            left: usize::try_from(limits::MAX_UNPACKED).unwrap_or(usize::MAX),
            glyphs: MAX_GLYPHS,
            forms: MAX_FORMS,
            over: false,
            torn: false,
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
                self.torn = self.torn || !is_as_packed(stream);
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

    /// Whether a stream since the last question was not as it was packed: what was read of it may be wrong or lack its end.
    pub(super) fn take_torn(&mut self) -> bool {
        std::mem::take(&mut self.torn)
    }

    /// # Errors
    /// `TooLarge` when a stream unpacked too far.
    pub(super) fn check(&self) -> Result<(), DocumentFault> {
        if self.over { Err(unpacks_too_far()) } else { Ok(()) }
    }
}

/// Whether what is packed by Flate comes to its end with the checksum that it has. The library takes what comes before
/// damage and says nothing of it. A checksum that is missing is no damage: some programs leave it out, or count it wrong.
fn is_as_packed(stream: &Stream) -> bool {
    let is_flate = stream.filters().is_ok_and(|filters| filters.first() == Some(&&b"FlateDecode"[..]));
    let packed = &stream.content;
    !is_flate
        || packed.trim_ascii().is_empty()
        || after_end(packed, Decompress::new(true)).is_some()
        || packed.get(2..).and_then(|raw| after_end(raw, Decompress::new(false))).is_some_and(|rest| rest < CHECKSUM)
}

/// Unpacks without keeping anything; answers how many bytes follow the end, `None` when there is no end.
fn after_end(packed: &[u8], mut unpacks: Decompress) -> Option<usize> {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let before = (unpacks.total_in(), unpacks.total_out());
        let rest = packed.get(usize::try_from(before.0).ok()?..)?;
        let status = unpacks.decompress(rest, &mut buffer, FlushDecompress::None).ok()?;
        let after = (unpacks.total_in(), unpacks.total_out());
        match status {
            Status::StreamEnd => return packed.len().checked_sub(usize::try_from(after.0).ok()?),
            Status::Ok | Status::BufError if after == before => return None,
            Status::Ok | Status::BufError => {}
        }
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
