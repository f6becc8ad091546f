//! Background jobs: no plan, a handler; the same leases, retries and dedupe as tasks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::JobId;
use crate::json;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Limits of jobs.
pub mod limits {
    use crate::time::Millis;

    /// Bytes of a payload as JSON.
    pub const MAX_PAYLOAD: usize = 256 * 1024;
    /// Tries when a job names none.
    pub const DEFAULT_ATTEMPTS: u32 = 8;
    /// The longest pause after a try, or until one that was put off. What seems to wait longer was told so by a clock
    /// that was ahead.
    pub const LONGEST_PAUSE: Millis = Millis(60 * 60 * 1000);
}

words! {
    /// A job's place in life. `Dead` keeps its last error and is never claimed again.
    pub enum JobStatus {
        /// Waiting for its time.
        Pending = "pending",
        /// Its handler succeeded.
        Done = "done",
        /// Given up.
        Dead = "dead",
    }
}

/// A job to be committed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewJob {
    pub id: JobId,
    /// Which handler.
    pub kind: String,
    /// What the handler needs. Never secrets.
    pub payload: Value,
    /// At most one job per tenant, kind and key; a second one is not stored.
    pub dedupe_key: Option<String>,
    /// Tries in all.
    pub max_attempts: u32,
    /// Not before this moment.
    pub due_at: Timestamp,
}

impl NewJob {
    /// Whether it can be kept.
    ///
    /// # Errors
    /// That its payload is too large.
    pub fn check(&self) -> std::result::Result<(), String> {
        let (kind, most) = (&self.kind, limits::MAX_PAYLOAD);
        let bytes = json::bytes_of(&self.payload);
        if bytes <= most {
            Ok(())
        } else {
            Err(format!("the payload of a {kind} job has {bytes} bytes, {most} are taken"))
        }
    }
}

/// A job under a lease.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimedJob {
    pub scope: TenantScope,
    pub id: JobId,
    /// Which handler.
    pub kind: String,
    /// What the handler needs.
    pub payload: Value,
    /// Which try this is, from 1. Counted at the claim, so a handler that kills the process still runs out of tries.
    /// More than `max_attempts` when the last try came to no end.
    pub attempt: u32,
    /// Tries in all.
    pub max_attempts: u32,
    /// The lease's fence.
    pub epoch: i64,
    /// What of the row this program cannot read, and why; it is left empty here. `None` for every sound row.
    pub unreadable: Option<String>,
}

impl ClaimedJob {
    /// The scope of the job's tenant.
    #[must_use]
    pub const fn scope(&self) -> TenantScope {
        self.scope
    }
}

/// How a job's try ended.
#[derive(Clone, PartialEq, Debug)]
pub enum JobEnd {
    /// The handler succeeded.
    Done,
    /// Again at that moment.
    Retry {
        /// What went wrong.
        error: String,
        due_at: Timestamp,
    },
    /// Not tried: it has to wait for others. The try that its claim has counted is given back.
    PutOff {
        error: String,
        /// Until when.
        due_at: Timestamp,
    },
    /// Given up.
    Dead {
        /// What went wrong.
        error: String,
    },
}
