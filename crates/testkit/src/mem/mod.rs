//! The in-memory store: the model of what every store must do for the kernel, and the ground on which simulations walk.
//! Of other nouns it keeps nothing: what reads them finds none, what writes them is refused ([`crate::ports`]).
//!
//! All of it is one state behind one lock, so a call is one transaction. Maps are ordered, ids and time are handed in,
//! and so the same calls always end the same way. It is written to be read: no index that a scan can replace.

mod approval;
mod audit;
mod blob;
mod budget;
mod commit;
mod effect;
mod identity;
mod job;
mod noun;
mod outbox;
mod page;
mod permission;
mod plan;
mod probe;
mod record;
mod retention;
mod spoil;
mod state;
mod steering;
mod submission;
mod task;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::job::JobStatus;
use kybern_core::ports::{Clock, IdSource, Keys, WakeUps};
use kybern_core::slots::{WaitingTenant, WorkerCapacity};
use kybern_core::task::{Delegation, WorkerId};
use kybern_core::time::{Millis, Timestamp};
use tokio::sync::Notify;

use crate::{SeededIds, SimClock, TestKeys};
use state::MemState;

/// A store that forgets everything when it is dropped.
pub struct MemStore {
    state: Mutex<MemState>,
    clock: Arc<dyn Clock>,
    hint: Notify,
}

impl std::fmt::Debug for MemStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemStore").finish_non_exhaustive()
    }
}

/// A job as it lies in the store.
#[derive(Clone, PartialEq, Debug)]
pub struct JobView {
    /// Its handler.
    pub kind: String,
    /// Where it stands.
    pub status: JobStatus,
    /// Tries so far.
    pub attempts: u32,
    /// What went wrong last.
    pub error: Option<String>,
    /// What the handler needs.
    pub payload: serde_json::Value,
}

impl MemStore {
    /// An empty store.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>, keys: Arc<dyn Keys>) -> Self {
        let state = Mutex::new(MemState::new(ids, keys));
        Self { state, clock, hint: Notify::new() }
    }

    /// An empty store over that clock, with ids of its own and the tests' keys.
    #[must_use]
    pub fn simple(clock: Arc<SimClock>) -> Self {
        let ids = Arc::new(SeededIds::new(0x6d65_6d5f_7374_6f72, clock.clone()));
        Self::new(clock, ids, Arc::new(TestKeys::new()))
    }

    /// The same store, which decides about leases by its own clock, as PostgreSQL does, whatever the moment is that a
    /// process believes in. Nobody knows then that a process is gone before its leases are over: none is taken over.
    #[must_use]
    pub fn keeping_time(self) -> Self {
        self.look_mut(|state| state.keeps_time = true);
        self
    }

    /// The first moment at which a task or a job can be claimed; `None` when none ever will by itself. A simulation
    /// moves its clock there.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.look(MemState::next_due)
    }

    /// When a task can be claimed, pause and end aside.
    #[must_use]
    pub fn claimable_at(&self, task: TaskId) -> Option<Timestamp> {
        self.look(|state| state.tasks.get(&task).and_then(|row| row.claimable_at))
    }

    /// Who holds a task's lease, expired or not.
    #[must_use]
    pub fn holder(&self, task: TaskId) -> Option<WorkerId> {
        self.look(|state| state.tasks.get(&task).and_then(|row| row.lease_owner.clone()))
    }

    /// What a task has handed to outside engines, oldest first.
    #[must_use]
    pub fn delegations(&self, task: TaskId) -> Vec<Delegation> {
        self.look(|state| {
            state
                .tasks
                .get(&task)
                .map(|row| row.delegations.iter().map(|(known, ..)| known.clone()).collect())
                .unwrap_or_default()
        })
    }

    /// Every job of every tenant, in the order in which they were stored.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobView> {
        self.look(|state| state.jobs.iter().map(state::JobRow::view).collect())
    }

    fn look<T>(&self, look: impl FnOnce(&MemState) -> T) -> T {
        look(&self.state.lock().expect("no call of the store panics"))
    }

    fn look_mut<T>(&self, look: impl FnOnce(&mut MemState) -> T) -> T {
        look(&mut self.state.lock().expect("no call of the store panics"))
    }

    /// One call: one transaction.
    fn run<T, E>(&self, work: impl FnOnce(&mut MemState) -> Result<T, E>) -> Result<T, E> {
        let mut state = self.state.lock().expect("no call of the store panics");
        state.now = self.clock.now();
        let answer = work(&mut state);
        drop(state);
        self.hint.notify_waiters();
        answer
    }
}

/// Every call is a hint, so most are spurious.
#[async_trait]
impl WakeUps for MemStore {
    async fn wait(&self, at_most: Millis) {
        // Running out of time is an ordinary end of waiting.
        if tokio::time::timeout(at_most.as_duration(), self.hint.notified()).await.is_err() {}
    }
}

/// What is claimed of what is due: of each tenant as much as the offer gives it, the longest due first.
fn shared_out<Id: Copy + Ord>(offer: &WorkerCapacity, mut due: Vec<(Timestamp, Id, TenantId)>) -> Vec<Id> {
    due.sort_unstable_by_key(|(since, id, _)| (*since, *id));
    let mut waiting: Vec<WaitingTenant> = Vec::new();
    for (since, _, tenant) in &due {
        if waiting.iter().all(|known| known.tenant != *tenant) {
            waiting.push(WaitingTenant { tenant: *tenant, since: *since });
        }
    }
    let mut allotted = offer.allot(&waiting);
    due.retain(|(_, _, tenant)| {
        let slots = allotted.iter_mut().find(|(known, slots)| known == tenant && *slots > 0);
        slots.map(|(_, slots)| *slots -= 1).is_some()
    });
    due.into_iter().map(|(_, id, _)| id).collect()
}

/// What refuses to write what is not the kernel's.
pub(crate) fn not_kept(what: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("the in-memory store keeps no {what}; use SQLite"))
}
