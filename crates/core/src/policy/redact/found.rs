//! What was found in a text, and the text without it.

use std::borrow::Cow;

use super::kind::{Kind, MARKER};

/// A place in a text.
#[derive(Clone, Copy, Debug)]
struct SecretSpan {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Everything that was found.
#[derive(Default, Debug)]
pub(super) struct SecretSpans(Vec<SecretSpan>);

impl SecretSpans {
    /// Notes a place.
    pub(super) fn add(&mut self, start: usize, end: usize, kind: Kind) {
        if start < end {
            self.0.push(SecretSpan { start, end, kind });
        }
    }

    /// Moves every place from a text to the one that it was made of: `places` says where each byte came from.
    pub(super) fn move_to(&mut self, places: &[usize]) {
        let end = places.last().copied().unwrap_or(0);
        let of = |at: usize| places.get(at).copied().unwrap_or(end);
        for hit in &mut self.0 {
            (hit.start, hit.end) = (of(hit.start), of(hit.end));
        }
    }

    /// What kinds of things were found, markers aside.
    pub(super) fn kinds(&self, text: &str) -> impl Iterator<Item = Kind> {
        let is_marker = |hit: &&SecretSpan| {
            let (start, end) = (text.floor_char_boundary(hit.start), text.ceil_char_boundary(hit.end));
            text.get(start..end).is_some_and(|place| place.starts_with(MARKER) && place.ends_with(']'))
        };
        self.0.iter().filter(move |hit| !is_marker(hit)).map(|hit| hit.kind)
    }

    /// The text with a marker in each place. Places that overlap become one, under the kind of the first.
    pub(super) fn apply(mut self, text: &str) -> Cow<'_, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        // Each detector goes from left to right, so these are a few sorted runs: merging them is linear.
        self.0.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        let mut hits = self.0.into_iter().peekable();
        while let Some(SecretSpan { start, mut end, kind }) = hits.next() {
            while let Some(next) = hits.next_if(|next| next.start < end) {
                end = end.max(next.end);
            }
            let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
            let place = text.get(start..end).unwrap_or_default();
            if place.starts_with(MARKER) && place.ends_with(']') {
                continue;
            }
            clean.push_str(text.get(copied..start).unwrap_or_default());
            clean.push_str(kind.as_str());
            copied = end;
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        clean.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(clean)
    }
}
