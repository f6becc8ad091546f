//! Reservations at once, settlements soon.
//!
//! A call that comes alone waits for its reservation and for nothing else. Calls of a tenant that come while others are
//! being reserved wait for these and are then reserved together, as a database groups commits: accounts are read and
//! written once for all of them. A settlement has nobody who waits for it. It rides with reservations that are made
//! together, or leaves after a moment with its neighbours. A call that its budget does not cover is judged once more
//! after what has been collected, because that may give back more than it takes. Until a settlement is written the
//! estimate stays reserved, and a process that dies before leaves a reservation that is settled at its estimate.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::join_all;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{ReservationId, TenantId};
use kybern_core::ports::{ReserveRefused, Store};
use kybern_core::tenant::TenantScope;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::leaving::{AGAIN, pause};
use super::queue::{MOST, MOST_ASKING, PendingReservation, SettlementList, TenantQueue};

/// How often the store is asked to take a reservation back.
const TRIES: u32 = 5;

/// The ledger as seen by code that spends.
pub(crate) struct Ledger {
    pub(super) store: Arc<dyn Store>,
    pub(super) spawned: TaskTracker,
    queues: Mutex<HashMap<TenantId, TenantQueue>>,
    pub(super) leaving: AtomicBool,
}

/// The right to reserve for a tenant, which one has at a time. Whoever gives it up before its end hands over to those
/// who came meanwhile.
struct BatchLeader {
    ledger: Arc<Ledger>,
    scope: TenantScope,
    over: bool,
}

/// What becomes of one who asks.
enum QueueEntry {
    /// It leads.
    First(BatchLeader, Arc<[NewReservation]>),
    /// It waits for whoever does.
    Waits(oneshot::Receiver<Result<(), ReserveRefused>>),
    /// Too many wait.
    Crowded,
}

impl BatchLeader {
    /// Those who ask now; it is over when nobody does.
    fn asking(&mut self) -> Option<Vec<PendingReservation>> {
        let asking = self.ledger.asking(self.scope.tenant());
        self.over = asking.is_none();
        asking
    }
}

impl Drop for BatchLeader {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let Some(asking) = self.asking() else { return };
        let lead = Self { ledger: Arc::clone(&self.ledger), scope: self.scope, over: false };
        self.ledger.spawned.spawn(async move { lead.serve(asking).await });
    }
}

/// Settlements that are written together with reservations. Those not known to be written are queued again; the store
/// ignores a duplicate.
struct CarriedSettlements<'a> {
    ledger: &'a Arc<Ledger>,
    scope: TenantScope,
    settled: SettlementList,
    written: bool,
}

impl Drop for CarriedSettlements<'_> {
    fn drop(&mut self) {
        if !self.written {
            self.ledger.queue_settlements(self.scope, self.settled.iter().cloned());
        }
    }
}

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, spawned: TaskTracker) -> Self {
        Self { store, spawned, queues: Mutex::default(), leaving: AtomicBool::new(false) }
    }

    pub(super) fn lines(&self) -> MutexGuard<'_, HashMap<TenantId, TenantQueue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves.
    ///
    /// # Errors
    /// See [`ReserveRefused`].
    ///
    /// # Cancel safety
    /// Whoever stops waiting may have reserved all the same and has to give it back; nobody else loses an answer.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        scope: TenantScope,
        new: NewReservation,
    ) -> Result<(), ReserveRefused> {
        match self.enter(scope, new) {
            QueueEntry::First(lead, new) => {
                let answers = self.together(scope, new, 0).await;
                drop(lead);
                answers.into_iter().next().unwrap_or_else(|| Err(gone().into()))
            }
            QueueEntry::Waits(answered) => answered.await.unwrap_or_else(|_| Err(gone().into())),
            QueueEntry::Crowded => {
                let message = format!("{MOST_ASKING} calls of this tenant wait to be held against its budgets");
                Err(Error::new(ErrorCode::Unavailable, message).into())
            }
        }
    }

    /// Takes the lead of a tenant, or else a place among those who ask.
    fn enter(self: &Arc<Self>, scope: TenantScope, new: NewReservation) -> QueueEntry {
        let mut lines = self.lines();
        let line = lines.entry(scope.tenant()).or_insert_with(|| TenantQueue::new(scope));
        if !line.busy {
            line.busy = true;
            return QueueEntry::First(BatchLeader { ledger: Arc::clone(self), scope, over: false }, Arc::new([new]));
        }
        if line.asking.len() >= MOST_ASKING {
            line.asking.retain(|asking| !asking.answer.is_closed());
        }
        if line.asking.len() >= MOST_ASKING {
            return QueueEntry::Crowded;
        }
        let (answer, answered) = oneshot::channel();
        line.asking.push(PendingReservation { new, answer });
        QueueEntry::Waits(answered)
    }

    /// Those who ask for a tenant, for whoever leads; nobody does when nobody asks.
    fn asking(&self, tenant: TenantId) -> Option<Vec<PendingReservation>> {
        let mut lines = self.lines();
        let line = lines.get_mut(&tenant)?;
        let most = line.asking.len().min(MOST);
        if most > 0 {
            return Some(line.asking.drain(..most).collect());
        }
        line.busy = false;
        if line.is_idle() {
            lines.remove(&tenant);
        }
        None
    }

    fn give(
        self: &Arc<Self>,
        scope: TenantScope,
        new: &NewReservation,
        answer: oneshot::Sender<Result<(), ReserveRefused>>,
        reserved: Result<(), ReserveRefused>,
    ) {
        // Whoever has given up meanwhile may have given it back before it was there.
        if let Err(reserved) = answer.send(reserved)
            && !matches!(reserved, Err(ReserveRefused::Short(_) | ReserveRefused::Rate(_)))
        {
            self.let_go(scope, new.id);
        }
    }

    /// Reserves for several, with at most so many settlements that ride along; the answers in their order.
    async fn together(
        self: &Arc<Self>,
        scope: TenantScope,
        new: Arc<[NewReservation]>,
        most: usize,
    ) -> Vec<Result<(), ReserveRefused>> {
        let riding = self.riding(scope, most);
        let (mut answers, _) = self.judge(riding, &new).await;
        if answers.iter().any(is_short) && self.may_give_back(scope.tenant()) {
            let (again, places): (Vec<_>, Vec<_>) =
                new.iter().cloned().zip(&mut answers).filter(|(_, answer)| is_short(answer)).unzip();
            let (judged, settled) = self.judge(self.riding(scope, usize::MAX), &again.into()).await;
            for (place, answer) in places.into_iter().zip(judged) {
                // Nothing is called exhausted while it is not known what is left.
                *place = if settled || !is_short(&answer) { answer } else { Err(unsettled().into()) };
            }
        }
        answers
    }

    /// Settles and reserves; the answers in order, and whether the settlements are written. When the joint write fails,
    /// nobody can tell which part failed or whether any of it was written, so each reservation is tried once more alone,
    /// under its own id.
    async fn judge(
        &self,
        mut riding: CarriedSettlements<'_>,
        new: &Arc<[NewReservation]>,
    ) -> (Vec<Result<(), ReserveRefused>>, bool) {
        let scope = riding.scope;
        let settled = Arc::clone(&riding.settled);
        if let Ok(answers) = self.store.settle_and_reserve(scope, settled, Arc::clone(new)).await {
            riding.written = true;
            return (answers.into_iter().map(|answer| answer.map_err(ReserveRefused::Short)).collect(), true);
        }
        drop(riding);
        (join_all(new.iter().map(|new| self.store.reserve(scope, new))).await, false)
    }

    /// Settlements that ride along now, so many at most.
    fn riding(self: &Arc<Self>, scope: TenantScope, most: usize) -> CarriedSettlements<'_> {
        let settled = self.lines().get_mut(&scope.tenant()).map(|line| line.first(most)).unwrap_or_default();
        CarriedSettlements { ledger: self, scope, settled, written: false }
    }

    /// Whether settlements wait, or are on their way, that have to be written before a budget can be called exhausted.
    /// Settlements already sent are ahead of any later request to the store.
    fn may_give_back(&self, tenant: TenantId) -> bool {
        self.lines().get(&tenant).is_some_and(|line| line.under_way > 0 || !line.settled.is_empty())
    }

    /// Gives a reservation back. Doing so twice is harmless, and so is a lost answer.
    async fn release(&self, scope: TenantScope, id: ReservationId) {
        let mut tries = 1;
        while let Err(error) = self.store.release(scope, id).await {
            if tries == TRIES {
                tracing::warn!(tenant.id = %scope.tenant(), reservation.id = %id, %error,
                    "a reservation could not be given back and will be settled at its estimate");
                return;
            }
            tries += 1;
            pause(AGAIN).await;
        }
    }

    /// Gives a reservation back in the background. It is in the store's line when this returns, before whatever is
    /// asked of it next.
    pub(crate) fn let_go(self: &Arc<Self>, scope: TenantScope, id: ReservationId) {
        let ledger = Arc::clone(self);
        let mut releasing = Box::pin(async move { ledger.release(scope, id).await });
        if (&mut releasing).now_or_never().is_none() {
            self.spawned.spawn(releasing);
        }
    }

    /// Settles soon.
    pub(crate) fn settle(self: &Arc<Self>, scope: TenantScope, settlement: Settlement, event: AuditEvent) {
        self.queue_settlements(scope, std::iter::once((settlement, event)));
    }
}

impl BatchLeader {
    /// Reserves for its tenant until nobody asks any more.
    async fn serve(mut self, mut asking: Vec<PendingReservation>) {
        let (ledger, scope) = (Arc::clone(&self.ledger), self.scope);
        loop {
            asking.retain(|asking| !asking.answer.is_closed());
            if !asking.is_empty() {
                let new: Arc<[NewReservation]> = asking.iter().map(|asking| asking.new.clone()).collect();
                let answers = ledger.together(scope, new, MOST).await;
                for (PendingReservation { new, answer }, reserved) in asking.into_iter().zip(answers) {
                    ledger.give(scope, &new, answer, reserved);
                }
            }
            match self.asking() {
                Some(more) => asking = more,
                None => return,
            }
        }
    }
}

fn is_short(answer: &Result<(), ReserveRefused>) -> bool {
    matches!(answer, Err(ReserveRefused::Short(_)))
}

/// The error of a call of which nobody knows whether its budget covers it.
fn unsettled() -> Error {
    Error::new(ErrorCode::Unavailable, "what was used until now could not be written, so no budget can be judged")
}

/// The error of a call whose reservation nobody makes any more: the process is ending.
fn gone() -> Error {
    Error::new(ErrorCode::Unavailable, "the server is shutting down")
}
