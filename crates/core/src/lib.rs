//! The nouns of Kybern, their pure transitions, and the ports through which everything else is reached.
//!
//! This crate is pure: no runtime, no database, no network, no clock and no randomness. What needs one of those
//! is a trait in [`ports`], implemented elsewhere and handed in by the binary.
#![deny(clippy::wildcard_enum_match_arm)]

#[macro_use]
mod words;

pub mod actor;
pub mod agent;
pub mod approval;
pub mod audit;
pub mod budget;
pub mod cache;
pub mod chat;
pub mod command;
pub mod context;
pub mod count;
pub mod digest;
pub mod document;
pub mod dossier;
pub mod error;
pub mod event;
pub mod id;
pub mod identity;
pub mod job;
pub mod json;
pub mod json_schema;
pub mod knowledge;
pub mod lesson;
pub mod list;
pub mod mail;
pub mod memory;
pub mod model;
pub mod money;
pub mod outbox;
pub mod pack;
pub mod plan;
pub mod policy;
pub mod ports;
pub mod preference;
pub mod prompt;
pub mod record;
pub mod retention;
#[cfg(feature = "schema")]
pub mod schema;
pub mod secret;
pub mod slots;
pub mod task;
pub mod tenant;
pub mod time;
pub mod tool;
pub mod trace;
