//! Error codes and the one error that crosses from the engine to the edge.
//!
//! A code is never renamed and owns `docs/errors/<CODE>.md`. Only the server maps codes to HTTP.

use std::fmt;

use serde::Serialize;

use crate::time::Millis;

words! {
    /// What a program may rely on: never renamed. Each has a page under `docs/errors/`.
    pub enum ErrorCode {
        /// The input is malformed or does not fit its schema.
        Validation = "VALIDATION_ERROR",
        /// No key, or one that is unknown, expired or revoked, or a signature or a secret that does not fit.
        Unauthenticated = "UNAUTHENTICATED",
        /// The caller is known and may not do this.
        PermissionDenied = "PERMISSION_DENIED",
        /// There is no such thing, or it is another tenant's.
        NotFound = "NOT_FOUND",
        /// The thing is not in a state that allows this, or a key was used with another body.
        Conflict = "CONFLICT",
        /// The body, or something in it, is over its limit.
        PayloadTooLarge = "PAYLOAD_TOO_LARGE",
        /// Well-formed, and yet it cannot be done.
        Unprocessable = "UNPROCESSABLE",
        /// Too many requests.
        RateLimited = "RATE_LIMITED",
        /// A budget does not cover it.
        BudgetExceeded = "BUDGET_EXCEEDED",
        /// It took longer than it may.
        Timeout = "TIMEOUT",
        /// A model failed.
        Model = "MODEL_ERROR",
        /// A tool failed.
        Tool = "TOOL_ERROR",
        /// An outside workflow failed.
        Workflow = "WORKFLOW_ERROR",
        /// The server, or its database, cannot take this now.
        Unavailable = "UNAVAILABLE",
        /// A fault of the server.
        Internal = "INTERNAL_ERROR",
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

    /// The same error of something that is not to be asked again as it stands.
    #[must_use]
    pub fn without_retry(mut self) -> Self {
        self.retry = Retry::Never;
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
