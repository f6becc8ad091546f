//! How a call fails.

use crate::error::ErrorCode;
use crate::money::Usage;
use crate::task::StepError;

/// A failed call. Whether it may have had an effect decides what happens to an `unkeyed` one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    pub code: ErrorCode,
    /// What failed, with the value it failed on, for people. No secrets.
    pub message: String,
    /// Whether another try may help.
    pub retryable: bool,
    /// Whether the outside effect may have happened although the call failed (a timeout after sending).
    pub effect_unknown: bool,
    /// Whether the call succeeded, and only its result cannot be kept.
    pub result_lost: bool,
    /// What it took of the task's budget all the same.
    pub usage: Usage,
}

impl ToolFailure {
    /// A failure that another try does not mend, and that surely had no effect.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Tool,
            message: message.into(),
            retryable: false,
            effect_unknown: false,
            result_lost: false,
            usage: Usage::default(),
        }
    }

    /// A failure that another try may mend, and that surely had no effect.
    pub fn transient(message: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::permanent(message) }
    }

    /// The same failure, of which nobody knows whether the effect happened.
    #[must_use]
    pub fn unknown(mut self) -> Self {
        self.effect_unknown = true;
        self
    }

    /// The same failure, of a call that succeeded and whose result cannot be kept.
    #[must_use]
    pub fn lost(mut self) -> Self {
        self.result_lost = true;
        self
    }

    /// The same failure, which took that much of the task's budget.
    #[must_use]
    pub fn used(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The same failure under another code.
    #[must_use]
    pub fn code(mut self, code: ErrorCode) -> Self {
        self.code = code;
        self
    }
}

impl From<ToolFailure> for StepError {
    fn from(failure: ToolFailure) -> Self {
        Self { code: failure.code, message: failure.message, retryable: failure.retryable }
    }
}
