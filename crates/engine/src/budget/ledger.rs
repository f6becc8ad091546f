//! Reservations at once, settlements soon.
//!
//! A settlement has nobody who waits for it. It rides with the next reservation of its tenant, or leaves by itself
//! after a moment, so that a call costs one commit and not two. Until it is written the estimate stays reserved, and a
//! process that dies before leaves a reservation that is settled at its estimate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement};
use kybern_core::id::TenantId;
use kybern_core::ports::{ReserveRefused, Store};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use tokio_util::task::TaskTracker;

/// How long a settlement waits for a reservation to ride with.
const MOMENT: Millis = Millis(10);
/// How many ride with one reservation at most.
const MOST: usize = 64;

/// How often a store that fails is asked to take settlements.
const TRIES: u32 = 5;
/// How long it is left alone in between.
const AGAIN: Millis = Millis(500);

type Settled = Vec<(Settlement, AuditEvent)>;

/// The ledger as those see it who spend.
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    spawned: TaskTracker,
    waiting: Mutex<HashMap<TenantId, (TenantScope, Settled)>>,
    leaving: AtomicBool,
}

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, spawned: TaskTracker) -> Self {
        Self { store, spawned, waiting: Mutex::default(), leaving: AtomicBool::new(false) }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<TenantId, (TenantScope, Settled)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves, and settles on the way what has waited.
    ///
    /// # Errors
    /// See [`ReserveRefused`].
    ///
    /// # Cancel safety
    /// What rode along is written by whoever writes, or settled at its estimate later.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        scope: TenantScope,
        new: &NewReservation,
    ) -> Result<(), ReserveRefused> {
        let riding = self.take(scope.tenant());
        let reserved = self.store.settle_and_reserve(scope, &riding, Some(new)).await;
        if matches!(reserved, Err(ReserveRefused::Store(_))) && !riding.is_empty() {
            // What rode along may be what could not be written: the call is judged by itself.
            self.wait(scope, riding);
            return self.store.reserve(scope, new).await;
        }
        reserved
    }

    fn take(&self, tenant: TenantId) -> Settled {
        let mut waiting = self.waiting();
        match waiting.get_mut(&tenant) {
            None => Vec::new(),
            Some((_, settled)) if settled.len() > MOST => settled.drain(..MOST).collect(),
            Some(_) => waiting.remove(&tenant).map(|(_, settled)| settled).unwrap_or_default(),
        }
    }

    /// Settles soon.
    pub(crate) fn settle(self: &Arc<Self>, scope: TenantScope, settlement: Settlement, event: AuditEvent) {
        self.wait(scope, vec![(settlement, event)]);
    }

    /// Lets settlements wait for a reservation, and sees to it that they leave without one.
    fn wait(self: &Arc<Self>, scope: TenantScope, settled: Settled) {
        self.waiting().entry(scope.tenant()).or_insert_with(|| (scope, Vec::new())).1.extend(settled);
        if !self.leaving.swap(true, Ordering::AcqRel) {
            let ledger = Arc::clone(self);
            self.spawned.spawn(async move { ledger.leave().await });
        }
    }

    /// Writes what no reservation has taken along, until nothing waits.
    async fn leave(&self) {
        loop {
            // The end of the moment is what is waited for.
            let _ = tokio::time::timeout(MOMENT.as_duration(), std::future::pending::<()>()).await;
            let all: Vec<(TenantScope, Settled)> = self.waiting().drain().map(|(_, waiting)| waiting).collect();
            for (scope, settled) in &all {
                self.write(*scope, settled).await;
            }
            if all.is_empty() {
                self.leaving.store(false, Ordering::Release);
                // Whoever came in between saw that somebody was still leaving.
                if self.waiting().is_empty() || self.leaving.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        }
    }

    /// Writes settlements; a store that cannot take them now is asked again for a while.
    async fn write(&self, scope: TenantScope, settled: &Settled) {
        for tries in 1..=TRIES {
            let Err(error) = self.store.settle_and_reserve(scope, settled, None).await else { return };
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
        let all: Vec<(TenantScope, Settled)> = self.waiting().drain().map(|(_, waiting)| waiting).collect();
        for (scope, settled) in &all {
            self.write(*scope, settled).await;
        }
    }
}
