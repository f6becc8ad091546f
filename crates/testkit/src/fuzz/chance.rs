//! Decisions that a seed and a number repeat.

use crate::SeededRandom;

/// A source of decisions.
#[derive(Debug)]
pub struct Chance(SeededRandom);

impl Chance {
    /// The decisions of one input.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        Self(SeededRandom::new(SeededRandom::new(seed).bits() ^ SeededRandom::new(!number).bits()))
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A position below `end`; 0 when `end` is 0.
    pub fn index(&self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap_or(0)
    }

    /// Whether something that happens `percent` times of a hundred happens now.
    pub fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these, of which there must be some.
    pub fn one<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[self.index(of.len())]
    }

    pub fn byte(&self) -> u8 {
        self.0.bits().to_le_bytes()[0]
    }

    /// Up to `most` bytes without any order.
    pub fn bytes(&self, most: usize) -> Vec<u8> {
        (0..self.index(most + 1)).map(|_| self.byte()).collect()
    }
}
