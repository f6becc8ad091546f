//! What answers look like, for the OpenAPI document. The values themselves are the engine's and the core's, which know
//! nothing of OpenAPI; the tests hold real answers against these shapes, so that neither drifts from the other.

pub mod agent;
pub mod approval;
pub mod audit;
pub mod budget;
pub mod chat;
pub mod event;
pub mod identity;
pub mod inbound;
pub mod knowledge;
pub mod lesson;
pub mod memory;
pub mod model;
pub mod operation;
pub mod own_tool;
pub mod permission;
pub mod plan;
pub mod preference;
pub mod prompt;
pub mod record;
pub mod retention;
pub mod secret;
pub mod task;
pub mod texts;
pub mod tool;
pub mod words;
