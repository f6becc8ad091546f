//! The one door to tools. Nothing else calls a [`kybern_core::ports::Tool`].

pub mod access;
pub mod builtin;
pub mod catalogue;
pub mod documents;
pub mod grant;
mod only_hosts;
pub(crate) mod own;
pub(crate) mod placed;
pub mod prepared;
pub(crate) mod read_once;
mod record;
pub mod refusal;
mod schemas;
pub mod service;
pub mod setting;
pub(crate) mod taught;

pub use catalogue::{CallableTool, ToolCatalogue, ToolSnapshot};
pub(crate) use only_hosts::OnlyHosts;
pub(crate) use record::DeclaredKinds;

pub use crate::executor::hash_args;
pub use grant::{CallOrigin, Grant};
pub use own::{OwnTools, own_tool};
pub use prepared::{Asks, PreparedCall};
pub use refusal::Refusal;
pub use service::ToolService;
pub use setting::{ToolChange, ToolSettings, ToolView};
