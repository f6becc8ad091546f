//! The conformance suite: what every store does, told as tests of its behaviour.
//!
//! A store's own tests call [`conformance_suite!`](crate::conformance_suite) with an async function that makes a
//! fresh, empty store. Each behaviour becomes one test on a fresh store. The in-memory store passes the kernel's part of
//! it ([`kernel_suite!`](crate::kernel_suite)), and [`model`] walks it side by side with the store under test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a behaviour's name states the fact, and a panic is its failure"
)]

pub mod agents;
pub mod approvals;
pub mod attempts;
pub mod audit;
pub mod blobs;
pub mod budgets;
pub mod callbacks;
pub mod chat_lists;
pub mod chats;
pub mod children;
pub mod claims;
pub mod commits;
pub mod dossiers;
mod fixture;
mod harness;
pub mod idempotency;
pub mod identities;
pub mod isolation;
pub mod jobs;
pub mod knowledge;
pub mod leases;
pub mod lessons;
pub mod memories;
pub mod model;
pub mod model_policies;
pub mod nouns;
pub mod outbox;
pub mod own_tools;
pub mod permissions;
pub mod plans;
pub mod preferences;
pub mod probe;
pub mod prompts;
pub mod rates;
pub mod record_history;
pub mod records;
pub mod releases;
pub mod repeats;
pub mod retention;
pub mod retention_tasks;
pub mod reviews;
pub mod secrets;
mod spoilt;
pub mod steering;
pub mod submissions;
mod suite;
pub mod tasks;
pub mod unreadable;
pub mod webhooks;

pub use fixture::{Home, World};
pub use harness::{FullHarness, Harness};
pub use spoilt::Spoilt;
