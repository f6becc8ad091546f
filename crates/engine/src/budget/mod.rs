//! The ledger at work: what was left behind, and how budgets and usage are shown and set.

mod admit;
mod leaving;
pub(crate) mod ledger;
mod queue;
mod lost;
mod manage;
pub(crate) mod tree;

pub(crate) use admit::{CallBudget, NotAdmitted};
pub(crate) use lost::LostReservations;
pub use manage::{BudgetView, Budgets, UsageSum};
