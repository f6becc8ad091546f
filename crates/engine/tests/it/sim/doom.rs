//! When and how calls fail and processes die, and a clock that can be wrong.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use futures::FutureExt as _;
use kybern_core::ports::Clock;
use kybern_core::time::Timestamp;
use kybern_testkit::Fault;

use crate::outside::LifeClock;

/// The faults of a life. Its points are the calls of the store and the moments inside of outside calls, in order.
#[derive(Default)]
pub struct Doom {
    faults: Mutex<BTreeMap<u64, Fault>>,
    points: AtomicU64,
    dead: AtomicBool,
    looking: AtomicBool,
    pub struck: tokio::sync::Notify,
}

impl Doom {
    /// A life begins.
    pub fn begin(&self, faults: &BTreeMap<u64, Fault>) {
        self.faults.lock().unwrap().clone_from(faults);
        self.points.store(0, Ordering::SeqCst);
        self.dead.store(false, Ordering::SeqCst);
    }

    /// What happens at the next point.
    pub fn strike(&self) -> Fault {
        if self.looking.load(Ordering::SeqCst) {
            return Fault::None;
        }
        if self.dead.load(Ordering::SeqCst) {
            return Fault::CrashBefore;
        }
        let point = self.points.fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self.faults.lock().unwrap().get(&point).copied().unwrap_or_default();
        if matches!(fault, Fault::CrashBefore | Fault::CrashAfter) {
            self.dead.store(true, Ordering::SeqCst);
            self.struck.notify_one();
        }
        fault
    }

    /// A moment inside of an outside call, at which the process may die.
    pub async fn moment(&self) {
        if matches!(self.strike(), Fault::CrashBefore | Fault::CrashAfter) {
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
