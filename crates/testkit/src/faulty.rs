//! A store whose every call ends as a hook says: the one that does the work is any other. Its ports are written by the
//! build ([`crate::ports`]).

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement, Shortage};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::ports::{Clock, Store};
use kybern_core::task::{Commit, CommitRefused, Committed, Lease};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};

/// One call of the store, before it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultPoint {
    /// The name of the port's method.
    pub call: &'static str,
    /// The number of this call in the life of the store, from 1.
    pub n: u64,
}

/// How a call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    /// As it should.
    #[default]
    None,
    /// As it should, after everybody else had a turn: calls that race are taken in another order.
    Yield,
    /// As it should, but the answer comes after everybody else had a turn: whoever asked may leave before it.
    YieldAfter,
    /// As it should, but so much later: the network, or the caller's whole process, stood still meanwhile.
    Stall(Millis),
    /// The caller's process dies before the call takes effect: the call never returns. Drop its future.
    CrashBefore,
    /// The caller's process dies after the call took effect: the call never returns. Drop its future.
    CrashAfter,
    /// `UNAVAILABLE`, and nothing happened.
    Unavailable,
    /// `UNAVAILABLE`, although it happened: the connection broke on the way back.
    AnswerLost,
    /// The connection falls silent, and the caller gives up after so long: `UNAVAILABLE`, and nothing happened.
    Silent(Millis),
    /// The same, although it happened before the connection fell silent.
    SilentAfter(Millis),
    /// `UNAVAILABLE`, and so much later a commit is written all the same: it lay in a queue on the way. Another call
    /// never happens.
    Belated(Millis),
}

/// Decides about each call.
pub type FaultHook = Box<dyn Fn(FaultPoint) -> Fault + Send + Sync>;

/// A commit on its way, with the moment at which it arrives.
type BelatedCommit = (Timestamp, Lease, Arc<Commit>);

/// A store over another one.
pub struct FaultyStore<S: ?Sized> {
    pub(crate) inner: Arc<S>,
    clock: Arc<dyn Clock>,
    hook: FaultHook,
    calls: AtomicU64,
    belated: Mutex<Vec<BelatedCommit>>,
    stops_time: bool,
    guard: Option<Box<dyn Any + Send + Sync>>,
}

impl<S: ?Sized> fmt::Debug for FaultyStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl<S: ?Sized> FaultyStore<S> {
    /// That store, whose every call ends as the hook says.
    #[must_use]
    pub fn new(
        inner: Arc<S>,
        clock: Arc<dyn Clock>,
        hook: impl Fn(FaultPoint) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let (calls, belated) = (AtomicU64::new(0), Mutex::default());
        Self { inner, clock, hook: Box::new(hook), calls, belated, stops_time: false, guard: None }
    }

    /// The same over a store that works on threads of its own: simulated time stands still while a call is on its way.
    #[must_use]
    pub fn stopping_time(mut self) -> Self {
        self.stops_time = true;
        self
    }

    /// The same, which keeps `guard` (a temporary folder) as long as it lives.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any + Send + Sync) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// How many calls it has taken.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// How the next call ends.
    fn strike(&self, call: &'static str) -> Fault {
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        (self.hook)(FaultPoint { call, n })
    }
}

impl<S: Store + ?Sized> FaultyStore<S> {
    /// One call, ended as the hook says.
    pub(crate) async fn call<T, E: From<Error>>(
        &self,
        call: &'static str,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        let fault = self.strike(call);
        self.end_as(fault, call, work).await
    }

    async fn end_as<T, E: From<Error>>(
        &self,
        fault: Fault,
        call: &'static str,
        work: impl Future<Output = Result<T, E>> + Send,
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
        let held = self.stops_time.then(StoppedTime::begin);
        for (lease, commit) in self.arrived() {
            // It is refused when its lease or its rows are somebody's by now, and nobody is there to hear it.
            drop(self.inner.commit(&lease, commit).await);
        }
        let answer = work.await;
        drop(held);
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

    pub(crate) async fn commit_by_hand(&self, lease: &Lease, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        let fault = self.strike_commit(lease, &commit);
        self.end_as(fault, "commit", self.inner.commit(lease, commit)).await
    }

    pub(crate) async fn commit_again_by_hand(
        &self,
        lease: &Lease,
        commit: Arc<Commit>,
    ) -> Result<Committed, CommitRefused> {
        let fault = self.strike_commit(lease, &commit);
        self.end_as(fault, "commit", self.inner.commit_again(lease, commit)).await
    }

    /// A store that has no clock is not asked for the time.
    pub(crate) async fn time_by_hand(&self) -> Result<Option<Timestamp>> {
        match self.inner.time().await {
            Ok(None) => Ok(None),
            _ => self.call("time", self.inner.time()).await,
        }
    }

    pub(crate) async fn settle_and_reserve_by_hand(
        &self,
        scope: TenantScope,
        settled: Arc<[(Settlement, AuditEvent)]>,
        new: Arc<[NewReservation]>,
    ) -> Result<Vec<Result<(), Box<Shortage>>>> {
        let call = if new.is_empty() { "settle" } else { "reserve" };
        self.call(call, self.inner.settle_and_reserve(scope, settled, new)).await
    }

    /// How a commit ends, which may also be late.
    fn strike_commit(&self, lease: &Lease, commit: &Arc<Commit>) -> Fault {
        let fault = self.strike("commit");
        if let Fault::Belated(by) = fault {
            let arrives = self.clock.now().plus(by);
            self.on_their_way().push((arrives, lease.clone(), Arc::clone(commit)));
        }
        fault
    }

    /// The commits that have arrived by now.
    fn arrived(&self) -> Vec<(Lease, Arc<Commit>)> {
        let mut belated = self.on_their_way();
        if belated.is_empty() {
            return Vec::new();
        }
        let now = self.clock.now();
        let (arrived, left): (Vec<_>, _) =
            std::mem::take(&mut *belated).into_iter().partition(|(arrives, _, _)| *arrives <= now);
        *belated = left;
        arrived.into_iter().map(|(_, lease, commit)| (lease, commit)).collect()
    }

    fn on_their_way(&self) -> MutexGuard<'_, Vec<BelatedCommit>> {
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

/// A runtime whose time is paused sets it forward when nothing can go on, and waits as long as a blocking task runs.
struct StoppedTime {
    _until: Option<mpsc::Sender<()>>,
}

impl StoppedTime {
    fn begin() -> Self {
        let (until, dropped) = mpsc::channel::<()>();
        // It ends with an error: that is how it hears that the call has come back.
        let running = tokio::runtime::Handle::try_current().map(|on| drop(on.spawn_blocking(move || dropped.recv())));
        Self { _until: running.is_ok().then_some(until) }
    }
}
