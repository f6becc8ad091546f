//! The terms of closed lists in a text.

use super::labels::Labels;
use super::phrases::PhraseMatch;
use super::words::{Word, words};

/// A term on a line.
#[derive(Clone, Debug)]
pub(super) struct Term<'s> {
    /// The field it is a value of.
    pub(super) field: usize,
    /// The value it stands for.
    pub(super) value: &'s str,
    /// First byte in the page's text.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
}

impl<'s> Labels<'s> {
    /// Every term that begins at the word `first`, the longest first; everyday words only where they are `expected`.
    fn terms_at<'a>(
        &'a self,
        text: &'a [Word],
        first: usize,
        expected: bool,
    ) -> impl Iterator<Item = (PhraseMatch, usize, &'s str)> + 'a {
        self.known.lexicon.terms.at(text, first).filter_map(move |found| {
            let meaning = &self.known.lexicon.meanings[found.phrase];
            let counts = expected || !meaning.everyday;
            Some((found, self.places[meaning.field].filter(|_| counts)?, meaning.value.as_str()))
        })
    }

    pub(super) fn begins_with_term(&self, text: &[Word]) -> bool {
        self.terms_at(text, 0, false).next().is_some()
    }

    /// The terms in `text[start..end]`, longest first at each place, none inside another.
    pub(super) fn terms_in(&self, text: &str, start: usize, end: usize) -> Vec<Term<'s>> {
        self.found(text, (start, end), false)
    }

    /// The same where a term is expected, as in its column or beside a number of its list: everyday words, too.
    pub(super) fn expected_terms(&self, text: &str, start: usize, end: usize) -> Vec<Term<'s>> {
        self.found(text, (start, end), true)
    }

    fn found(&self, text: &str, (start, end): (usize, usize), expected: bool) -> Vec<Term<'s>> {
        let inside = words(&text[start..end], start);
        let mut found = Vec::new();
        let mut first = 0;
        while first < inside.len() {
            let mut next = first + 1;
            let mut longest = 0;
            for (hit, field, value) in self.terms_at(&inside, first, expected) {
                if hit.last < longest {
                    break;
                }
                longest = hit.last;
                next = hit.last;
                found.push(Term { field, value, start: inside[first].start, end: inside[hit.last - 1].end });
            }
            first = next;
        }
        found
    }

    /// Whether a text has a word by which a field's section is known.
    pub(super) fn is_of_section(&self, text: &str, field: usize) -> bool {
        let Some(key) = &self.fields[field].section else { return false };
        let Some(section) = self.known.schema.sections.iter().position(|section| section.key == *key) else {
            return false;
        };
        self.known.markers.is_of_section(text, section)
    }
}
