//! What waits of one tenant: calls that want a reservation, and settlements that want to be written.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement};
use kybern_core::ports::ReserveRefused;
use kybern_core::tenant::TenantScope;
use tokio::sync::oneshot;

/// How many settlements, and how many reservations, are written together at most.
pub(super) const MOST: usize = 64;
/// How many settlements of a tenant wait for a store that fails. What is beyond is settled at its estimate.
pub(super) const MOST_SETTLED: usize = 10_000;
/// How many calls of a tenant wait to be reserved.
pub(super) const MOST_ASKING: usize = 10_000;

/// Settlements that are written together.
pub(super) type SettlementList = Arc<[(Settlement, AuditEvent)]>;

/// A call that waits for its reservation.
pub(super) struct PendingReservation {
    pub(super) new: NewReservation,
    pub(super) answer: oneshot::Sender<Result<(), ReserveRefused>>,
}

/// What waits of one tenant.
pub(super) struct TenantQueue {
    pub(super) scope: TenantScope,
    pub(super) settled: Vec<(Settlement, AuditEvent)>,
    /// How many collections of settlements have left and are not written yet.
    pub(super) under_way: usize,
    pub(super) asking: Vec<PendingReservation>,
    /// Whether somebody reserves for this tenant.
    pub(super) busy: bool,
}

impl TenantQueue {
    /// Takes the first settlements, so many at most.
    pub(super) fn first(&mut self, most: usize) -> SettlementList {
        let most = self.settled.len().min(most);
        self.settled.drain(..most).collect()
    }

    pub(super) fn new(scope: TenantScope) -> Self {
        Self { scope, settled: Vec::new(), under_way: 0, asking: Vec::new(), busy: false }
    }

    pub(super) fn is_idle(&self) -> bool {
        !self.busy && self.under_way == 0 && self.settled.is_empty()
    }
}
