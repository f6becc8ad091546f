//! When and how calls fail and processes die, and a clock that can be wrong.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use futures::FutureExt as _;
use kybern_core::ports::Clock;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::Fault;

use super::schedule::Life;
use crate::outside::LifeClock;

/// The faults of a life. Its points are the calls of the store and the moments inside of outside calls, in order.
#[derive(Default)]
pub struct Doom {
    faults: Mutex<BTreeMap<u64, Fault>>,
    points: AtomicU64,
    slow: Mutex<Option<(&'static str, u64, Millis)>>,
    dead: AtomicBool,
    looking: AtomicBool,
    pub struck: tokio::sync::Notify,
}

impl Doom {
    /// A life begins.
    pub fn begin(&self, life: &Life) {
        self.faults.lock().unwrap().clone_from(&life.faults);
        *self.slow.lock().unwrap() = life.slow;
        self.points.store(0, Ordering::SeqCst);
        self.dead.store(false, Ordering::SeqCst);
    }

    /// What happens at the next point, a call of the store or a moment.
    pub fn strike(&self, call: &str) -> Fault {
        if self.looking.load(Ordering::SeqCst) {
            return Fault::None;
        }
        if self.dead.load(Ordering::SeqCst) {
            return Fault::CrashBefore;
        }
        let point = self.points.fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self.faults.lock().unwrap().get(&point).copied().unwrap_or_default();
        if fault == Fault::None
            && let Some(asleep) = self.asleep(call)
        {
            return Fault::Stall(asleep);
        }
        if matches!(fault, Fault::CrashBefore | Fault::CrashAfter) {
            self.dead.store(true, Ordering::SeqCst);
            self.struck.notify_one();
        }
        fault
    }

    fn asleep(&self, call: &str) -> Option<Millis> {
        let mut slow = self.slow.lock().unwrap();
        let (_, left, span) = slow.as_mut().filter(|(name, _, _)| *name == call)?;
        *left -= 1;
        let (is_now, span) = (*left == 0, *span);
        if is_now {
            *slow = None;
        }
        is_now.then_some(span)
    }

    /// A moment inside of an outside call, at which the process may die.
    pub async fn moment(&self) {
        if matches!(self.strike("moment"), Fault::CrashBefore | Fault::CrashAfter) {
            std::future::pending::<()>().await;
        }
    }

    /// Looks at what is stored, unseen. Calls of the store in memory that are not disturbed never yield.
    pub fn look<T>(&self, look: impl Future<Output = T>) -> T {
        let before = self.looking.swap(true, Ordering::SeqCst);
        let seen = look.now_or_never().unwrap();
        self.looking.store(before, Ordering::SeqCst);
        seen
    }
}

/// A clock that runs with the simulated time of each life, and may be wrong.
pub struct WrongClock {
    pub life: LifeClock,
    by: AtomicI64,
}

impl WrongClock {
    pub fn new() -> Self {
        Self { life: LifeClock::new(), by: AtomicI64::new(0) }
    }

    /// Moves it.
    pub fn shift(&self, millis: i64) {
        self.by.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for WrongClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.life.now().as_millis() + self.by.load(Ordering::SeqCst))
    }
}
