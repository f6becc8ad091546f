//! When a failed call is made again, and how many such calls a process makes at all.
//!
//! Three tries more at most, after 1, 2 and 4 s, each shortened by chance so that many callers do not come back
//! together. A provider that says when to come back is obeyed. And however many callers there are, a process as a
//! whole makes few calls again: a storm of failures must not become a storm of tries.

use std::sync::{Mutex, PoisonError};

use kybern_core::model::ModelFailure;
use kybern_core::plan::RetryPolicy;
use kybern_core::time::Millis;

/// The pauses between tries.
const POLICY: RetryPolicy = RetryPolicy {
    max_attempts: 4,
    initial_delay_ms: Millis(1_000),
    max_delay_ms: Millis(10_000),
    backoff_multiplier: 2.0,
};

/// How long to wait before try number `retry` (from 1) after that failure; `None` when there is none. `chance` is in
/// 0..1, `left` is the time that the call as a whole still has.
pub(crate) fn pause(failure: &ModelFailure, retry: u32, chance: f64, left: Millis) -> Option<Millis> {
    if !failure.kind.may_retry() || retry >= POLICY.max_attempts {
        return None;
    }
    let pause = POLICY.delay(retry, chance).max(failure.retry_after.unwrap_or_default());
    // A pause that leaves no time for the call itself only makes its failure late.
    (pause.0.saturating_add(SHORTEST.0) <= left.0).then_some(pause)
}

/// The least time in which a call is worth being made.
pub(crate) const SHORTEST: Millis = Millis::from_secs(1);

/// Tries that a process may still make, in tenths.
#[derive(Debug)]
pub(crate) struct RetryBudget(Mutex<u32>);

/// A first call earns a tenth of a try.
const EARNED: u32 = 1;
/// What a try costs.
const TRY: u32 = 10;
/// What is there at the start, so that the first calls of a process can be tried again at all.
const START: u32 = 50;
/// What can be saved up.
const SAVED: u32 = 500;

impl Default for RetryBudget {
    fn default() -> Self {
        Self(Mutex::new(START))
    }
}

impl RetryBudget {
    /// A call is made for the first time.
    pub(crate) fn earn(&self) {
        let mut saved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *saved = (*saved + EARNED).min(SAVED);
    }

    /// Takes one try; `false` when there is none left.
    pub(crate) fn spend(&self) -> bool {
        let mut saved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = *saved >= TRY;
        *saved -= if there { TRY } else { 0 };
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kybern_core::model::ModelFailureKind;

    fn failure(kind: ModelFailureKind, after: Option<u64>) -> ModelFailure {
        ModelFailure::new(kind, "no").retry_after(after.map(Millis))
    }

    #[test]
    fn pauses_double_and_chance_shortens_them_by_at_most_half() {
        let sick = failure(ModelFailureKind::Provider, None);
        let long = Millis::from_secs(600);
        for (retry, most) in [(1, 1_000), (2, 2_000), (3, 4_000)] {
            assert_eq!(pause(&sick, retry, 0.0, long), Some(Millis(most / 2)));
            let latest = pause(&sick, retry, 0.999_9, long).unwrap();
            assert!(latest.0 > most * 9 / 10 && latest.0 <= most, "{latest}");
        }
        assert_eq!(pause(&sick, 4, 0.5, long), None);
    }

    #[test]
    fn a_provider_that_says_when_is_obeyed_unless_the_time_is_up_by_then() {
        let busy = failure(ModelFailureKind::RateLimited, Some(7_000));
        assert_eq!(pause(&busy, 1, 0.0, Millis(60_000)), Some(Millis(7_000)));
        assert_eq!(pause(&busy, 1, 0.0, Millis(7_500)), None);
        assert_eq!(pause(&failure(ModelFailureKind::Key, Some(10)), 1, 0.0, Millis(60_000)), None);
    }

    #[test]
    fn a_storm_makes_at_most_a_fifth_more_calls() {
        for offered in [100_u32, 1_000, 10_000] {
            let budget = RetryBudget::default();
            let mut calls = 0;
            for _ in 0..offered {
                budget.earn();
                calls += 1;
                calls += (1..POLICY.max_attempts).filter(|_| budget.spend()).count();
            }
            assert!(calls <= usize::try_from(offered).unwrap() * 6 / 5, "{calls} of {offered}");
            assert!(calls > usize::try_from(offered).unwrap(), "and it does try again");
        }
    }
}
