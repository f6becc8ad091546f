//! Answers that are given again: `Idempotency-Key` at the edge.

use async_trait::async_trait;

use crate::error::Result;
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};

/// What is known of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Idempotent {
    /// Nothing: it is this caller's now, go on.
    Fresh,
    /// Somebody is at it.
    InProgress,
    /// It was answered: this status and this body.
    Answered(u16, String),
    /// It was used with another body.
    OtherBody,
}

/// Where answers are kept.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Takes a key for this principal and route, or says what is known of it. A key that was taken and not answered
    /// within `stale` is taken anew, so that a crash does not block it.
    ///
    /// # Errors
    /// When the store fails.
    async fn take_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        body_hash: &str,
        stale: Millis,
        now: Timestamp,
    ) -> Result<Idempotent>;

    /// Keeps the answer for `keep`; with `None` gives the key free, so that the same operation may be tried again.
    ///
    /// # Errors
    /// When the store fails.
    async fn answer_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        answer: Option<(u16, &str)>,
        keep: Millis,
        now: Timestamp,
    ) -> Result<()>;
}
