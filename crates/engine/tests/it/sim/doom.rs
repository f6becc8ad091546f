//! When and how calls fail and processes die, and a clock that can be wrong.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use kybern_core::ports::Clock;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::Fault;
use tokio::time::Instant;

use super::dice::Dice;
use super::schedule::{Life, Outage};
use crate::outside::LifeClock;

/// More calls of the store than any life makes whose process rests when it has nothing to do.
const RESTLESS: u64 = 300_000;

/// The faults of a life. Its points are the calls of the store and the moments inside of outside calls, in order.
#[derive(Default)]
pub struct Doom {
    faults: Mutex<BTreeMap<u64, Fault>>,
    points: AtomicU64,
    slow: Mutex<Option<(&'static str, u64, Millis)>>,
    outages: Mutex<Vec<Outage>>,
    began: Mutex<Option<Instant>>,
    /// Where callers leave, calls often let others go first.
    yields: Mutex<Option<Dice>>,
    dead: AtomicBool,
    looking: AtomicBool,
    restless: AtomicBool,
    lost_claim: AtomicBool,
    lost_job: AtomicBool,
    pub struck: tokio::sync::Notify,
}

impl Doom {
    pub fn begin(&self, life: &Life) {
        self.faults.lock().unwrap().clone_from(&life.faults);
        *self.slow.lock().unwrap() = life.slow;
        self.outages.lock().unwrap().clone_from(&life.outages);
        *self.began.lock().unwrap() = None;
        self.points.store(0, Ordering::SeqCst);
        self.dead.store(false, Ordering::SeqCst);
    }

    /// Its time runs from now.
    pub fn run(&self) {
        *self.began.lock().unwrap() = Some(Instant::now());
    }

    /// From now on calls often let others go first.
    pub fn hesitate(&self, dice: Dice) {
        *self.yields.lock().unwrap() = Some(dice);
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
        if point == RESTLESS {
            self.restless.store(true, Ordering::SeqCst);
            self.die();
        }
        let fault = self.faults.lock().unwrap().get(&point).copied().unwrap_or_default();
        if fault == Fault::None
            && let Some(asleep) = self.asleep(call)
        {
            return Fault::Stall(asleep);
        }
        let fault = if fault == Fault::None && call != "moment" { self.weather() } else { fault };
        match fault {
            Fault::CrashBefore | Fault::CrashAfter => self.die(),
            Fault::AnswerLost | Fault::SilentAfter(_) if matches!(call, "claim_due" | "submit") => {
                self.lost_claim.store(true, Ordering::SeqCst);
            }
            Fault::AnswerLost | Fault::SilentAfter(_) if call == "claim_jobs" => {
                self.lost_job.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
        fault
    }

    fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.struck.notify_one();
    }

    /// Whether a process did the same again and again, and never rested.
    pub fn is_restless(&self) -> bool {
        self.restless.load(Ordering::SeqCst)
    }

    /// Whether the answer to a claim of jobs was lost: each takes a try of its job.
    pub fn lost_job(&self) -> bool {
        self.lost_job.load(Ordering::SeqCst)
    }

    /// Whether the answer to a claim was lost: nobody knows of such a claim before its lease is over.
    pub fn lost_claim(&self) -> bool {
        self.lost_claim.load(Ordering::SeqCst)
    }

    /// What befalls every call now.
    fn weather(&self) -> Fault {
        let age = self.began.lock().unwrap().map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap());
        let outages = self.outages.lock().unwrap();
        let now = outages.iter().find(|outage| (outage.from..outage.from + outage.span.0).contains(&age));
        if let Some(outage) = now {
            return outage.how;
        }
        match self.yields.lock().unwrap().as_ref().map_or(100, |dice| dice.below(100)) {
            0..15 => Fault::Yield,
            15..35 => Fault::YieldAfter,
            _ => Fault::None,
        }
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
    pub life: Arc<LifeClock>,
    by: AtomicI64,
}

impl WrongClock {
    pub fn new() -> Self {
        Self { life: Arc::new(LifeClock::new()), by: AtomicI64::new(0) }
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

    fn elapsed(&self) -> Millis {
        self.life.elapsed()
    }
}

/// The clock of one process: the wrong one, and wrong by so much more.
pub struct OwnClock {
    pub of: Arc<WrongClock>,
    pub by: i64,
}

impl Clock for OwnClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.of.now().as_millis() + self.by)
    }

    fn elapsed(&self) -> Millis {
        self.of.elapsed()
    }
}
