//! Messages that leave the house. They are written by commits only.

use async_trait::async_trait;

use super::task_store::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::{OutboxId, UserId};
use crate::job::NewJob;
use crate::outbox::{Dispatch, OutboxMessage, OutboxStatus};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where outgoing messages are kept.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    async fn outbox_message(&self, scope: TenantScope, id: OutboxId) -> Result<Option<OutboxMessage>>;

    /// A page of messages, newest first, before the message with id `before`. Of conversations only what this user's
    /// sent; all when `talks_of` is `None`.
    async fn outbox(
        &self,
        scope: TenantScope,
        talks_of: Option<UserId>,
        before: Option<OutboxId>,
        limit: u32,
    ) -> Result<Page<OutboxMessage>>;

    /// Moves a message on, counting a try when it becomes `sending`; `false` when it is not in `from`. What is to be
    /// explained later about it is written with it.
    async fn move_outbox(
        &self,
        scope: TenantScope,
        id: OutboxId,
        (from, to): (OutboxStatus, OutboxStatus),
        error: Option<&str>,
        audit: Option<&AuditEvent>,
        at: Timestamp,
    ) -> Result<bool>;

    /// Lets a message leave once more that has come to its end in `from`: it is `pending` again, and has that job; `false`
    /// when it is not in `from`.
    async fn send_again(
        &self,
        scope: TenantScope,
        id: OutboxId,
        from: OutboxStatus,
        job: NewJob,
        audit: AuditEvent,
        at: Timestamp,
    ) -> Result<bool>;

    /// Looks whether the step of a delegation still waits for it, with its task's row held, and if so moves its dispatch
    /// from `pending` to `sending`, counting a try; one that is `sending` may go once more. A delegation is over once its
    /// step has ended, its task is completed or cancelled, or its deadline has come.
    async fn begin_dispatch(&self, scope: TenantScope, id: OutboxId, at: Timestamp) -> Result<Dispatch>;
}
