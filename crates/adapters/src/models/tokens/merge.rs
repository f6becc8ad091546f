//! Byte pair encoding, as far as a count needs it: a piece begins as single bytes, and the pair of neighbours that is
//! the token of the lowest rank is joined, the leftmost first, until no pair is a token.
//!
//! A heap of pairs over a list of parts keeps that at n log n, so that a long run of one letter is no danger.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::Vocabulary;

/// The longest piece that is counted as one: a run without a space is cut there, which costs at most a token or two
/// and keeps what a count takes below 4 MB.
const LONGEST_PIECE: usize = 1 << 16;

/// How many tokens a piece of text is.
pub(super) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    piece.chunks(LONGEST_PIECE).map(|part| count_part(vocabulary, part)).sum()
}

fn count_part(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // Most pieces are words that are tokens.
    if piece.len() < 2 || vocabulary.rank(piece).is_some() {
        return piece.len().min(1);
    }
    let mut parts = MergeParts::new(vocabulary, piece);
    (0..piece.len()).for_each(|begin| parts.offer(begin));
    while let Some(Reverse((_, begin, end))) = parts.pairs.pop() {
        parts.join(begin, end);
    }
    parts.count
}

struct MergeParts<'p> {
    vocabulary: &'p Vocabulary,
    piece: &'p [u8],
    /// Where the part that begins here ends; 0 when none begins here.
    ends: Vec<usize>,
    /// Where the part that ends here begins.
    begins: Vec<usize>,
    /// Rank, begin and end of pairs; a pair of which a part is gone is passed over.
    pairs: BinaryHeap<Reverse<(usize, usize, usize)>>,
    count: usize,
}

impl<'p> MergeParts<'p> {
    fn new(vocabulary: &'p Vocabulary, piece: &'p [u8]) -> Self {
        let ends = (1..=piece.len()).collect();
        let begins = (0..=piece.len()).map(|end| end.saturating_sub(1)).collect();
        Self { vocabulary, piece, ends, begins, pairs: BinaryHeap::new(), count: piece.len() }
    }

    /// The end of the pair that begins here.
    fn pair(&self, begin: usize) -> Option<usize> {
        let middle = *self.ends.get(begin)?;
        // A part that is gone has its end at 0, where a part may begin: no pair.
        if middle == 0 { None } else { self.ends.get(middle).copied() }
    }

    /// Offers the pair that begins here.
    fn offer(&mut self, begin: usize) {
        let Some(end) = self.pair(begin) else { return };
        if let Some(rank) = self.piece.get(begin..end).and_then(|bytes| self.vocabulary.rank(bytes)) {
            self.pairs.push(Reverse((rank, begin, end)));
        }
    }

    /// Joins that pair, when both of its parts are still there.
    fn join(&mut self, begin: usize, end: usize) {
        if self.pair(begin) != Some(end) {
            return;
        }
        let middle = std::mem::replace(&mut self.ends[begin], end);
        self.ends[middle] = 0;
        self.begins[end] = begin;
        self.count -= 1;
        self.offer(begin);
        if begin > 0 {
            self.offer(self.begins[begin]);
        }
    }
}
