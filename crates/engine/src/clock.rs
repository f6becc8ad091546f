//! What time it is for tasks: the store's time where the store has a clock of its own, so that what one process lets
//! wait is due in time for every other, however wrong the clock of its machine is, was or will be.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kybern_core::error::Result;
use kybern_core::ports::{Clock, Store, TaskStore};
use kybern_core::time::{Millis, Timestamp};
use tokio_util::sync::CancellationToken;

/// No moment of any clock.
const NEVER_ASKED: i64 = i64::MIN;

/// The clock of tasks: their waits, deadlines and journals.
pub(crate) struct TaskClock {
    own: Arc<dyn Clock>,
    /// What the store's clock showed when no time had passed yet by [`Clock::elapsed`]; [`NEVER_ASKED`] where the
    /// process's own clock counts. Only [`TaskClock::ask`] changes it, and nobody asks twice at a time.
    origin: AtomicI64,
}

impl TaskClock {
    pub(crate) fn new(own: Arc<dyn Clock>) -> Self {
        Self { own, origin: AtomicI64::new(NEVER_ASKED) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        match self.origin.load(Ordering::Relaxed) {
            NEVER_ASKED => self.own.now(),
            origin => Timestamp::from_millis(origin).plus(self.own.elapsed()),
        }
    }

    /// Asks the store what time it is; answers whether it has a clock of its own.
    ///
    /// # Errors
    /// When the store fails. Time goes on as it was known.
    pub(crate) async fn ask(&self, store: &(impl TaskStore + ?Sized)) -> Result<bool> {
        let before = self.own.elapsed();
        let Some(told) = store.time().await? else { return Ok(false) };
        // The store looked at its clock while it was asked: an answer that took long says less.
        let (least, most) = (told.minus(self.own.elapsed()).as_millis(), told.minus(before).as_millis());
        let origin = match self.origin.load(Ordering::Relaxed) {
            NEVER_ASKED => most,
            origin => origin.clamp(least.min(most), most),
        };
        self.origin.store(origin, Ordering::Relaxed);
        Ok(true)
    }

    /// Follows the store's clock, which may be set, and may have run on while this machine slept.
    pub(crate) async fn follow(self: Arc<Self>, store: Arc<dyn Store>, every: Millis, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let _ = tokio::time::timeout(every.as_duration(), stopping.cancelled()).await;
            if let Err(error) = self.ask(store.as_ref()).await {
                tracing::debug!(%error, "the store does not say what time it is");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

    use kybern_core::time::Millis;
    use kybern_testkit::{MemStore, SeededIds, SimClock, TestKeys};

    use super::*;

    /// A clock on a wall that somebody sets, and time that passes all the same.
    #[derive(Default)]
    struct Wall {
        shows: AtomicI64,
        passed: AtomicU64,
    }

    impl Clock for Wall {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.shows.load(Ordering::SeqCst))
        }

        fn elapsed(&self) -> Millis {
            Millis(self.passed.load(Ordering::SeqCst))
        }
    }

    async fn run(keeps_time: bool) -> [i64; 4] {
        let (wall, own) = (Arc::new(SimClock::new()), Arc::new(Wall::default()));
        let store = MemStore::new(wall.clone(), Arc::new(SeededIds::new(1, wall.clone())), Arc::new(TestKeys::new()));
        let store = if keeps_time { store.keeping_time() } else { store };
        let time = TaskClock::new(own.clone());
        let mut told = Vec::new();
        let mut look = || told.push(time.now().as_millis());
        own.shows.store(86_400_000, Ordering::SeqCst);
        look();
        assert_eq!(time.ask(&store).await.unwrap(), keeps_time);
        look();
        own.shows.store(5, Ordering::SeqCst);
        own.passed.store(1_000, Ordering::SeqCst);
        look();
        wall.advance(Millis(9_000));
        time.ask(&store).await.unwrap();
        look();
        told.try_into().unwrap()
    }

    #[tokio::test]
    async fn a_store_with_a_clock_says_what_time_it_is_whatever_the_machine_believes() {
        let start = SimClock::START.as_millis();
        assert_eq!(run(true).await, [86_400_000, start, start + 1_000, start + 9_000]);
    }

    #[tokio::test]
    async fn where_the_store_has_none_the_clock_of_the_machine_counts() {
        assert_eq!(run(false).await, [86_400_000, 86_400_000, 5, 5]);
    }
}
