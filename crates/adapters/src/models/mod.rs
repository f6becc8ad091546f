//! Models: what answers when Kybern asks what somebody wants, or what a document says, the embedding model that is
//! built in, and the language models of providers, each behind its own wire format.

pub mod builtin;
pub mod offline;
pub mod provider;
pub mod quirks;
pub mod registry;
mod secret;
pub mod tokens;
pub mod wire;

pub use self::provider::{Provider, ProviderConfig, ProviderError};
pub use self::secret::Secret;
