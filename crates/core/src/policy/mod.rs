//! Policies: where the server may connect to.

pub mod egress;

pub use egress::{EgressDenied, EgressPolicy};
