//! How a call to a language model fails, and what that allows.

use super::reply::TokenUsage;
use crate::error::{Error, ErrorCode};
use crate::time::Millis;

crate::named! {
    /// What went wrong.
    pub enum ModelFailureKind {
        /// The provider does not accept the key (401, 403).
        Key = "a key that is not accepted",
        /// The provider refuses the request as it stands (400, 404, 405, 422): it would fail everywhere.
        Request = "a request that is refused",
        /// The provider does not know the model.
        UnknownModel = "an unknown model",
        /// The conversation does not fit into the model's window.
        ContextTooLong = "a conversation that is too long",
        /// The provider's filter refused the request.
        ContentFilter = "its content filter",
        /// Too many requests (429).
        RateLimited = "too many requests",
        /// No credit left at the provider: waiting does not help.
        Quota = "no credit left",
        /// The provider failed (500 to 599), or said that it is overloaded.
        Provider = "a failure of its own",
        /// No connection.
        Connect = "no connection",
        /// The egress policy closed the way.
        Denied = "a way that is closed",
        /// No first byte in time, be it that of the first byte or of all of it.
        FirstTimeout = "no answer in time",
        /// Silence between two pieces.
        BetweenTimeout = "silence within an answer",
        /// It has begun, and all of it took too long.
        WholeTimeout = "an answer that takes too long",
        /// The connection broke, or the stream ended without its end.
        Broken = "a broken connection",
        /// The answer is not what this wire format allows.
        Garbage = "an answer that cannot be read",
        /// The answer is larger than it may be.
        TooLarge = "an answer that is too large",
        /// The provider cannot do what the request asks for.
        Unsupported = "something that it cannot do",
    }
}

/// The same request may succeed at the same provider.
const RETRY: u8 = 1;
/// Another provider may do better.
const FALL_BACK: u8 = 2;
/// It speaks against the provider's health.
const SICK: u8 = 4;
/// The provider may have worked, and charged, for it.
const COST: u8 = 8;

impl ModelFailureKind {
    /// What follows from it, and the code under which callers see it.
    const fn consequences(self) -> (u8, ErrorCode) {
        match self {
            // A wrong key or a wrong request is the caller's to mend: falling back would hide it. Of a request it is the
            // request that has to change: a code that programs do not try again by themselves.
            Self::Key => (0, ErrorCode::Model),
            Self::Request | Self::UnknownModel | Self::ContextTooLong | Self::Unsupported => {
                (0, ErrorCode::Unprocessable)
            }
            Self::ContentFilter => (COST, ErrorCode::Unprocessable),
            Self::RateLimited => (RETRY | FALL_BACK, ErrorCode::RateLimited),
            Self::Quota | Self::Denied => (FALL_BACK, ErrorCode::Model),
            Self::Provider | Self::Connect => (RETRY | FALL_BACK | SICK, ErrorCode::Model),
            Self::FirstTimeout | Self::BetweenTimeout => (RETRY | FALL_BACK | SICK | COST, ErrorCode::Timeout),
            // How long all of it may take is the caller's word.
            Self::WholeTimeout => (FALL_BACK | COST, ErrorCode::Timeout),
            Self::Broken | Self::Garbage => (RETRY | FALL_BACK | SICK | COST, ErrorCode::Model),
            Self::TooLarge => (FALL_BACK | SICK | COST, ErrorCode::Model),
        }
    }

    /// Whether the same request may succeed at the same provider.
    #[must_use]
    pub const fn may_retry(self) -> bool {
        self.consequences().0 & RETRY != 0
    }

    /// Whether another provider may do better.
    #[must_use]
    pub const fn may_fall_back(self) -> bool {
        self.consequences().0 & FALL_BACK != 0
    }

    /// Whether it speaks against the provider's health, for the circuit breaker.
    #[must_use]
    pub const fn is_sickness(self) -> bool {
        self.consequences().0 & SICK != 0
    }

    /// Whether the provider may have worked, and charged, for it.
    #[must_use]
    pub const fn may_have_cost(self) -> bool {
        self.consequences().0 & COST != 0
    }

    /// The code under which callers see it.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        self.consequences().1
    }
}

/// A failed call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ModelFailure {
    /// What went wrong.
    pub kind: ModelFailureKind,
    /// Which provider was asked, by its name in the configuration.
    pub provider: String,
    /// What it said, for people: at most 500 characters without control characters, no key.
    pub message: String,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// How long the provider asks to be left alone.
    pub retry_after: Option<Millis>,
    /// What it had counted until then.
    pub usage: Option<TokenUsage>,
}

impl ModelFailure {
    /// A failure of that kind; the provider's name is set by whoever knows it.
    pub fn new(kind: ModelFailureKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.contains(char::is_control) {
            message = message.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        }
        if let Some((end, _)) = message.char_indices().nth(500) {
            message.truncate(end);
        }
        Self { kind, provider: String::new(), message, status: None, retry_after: None, usage: None }
    }

    /// The same of that provider.
    #[must_use]
    pub fn of(mut self, provider: &str) -> Self {
        provider.clone_into(&mut self.provider);
        self
    }

    /// The same with the status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same with the span after which to come again.
    #[must_use]
    pub fn retry_after(mut self, span: Option<Millis>) -> Self {
        self.retry_after = span;
        self
    }

    /// The same with what was counted.
    #[must_use]
    pub fn usage(mut self, usage: Option<TokenUsage>) -> Self {
        self.usage = usage;
        self
    }
}

impl From<ModelFailure> for Error {
    fn from(failure: ModelFailure) -> Self {
        let error = Self::new(failure.kind.code(), failure.to_string());
        match failure.retry_after {
            Some(span) => error.retry_after(span),
            None => error,
        }
    }
}
