//! Reservations at once, settlements soon.
//!
//! A call that comes alone waits for its reservation and for nothing else. Calls of a tenant that come while others are
//! being reserved wait for these and are then reserved together, as a database groups commits: accounts are read and
//! written once for all of them. A settlement has nobody who waits for it. It rides with reservations that are made
//! together, or leaves after a moment with its neighbours. A call that its budget does not cover is judged once more
//! after what has been collected, because that may give back more than it takes. Until a settlement is written the
//! estimate stays reserved, and a process that dies before leaves a reservation that is settled at its estimate.

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

/// How long settlements are collected.
const MOMENT: Millis = Millis(10);
/// How many settlements, and how many reservations, are written together at most.
const MOST: usize = 64;

/// How often a store that fails is asked to take settlements.
const TRIES: u32 = 5;
/// How long it is left alone in between.
const AGAIN: Millis = Millis(500);

type Settled = Arc<[(Settlement, AuditEvent)]>;

/// A call that waits for its reservation.
struct Asking {
    new: NewReservation,
    answer: oneshot::Sender<Result<(), ReserveRefused>>,
}

/// What waits of one tenant.
struct Line {
    scope: TenantScope,
    settled: Vec<(Settlement, AuditEvent)>,
    /// How many collections of settlements have left and are not written yet.
    under_way: usize,
    asking: Vec<Asking>,
    /// Whether somebody has the turn to reserve for this tenant.
    busy: bool,
}

/// The ledger as those see it who spend.
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    spawned: TaskTracker,
    lines: Mutex<HashMap<TenantId, Line>>,
    leaving: AtomicBool,
}

/// The turn to reserve for a tenant. When it ends, those who came meanwhile are served, also when it ends because
/// whoever had it has given up.
struct Turn<'a> {
    ledger: &'a Arc<Ledger>,
    tenant: TenantId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some((scope, asking)) = self.ledger.asking(self.tenant) else { return };
        let ledger = Arc::clone(self.ledger);
        self.ledger.spawned.spawn(async move { ledger.serve(scope, asking).await });
    }
}

/// Settlements that ride with reservations. Unless they were written they are collected again; of one that was
/// written nobody knows of, the store passes the second.
struct Riding<'a> {
    ledger: &'a Arc<Ledger>,
    scope: TenantScope,
    settled: Settled,
    written: bool,
}

impl Drop for Riding<'_> {
    fn drop(&mut self) {
        if !self.written {
            self.ledger.wait(self.scope, self.settled.iter().cloned());
        }
    }
}

impl Line {
    /// Takes the first settlements, so many at most.
    fn first(&mut self, most: usize) -> Settled {
        let most = self.settled.len().min(most);
        self.settled.drain(..most).collect()
    }

    fn new(scope: TenantScope) -> Self {
        Self { scope, settled: Vec::new(), under_way: 0, asking: Vec::new(), busy: false }
    }

    fn is_idle(&self) -> bool {
        !self.busy && self.under_way == 0 && self.settled.is_empty()
    }
}

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, spawned: TaskTracker) -> Self {
        Self { store, spawned, lines: Mutex::default(), leaving: AtomicBool::new(false) }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<TenantId, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
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
            Ok((turn, new)) => {
                let answers = self.together(scope, Arc::new([new]), 0).await;
                drop(turn);
                answers.into_iter().next().unwrap_or_else(|| Err(gone().into()))
            }
            Err(answered) => answered.await.unwrap_or_else(|_| Err(gone().into())),
        }
    }

    /// Takes the turn to reserve for a tenant, or else a place among those who ask.
    fn enter(
        self: &Arc<Self>,
        scope: TenantScope,
        new: NewReservation,
    ) -> Result<(Turn<'_>, NewReservation), oneshot::Receiver<Result<(), ReserveRefused>>> {
        let mut lines = self.lines();
        let line = lines.entry(scope.tenant()).or_insert_with(|| Line::new(scope));
        if line.busy {
            let (answer, answered) = oneshot::channel();
            line.asking.push(Asking { new, answer });
            return Err(answered);
        }
        line.busy = true;
        Ok((Turn { ledger: self, tenant: scope.tenant() }, new))
    }

    /// Those who ask for a tenant, in the turn of whoever takes them; nobody's turn when nobody asks.
    fn asking(&self, tenant: TenantId) -> Option<(TenantScope, Vec<Asking>)> {
        let mut lines = self.lines();
        let line = lines.get_mut(&tenant)?;
        let most = line.asking.len().min(MOST);
        if most > 0 {
            return Some((line.scope, line.asking.drain(..most).collect()));
        }
        line.busy = false;
        if line.is_idle() {
            lines.remove(&tenant);
        }
        None
    }

    /// Reserves for a tenant until nobody asks any more.
    async fn serve(self: Arc<Self>, scope: TenantScope, mut asking: Vec<Asking>) {
        loop {
            asking.retain(|asking| !asking.answer.is_closed());
            if !asking.is_empty() {
                let new: Arc<[NewReservation]> = asking.iter().map(|asking| asking.new.clone()).collect();
                let answers = self.together(scope, new, MOST).await;
                for (Asking { new, answer }, reserved) in asking.into_iter().zip(answers) {
                    self.give(scope, &new, answer, reserved).await;
                }
            }
            match self.asking(scope.tenant()) {
                Some((_, more)) => asking = more,
                None => return,
            }
        }
    }

    async fn give(
        &self,
        scope: TenantScope,
        new: &NewReservation,
        answer: oneshot::Sender<Result<(), ReserveRefused>>,
        reserved: Result<(), ReserveRefused>,
    ) {
        // Whoever has given up meanwhile may have given it back before it was there.
        if let Err(reserved) = answer.send(reserved)
            && !matches!(reserved, Err(ReserveRefused::Short(_) | ReserveRefused::Rate(_)))
        {
            self.release(scope, new.id).await;
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
        let mut answers = self.judge(riding, &new).await;
        if answers.iter().any(is_short) && self.may_give_back(scope.tenant()) {
            let (again, places): (Vec<_>, Vec<_>) =
                new.iter().cloned().zip(&mut answers).filter(|(_, answer)| is_short(answer)).unzip();
            let judged = self.judge(self.riding(scope, usize::MAX), &again.into()).await;
            places.into_iter().zip(judged).for_each(|(place, answer)| *place = answer);
        }
        answers
    }

    /// Settles and reserves; the answers in order. What rode along, or another call, may be what could not be written,
    /// and whether it was written nobody knows: then each is asked for once more by itself, under its own id.
    async fn judge(&self, mut riding: Riding<'_>, new: &Arc<[NewReservation]>) -> Vec<Result<(), ReserveRefused>> {
        let scope = riding.scope;
        let settled = Arc::clone(&riding.settled);
        if let Ok(answers) = self.store.settle_and_reserve(scope, settled, Arc::clone(new)).await {
            riding.written = true;
            return answers.into_iter().map(|answer| answer.map_err(ReserveRefused::Short)).collect();
        }
        drop(riding);
        join_all(new.iter().map(|new| self.store.reserve(scope, new))).await
    }

    /// Settlements that ride along now, so many at most.
    fn riding(self: &Arc<Self>, scope: TenantScope, most: usize) -> Riding<'_> {
        let settled = self.lines().get_mut(&scope.tenant()).map(|line| line.first(most)).unwrap_or_default();
        Riding { ledger: self, scope, settled, written: false }
    }

    /// Whether settlements wait, or are on their way, that have to be written before a budget can be called exhausted.
    /// What has left is before whatever is asked of the store from now on.
    fn may_give_back(&self, tenant: TenantId) -> bool {
        self.lines().get(&tenant).is_some_and(|line| line.under_way > 0 || !line.settled.is_empty())
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
        self.wait(scope, std::iter::once((settlement, event)));
    }

    /// Collects settlements, and sees to it that they leave.
    fn wait(self: &Arc<Self>, scope: TenantScope, settled: impl ExactSizeIterator<Item = (Settlement, AuditEvent)>) {
        if settled.len() == 0 {
            return;
        }
        self.lines().entry(scope.tenant()).or_insert_with(|| Line::new(scope)).settled.extend(settled);
        if !self.leaving.swap(true, Ordering::AcqRel) {
            let ledger = Arc::clone(self);
            self.spawned.spawn(async move { ledger.leave().await });
        }
    }

    /// Takes all settlements that wait, in portions that are written together.
    fn settled(&self) -> Vec<(TenantScope, Settled)> {
        let mut all = Vec::new();
        for line in self.lines().values_mut() {
            while !line.settled.is_empty() {
                line.under_way += 1;
                all.push((line.scope, line.first(MOST)));
            }
        }
        all
    }

    /// Writes settlements that have left: all of them are in the store's line before the first is waited for, and the
    /// store commits them together.
    async fn write_all(&self, all: &[(TenantScope, Settled)]) {
        join_all(all.iter().map(|(scope, settled)| self.write(*scope, settled))).await;
        let mut lines = self.lines();
        for (scope, _) in all {
            let Some(line) = lines.get_mut(&scope.tenant()) else { continue };
            line.under_way -= 1;
            if line.is_idle() {
                lines.remove(&scope.tenant());
            }
        }
    }

    /// Writes what has been collected, until there is nothing more.
    async fn leave(&self) {
        loop {
            // The end of the moment is what is waited for.
            let _ = tokio::time::timeout(MOMENT.as_duration(), std::future::pending::<()>()).await;
            let all = self.settled();
            self.write_all(&all).await;
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

    /// Writes settlements together, and each by itself when that does not go: one that the store refuses does not keep
    /// the others from it.
    async fn write(&self, scope: TenantScope, settled: &Settled) {
        let Err(error) = self.persist(scope, settled).await else { return };
        if settled.len() == 1 {
            return lost(&error);
        }
        let each = settled.iter().map(|one| async move {
            let one: Settled = Arc::new([one.clone()]);
            self.persist(scope, &one).await.inspect_err(lost)
        });
        join_all(each).await;
    }

    /// Writes settlements; a store that cannot take them now is asked again for a while.
    async fn persist(&self, scope: TenantScope, settled: &Settled) -> Result<(), Error> {
        let mut tries = 1;
        loop {
            let written = self.store.settle_and_reserve(scope, Arc::clone(settled), Arc::default()).await;
            match written {
                Ok(_) => return Ok(()),
                Err(error) if tries == TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            let _ = tokio::time::timeout(AGAIN.as_duration(), std::future::pending::<()>()).await;
        }
    }

    /// Writes at once what waits.
    pub(crate) async fn flush(&self) {
        self.write_all(&self.settled()).await;
    }
}

fn is_short(answer: &Result<(), ReserveRefused>) -> bool {
    matches!(answer, Err(ReserveRefused::Short(_)))
}

/// Tells of a call whose settlement is lost.
fn lost(error: &Error) {
    tracing::error!(%error, "a call could not be settled and will be settled at its estimate");
}

/// The error of a call whose reservation nobody makes any more: the process is ending.
fn gone() -> Error {
    Error::new(ErrorCode::Unavailable, "the server is shutting down")
}
