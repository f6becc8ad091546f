//! When, and in what order: the engine. It owns no SQL and no HTTP; it reaches everything through the ports of the
//! core.
//!
//! Nothing here calls up: progress is written to the journal, and whoever wants to show it follows the journal.

pub mod agent;
pub mod approval;
pub mod audit;
mod beside;
mod breaker;
pub mod budget;
pub mod chat;
mod check;
mod clock;
mod command;
pub mod context;
pub mod dossier;
pub mod events;
pub mod executor;
mod fence;
pub mod identity;
pub mod intake;
pub mod invocation;
pub mod jobs;
pub mod knowledge;
pub mod lesson;
mod made;
pub mod memory;
pub mod meter;
pub mod models;
pub mod outbox;
pub mod parts;
pub mod plan;
pub mod plans;
pub mod preference;
pub mod prompt;
pub mod readiness;
pub mod record;
pub mod retention;
pub mod schema;
pub mod secret;
pub mod settings;
mod size;
mod slots;
mod steps;
pub mod task;
pub mod templates;
pub mod tools;
mod trouble;
pub mod understanding;
pub mod worker;

pub use parts::{Engine, EngineParts, StartError};
pub use settings::{Settings, WorkflowEndpoint};
