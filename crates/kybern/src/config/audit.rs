//! `[audit]`: where the signed heads of the audit chains are kept besides the database.

use std::path::PathBuf;

use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::Faults;

/// The shortest time between two rounds, in milliseconds: each reads one row of every tenant.
const SHORTEST: u64 = 1_000;
/// The longest one: a day, after which nobody remembers what was done.
const LONGEST: u64 = 24 * 60 * 60 * 1000;

/// Whoever can write the database and knows the master key can write a chain anew. Heads that were kept elsewhere show
/// it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AuditOptions {
    /// The file to which heads are added, one line of JSON each.
    pub(crate) head_file: Option<PathBuf>,
    /// Where heads are posted to. It comes from the configuration, so its address may be private.
    pub(crate) head_webhook: Option<String>,
    /// How often, in milliseconds.
    pub(crate) head_every_ms: Millis,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { head_file: None, head_webhook: None, head_every_ms: Millis::from_secs(60 * 60) }
    }
}

impl AuditOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        faults.web("audit.head_webhook", self.head_webhook.as_ref());
        faults.between("audit.head_every_ms", self.head_every_ms.0, SHORTEST..=LONGEST);
    }
}
