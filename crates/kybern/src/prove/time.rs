//! Time that passes only when the harness says so, and hints that let it know when nothing is left to do before that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use kybern_core::ports::{Clock, WakeUps};
use kybern_core::time::{Millis, Timestamp};
use tokio::sync::Notify;

/// A clock that the harness sets forward.
pub(super) struct HeldClock(AtomicI64);

impl HeldClock {
    pub(super) fn at(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_millis()))
    }

    pub(super) fn pass(&self, span: Millis) {
        self.0.fetch_add(i64::try_from(span.0).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for HeldClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Where the loops that claim tasks and jobs wait once there is nothing to claim.
#[derive(Default)]
pub(super) struct Gate {
    rounds: AtomicU64,
    looked: [AtomicU64; 2],
    waits: [AtomicBool; 2],
    opened: Notify,
}

impl Gate {
    /// Has both loops look once more for what is due.
    pub(super) fn open(&self) {
        self.rounds.fetch_add(1, Ordering::SeqCst);
        self.opened.notify_waiters();
    }

    /// Whether both loops have looked since the gate was opened last, and found nothing.
    pub(super) fn is_quiet(&self) -> bool {
        let round = self.rounds.load(Ordering::SeqCst);
        let is_quiet =
            |n: usize| self.waits[n].load(Ordering::SeqCst) && self.looked[n].load(Ordering::SeqCst) == round;
        is_quiet(0) && is_quiet(1)
    }
}

/// The hints of one of the loops: those of the store, and the gate.
pub(super) struct Hints {
    pub(super) gate: Arc<Gate>,
    pub(super) loop_number: usize,
    pub(super) store: Arc<dyn WakeUps>,
}

/// The store's own hint is waited for this long at a time, and then once more.
const LONG: Millis = Millis::from_secs(60);

#[async_trait]
impl WakeUps for Hints {
    async fn wait(&self, _at_most: Millis) {
        let Self { gate, loop_number: n, store } = self;
        loop {
            let opened = gate.opened.notified();
            tokio::pin!(opened);
            opened.as_mut().enable();
            let round = gate.rounds.load(Ordering::SeqCst);
            if gate.looked[*n].swap(round, Ordering::SeqCst) != round {
                return;
            }
            gate.waits[*n].store(true, Ordering::SeqCst);
            let _waits = Waits(&gate.waits[*n]);
            tokio::select! {
                () = opened => {}
                () = store.wait(LONG) => return,
            }
        }
    }
}

/// Says that a loop waits for as long as it does.
struct Waits<'a>(&'a AtomicBool);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
