//! `[governance]`: who approves what agents are told and what tools do.

use serde::{Deserialize, Serialize};

/// Who approves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GovernanceOptions {
    /// Whether authors may approve prompts of their own, and whoever asked for a call may say yes to it where two persons
    /// are asked for. For an installation with one administrator: each such approval
    /// says so in the audit.
    pub(crate) self_approval: bool,
}
