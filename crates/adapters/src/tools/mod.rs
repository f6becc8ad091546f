//! Tools that this crate brings.

pub mod local;
