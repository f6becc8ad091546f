//! The one door to tools. Nothing else calls a [`kybern_core::ports::Tool`].

pub mod access;
pub mod builtin;
pub mod documents;
pub mod invoke;
pub mod schema;
pub mod service;

pub use invoke::InvocationView;
pub use service::{Prepared, Refusal, ToolService};
