//! Budgets: what may be spent, what has been, and what is promised.
//!
//! Before a call its largest cost is **reserved**; after it, the reservation is **settled** to what it really was. What
//! is used and what is reserved together never pass a limit, however many calls run at once, because the store judges
//! and reserves in one transaction. A reservation whose owner died is settled at its estimate: better counted twice
//! than not at all.
//!
//! ```text
//! reserve ──► open ──► settle   used += actual
//!                 ├──► release  nothing was asked of anybody
//!                 └──► lost     used += estimate, by whoever finds that its owner is gone
//! ```

pub mod amount;
pub mod limit;
pub mod rate;
pub mod reservation;
pub mod usage;

pub use amount::Amount;
pub use limit::{Budget, BudgetStanding, BudgetSubject, Limits, Period, Shortage, Unit, Window};
pub use rate::{RateExceeded, RateRule};
pub use reservation::{
    CoveringBudget, LostReservation, NewReservation, Payer, Reservation, Settlement, SpendKind, Spending,
};
pub use usage::{UsageBy, UsageFilter, UsageLine};
