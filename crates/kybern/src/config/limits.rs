//! `[limits]`: what a task may take when it does not say.

use kybern_core::task::limits;
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// Limits of a task and its steps.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitOptions {
    /// Steps that a task may schedule.
    pub(crate) max_steps: u32,
    /// How long one try of a step may take, in milliseconds.
    pub(crate) step_timeout_ms: Millis,
    /// How long an outside engine may take to answer, in milliseconds.
    pub(crate) delegation_deadline_ms: Millis,
    /// How long a call waits for a person's yes, in milliseconds.
    pub(crate) approval_ms: Millis,
}

impl Default for LimitOptions {
    fn default() -> Self {
        Self {
            max_steps: limits::DEFAULT_MAX_STEPS,
            step_timeout_ms: limits::STEP_TIMEOUT,
            delegation_deadline_ms: limits::DELEGATION_DEADLINE,
            approval_ms: kybern_core::approval::TIME_TO_ANSWER,
        }
    }
}

impl LimitOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        faults.between("limits.max_steps", self.max_steps, 1..=limits::MAX_MAX_STEPS);
        for (key, span) in [
            ("limits.step_timeout_ms", self.step_timeout_ms),
            ("limits.delegation_deadline_ms", self.delegation_deadline_ms),
            ("limits.approval_ms", self.approval_ms),
        ] {
            if span == Millis(0) {
                faults.add(Fault::bad(key, &span.0, "is not at least 1 ms"));
            }
        }
    }
}
