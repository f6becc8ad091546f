//! The gateway for clients of OpenAI's API: they work unchanged, and every call is authenticated, routed, held against
//! budgets, counted and audited.
//!
//! Requests become [`kybern_core::model::ModelRequest`]s and replies are written back in the same format, whichever
//! provider has answered. Errors are those of the whole server, with the two members that OpenAI's clients look for.

mod agent;
mod chunk;
mod embedding;
mod message;
mod reply;
mod request;
mod stream;

pub(crate) use agent::{AgentMessage, completed, turn_events};
pub(crate) use embedding::{EmbeddingBody, EmbeddingCall};
pub(crate) use reply::{completion, embedding_list, model_entry, model_list};
pub(crate) use request::ChatBody;
pub(crate) use stream::events;
