//! Error codes and the one error that crosses from the engine to the edge.
//!
//! A code is never renamed and owns `docs/errors/<CODE>.md`. Only the server maps codes to HTTP.

use std::fmt;

use serde::Serialize;

use crate::time::Millis;

/// What went wrong, as a program may rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorCode {
    /// The input is malformed or does not fit its schema.
    Validation,
    /// No key, or one that is unknown, expired or revoked, or a signature or a secret that does not fit.
    Unauthenticated,
    /// The caller is known and may not do this.
    PermissionDenied,
    /// There is no such thing, or it is another tenant's.
    NotFound,
    /// The thing is not in a state that allows this, or a key was used with another body.
    Conflict,
    /// The body, or something in it, is over its limit.
    PayloadTooLarge,
    /// Well-formed, and yet it cannot be done.
    Unprocessable,
    /// Too many requests.
    RateLimited,
    /// A budget does not cover it.
    BudgetExceeded,
    /// It took longer than it may.
    Timeout,
    /// A model failed.
    Model,
    /// A tool failed.
    Tool,
    /// An outside workflow failed.
    Workflow,
    /// The server, or its database, cannot take this now.
    Unavailable,
    /// A fault of the server.
    Internal,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 15] = [
        Self::Validation,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::NotFound,
        Self::Conflict,
        Self::PayloadTooLarge,
        Self::Unprocessable,
        Self::RateLimited,
        Self::BudgetExceeded,
        Self::Timeout,
        Self::Model,
        Self::Tool,
        Self::Workflow,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The code's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "VALIDATION_ERROR",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::Unprocessable => "UNPROCESSABLE",
            Self::RateLimited => "RATE_LIMITED",
            Self::BudgetExceeded => "BUDGET_EXCEEDED",
            Self::Timeout => "TIMEOUT",
            Self::Model => "MODEL_ERROR",
            Self::Tool => "TOOL_ERROR",
            Self::Workflow => "WORKFLOW_ERROR",
            Self::Unavailable => "UNAVAILABLE",
            Self::Internal => "INTERNAL_ERROR",
        }
    }

    /// The code with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for ErrorCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is no error code")))
    }
}

/// Whether, and when, the same call may succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// Not as it stands.
    Never,
    /// As it is, after that span.
    After(Millis),
}

/// One fault in an input: where it is and what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, serde::Deserialize)]
pub struct Detail {
    /// JSON pointer into the input, empty for the whole; of a fact, its name.
    pub path: String,
    /// What is wrong there, and the remedy.
    pub message: String,
}

impl Detail {
    /// A fault at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// An error that a caller at the edge can act on.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    code: ErrorCode,
    message: String,
    details: Vec<Detail>,
    retry: Retry,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error with a code and a sentence that says what failed and the remedy.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let retry = match code {
            ErrorCode::Unavailable | ErrorCode::RateLimited => Retry::After(Millis::from_secs(1)),
            ErrorCode::Validation
            | ErrorCode::Unauthenticated
            | ErrorCode::PermissionDenied
            | ErrorCode::NotFound
            | ErrorCode::Conflict
            | ErrorCode::PayloadTooLarge
            | ErrorCode::Unprocessable
            | ErrorCode::BudgetExceeded
            | ErrorCode::Timeout
            | ErrorCode::Model
            | ErrorCode::Tool
            | ErrorCode::Workflow
            | ErrorCode::Internal => Retry::Never,
        };
        Self { code, message: message.into(), details: Vec::new(), retry, source: None }
    }

    /// A `VALIDATION_ERROR` about one field.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        let detail = Detail::new(path, message);
        Self::new(ErrorCode::Validation, detail.message.clone()).with_details(vec![detail])
    }

    /// A `NOT_FOUND` about a noun, for instance `task`.
    #[must_use]
    pub fn not_found(noun: &str, id: impl fmt::Display) -> Self {
        Self::new(ErrorCode::NotFound, format!("there is no {noun} {id}"))
    }

    /// The same error with details.
    #[must_use]
    pub fn with_details(mut self, details: Vec<Detail>) -> Self {
        self.details = details;
        self
    }

    /// The same error with its cause, which is logged and never shown.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// The same error with another retry hint.
    #[must_use]
    pub fn retry_after(mut self, span: Millis) -> Self {
        self.retry = Retry::After(span);
        self
    }

    /// The same error whose faults lie elsewhere: what was at `from` is at `to`.
    #[must_use]
    pub fn moved(mut self, from: &str, to: &str) -> Self {
        for detail in &mut self.details {
            if let Some(rest) = detail.path.strip_prefix(from) {
                detail.path = format!("{to}{rest}");
            }
        }
        self
    }

    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The faults, one by one.
    #[must_use]
    pub fn details(&self) -> &[Detail] {
        &self.details
    }
}

/// What the engine and the ports answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;
