//! Many phrases looked for in one walk over a text's words.

use foldhash::HashMap;
use kybern_core::model::one_number_word;
use smol_str::SmolStr;

use super::words::{Word, words};

/// What a word takes beside its letters, about.
const BESIDE: usize = 64;

/// A set of phrases, each known by a number.
#[derive(Debug, Default)]
pub(super) struct Phrases {
    by_first: HashMap<SmolStr, Vec<(Vec<SmolStr>, usize)>>,
}

/// A phrase that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    /// Its number.
    pub(super) phrase: usize,
    /// Index of its first word.
    pub(super) first: usize,
    /// One past the index of its last word.
    pub(super) last: usize,
}

impl Phrases {
    /// These phrases, each under its place among them.
    pub(super) fn of<'p>(all: impl Iterator<Item = &'p str>) -> Self {
        let mut phrases = Self::default();
        all.enumerate().for_each(|(number, phrase)| phrases.add(phrase, number));
        phrases
    }

    /// Adds a phrase; the same words may be added under several numbers.
    pub(super) fn add(&mut self, phrase: &str, number: usize) {
        let parts: Vec<SmolStr> = words(phrase, 0).iter().map(|word| one_number_word(&word.text).into()).collect();
        if let Some(first) = parts.first() {
            let list = self.by_first.entry(first.clone()).or_default();
            let at = list.partition_point(|(other, _)| other.len() >= parts.len());
            list.insert(at, (parts, number));
        }
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let of = |parts: &Vec<SmolStr>| parts.iter().map(|part| part.len() + BESIDE).sum::<usize>() + BESIDE;
        self.by_first.values().flatten().map(|(parts, _)| of(parts)).sum::<usize>()
    }

    /// Every phrase that begins at the word `first`, the longest first.
    pub(super) fn at<'a>(&'a self, text: &'a [Word], first: usize) -> impl Iterator<Item = PhraseMatch> + 'a {
        let begins = text.get(first).map(|word| one_number_word(&word.text));
        let candidates = begins.and_then(|word| self.by_first.get(word));
        candidates.into_iter().flatten().filter_map(move |(parts, phrase)| {
            let last = first + parts.len();
            let there = text.get(first..last)?;
            let same = parts.iter().zip(there).all(|(part, word)| part == one_number_word(&word.text));
            same.then_some(PhraseMatch { phrase: *phrase, first, last })
        })
    }

    /// Every phrase in the text, overlapping ones too.
    pub(super) fn find_all(&self, text: &[Word]) -> Vec<PhraseMatch> {
        (0..text.len()).flat_map(|first| self.at(text, first)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_comes_first_and_number_words_agree() {
        let mut phrases = Phrases::default();
        phrases.add("policy", 1);
        phrases.add("policy number", 2);
        let text = words("the Policy No. is", 0);
        let found: Vec<usize> = phrases.find_all(&text).iter().map(|found| found.phrase).collect();
        assert_eq!(found, [2, 1]);
    }
}
