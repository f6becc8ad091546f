//! The circuit breaker of one provider of models, or of one receiver of messages: who fails again and again is left
//! alone for a while. The clock may be set meanwhile: a moment that lies further ahead than the rest is long was told by
//! a clock that was ahead, and counts as over.
//!
//! ```text
//! closed ── 5 failures in a row ──► open ── 30 s ──► one probe at a time
//!    ▲                               ▲                   │
//!    └────────── success ────────────┼───────────────────┤
//!                                    └────── failure ────┘
//! ```

use kybern_core::time::{Millis, Timestamp};

/// So many failures in a row open it.
const FAILURES: u32 = 5;
/// So many when they are all one asker's.
const FAILURES_OF_ONE: u32 = 20;
/// How long it stays open. A probe that nobody told the end of counts as lost after the same time.
const REST: Millis = Millis::from_secs(30);

/// How it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Breaker {
    /// It is asked.
    #[default]
    Closed,
    /// It is asked, and has failed that often in a row.
    Failing(u32),
    /// It is left alone until then.
    Open(Timestamp),
    /// One call tries it; another may after that moment.
    Probing(Timestamp),
}

impl Breaker {
    /// Whether it may be asked now, and how it stands then.
    pub(crate) fn ask(self, now: Timestamp) -> (bool, Self) {
        match self {
            Self::Closed | Self::Failing(_) => (true, self),
            Self::Open(_) | Self::Probing(_) if self.open_until(now).is_some() => (false, self),
            Self::Open(_) | Self::Probing(_) => (true, Self::Probing(now.plus(REST))),
        }
    }

    /// Whether it would be asked now.
    pub(crate) fn is_open(self, now: Timestamp) -> bool {
        !self.ask(now).0
    }

    /// Until when it is left alone, or tried by one call; `None` when it would be asked now.
    pub(crate) fn open_until(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Closed | Self::Failing(_) => None,
            Self::Open(until) | Self::Probing(until) => Some(until).filter(|_| now < until && until.since(now) <= REST),
        }
    }

    /// Whether it has been opened and nobody has answered since.
    pub(crate) const fn is_tripped(self) -> bool {
        match self {
            Self::Closed | Self::Failing(_) => false,
            Self::Open(_) | Self::Probing(_) => true,
        }
    }

    /// After an answer.
    pub(crate) const fn succeeded(self) -> Self {
        Self::Closed
    }

    /// After a failure that speaks against its health.
    pub(crate) const fn failed(self, now: Timestamp) -> Self {
        self.failed_again(FAILURES, now)
    }

    /// The same where all failures in this row were one asker's: what they ask may be at fault.
    pub(crate) const fn failed_for_one(self, now: Timestamp) -> Self {
        self.failed_again(FAILURES_OF_ONE, now)
    }

    const fn failed_again(self, most: u32, now: Timestamp) -> Self {
        match self {
            Self::Closed => Self::Failing(1),
            Self::Failing(n) if n + 1 < most => Self::Failing(n + 1),
            Self::Failing(_) | Self::Open(_) | Self::Probing(_) => Self::Open(now.plus(REST)),
        }
    }

    /// Its name, for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Failing(_) => "failing",
            Self::Open(_) => "open",
            Self::Probing(_) => "probing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_a_success_in_between_does_not_let_them_add_up() {
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker = breaker.failed(at(0));
        }
        assert!(breaker.ask(at(0)).0);
        breaker = breaker.succeeded();
        for n in 0..5 {
            assert!(!breaker.is_open(at(0)), "{n}");
            breaker = breaker.failed(at(0));
        }
        assert!(breaker.is_open(at(0)) && breaker.is_open(at(29_999)));
    }

    #[test]
    fn after_its_rest_one_call_tries_it_and_decides() {
        let mut open = Breaker::Closed;
        for _ in 0..5 {
            open = open.failed(at(0));
        }
        let (may, probing) = open.ask(at(30_000));
        assert!(may);
        assert!(!probing.ask(at(30_001)).0, "one at a time");
        assert_eq!(probing.succeeded(), Breaker::Closed);
        let again = probing.failed(at(31_000));
        assert!(again.is_open(at(60_999)) && !again.is_open(at(61_000)));
        assert!(probing.ask(at(60_000)).0, "a probe of which nobody heard is not waited for for ever");
    }

    #[test]
    fn a_clock_that_was_ahead_keeps_nobody_waiting_longer_than_its_rest() {
        let day = 24 * 60 * 60 * 1000;
        for ahead in [Breaker::Open(at(day + 30_000)), Breaker::Probing(at(day + 30_000))] {
            assert!(!ahead.ask(at(day)).0, "as long as the clock goes on");
            let (may, next) = ahead.ask(at(0));
            assert!(may && !ahead.is_open(at(0)));
            assert_eq!((ahead.open_until(at(0)), next.open_until(at(0))), (None, Some(at(30_000))));
        }
    }
}
