//! The HTTP edge: what other programs may ask of the engine, and how an answer looks.
//!
//! [`router::table`] is the table of contents: one line a route, with the right that it asks for. A request passes
//! [`request`] (its id, its trace, its span, its error envelope), then [`auth`] (a key becomes an actor), then one
//! function in [`api`], which reads its input through [`extract`] and calls one method of the engine.
//!
//! This crate knows no SQL, no plan and no tool, decides nothing about tasks, and is the only place that maps error
//! codes to HTTP.
#![deny(clippy::wildcard_enum_match_arm)]

#[macro_use]
pub mod schema;
mod answers;
mod api;
mod auth;
mod body;
mod brake;
mod error;
mod extract;
mod fresh;
mod health;
mod idempotency;
mod metrics;
mod openai;
mod openapi;
mod page;
mod peer;
mod request;
pub mod router;
mod serve;
mod sse;
mod standing;
pub mod state;
mod status_page;
pub mod streams;

pub use openapi::openapi_json;
pub use peer::TrustedProxies;
pub use router::router;
pub use serve::{Connections, serve};
pub use state::{AppState, InboundSource, Limits};
