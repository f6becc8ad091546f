//! Answers that are given again: `Idempotency-Key` at the edge.

use async_trait::async_trait;
use uuid::Uuid;

use crate::command::Command;
use crate::error::Result;
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};

/// What is known of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Idempotent {
    /// It has no answer yet: this caller carries the command out. A repeated one was begun before, by whoever died or is
    /// still at it in another process, and goes on under the seed that was minted then.
    Taken(Command),
    /// It has no answer, and was only looked at.
    Unanswered,
    /// It was answered: this status and this body.
    Answered(u16, String),
    /// It was used with another body.
    OtherBody,
}

/// Where answers are kept.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Takes a key for this principal and route, or says what is known of it. The seed is the command's when the key
    /// is new; without one the key is only looked at. A key that was taken lives for [`crate::task::limits::KEY_LIFE`], with or without an answer.
    async fn take_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        body_hash: &str,
        seed: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Idempotent>;

    /// Keeps the answer for `keep`; with `None` gives the key free, so that it can be used for another request. It stays
    /// when it has an answer, or was taken more than once: another try may have made something.
    async fn answer_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        answer: Option<(u16, &str)>,
        keep: Millis,
        now: Timestamp,
    ) -> Result<()>;
}
