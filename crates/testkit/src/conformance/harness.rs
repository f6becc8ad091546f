//! What a store's tests hand to the suite.

use std::any::Any;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use kybern_core::ports::{Clock, Keys, Store};
use kybern_core::time::{Millis, Timestamp};

use super::Spoilt;
use crate::{MemStore, SimClock, TestKeys};

/// How long a thing that must happen may take before the test gives up.
const PATIENCE: Millis = Millis(20_000);

/// A fresh store under test.
pub struct Harness {
    /// The store: empty, and nobody else's.
    pub store: Arc<dyn Store>,
    /// The clock that the store was given.
    pub clock: Arc<SimClock>,
    /// The keys that the store was given.
    pub keys: Arc<dyn Keys>,
    /// Whether leases follow the database's own clock, and several processes may share the store.
    pub db_clock: bool,
    spoil: Spoil,
    guard: Option<Box<dyn Any + Send + Sync>>,
}

/// A fresh store under test, not the in-memory one: what takes this needs nouns of which that one keeps nothing.
pub type FullHarness = Harness;

/// How a row is made one that cannot be read.
type Spoil = Box<dyn Fn(Spoilt) -> BoxFuture<'static, ()> + Send + Sync>;

impl std::fmt::Debug for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness").field("clock", &self.clock).field("db_clock", &self.db_clock).finish_non_exhaustive()
    }
}

impl Harness {
    /// A store whose leases follow the clock it was given, and in which `spoil` breaks a row.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<SimClock>,
        keys: Arc<dyn Keys>,
        spoil: impl Fn(Spoilt) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self { store, clock, keys, db_clock: false, spoil: Box::new(spoil), guard: None }
    }

    /// The in-memory store.
    #[must_use]
    pub fn in_memory() -> Self {
        let clock = Arc::new(SimClock::new());
        let store = Arc::new(MemStore::simple(clock.clone()));
        let spoiling = Arc::clone(&store);
        let spoil = move |spoilt| {
            spoiling.spoil(spoilt);
            std::future::ready(()).boxed()
        };
        Self::new(store, clock, Arc::new(TestKeys::new()), spoil)
    }

    /// Makes a row one that cannot be read.
    pub async fn spoil(&self, spoilt: Spoilt) {
        (self.spoil)(spoilt).await;
    }

    /// The same store, whose leases follow the database's clock.
    #[must_use]
    pub fn on_database_clock(mut self) -> Self {
        self.db_clock = true;
        self.clock.set(wall_clock());
        self
    }

    /// The same store, which keeps `guard` (a temporary folder, a database to be dropped) as long as it lives.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any + Send + Sync) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// Now, as the store sees it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        if self.db_clock {
            self.clock.set(wall_clock());
        }
        self.clock.now()
    }

    /// Lets `span` pass, and then waits until `look` finds something. On a simulated clock one look is enough.
    ///
    /// # Panics
    /// When nothing is found in time.
    pub async fn after<T>(&self, span: Millis, look: impl AsyncFn() -> Option<T>) -> T {
        if !self.db_clock {
            self.clock.advance(span);
            return look().await.expect("it is there once its time has come");
        }
        let end = wall_clock().plus(span).plus(PATIENCE);
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(wall_clock() < end, "it is there within {PATIENCE} once its time has come");
            doze().await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a database that has its own clock must be met where it stands")]
fn wall_clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later than 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("it is earlier than the end of time"))
}

#[expect(clippy::disallowed_methods, reason = "between two looks at a condition, never instead of one")]
async fn doze() {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
}
