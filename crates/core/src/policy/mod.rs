//! Policies: where the server may connect to, and whose webhooks it believes.

pub mod egress;
pub mod webhook;

pub use egress::{EgressDenied, EgressPolicy, TRAVELLING_HEADERS};
