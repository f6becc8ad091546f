//! Conversations. A user's message is stored with its task ([`crate::task::NewTask::turn`]), the answer with the end of
//! the task ([`crate::task::Effect::Answer`]); everything else about them is here.

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::chat::{Chat, Message};
use crate::error::Result;
use crate::id::{ChatId, MessageId, TaskId, UserId};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where conversations are kept.
#[async_trait]
pub trait ChatStore: Send + Sync {
    /// Begins a chat, with messages that it begins with, in the order of their ids.
    ///
    /// # Errors
    /// When the store fails; then nothing was stored.
    async fn put_chat(&self, scope: TenantScope, chat: &Chat, messages: &[Message], audit: AuditEvent) -> Result<()>;

    /// Begins a chat with a copy of another one's messages, up to and with `until`. What was taken back stays so.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no such chat, or no such message in it.
    async fn fork_chat(
        &self,
        scope: TenantScope,
        from: ChatId,
        until: Option<MessageId>,
        chat: &Chat,
        audit: AuditEvent,
    ) -> Result<()>;

    /// A chat.
    ///
    /// # Errors
    /// When the store fails. Another tenant's chat is `None`.
    async fn chat(&self, scope: TenantScope, id: ChatId) -> Result<Option<Chat>>;

    /// The chats of a user, or all, the newest first; those before `after`.
    async fn chats(
        &self,
        scope: TenantScope,
        user: Option<UserId>,
        after: Option<ChatId>,
        limit: u32,
    ) -> Result<Page<Chat>>;

    /// Deletes a chat with its messages; answers whether it was there. The tasks of its turns stay.
    ///
    /// # Errors
    /// `CONFLICT` when a task that it shows is on hold, or one of its tree.
    async fn delete_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> Result<bool>;

    /// Deletes the messages of a chat; answers whether it was there.
    ///
    /// # Errors
    /// `CONFLICT` when a task that it shows is on hold, or one of its tree.
    async fn clear_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> Result<bool>;

    /// Messages of a chat after `after`, the oldest first.
    async fn messages(
        &self,
        scope: TenantScope,
        chat: ChatId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Page<Message>>;

    async fn message(&self, scope: TenantScope, chat: ChatId, id: MessageId) -> Result<Option<Message>>;

    /// The last `limit` messages before one, the oldest first: what a model may be shown.
    async fn said_before(
        &self,
        scope: TenantScope,
        chat: ChatId,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Message>>;

    /// Takes a message back: its words are gone, that it was there stays. Answers whether it was there and had not been
    /// taken back.
    ///
    /// # Errors
    /// `CONFLICT` when a task that its chat shows is on hold, or one of its tree.
    async fn redact_message(
        &self,
        scope: TenantScope,
        chat: ChatId,
        id: MessageId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool>;

    /// The tasks of the turns of a chat that have not ended, in their order.
    async fn open_turns(&self, scope: TenantScope, chat: ChatId) -> Result<Vec<TaskId>>;
}
