//! Tasks: everything that arrives.
//!
//! A task is a row, a journal of rows, and nothing that grows in place. Only the holder of its lease writes its
//! journal; everybody else leaves a [`Signal`], which the holder reads and journals.

pub mod attempt;
pub mod commit;
pub mod input;
pub mod journal;
pub mod lease;
pub mod noun_effect;
pub mod signal;
pub mod status;
pub mod wait;

pub use attempt::{Attempt, AttemptKey, RenderedArgs};
pub use commit::{Commit, CommitRefused, Committed, Delegation, Effect, NewChild, TaskChange, TaskEnding};
pub use input::{Attachment, AttachmentSource, NewAttachment, NewKind, NewTask, Submitted, Task, listed_payload};
pub use journal::{ContainerOpening, EffectClass, JournalEntry, JournalRow, StepError, StepOutcome, StepStatus};
pub use lease::{Claimed, Lease, WorkerId};
pub use noun_effect::{MemoryEffect, Noun, NounEffect, PlanEffect, SteerAction};
pub use signal::{Resolution, Signal, SignalKind};
pub use status::{Channel, TaskKind, TaskStatus};
pub use wait::{Wait, WaitKind};

/// Limits of tasks.
pub mod limits {
    use crate::time::Millis;

    /// Steps that a task may schedule when it names no cap.
    pub const DEFAULT_MAX_STEPS: u32 = 50;
    /// The largest cap that a task may name.
    pub const MAX_MAX_STEPS: u32 = 10_000;
    /// Below this confidence a person is asked, when the task names no threshold.
    pub const DEFAULT_CONFIDENCE_THRESHOLD: f64 = 0.8;
    /// Characters of a task's input that a list shows.
    pub const LISTED_INPUT: usize = 2_000;
    /// Characters of a mail's payload, as JSON, of which a list shows the sender and the subject.
    pub const LISTED_PAYLOAD: usize = 65_536;
    /// Characters of a subject that a list shows.
    pub const LISTED_SUBJECT: usize = 300;
    /// Characters of what a task waits for, as JSON, that a list shows; what is longer is left out.
    pub const LISTED_WAITS: usize = 16_384;
    /// How deep children may lie.
    pub const MAX_DEPTH: u32 = 5;
    /// How many times a task may be recovered without getting any further, before it is given up.
    pub const MAX_RECOVERIES: u32 = 5;
    /// Rows of steps without any outside effect that one commit carries at most.
    pub const STEPS_PER_COMMIT: u32 = 32;
    /// Tasks of one tenant that a process runs at once when no other tenant has work.
    pub const SLOTS: usize = 64;
    /// Jobs of one tenant that a process runs at once when no other tenant has work.
    pub const JOB_SLOTS: usize = 12;
    /// How long a lease holds without a heartbeat.
    pub const LEASE: Millis = Millis(30_000);
    /// How often a lease is renewed.
    pub const HEARTBEAT: Millis = Millis(10_000);
    /// How long one try of a step may take when neither step nor tool says.
    pub const STEP_TIMEOUT: Millis = Millis(120_000);
    /// How long a delegation may take when the step says nothing.
    pub const DELEGATION_DEADLINE: Millis = Millis(24 * 60 * 60 * 1000);
    /// Steps of one task that run at the same time.
    pub const MAX_PARALLEL: usize = 16;
    /// Bytes of a task's input text.
    pub const MAX_INPUT: usize = 4 * 1024 * 1024;
    /// Bytes of a task's payload as JSON.
    pub const MAX_PAYLOAD: usize = 4 * 1024 * 1024;
    /// Bytes of one step's data as JSON.
    pub const MAX_STEP_DATA: usize = 4 * 1024 * 1024;
    /// Bytes of memory, about, of what all steps of one task have made: whoever walks it has all of it.
    pub const MAX_TASK_DATA: usize = 64 * 1024 * 1024;
    /// How long a caller's idempotency key lives.
    pub const KEY_LIFE: Millis = Millis(24 * 60 * 60 * 1000);
    /// How long `waitMs` may wait.
    pub const MAX_WAIT: Millis = Millis(60_000);
}
