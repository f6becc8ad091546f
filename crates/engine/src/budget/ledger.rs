//! Reservations at once, settlements soon.
//!
//! Calls of a tenant that come while others are being reserved wait for these and are then reserved together, as a
//! database groups commits: accounts are read and written once for all of them. A settlement has nobody who waits for
//! it. It rides with the next reservations of its tenant, or leaves by itself after a moment, so that a call costs one
//! commit and not two. Until it is written the estimate stays reserved, and a process that dies before leaves a
//! reservation that is settled at its estimate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{ReservationId, TenantId};
use kybern_core::ports::{ReserveRefused, Store};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

/// How long a settlement waits for a reservation to ride with.
const MOMENT: Millis = Millis(10);
/// How many settlements, and how many reservations, are written together at most.
const MOST: usize = 64;

/// How often a store that fails is asked to take settlements.
const TRIES: u32 = 5;
/// How long it is left alone in between.
const AGAIN: Millis = Millis(500);

type Settled = Vec<(Settlement, AuditEvent)>;

/// A call that waits for its reservation.
struct Asking {
    new: NewReservation,
    answer: oneshot::Sender<Result<(), ReserveRefused>>,
}

/// What waits of one tenant.
struct Line {
    scope: TenantScope,
    settled: Settled,
    asking: Vec<Asking>,
    /// Whether somebody is reserving for this tenant, and takes what comes meanwhile.
    busy: bool,
}

/// The ledger as those see it who spend.
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    spawned: TaskTracker,
    lines: Mutex<HashMap<TenantId, Line>>,
    leaving: AtomicBool,
}

/// The first so many.
fn first<T>(from: &mut Vec<T>) -> Vec<T> {
    if from.len() > MOST { from.drain(..MOST).collect() } else { std::mem::take(from) }
}

impl Line {
    fn new(scope: TenantScope) -> Self {
        Self { scope, settled: Vec::new(), asking: Vec::new(), busy: false }
    }
}

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, spawned: TaskTracker) -> Self {
        Self { store, spawned, lines: Mutex::default(), leaving: AtomicBool::new(false) }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<TenantId, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves, and settles on the way what has waited.
    ///
    /// # Errors
    /// See [`ReserveRefused`].
    ///
    /// # Cancel safety
    /// Whoever stops waiting has nothing reserved in the end, and what rode along is written all the same.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        scope: TenantScope,
        new: &NewReservation,
    ) -> Result<(), ReserveRefused> {
        let (answer, answered) = oneshot::channel();
        let begins = {
            let mut lines = self.lines();
            let line = lines.entry(scope.tenant()).or_insert_with(|| Line::new(scope));
            line.asking.push(Asking { new: new.clone(), answer });
            !std::mem::replace(&mut line.busy, true)
        };
        if begins {
            // A task of its own, so that nobody who gives up takes the others' answers along.
            let ledger = Arc::clone(self);
            self.spawned.spawn(async move { ledger.serve(scope.tenant()).await });
        }
        answered.await.unwrap_or_else(|_| Err(gone().into()))
    }

    /// Reserves for a tenant until nobody asks any more.
    async fn serve(self: Arc<Self>, tenant: TenantId) {
        while let Some((scope, riding, mut asking)) = self.take(tenant) {
            asking.retain(|asking| !asking.answer.is_closed());
            if asking.is_empty() {
                self.wait(scope, riding);
            } else {
                self.together(scope, riding, asking).await;
            }
        }
    }

    fn take(&self, tenant: TenantId) -> Option<(TenantScope, Settled, Vec<Asking>)> {
        let mut lines = self.lines();
        let line = lines.get_mut(&tenant)?;
        if !line.asking.is_empty() {
            return Some((line.scope, first(&mut line.settled), first(&mut line.asking)));
        }
        line.busy = false;
        if line.settled.is_empty() {
            lines.remove(&tenant);
        }
        None
    }

    async fn together(self: &Arc<Self>, scope: TenantScope, riding: Settled, asking: Vec<Asking>) {
        let new: Arc<[NewReservation]> = asking.iter().map(|asking| asking.new.clone()).collect();
        let settled: Arc<[(Settlement, AuditEvent)]> = riding.into();
        let answers = match self.store.settle_and_reserve(scope, Arc::clone(&settled), Arc::clone(&new)).await {
            Ok(answers) => answers.into_iter().map(|answer| answer.map_err(ReserveRefused::Short)).collect(),
            Err(error) if settled.is_empty() && new.len() == 1 => vec![Err(error.into())],
            Err(_) => {
                // What rode along, or another call, may be what could not be written: each is judged by itself.
                self.wait(scope, settled.to_vec());
                join_all(new.iter().map(|new| self.store.reserve(scope, new))).await
            }
        };
        for (Asking { new, answer }, reserved) in asking.into_iter().zip(answers) {
            // Whoever has given up meanwhile may have given it back before it was there.
            if let Err(reserved) = answer.send(reserved)
                && !matches!(reserved, Err(ReserveRefused::Short(_) | ReserveRefused::Rate(_)))
            {
                self.release(scope, new.id).await;
            }
        }
    }

    async fn release(&self, scope: TenantScope, id: ReservationId) {
        if let Err(error) = self.store.release(scope, id).await {
            tracing::warn!(%error, "a reservation could not be given back and will be settled at its estimate");
        }
    }

    /// Gives a reservation back in the background.
    pub(crate) fn let_go(self: &Arc<Self>, scope: TenantScope, id: ReservationId) {
        let ledger = Arc::clone(self);
        self.spawned.spawn(async move { ledger.release(scope, id).await });
    }

    /// Settles soon.
    pub(crate) fn settle(self: &Arc<Self>, scope: TenantScope, settlement: Settlement, event: AuditEvent) {
        self.wait(scope, vec![(settlement, event)]);
    }

    /// Lets settlements wait for a reservation, and sees to it that they leave without one.
    fn wait(self: &Arc<Self>, scope: TenantScope, settled: Settled) {
        if settled.is_empty() {
            return;
        }
        self.lines().entry(scope.tenant()).or_insert_with(|| Line::new(scope)).settled.extend(settled);
        if !self.leaving.swap(true, Ordering::AcqRel) {
            let ledger = Arc::clone(self);
            self.spawned.spawn(async move { ledger.leave().await });
        }
    }

    /// Takes all settlements that wait.
    fn settled(&self) -> Vec<(TenantScope, Settled)> {
        let mut lines = self.lines();
        let waiting = lines.values_mut().filter(|line| !line.settled.is_empty());
        let all = waiting.map(|line| (line.scope, std::mem::take(&mut line.settled))).collect();
        lines.retain(|_, line| line.busy);
        all
    }

    /// Writes what no reservation has taken along, until nothing waits.
    async fn leave(&self) {
        loop {
            // The end of the moment is what is waited for.
            let _ = tokio::time::timeout(MOMENT.as_duration(), std::future::pending::<()>()).await;
            let all = self.settled();
            for (scope, settled) in &all {
                self.write(*scope, settled).await;
            }
            if all.is_empty() {
                self.leaving.store(false, Ordering::Release);
                // Whoever came in between saw that somebody was still leaving.
                if self.lines().values().all(|line| line.settled.is_empty())
                    || self.leaving.swap(true, Ordering::AcqRel)
                {
                    return;
                }
            }
        }
    }

    /// Writes settlements; a store that cannot take them now is asked again for a while.
    async fn write(&self, scope: TenantScope, settled: &Settled) {
        let settled: Arc<[(Settlement, AuditEvent)]> = settled.as_slice().into();
        for tries in 1..=TRIES {
            let written = self.store.settle_and_reserve(scope, Arc::clone(&settled), Arc::default()).await;
            let Err(error) = written else { return };
            if tries == TRIES {
                let calls = settled.len();
                tracing::error!(%error, calls, "calls could not be settled and will be settled at their estimates");
                return;
            }
            let _ = tokio::time::timeout(AGAIN.as_duration(), std::future::pending::<()>()).await;
        }
    }

    /// Writes at once what waits.
    pub(crate) async fn flush(&self) {
        for (scope, settled) in &self.settled() {
            self.write(*scope, settled).await;
        }
    }
}

/// The error of a call whose reservation nobody makes any more: the process is ending.
fn gone() -> Error {
    Error::new(ErrorCode::Unavailable, "the server is shutting down")
}
