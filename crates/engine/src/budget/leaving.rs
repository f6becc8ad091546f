//! Settlements on their way to the store: collected for a moment, written together, and kept while the store fails.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{Settlement, Shortage};
use kybern_core::error::{Error, ErrorCode, Retry};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;

use super::ledger::Ledger;
use super::queue::{MOST, MOST_SETTLED, SettlementList, TenantQueue};

/// How long settlements are collected.
const MOMENT: Millis = Millis(10);
/// How long a store that fails is left alone.
pub(super) const AGAIN: Millis = Millis(500);
/// How many collections of settlements are on their way at a time, of all tenants: the store's queue has other users.
const PORTIONS: usize = 256;

/// What the store says of what it was to write.
type WriteResult = Result<Vec<Result<(), Box<Shortage>>>, Error>;

/// A portion of settlements on its way.
struct SettlementBatch<'a> {
    scope: TenantScope,
    settled: SettlementList,
    writing: BoxFuture<'a, WriteResult>,
    written: Option<WriteResult>,
}

impl Ledger {
    /// Collects settlements, and sees to it that they leave.
    pub(super) fn queue_settlements(
        self: &Arc<Self>,
        scope: TenantScope,
        settled: impl ExactSizeIterator<Item = (Settlement, AuditEvent)>,
    ) {
        if settled.len() == 0 {
            return;
        }
        self.collect(scope, settled);
        if !self.leaving.swap(true, Ordering::AcqRel) {
            let ledger = Arc::clone(self);
            self.spawned.spawn(async move { ledger.leave().await });
        }
    }

    fn collect(&self, scope: TenantScope, settled: impl Iterator<Item = (Settlement, AuditEvent)>) {
        let mut lines = self.lines();
        let waiting = &mut lines.entry(scope.tenant()).or_insert_with(|| TenantQueue::new(scope)).settled;
        waiting.extend(settled);
        let over = waiting.len().saturating_sub(MOST_SETTLED);
        for (settlement, _) in waiting.drain(..over) {
            let error = Error::new(ErrorCode::Unavailable, "too many settlements wait");
            lost(scope, &settlement, &error);
        }
    }

    /// Sends settlements that wait on their way, in portions that are written together. They are in the store's line
    /// when this returns, so that whatever is asked of it afterwards finds them written.
    fn send_off(&self) -> Vec<SettlementBatch<'_>> {
        let mut all = Vec::new();
        for line in self.lines().values_mut() {
            while !line.settled.is_empty() && all.len() < PORTIONS {
                line.under_way += 1;
                let (scope, settled) = (line.scope, line.first(MOST));
                let mut writing = self.store.settle_and_reserve(scope, Arc::clone(&settled), Arc::default());
                let written = writing.as_mut().now_or_never();
                all.push(SettlementBatch { scope, settled, writing, written });
            }
        }
        all
    }

    /// Waits until settlements that are on their way are written. What the store cannot take now waits again; answers
    /// whether there is such.
    async fn arrive(&self, all: Vec<SettlementBatch<'_>>) -> bool {
        let failed = join_all(all.into_iter().map(|leaving| self.arrived(leaving))).await;
        failed.contains(&true)
    }

    async fn arrived(&self, leaving: SettlementBatch<'_>) -> bool {
        let SettlementBatch { scope, settled, writing, written } = leaving;
        let written = match written {
            Some(written) => written,
            None => writing.await,
        };
        let failed = match written {
            Ok(_) => Vec::new(),
            Err(error) if settled.len() == 1 => vec![(0, error)],
            // One that the store refuses does not keep the others from it.
            Err(_) => {
                let each = settled.iter().map(|one| {
                    let one: SettlementList = Arc::new([one.clone()]);
                    self.store.settle_and_reserve(scope, one, Arc::default())
                });
                let written = join_all(each).await.into_iter().enumerate();
                written.filter_map(|(place, written)| Some((place, written.err()?))).collect()
            }
        };
        let (again, never): (Vec<_>, Vec<_>) = failed
            .into_iter()
            .filter_map(|(place, error)| Some((settled.get(place)?, error)))
            .partition(|(_, error)| error.retry() != Retry::Never);
        never.iter().for_each(|((settlement, _), error)| lost(scope, settlement, error));
        let failed = !again.is_empty();
        self.collect(scope, again.into_iter().map(|(settled, _)| settled.clone()));
        let mut lines = self.lines();
        if let Some(line) = lines.get_mut(&scope.tenant()) {
            line.under_way -= 1;
            if line.is_idle() {
                lines.remove(&scope.tenant());
            }
        }
        failed
    }

    /// Writes what has been collected, until there is nothing more.
    async fn leave(&self) {
        let mut moment = MOMENT;
        loop {
            pause(moment).await;
            let all = self.send_off();
            let nothing = all.is_empty();
            let failed = self.arrive(all).await;
            if failed && moment == MOMENT {
                tracing::warn!("settlements cannot be written now; they are tried again until they can");
            }
            moment = if failed { AGAIN } else { MOMENT };
            if nothing {
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

    /// Writes at once what waits; a store that fails is not asked twice.
    pub(crate) async fn flush(&self) {
        loop {
            let all = self.send_off();
            if all.is_empty() || self.arrive(all).await {
                return;
            }
        }
    }
}

/// The end of the pause is what is waited for.
pub(super) async fn pause(span: Millis) {
    let _ = tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await;
}

/// Tells of a call whose settlement is lost.
fn lost(scope: TenantScope, settlement: &Settlement, error: &Error) {
    tracing::error!(tenant.id = %scope.tenant(), reservation.id = %settlement.id, %error,
        "a call could not be settled and will be settled at its estimate");
}
