//! The real clock, the real ids and the real jitter: the one place where they are asked for.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::LazyLock;
use std::time::Instant;

use kybern_core::ports::{Clock, IdSource, Random};
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

/// When time was asked for first.
#[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is handed")]
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The machine's clock, to the millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is handed")]
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
    }

    fn elapsed(&self) -> Millis {
        Millis(u64::try_from(ORIGIN.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// UUIDv7 from the machine's clock. Within a process each id is greater than the one before, even when many are made
/// within a millisecond or the clock is set back.
#[derive(Clone, Copy, Debug, Default)]
pub struct UuidV7Ids;

impl IdSource for UuidV7Ids {
    #[expect(clippy::disallowed_methods, reason = "this is the source of ids that everything else is handed")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// Jitter from the standard library's randomly keyed hash, whose key differs at each call. Not for secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadRandom;

impl Random for ThreadRandom {
    fn unit(&self) -> f64 {
        // 52 random bits under the exponent of 1.0 are a number in 1..2, without a lossy conversion.
        let bits = RandomState::new().build_hasher().finish();
        f64::from_bits((1023 << 52) | (bits >> 12)) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_within_a_process() {
        let ids: Vec<Uuid> = (0..10_000).map(|_| UuidV7Ids.next()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert_eq!(ids[0].get_version_num(), 7);
    }

    #[test]
    fn jitter_covers_the_unit_interval_and_stays_in_it() {
        let draws: Vec<f64> = (0..10_000).map(|_| ThreadRandom.unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }

    #[test]
    fn the_clock_is_after_2026_began() {
        assert!(SystemClock.now() > Timestamp::from_millis(1_767_225_600_000));
    }
}
