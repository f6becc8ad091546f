//! Chance that a seed repeats.

use kybern_testkit::SeededRandom;

/// A source of decisions.
pub struct Dice(SeededRandom);

impl Dice {
    /// The dice of a seed and a purpose: two purposes of one seed have nothing to do with each other.
    pub fn of(seed: u64, purpose: u64) -> Self {
        let mixed = SeededRandom::new(seed ^ purpose.rotate_left(32)).bits();
        Self(SeededRandom::new(mixed))
    }

    /// A number below `end`.
    pub fn below(&self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A number from `low` to `high`, both included.
    pub fn from(&self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Whether something that happens `percent` times of a hundred happens now.
    pub fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one<T: Clone>(&self, of: &[T]) -> T {
        let at = usize::try_from(self.below(of.len() as u64)).unwrap();
        of[at].clone()
    }
}
