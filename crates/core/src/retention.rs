//! Retention: what is over is kept for a time, and then removed.

use serde::{Deserialize, Serialize};

use crate::id::TenantId;
use crate::time::Timestamp;

/// What is removed once it is over and old.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// Jobs that are done or dead.
    Jobs,
    /// Messages of the outbox that have their end: sent, kept, failed, uncertain.
    Messages,
}

impl Kept {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Jobs, Self::Messages];

    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Messages => "messages",
        }
    }
}

/// A removal, of all tenants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purge {
    /// What is removed.
    pub kept: Kept,
    /// Only what was made and over before that moment.
    pub before: Timestamp,
    /// The tenants, by name or slug, of which nothing is removed.
    pub holds: Vec<String>,
}

impl Purge {
    /// Whether nothing of that tenant may be removed.
    #[must_use]
    pub fn holds(&self, name: &str, slug: &str) -> bool {
        self.holds.iter().any(|held| held == name || held == slug)
    }
}

/// What was removed of a tenant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purged {
    /// Whose.
    pub tenant: TenantId,
    /// How much.
    pub count: u64,
}
