//! Receivers of messages: who does not answer is left alone, and its messages wait without a slot and without a try.
//!
//! A receiver has a circuit breaker ([`crate::breaker`]). After its first failure it gets one message at a time; while
//! its breaker is open, none, and then one that tries it. Only silence counts: no connection, or no answer in time.
//! The state is this process's own: after a restart a receiver that is away costs some tries again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::id::TenantId;
use kybern_core::time::{Millis, Timestamp};
use url::Url;

use crate::breaker::Breaker;

/// Messages of one receiver that are put off come back one after the other, so that ten thousand of them do not come
/// back at once, to be put off again.
const SPACING: Millis = Millis(20);
/// How long a message waits for the one that tries the receiver.
const WHILE_TRIED: Millis = Millis(1_000);
/// How far ahead such a line reaches at most: then the next ones come back with its first. One that seems to reach
/// further was drawn up by a clock that was ahead.
const LONGEST_LINE: Millis = Millis(300_000);
/// Receivers that are known at once. Beyond it those are forgotten that would be tried now anyway.
const MAX_KNOWN: usize = 10_000;

/// Where messages go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Receiver {
    /// A tenant's receiver of webhooks: scheme, host and port.
    Http(TenantId, String),
    /// The mail server: one for all tenants.
    Mail,
}

impl Receiver {
    /// The receiver behind a URL; `None` when it is none.
    pub(crate) fn of_url(tenant: TenantId, url: &str) -> Option<Self> {
        let origin = Url::parse(url).ok()?.origin();
        origin.is_tuple().then(|| Self::Http(tenant, origin.ascii_serialization()))
    }

    /// Whether a URL leads to it, whoever's receiver it is.
    pub(crate) fn is_at(&self, url: &str) -> bool {
        match self {
            Self::Http(tenant, _) => Self::of_url(*tenant, url).as_ref() == Some(self),
            Self::Mail => false,
        }
    }

    /// The host of a URL, with its port.
    pub(crate) fn host_of(url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        url.host_str().map(|host| format!("{host}{port}"))
    }

    fn name(&self) -> &str {
        match self {
            Self::Http(_, origin) => origin,
            Self::Mail => "the mail server",
        }
    }
}

/// What is known of a receiver that has failed, or gets a message right now.
#[derive(Default)]
struct ReceiverState {
    breaker: Breaker,
    in_flight: u32,
    /// When the last message that was put off comes back.
    line: Timestamp,
}

impl ReceiverState {
    /// When one more message comes back that has to wait until then.
    fn put_off(&mut self, until: Timestamp, now: Timestamp) -> Timestamp {
        let last = if self.line.since(now) > LONGEST_LINE { Timestamp::default() } else { self.line };
        self.line = until.max(last.plus(SPACING));
        self.line
    }
}

/// A message has to wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PutOff {
    /// Until then.
    pub(crate) until: Timestamp,
    /// Why, for people: when its receiver is left alone.
    pub(crate) reason: Option<String>,
}

/// All receivers that are not simply well.
#[derive(Default)]
pub(crate) struct Receivers {
    known: Mutex<HashMap<Receiver, ReceiverState>>,
}

impl Receivers {
    /// Whether a message may go to a receiver now.
    ///
    /// # Errors
    /// Until when it has to wait.
    pub(crate) fn enter(self: &Arc<Self>, receiver: Receiver, now: Timestamp) -> Result<Delivery, PutOff> {
        let mut known = self.lock();
        if known.len() >= MAX_KNOWN {
            known.retain(|_, standing| standing.in_flight > 0 || standing.breaker.is_open(now));
        }
        let standing = known.entry(receiver.clone()).or_default();
        let (may, next) = standing.breaker.ask(now);
        if !may || (standing.breaker != Breaker::Closed && standing.in_flight > 0) {
            let opens = standing.breaker.open_until(now);
            let until = standing.put_off(opens.unwrap_or_else(|| now.plus(WHILE_TRIED)), now);
            drop(known);
            let name = receiver.name();
            let reason = opens.map(|at| {
                let rest = at.since(now);
                format!(
                    "receiver {name} is not answering: circuit breaker open, next try in {} s",
                    rest.0.div_ceil(1000)
                )
            });
            return Err(PutOff { until, reason });
        }
        standing.breaker = next;
        standing.in_flight += 1;
        drop(known);
        Ok(Delivery { receivers: Arc::clone(self), receiver: Some(receiver) })
    }

    /// The receivers that do not answer, by name, each with how its breaker stands.
    pub(crate) fn silent(&self) -> Vec<(String, Receiver, Breaker)> {
        let known = self.lock();
        let silent = known.iter().filter(|(_, standing)| standing.breaker != Breaker::Closed);
        let mut silent: Vec<_> =
            silent.map(|(at, standing)| (at.name().to_owned(), at.clone(), standing.breaker)).collect();
        drop(known);
        silent.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        silent
    }

    /// When a message whose receiver was silent comes back; `None` where the breaker is not open.
    fn behind(&self, receiver: &Receiver, now: Timestamp) -> Option<Timestamp> {
        let mut known = self.lock();
        let standing = known.get_mut(receiver)?;
        let opens = standing.breaker.open_until(now)?;
        Some(standing.put_off(opens, now))
    }

    fn leave(&self, receiver: &Receiver, judge: impl FnOnce(Breaker) -> Breaker) {
        let mut known = self.lock();
        let Some(standing) = known.get_mut(receiver) else { return };
        standing.in_flight = standing.in_flight.saturating_sub(1);
        let before = standing.breaker;
        standing.breaker = judge(before);
        let after = standing.breaker;
        if after == Breaker::Closed && standing.in_flight == 0 {
            known.remove(receiver);
        }
        drop(known);
        if after.is_tripped() && !before.is_tripped() {
            tracing::warn!(receiver = receiver.name(), "receiver is not answering, circuit breaker open");
        } else if before.is_tripped() && !after.is_tripped() {
            tracing::info!(receiver = receiver.name(), "receiver answers again, circuit breaker closed");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Receiver, ReceiverState>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message on its way. Whoever drops it without a word has no answer, and cannot say that there was none.
pub(crate) struct Delivery {
    receivers: Arc<Receivers>,
    receiver: Option<Receiver>,
}

impl Delivery {
    /// The receiver answered, whatever it said.
    pub(crate) fn answered(self) {
        self.end(Breaker::succeeded);
    }

    /// It did not, at that moment. Where its breaker is open now, the message goes to the end of those that wait, so that
    /// another one tries the receiver next; answers when its turn comes.
    pub(crate) fn silent(mut self, now: Timestamp) -> Option<Timestamp> {
        let receiver = self.receiver.take()?;
        self.receivers.leave(&receiver, |breaker| breaker.failed(now));
        self.receivers.behind(&receiver, now)
    }

    fn end(mut self, judge: impl FnOnce(Breaker) -> Breaker) {
        if let Some(receiver) = self.receiver.take() {
            self.receivers.leave(&receiver, judge);
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            self.receivers.leave(&receiver, |breaker| breaker);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn hook(tenant: u128, url: &str) -> Receiver {
        Receiver::of_url(TenantId::from_uuid(Uuid::from_u128(tenant)), url).unwrap()
    }

    #[test]
    fn a_receiver_is_a_tenants_scheme_host_and_port() {
        let one = hook(1, "https://hook.example.com/a?b");
        assert_eq!(one, hook(1, "https://HOOK.example.com:443/c"));
        for other in ["http://hook.example.com/a", "https://hook.example.com:8443/a", "https://hook2.example.com/a"] {
            assert_ne!(one, hook(1, other));
        }
        assert_ne!(one, hook(2, "https://hook.example.com/a?b"));
        assert_eq!(Receiver::of_url(TenantId::DEFAULT, "mailto:x"), None);
    }

    #[test]
    fn who_fails_gets_one_message_at_a_time_then_none_and_then_one_that_tries_it() {
        let receivers = Arc::new(Receivers::default());
        let enter = |ms| receivers.enter(hook(1, "https://a.example.com"), at(ms));
        let together: Vec<Delivery> = (0..8).map(|_| enter(0).unwrap()).collect();
        let mut together = together.into_iter();
        assert_eq!(together.next().unwrap().silent(at(20_000)), None);
        let waits = enter(20_000).err().unwrap();
        assert_eq!(waits, PutOff { until: at(21_000), reason: None }, "others are on their way");
        let opens: Vec<_> = together.by_ref().take(4).map(|delivery| delivery.silent(at(20_000))).collect();
        assert_eq!(opens, [None, None, None, Some(at(50_000))]);
        drop(together);
        let waits = enter(20_000).err().unwrap();
        assert_eq!(waits.until, at(50_020), "behind the one that failed");
        let reason = waits.reason.unwrap();
        assert_eq!(reason, "receiver https://a.example.com is not answering: circuit breaker open, next try in 30 s");
        assert_eq!(enter(20_001).err().unwrap().until, at(50_040), "one after the other");
        assert!(receivers.enter(hook(2, "https://a.example.com"), at(20_002)).is_ok(), "another tenant's");
        let probe = enter(50_000).unwrap();
        assert!(enter(50_000).is_err(), "one at a time");
        assert_eq!(probe.silent(at(60_000)), Some(at(90_000)));
        assert!(enter(89_999).is_err());
        enter(90_000).unwrap().answered();
        let all: Vec<Delivery> = (0..8).map(|_| enter(90_000).unwrap()).collect();
        all.into_iter().for_each(Delivery::answered);
        assert_eq!(receivers.lock().len(), 0, "nothing is kept of who is well");
    }

    #[test]
    fn a_clock_that_was_ahead_puts_no_message_off_for_longer_than_the_rest() {
        let receivers = Arc::new(Receivers::default());
        let enter = |ms| receivers.enter(hook(1, "https://a.example.com"), at(ms));
        let day = 24 * 60 * 60 * 1000;
        let together: Vec<Delivery> = (0..5).map(|_| enter(day).unwrap()).collect();
        for delivery in together {
            let _until = delivery.silent(at(day));
        }
        assert_eq!(enter(day).err().unwrap().until, at(day + 30_020));
        // The clock is set right.
        let probe = enter(0).unwrap();
        assert_eq!(enter(1).err().unwrap().until, at(30_000));
        assert_eq!(enter(2).err().unwrap().until, at(30_020));
        probe.answered();
        assert!(enter(3).is_ok());
    }
}
