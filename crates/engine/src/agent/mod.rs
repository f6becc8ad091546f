//! Agents: which a tenant has, and which of them a message chooses.

pub mod manage;
mod merge;
pub mod tools;

pub(crate) use merge::MergedAgents;
pub use tools::AgentTools;
