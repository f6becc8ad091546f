//! Messages, and what models are shown beside them later.

use std::borrow::Cow;

use kybern_core::agent::TurnFinish;
use kybern_core::audit::AuditEvent;
use kybern_core::chat::{Attached, Message, Speaker};
use kybern_core::id::{ChatId, MessageId, TaskId};
use kybern_core::model::ModelMessage;
use kybern_core::money::Usage;
use kybern_core::ports::{MAX_PAGE_BYTES, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::audit;
use crate::db::{Row, Sql, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::{page, retention};

statements! {
    SAY = shared "message_insert";
    MESSAGE = shared "message_get";
    MESSAGES = shared "message_list";
    BEFORE = shared "message_before";
    REDACT = shared "message_redact";
    ATTACH = shared "message_attach";
}

/// Everything of a message that is looked at only when the message is.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MessageDetails<'a> {
    #[serde(skip_serializing_if = "is_null")]
    tool_calls: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<TurnFinish>,
    #[serde(skip_serializing_if = "Usage::is_zero")]
    usage: Usage,
    #[serde(skip_serializing_if = "is_empty")]
    transcript: Cow<'a, [ModelMessage]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tainted: bool,
}

impl MessageDetails<'_> {
    /// As that statement stores it.
    fn written(&self, by: &Sql) -> Result<String> {
        let failed =
            |error: serde_json::Error| StoreError::Decode { row: by.name.to_owned(), problem: error.to_string() };
        serde_json::to_string(self).map_err(failed)
    }
}

#[expect(clippy::ptr_arg, reason = "serde hands over the field")]
fn is_null(value: &Cow<'_, Value>) -> bool {
    value.is_null()
}

#[expect(clippy::ptr_arg, reason = "serde hands over the field")]
fn is_empty(messages: &Cow<'_, [ModelMessage]>) -> bool {
    messages.is_empty()
}

fn message(row: &mut Row) -> Result<Message> {
    let (id, chat_id) = (MessageId::from_uuid(row.uuid()?), ChatId::from_uuid(row.uuid()?));
    let (role, content) = (row.named(Speaker::parse)?, row.text()?);
    let task_id = row.opt_uuid()?.map(TaskId::from_uuid);
    let body = row.json().unwrap_or_else(|error| {
        tracing::error!(message.id = %id, %error, "a message is read without what came with it");
        // Nobody knows any more what it had read.
        MessageDetails { tainted: true, ..MessageDetails::default() }
    });
    let MessageDetails { tool_calls, finish_reason, usage, transcript, tainted } = body;
    let (redacted_at, created_at) = (row.opt_time()?, row.time()?);
    Ok(Message {
        id,
        chat_id,
        role,
        content,
        task_id,
        tool_calls: tool_calls.into_owned(),
        finish_reason,
        usage,
        transcript: transcript.into_owned(),
        tainted,
        redacted_at,
        created_at,
    })
}

/// Stores a message, as one of that task.
pub(super) async fn say(tx: &mut Tx, scope: TenantScope, message: &Message, task: Option<TaskId>) -> Result<()> {
    let body = MessageDetails {
        tool_calls: Cow::Borrowed(&message.tool_calls),
        finish_reason: message.finish_reason,
        usage: message.usage,
        transcript: Cow::Borrowed(&message.transcript),
        tainted: message.tainted,
    };
    let args = args![
        scope,
        message.chat_id.as_uuid(),
        message.id.as_uuid(),
        message.role.as_str(),
        message.content.as_str(),
        task.map(TaskId::as_uuid),
        body.written(&SAY)?,
        message.redacted_at,
        message.created_at,
    ];
    tx.execute(&SAY, args).await.map(|_| ())
}

/// Keeps the files of a message, unless it was taken back.
pub(crate) async fn attach(tx: &mut Tx, scope: TenantScope, attached: &Attached) -> Result<()> {
    let body =
        MessageDetails { transcript: Cow::Borrowed(&attached.transcript), tainted: true, ..MessageDetails::default() };
    let args = args![scope, attached.chat_id.as_uuid(), attached.message_id.as_uuid(), body.written(&ATTACH)?];
    tx.execute(&ATTACH, args).await.map(|_| ())
}

pub(super) async fn one(tx: &mut Tx, scope: TenantScope, chat: ChatId, id: MessageId) -> Result<Option<Message>> {
    tx.find(&MESSAGE, args![scope, chat.as_uuid(), id.as_uuid()], message).await
}

pub(super) type MessagesAfter = (TenantScope, ChatId, Option<MessageId>, u32);

pub(super) async fn after(tx: &mut Tx, &(scope, chat, after, limit): &MessagesAfter) -> Result<Page<Message>> {
    let begin = after.map_or(Uuid::nil(), MessageId::as_uuid);
    let args = |after: Uuid, most: u32| [scope.into(), chat.as_uuid().into(), after.into(), most.into()];
    page::of_large(tx, (&MESSAGES, args), begin, (limit, MAX_PAGE_BYTES), message).await
}

pub(super) type MessagesBefore = (TenantScope, ChatId, MessageId, u32);

pub(super) async fn before(tx: &mut Tx, &(scope, chat, before, limit): &MessagesBefore) -> Result<Vec<Message>> {
    let mut said = tx.list(&BEFORE, args![scope, chat.as_uuid(), before.as_uuid(), limit], message).await?;
    said.reverse();
    Ok(said)
}

pub(super) type RedactMessage = (TenantScope, ChatId, MessageId, Timestamp, AuditEvent);

pub(super) async fn redact(tx: &mut Tx, (scope, chat, id, at, event): &RedactMessage) -> Result<bool> {
    retention::refuse_if_held(tx, *scope, *chat).await?;
    let there = tx.execute(&REDACT, args![*scope, chat.as_uuid(), id.as_uuid(), *at]).await? > 0;
    if there {
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}
