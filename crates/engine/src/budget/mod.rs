//! The ledger at work: what was left behind, and how budgets and usage are shown and set.

mod admit;
mod leaving;
pub(crate) mod ledger;
mod lost;
mod manage;
mod queue;
pub(crate) mod tree;

pub(crate) use admit::{CallBudget, NotAdmitted};
pub(crate) use lost::LostReservations;
pub use manage::{BudgetView, Budgets, UsageSum};
