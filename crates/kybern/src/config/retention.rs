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
    /// Tasks, with everything that belongs to them alone.
    pub(crate) tasks_days: u32,
    /// Conversations, with their messages.
    pub(crate) chats_days: u32,
    /// Messages of the outbox that have their end.
    pub(crate) messages_days: u32,
    /// Jobs that are done or dead.
    pub(crate) jobs_days: u32,
    /// Answers to idempotency keys that have expired.
    pub(crate) idempotency_keys_days: u32,
    /// Files that nothing names.
    pub(crate) files_days: u32,
    /// The tenants, by name or slug, of which nothing is removed.
    pub(crate) holds: Vec<String>,
}

impl Default for RetentionOptions {
    fn default() -> Self {
        Self {
            tasks_days: 400,
            chats_days: 1095,
            messages_days: 1095,
            jobs_days: 90,
            idempotency_keys_days: 30,
            files_days: 7,
            holds: Vec::new(),
        }
    }
}

impl RetentionOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        for (key, days) in [
            ("retention.tasks_days", self.tasks_days),
            ("retention.chats_days", self.chats_days),
            ("retention.messages_days", self.messages_days),
            ("retention.jobs_days", self.jobs_days),
            ("retention.idempotency_keys_days", self.idempotency_keys_days),
            ("retention.files_days", self.files_days),
        ] {
            if days != 0 && !(SHORTEST..=LONGEST).contains(&days) {
                faults.add(Fault::bad(key, &days, format!("is neither 0 nor between {SHORTEST} and {LONGEST}")));
            }
        }
    }

    /// What they say to the engine.
    pub(crate) fn settings(&self) -> Retention {
        let time = |days: u32| (days > 0).then(|| Millis(u64::from(days) * DAY));
        Retention {
            tasks: time(self.tasks_days),
            chats: time(self.chats_days),
            messages: time(self.messages_days),
            jobs: time(self.jobs_days),
            idempotency_keys: time(self.idempotency_keys_days),
            files: time(self.files_days),
            holds: self.holds.clone(),
        }
    }
}
