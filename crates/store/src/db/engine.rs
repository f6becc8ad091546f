//! The two databases behind one face: write a unit, read a unit.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::id::TenantId;
use kybern_core::plan::PlanHash;
use kybern_core::ports::{Clock, Keys};
use kybern_core::time::Millis;

use super::batch::{Unit, UnitFn};
use super::cache::StoreCache;
use super::patience::Patience;
use super::postgres::Server;
use super::sqlite::File;
use super::{Pending, RowVisibility};
use crate::error::{Result, StoreError};
use crate::wake::WakeListeners;

/// How many stored plans are remembered; beyond it the memory is emptied, which costs a statement per plan.
const REMEMBERED_PLANS: usize = 10_000;

/// How long something that was changed may still be taken for good in a process that did not hear of the change.
const UNHEARD: Millis = Millis(500);

/// What all connections of a store share.
pub(crate) struct StoreShared {
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) wake: WakeListeners,
    pub(crate) plans: StoredPlans,
    pub(crate) known: StoreCache,
    pub(crate) commits: AtomicU64,
    /// With a server that does not answer.
    pub(crate) patience: Patience,
    /// Whether it has been told that the server takes no keepalive settings.
    pub(crate) cannot_keep_alive: AtomicBool,
}

impl StoreShared {
    /// `statement_timeout` is that of a server to which other processes write too; a SQLite file is this one's alone.
    pub(crate) fn new(
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
        statement_timeout: Option<std::time::Duration>,
    ) -> Arc<Self> {
        let known = StoreCache::new(statement_timeout.is_some().then_some(UNHEARD));
        let patience = Patience::new(statement_timeout.unwrap_or(super::LONGEST));
        let (wake, plans, commits) = (WakeListeners::default(), StoredPlans::default(), AtomicU64::new(0));
        Arc::new(Self { keys, clock, wake, plans, known, commits, patience, cannot_keep_alive: AtomicBool::new(false) })
    }
}

/// Frozen plans that are known to be stored, so that a task of a known plan does not store it again.
#[derive(Default)]
pub(crate) struct StoredPlans {
    known: Mutex<HashSet<(TenantId, PlanHash)>>,
}

impl StoredPlans {
    pub(crate) fn knows(&self, tenant: TenantId, hash: &PlanHash) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&(tenant, hash.clone()))
    }

    pub(crate) fn remember(&self, stored: impl ExactSizeIterator<Item = (TenantId, PlanHash)>) {
        if stored.len() == 0 {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > REMEMBERED_PLANS {
            known.clear();
        }
        known.extend(stored);
    }
}

/// Who writes a unit. Units of one lane stay in order. On SQLite there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Many are written in one statement, and none of them waits for what takes several.
    Plain,
    /// Whatever is about the same thing, by a number that stands for it.
    Of(u64),
}

/// One of the two.
pub(crate) enum Engine {
    Sqlite(File),
    /// A PostgreSQL server.
    Postgres(Box<Server>),
}

impl Engine {
    /// Runs a unit that writes, and answers after its commit.
    pub(crate) async fn write<A, T>(&self, access: RowVisibility, lane: Lane, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (unit, answer) = Unit::new(access, args, run);
        self.queue(lane, unit)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    fn queue(&self, lane: Lane, unit: Box<dyn Pending>) -> Result<()> {
        let queue = match self {
            Self::Sqlite(file) => file.queue(),
            Self::Postgres(server) => server.queue(lane),
        };
        queue.ok_or(StoreError::Closed)?.try_send(unit).map_err(|refused| match refused {
            tokio::sync::mpsc::error::TrySendError::Full(_) => StoreError::QueueFull,
            tokio::sync::mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })
    }

    /// Runs a unit that only reads.
    pub(crate) async fn read<A, T>(&self, access: RowVisibility, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        match self {
            Self::Sqlite(file) => file.read(args, run).await,
            // Boxed: it is much larger, and every caller's future would be made large enough for both.
            Self::Postgres(server) => Box::pin(server.read(access, &args, run)).await,
        }
    }

    /// Runs a unit that reads a few rows by their keys.
    pub(crate) async fn read_few<A, T>(&self, access: RowVisibility, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        match self {
            Self::Sqlite(file) => file.read_few(&args, run).await,
            Self::Postgres(server) => Box::pin(server.read(access, &args, run)).await,
        }
    }
}
