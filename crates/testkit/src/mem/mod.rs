//! The in-memory store: the model of what every store must do, and the ground on which simulations walk.
//!
//! All of it is one state behind one lock, so a call is one transaction. Maps are ordered, ids and time are handed in,
//! and so the same calls always end the same way. It is written to be read: no index that a scan can replace.

mod agent;
mod approval;
mod audit;
mod blob;
mod budget;
mod chat;
mod commit;
mod effect;
mod fault;
mod idempotency;
mod identity;
mod job;
mod knowledge;
mod lesson;
mod memory;
mod model_policy;
mod noun;
mod outbox;
mod own_tool;
mod permission;
mod plan;
mod preference;
mod probe;
mod prompt;
mod record;
mod retention;
mod secret;
mod signal;
mod spoil;
mod state;
mod steering;
mod task;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::job::JobStatus;
use kybern_core::ports::{Clock, IdSource, Keys, WakeUps};
use kybern_core::slots::{Offer, Waiting};
use kybern_core::task::{Commit, Delegation, Lease, WorkerId};
use kybern_core::time::{Millis, Timestamp};
use tokio::sync::Notify;

pub use fault::{Fault, FaultHook, FaultPoint};

use crate::{SeededIds, SimClock, TestKeys};
use state::State;

/// A store that forgets everything when it is dropped.
pub struct MemStore {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    hook: Option<FaultHook>,
    calls: AtomicU64,
    hint: Notify,
    /// Commits that are still on their way, with the moment at which they arrive.
    belated: Mutex<Vec<(Timestamp, Lease, Arc<Commit>)>>,
}

impl std::fmt::Debug for MemStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemStore").field("calls", &self.calls).finish_non_exhaustive()
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
        let state = Mutex::new(State::new(ids, keys));
        let (calls, hint, belated) = (AtomicU64::new(0), Notify::new(), Mutex::default());
        Self { state, clock, hook: None, calls, hint, belated }
    }

    /// An empty store over that clock, with ids of its own and the tests' keys.
    #[must_use]
    pub fn simple(clock: Arc<SimClock>) -> Self {
        let ids = Arc::new(SeededIds::new(0x6d65_6d5f_7374_6f72, clock.clone()));
        Self::new(clock, ids, Arc::new(TestKeys::new()))
    }

    /// The same store, whose every call ends as the hook says.
    #[must_use]
    pub fn with_faults(mut self, hook: FaultHook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// The same store, which decides about leases by its own clock, as PostgreSQL does, whatever the moment is that a
    /// process believes in. Nobody knows then that a process is gone before its leases are over: none is taken over.
    #[must_use]
    pub fn keeping_time(self) -> Self {
        self.look_mut(|state| state.keeps_time = true);
        self
    }

    /// How many calls it has taken.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// The first moment at which a task or a job can be claimed; `None` when none ever will by itself. A simulation
    /// moves its clock there.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.look(State::next_due)
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

    fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock().expect("no call of the store panics"))
    }

    fn look_mut<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().expect("no call of the store panics"))
    }

    /// One call: one transaction, ended as the hook says.
    async fn run<T, E: From<Error>>(
        &self,
        call: &'static str,
        work: impl FnOnce(&mut State) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let fault = self.strike(call);
        self.end_as(fault, call, work).await
    }

    /// How the next call ends.
    fn strike(&self, call: &'static str) -> Fault {
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        self.hook.as_ref().map_or(Fault::None, |hook| hook(FaultPoint { call, n }))
    }

    async fn end_as<T, E: From<Error>>(
        &self,
        fault: Fault,
        call: &'static str,
        work: impl FnOnce(&mut State) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        match fault {
            Fault::None | Fault::YieldAfter | Fault::CrashAfter | Fault::AnswerLost | Fault::SilentAfter(_) => {}
            Fault::Yield => tokio::task::yield_now().await,
            Fault::Stall(span) => stall(span).await,
            Fault::CrashBefore => std::future::pending().await,
            Fault::Silent(limit) => {
                stall(limit).await;
                return Err(unavailable(call).into());
            }
            Fault::Unavailable | Fault::Belated(_) => return Err(unavailable(call).into()),
        }
        let answer = self.write(work);
        match fault {
            Fault::YieldAfter => {
                tokio::task::yield_now().await;
                answer
            }
            Fault::AnswerLost => Err(unavailable(call).into()),
            Fault::SilentAfter(limit) => {
                drop(answer);
                stall(limit).await;
                Err(unavailable(call).into())
            }
            Fault::CrashAfter => {
                drop(answer);
                std::future::pending().await
            }
            _ => answer,
        }
    }

    fn write<T, E>(&self, work: impl FnOnce(&mut State) -> Result<T, E>) -> Result<T, E> {
        let mut state = self.state.lock().expect("no call of the store panics");
        state.now = self.clock.now();
        for (lease, commit) in self.arrived(state.now) {
            // It is refused when its lease or its rows are somebody's by now, and nobody is there to hear it.
            drop(state.commit(&lease, Arc::unwrap_or_clone(commit)));
        }
        let answer = work(&mut state);
        drop(state);
        self.hint.notify_waiters();
        answer
    }
}

impl MemStore {
    /// Sends a commit on a long way.
    fn sends_late(&self, by: Millis, lease: &Lease, commit: &Arc<Commit>) {
        let arrives = self.clock.now().plus(by);
        self.on_their_way().push((arrives, lease.clone(), Arc::clone(commit)));
    }

    /// The commits that have arrived by now.
    fn arrived(&self, now: Timestamp) -> Vec<(Lease, Arc<Commit>)> {
        let mut belated = self.on_their_way();
        let (arrived, left) = std::mem::take(&mut *belated).into_iter().partition(|(arrives, _, _)| *arrives <= now);
        *belated = left;
        let arrived: Vec<_> = arrived;
        arrived.into_iter().map(|(_, lease, commit)| (lease, commit)).collect()
    }

    fn on_their_way(&self) -> std::sync::MutexGuard<'_, Vec<(Timestamp, Lease, Arc<Commit>)>> {
        self.belated.lock().expect("no call of the store panics")
    }
}

/// Running out of time is how it takes its time.
async fn stall(span: Millis) {
    drop(tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await);
}

fn unavailable(call: &str) -> Error {
    Error::new(ErrorCode::Unavailable, format!("the store cannot take {call} now"))
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
fn shared_out<Id: Copy + Ord>(offer: &Offer, mut due: Vec<(Timestamp, Id, TenantId)>) -> Vec<Id> {
    due.sort_unstable_by_key(|(since, id, _)| (*since, *id));
    let mut waiting: Vec<Waiting> = Vec::new();
    for (since, _, tenant) in &due {
        if waiting.iter().all(|known| known.tenant != *tenant) {
            waiting.push(Waiting { tenant: *tenant, since: *since });
        }
    }
    let mut allotted = offer.allot(&waiting);
    due.retain(|(_, _, tenant)| {
        let slots = allotted.iter_mut().find(|(known, slots)| known == tenant && *slots > 0);
        slots.map(|(_, slots)| *slots -= 1).is_some()
    });
    due.into_iter().map(|(_, id, _)| id).collect()
}
