//! Rates: so many calls in a window that slides.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode};
use crate::time::{Millis, Timestamp};

/// At most `most` calls under `key` within any span of `window`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateRule {
    /// What is counted together, for instance a user and a tool. Unique within its tenant.
    pub key: String,
    /// How many calls.
    pub most: u32,
    /// How long the window is.
    pub window: Millis,
}

/// A rule under which there is no place now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateExceeded {
    pub rule: RateRule,
    /// When the oldest call of the window leaves it.
    pub free_at: Timestamp,
}

impl RateRule {
    /// Judges one more call at `at` after the calls at `times`, in any order; calls outside of the window do not count.
    ///
    /// # Errors
    /// When there is no place.
    pub fn judge(&self, times: &[Timestamp], at: Timestamp) -> Result<(), RateExceeded> {
        let mut inside: Vec<Timestamp> = times.iter().copied().filter(|time| self.counts(*time, at)).collect();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        if inside.len() < most {
            return Ok(());
        }
        inside.sort_unstable();
        // With that many gone there is a place again. A rule of no calls never has one; the window's end is as good a
        // time to ask again as any.
        let leaves = inside.len().checked_sub(most.max(1)).and_then(|place| inside.get(place)).copied().unwrap_or(at);
        Err(RateExceeded { rule: self.clone(), free_at: leaves.plus(self.window) })
    }

    /// The moment at which a call that asks at `asked` is judged when the last one was judged at `last`: never before
    /// that one. Callers' clocks differ and their calls overtake each other, and a window that had been left behind
    /// would be filled a second time. A clock that is more than a window behind has been set back: it is believed, so
    /// that nobody waits for a time that was wrong.
    #[must_use]
    pub const fn judged_at(&self, asked: Timestamp, last: Timestamp) -> Timestamp {
        let behind = last.as_millis() > asked.as_millis() && last.as_millis() <= asked.plus(self.window).as_millis();
        if behind { last } else { asked }
    }

    /// Whether a call at `time` is within the window that ends at `at`. One that is up to a window later counts too;
    /// one still later was put there by a clock that has been set back since.
    #[must_use]
    pub const fn counts(&self, time: Timestamp, at: Timestamp) -> bool {
        time.as_millis() > at.minus(self.window).as_millis() && time.as_millis() <= at.plus(self.window).as_millis()
    }
}

impl RateExceeded {
    /// The error that a caller sees at `at`; `what` names what was called.
    #[must_use]
    pub fn error(&self, what: &str, at: Timestamp) -> Error {
        let RateRule { most, window, .. } = &self.rule;
        let seconds = window.0.div_ceil(1_000);
        let wait = self.free_at.since(at);
        let message =
            format!("{what} may be called {most} times in {seconds} s; try again in {} s", wait.0.div_ceil(1_000));
        Error::new(ErrorCode::RateLimited, message).retry_after(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_window_slides_and_never_holds_more_than_it_may() {
        let rule = RateRule { key: "k".to_owned(), most: 3, window: Millis(1_000) };
        let mut taken: Vec<Timestamp> = Vec::new();
        for ms in (0..5_000).step_by(70) {
            if rule.judge(&taken, at(ms)).is_ok() {
                taken.push(at(ms));
            }
        }
        for (n, first) in taken.iter().enumerate() {
            let inside = taken[n..].iter().filter(|time| time.since(*first) < Millis(1_000)).count();
            assert!(inside <= 3, "{taken:?}");
        }
        assert!(taken.len() >= 13, "and it is not stuck: {taken:?}");
    }

    #[test]
    fn time_does_not_run_backwards_under_a_rule_unless_a_clock_was_set_back() {
        let rule = RateRule { key: "k".to_owned(), most: 1, window: Millis(1_000) };
        for (asked, last, judged) in [(500, 400, 500), (400, 500, 500), (400, 1_400, 1_400), (400, 1_401, 400)] {
            assert_eq!(rule.judged_at(at(asked), at(last)), at(judged), "{asked} after {last}");
        }
        assert!(rule.judge(&[at(1_400)], at(400)).is_err());
        assert!(rule.judge(&[at(1_401)], at(400)).is_ok(), "nobody waits for a time that was wrong");
    }

    #[test]
    fn a_refusal_says_when_the_first_place_is_free() {
        let rule = RateRule { key: "k".to_owned(), most: 2, window: Millis(1_000) };
        let times = [at(300), at(100), at(200)];
        let refused = rule.judge(&times, at(500)).unwrap_err();
        assert_eq!(refused.free_at, at(1_200), "two have to leave before there is one place");
        assert!(rule.judge(&times, at(1_199)).is_err());
        assert!(rule.judge(&times, at(1_200)).is_ok());
        let error = refused.error("search_web", at(500));
        assert_eq!(error.code(), ErrorCode::RateLimited);
        assert_eq!(error.to_string(), "search_web may be called 2 times in 1 s; try again in 1 s");
        let none = RateRule { most: 0, ..rule };
        assert_eq!(none.judge(&[], at(5)).unwrap_err().free_at, at(1_005));
    }
}
