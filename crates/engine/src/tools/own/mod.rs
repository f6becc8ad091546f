//! Own tools: what a tenant makes itself, and how it comes into use.

pub(crate) mod check;
mod manage;
