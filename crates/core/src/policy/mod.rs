//! Policies: where the server may connect to, whose webhooks it believes, what users may let tools do, and what is kept
//! out of logs.

pub mod egress;
pub mod permission;
pub mod place;
pub mod redact;
pub mod sms;
pub mod webhook;

pub use egress::{EgressDenied, EgressPolicy, TRAVELLING_HEADERS};
pub use permission::{
    Autonomy, CallFacts, MAX_ENTRIES, MAX_ENTRY, PermissionLevel, PolicyDenial, Preset, ToolCategory, ToolPolicy,
};
