//! `[retention]`: how long what is over is kept.

use kybern_core::time::Millis;
use kybern_engine::retention::Retention;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// The shortest time, in days: anything younger may be needed to drop a repeat.
const SHORTEST: u32 = 7;
/// The longest time, in days: a hundred years.
const LONGEST: u32 = 36_500;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Days by kind; 0 keeps it for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetentionOptions {
    /// Jobs that are done or dead.
    pub(crate) jobs_days: u32,
    /// Messages of the outbox that have their end.
    pub(crate) messages_days: u32,
    /// The tenants, by name or slug, of which nothing is removed.
    pub(crate) holds: Vec<String>,
}

impl Default for RetentionOptions {
    fn default() -> Self {
        Self { jobs_days: 90, messages_days: 1095, holds: Vec::new() }
    }
}

impl RetentionOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        for (key, days) in [("retention.jobs_days", self.jobs_days), ("retention.messages_days", self.messages_days)] {
            if days != 0 && !(SHORTEST..=LONGEST).contains(&days) {
                faults.add(Fault::bad(key, &days, format!("is neither 0 nor between {SHORTEST} and {LONGEST}")));
            }
        }
    }

    /// What they say to the engine.
    pub(crate) fn settings(&self) -> Retention {
        let time = |days: u32| (days > 0).then(|| Millis(u64::from(days) * DAY));
        Retention { jobs: time(self.jobs_days), messages: time(self.messages_days), holds: self.holds.clone() }
    }
}
