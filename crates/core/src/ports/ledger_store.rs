//! The ledger: budgets, reservations, what was used, and rates.

use std::sync::Arc;

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::budget::{
    Budget, BudgetStanding, LostReservation, NewReservation, RateExceeded, RateRule, Settlement, Shortage, UsageFilter,
    UsageLine,
};
use crate::error::{Error, Result};
use crate::id::{BudgetId, ReservationId};
use crate::task::WorkerId;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Why nothing was reserved, or no place was taken.
#[derive(Debug, thiserror::Error)]
pub enum ReserveRefused {
    /// A budget does not cover it.
    #[error("a budget does not cover it")]
    Short(Box<Shortage>),
    /// There is no place under a rate.
    #[error("there is no place under a rate")]
    Rate(Box<RateExceeded>),
    /// The store failed; nothing was reserved.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Where budgets and what they cover are kept.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// The tenant's budgets, oldest first.
    async fn budgets(&self, scope: TenantScope) -> Result<Vec<Budget>>;

    /// Stores a budget, or its new limits. Of a budget that is there, subject and period stay.
    ///
    /// # Errors
    /// `CONFLICT` when its subject has another budget of the same period; `NOT_FOUND` when its user is not known.
    async fn put_budget(&self, scope: TenantScope, budget: &Budget, audit: AuditEvent) -> Result<()>;

    /// Removes a budget; `false` when there is none.
    async fn delete_budget(&self, scope: TenantScope, id: BudgetId, at: Timestamp, audit: AuditEvent) -> Result<bool>;

    /// Reserves an amount under every budget that covers it, or under none. Judged and written in one transaction:
    /// what is used and reserved never passes a limit, whoever else reserves at the same time. A reservation that is
    /// there already, because an answer was lost, stays as it is.
    ///
    /// # Errors
    /// `Short` names the first budget that does not cover it. A store that fails has reserved nothing.
    async fn reserve(&self, scope: TenantScope, new: &NewReservation) -> Result<(), ReserveRefused>;

    /// Settles reservations to what was really used, writes each call into the audit, and then makes others, one after
    /// the other as [`LedgerStore::reserve`] does, all in one transaction. What is not open (any more) is passed over, and
    /// is not audited. The answers stand in the order of `new`; a shortage of one leaves everything else standing.
    ///
    /// # Errors
    /// When the store fails; then it has done nothing.
    async fn settle_and_reserve(
        &self,
        scope: TenantScope,
        settled: Arc<[(Settlement, AuditEvent)]>,
        new: Arc<[NewReservation]>,
    ) -> Result<Vec<Result<(), Box<Shortage>>>>;

    /// Gives a reservation back of which nothing was used; `false` when it is not open (any more).
    async fn release(&self, scope: TenantScope, id: ReservationId) -> Result<bool>;

    /// Reservations of every tenant whose owner is gone: those that have expired, and, where only one process can have
    /// the database, all of other owners than `owner`. At most `limit`.
    async fn lost_reservations(&self, owner: &WorkerId, limit: u32, now: Timestamp) -> Result<Vec<LostReservation>>;

    /// Settles a reservation at its estimate; `false` when it is not open (any more).
    async fn settle_at_estimate(&self, lost: &LostReservation, at: Timestamp) -> Result<bool>;

    /// How a budget stands in its window at `at`. Of budgets of each user or task there is no one standing: `None`.
    async fn standing(&self, scope: TenantScope, budget: &Budget, at: Timestamp) -> Result<Option<BudgetStanding>>;

    /// The tenant's budgets in the order of their ids, those behind `after`, at most `limit`, each with what
    /// [`LedgerStore::standing`] says of it. However many they are, they cost the same few queries.
    async fn standings(
        &self,
        scope: TenantScope,
        after: Option<BudgetId>,
        limit: u32,
        at: Timestamp,
    ) -> Result<Vec<(Budget, Option<BudgetStanding>)>>;

    /// What was used, in no particular order.
    async fn usage(&self, scope: TenantScope, filter: &UsageFilter) -> Result<Vec<UsageLine>>;

    /// Takes one place under each of the rules, or under none. Judged and written in one transaction.
    ///
    /// # Errors
    /// `Rate` names the rule whose place is free last.
    async fn take_rate(&self, scope: TenantScope, rules: &[RateRule], at: Timestamp) -> Result<(), ReserveRefused>;
}
