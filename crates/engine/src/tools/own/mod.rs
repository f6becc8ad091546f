//! Own tools: what a tenant makes itself, and how it comes into use.

mod call;
pub(crate) mod check;
mod manage;
pub(crate) mod source;

pub use manage::OwnTools;
