//! Time, ids and randomness that a seed repeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use kybern_core::ports::{Clock, IdSource, Random};
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct SimClock(AtomicI64);

impl SimClock {
    /// Where a clock stands that nobody has set: 2026-01-01T00:00:00Z.
    pub const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A clock that stands at [`SimClock::START`].
    #[must_use]
    pub fn new() -> Self {
        Self::at(Self::START)
    }

    /// A clock that stands at `moment`.
    #[must_use]
    pub fn at(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_millis()))
    }

    /// Moves the clock to `moment`, forwards or backwards.
    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.as_millis(), Ordering::SeqCst);
    }

    /// Moves the clock forwards and answers where it stands then.
    pub fn advance(&self, span: Millis) -> Timestamp {
        let span = i64::try_from(span.0).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.0.fetch_add(span, Ordering::SeqCst).saturating_add(span))
    }
}

impl Default for SimClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// UUIDv7 whose time is the clock's and whose rest comes from a seed and a counter. Ids of one source sort in the
/// order in which they were made, as long as the clock does not go back; two seeds never make the same id.
pub struct SeededIds {
    clock: Arc<dyn Clock>,
    seed: u64,
    counter: AtomicU64,
}

impl SeededIds {
    /// A source of ids.
    #[must_use]
    pub fn new(seed: u64, clock: Arc<dyn Clock>) -> Self {
        Self { clock, seed, counter: AtomicU64::new(0) }
    }
}

impl std::fmt::Debug for SeededIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeededIds").field("seed", &self.seed).field("counter", &self.counter).finish_non_exhaustive()
    }
}

impl IdSource for SeededIds {
    fn next(&self) -> Uuid {
        let millis = u128::from(self.clock.now().as_millis().unsigned_abs()) & 0xffff_ffff_ffff;
        let n = self.counter.fetch_add(1, Ordering::SeqCst);
        // 12 + 20 bits of the counter, so that ids of one millisecond sort; then 42 bits of the mixed seed.
        let (high, low) = (u128::from(n >> 20) & 0xfff, u128::from(n) & 0xf_ffff);
        let tail = u128::from(mix(self.seed) >> 22);
        Uuid::from_u128(millis << 80 | 7 << 76 | high << 64 | 0b10 << 62 | low << 42 | tail)
    }
}

/// Numbers in 0..1 that a seed repeats.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A source of numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next 64 bits.
    pub fn bits(&self) -> u64 {
        mix(self.0.fetch_add(Self::GAMMA, Ordering::SeqCst).wrapping_add(Self::GAMMA))
    }

    /// A whole number below `end`; 0 when `end` is 0.
    pub fn below(&self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.bits() % end }
    }
}

impl Random for SeededRandom {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    fn unit(&self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finisher of `SplitMix64`: every bit of the input changes half of the output.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_still_until_it_is_moved() {
        let clock = SimClock::new();
        assert_eq!(clock.now(), SimClock::START);
        assert_eq!(clock.advance(Millis(5)), SimClock::START.plus(Millis(5)));
        clock.set(Timestamp::from_millis(1));
        assert_eq!(clock.now(), Timestamp::from_millis(1));
    }

    #[test]
    fn ids_are_version_7_sort_in_order_and_repeat_with_their_seed() {
        let make = |seed| {
            let ids = SeededIds::new(seed, Arc::new(SimClock::new()));
            (0..5000).map(|_| ids.next()).collect::<Vec<_>>()
        };
        let (first, again, other) = (make(1), make(1), make(2));
        assert_eq!(first, again);
        assert!(
            first.is_sorted()
                && first.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122)
        );
        assert!(first.iter().all(|id| !other.contains(id)));
    }

    #[test]
    fn random_numbers_repeat_with_their_seed_and_stay_below_one() {
        let make = |seed| {
            let random = SeededRandom::new(seed);
            (0..1000).map(|_| random.unit()).collect::<Vec<_>>()
        };
        assert_eq!(make(3), make(3));
        assert_ne!(make(3), make(4));
        assert!(make(3).iter().all(|n| (0.0..1.0).contains(n)));
    }
}
