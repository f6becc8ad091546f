//! The times of one call, each of which ends it by itself.

use std::future::Future;
use std::time::Duration;

use kybern_core::model::{ModelFailure, ModelFailureKind, ModelTimeouts};
use kybern_core::time::Millis;
use tokio::time::{Instant, timeout_at};

const DAY: Duration = Duration::from_secs(86_400);

/// The times of one call.
pub(super) struct CallDeadlines {
    timeouts: ModelTimeouts,
    first: Instant,
    whole: Instant,
    begun: bool,
    /// Since when the next piece is waited for: a wait that was dropped and taken up again goes on.
    waiting: Option<Instant>,
}

impl CallDeadlines {
    /// The times of a call that begins now.
    pub(super) fn start(timeouts: ModelTimeouts) -> Self {
        let now = Instant::now();
        Self {
            timeouts,
            first: later(now, timeouts.first),
            whole: later(now, timeouts.whole),
            begun: false,
            waiting: None,
        }
    }

    /// The reply has begun: from now on the time between two pieces counts.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    /// Waits for the next piece.
    ///
    /// # Errors
    /// When it does not come in time.
    pub(super) async fn wait<F: Future>(&mut self, piece: F) -> Result<F::Output, ModelFailure> {
        let now = Instant::now();
        let (limit, kind) = if self.begun {
            let since = *self.waiting.get_or_insert(now);
            (later(since, self.timeouts.between), ModelFailureKind::BetweenTimeout)
        } else {
            (self.first, ModelFailureKind::FirstTimeout)
        };
        // Who has said nothing in all of the time is silent, and not slow.
        let late = if self.begun { ModelFailureKind::WholeTimeout } else { ModelFailureKind::FirstTimeout };
        let (limit, kind) = if self.whole <= limit { (self.whole, late) } else { (limit, kind) };
        // Pieces that are always ready would never let the time run out.
        let came = if now >= self.whole { Err(late) } else { Ok(()) };
        let came = match came {
            Ok(()) => timeout_at(limit, piece).await.map_err(|_| kind),
            Err(kind) => Err(kind),
        };
        match came {
            Ok(output) => {
                self.waiting = None;
                Ok(output)
            }
            Err(kind) => Err(self.failure(kind)),
        }
    }

    fn failure(&self, kind: ModelFailureKind) -> ModelFailure {
        let ModelTimeouts { first, between, whole, .. } = self.timeouts;
        let message = match kind {
            ModelFailureKind::FirstTimeout => format!("did not begin to answer within {}", first.min(whole)),
            ModelFailureKind::BetweenTimeout => format!("was silent for {between} in the middle of its answer"),
            _ => format!("did not end its answer within {whole}"),
        };
        ModelFailure::new(kind, message)
    }
}

/// That much later; a span beyond the end of time is a day.
fn later(moment: Instant, span: Millis) -> Instant {
    moment.checked_add(span.as_duration()).unwrap_or(moment + DAY)
}
