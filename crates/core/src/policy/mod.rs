//! Policies: where the server may connect to, whose webhooks it believes, and what it keeps out of logs.

pub mod egress;
pub mod redact;
pub mod webhook;

pub use egress::{EgressDenied, EgressPolicy};
