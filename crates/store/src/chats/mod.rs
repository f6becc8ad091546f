//! Conversations: chats, messages, and the turns that have not ended. A user's message and its turn are written with the
//! task, the answer with the task's end; whoever writes to a chat's turns holds the chat's row, and before it the rows of
//! the tasks that they know.

pub(crate) mod message;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::chat::{Chat, MAX_WAITING, Message, NewTurn, TurnRef};
use kybern_core::error::Result as PortResult;
use kybern_core::id::{ChatId, MessageId, TaskId, UserId};
use kybern_core::ports::{ChatStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use self::message::{after, before, one, redact, say};
use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, retention};

pub(crate) use message::attach;

statements! {
    INSERT = shared "chat_insert";
    GET = shared "chat_get";
    LIST = shared "chat_list";
    LIST_USER = shared "chat_list_user";
    TOUCH = shared "chat_touch";
    ANSWERED = shared "chat_answered";
    DELETE = shared "chat_delete";
    COPY = shared "message_copy";
    CLEAR = shared "message_delete_all";
    TURN = shared "turn_insert";
    OPEN = shared "turn_open";
    END = shared "turn_end";
    NEXT = shared "turn_next";
    LAST = shared "message_last";
    UNSAY = shared "message_delete";
    FORGET = shared "turn_delete_all";
    HOLD_BACK = shared "task_hold_back";
    LET_BEGIN = shared "task_let_begin";
    CANCEL = shared "task_cancel";
}

fn chat(row: &mut Row) -> Result<Chat> {
    Ok(Chat {
        id: ChatId::from_uuid(row.uuid()?),
        user_id: row.opt_uuid()?.map(UserId::from_uuid),
        agent: row.opt_text()?,
        title: row.text()?,
        forked_from: row.opt_uuid()?.map(ChatId::from_uuid),
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

/// Notes that something is said in a chat. Its row is this transaction's from here on.
async fn hold(tx: &mut Tx, scope: TenantScope, chat: ChatId, at: Timestamp) -> Result<bool> {
    Ok(tx.execute(&TOUCH, args![scope, chat.as_uuid(), at]).await? > 0)
}

/// Looks whether a turn can be taken at once; the chat is held from here on.
pub(crate) async fn must_wait(tx: &mut Tx, scope: TenantScope, new: &NewTurn) -> Result<bool> {
    let chat = new.turn.chat_id;
    if !hold(tx, scope, chat, new.message.created_at).await? {
        return Err(StoreError::not_found("chat", chat));
    }
    let open = tx.fetch_all(&OPEN, args![scope, chat.as_uuid()]).await?.len();
    if open > usize::try_from(MAX_WAITING).unwrap_or(usize::MAX) {
        let message = format!("{MAX_WAITING} messages of this chat wait already: wait until one is answered");
        return Err(StoreError::Busy(message));
    }
    Ok(open > 0)
}

/// Stores what the user says, and its turn; one that has to wait is not claimable until its time comes.
pub(crate) async fn begin(tx: &mut Tx, scope: TenantScope, task: TaskId, new: &NewTurn, waits: bool) -> Result<()> {
    say(tx, scope, &new.message, Some(task)).await?;
    let (chat, message) = (new.turn.chat_id.as_uuid(), new.turn.message_id.as_uuid());
    tx.execute(&TURN, args![scope, task.as_uuid(), chat, message, waits]).await?;
    if waits {
        tx.execute(&HOLD_BACK, args![scope, task.as_uuid()]).await?;
    }
    Ok(())
}

/// Lets a turn that failed be taken once more, in its old place: its answer goes, and the next end of its task leaves
/// another one under the same id. Only the last turn of a chat: what was said since was said after the answer.
pub(crate) async fn take_again(
    tx: &mut Tx,
    scope: TenantScope,
    task: TaskId,
    turn: &TurnRef,
    at: Timestamp,
) -> Result<()> {
    let chat = turn.chat_id.as_uuid();
    let said = match hold(tx, scope, turn.chat_id, at).await? {
        true => one(tx, scope, turn.chat_id, turn.message_id).await?,
        false => None,
    };
    if said.is_none_or(|said| said.redacted_at.is_some()) {
        let message = "the message that it answers was taken back or cleared: send it again";
        return Err(StoreError::Conflict(message.to_owned()));
    }
    if tx.find(&LAST, args![scope, chat], Row::uuid).await? != Some(turn.answer_id.as_uuid()) {
        let message = "something else was said in its conversation since: say it again";
        return Err(StoreError::Conflict(message.to_owned()));
    }
    tx.execute(&UNSAY, args![scope, chat, turn.answer_id.as_uuid()]).await?;
    tx.execute(&TURN, args![scope, task.as_uuid(), chat, turn.message_id.as_uuid(), false]).await.map(|_| ())
}

/// Stores an answer with the end of its task, and lets the next turn begin.
pub(crate) async fn answer(
    tx: &mut Tx,
    scope: TenantScope,
    task: TaskId,
    answer: &Message,
    at: Timestamp,
) -> Result<()> {
    let chat = answer.chat_id.as_uuid();
    // The chat's row is this transaction's from here on. A turn that was forgotten says nothing, so nothing changes.
    if tx.execute(&ANSWERED, args![scope, chat, at, task.as_uuid()]).await? == 0
        || tx.execute(&END, args![scope, chat, task.as_uuid()]).await? == 0
    {
        return Ok(());
    }
    say(tx, scope, answer, Some(task)).await?;
    if let Some(mut next) = tx.fetch_optional(&NEXT, args![scope, chat]).await? {
        tx.execute(&LET_BEGIN, args![scope, next.uuid()?, at]).await?;
        tx.wake();
    }
    Ok(())
}

async fn insert(tx: &mut Tx, scope: TenantScope, chat: &Chat) -> Result<()> {
    let args = args![
        scope,
        chat.id.as_uuid(),
        chat.user_id.map(UserId::as_uuid),
        chat.agent.as_deref(),
        chat.title.as_str(),
        chat.forked_from.map(ChatId::as_uuid),
        chat.created_at,
        chat.updated_at,
    ];
    tx.execute(&INSERT, args).await.map(|_| ())
}

type PutChat = (TenantScope, Chat, Vec<Message>, AuditEvent);

async fn put(tx: &mut Tx, (scope, chat, messages, event): &PutChat) -> Result<()> {
    insert(tx, *scope, chat).await?;
    for message in messages {
        say(tx, *scope, message, message.task_id).await?;
    }
    audit::append(tx, *scope, chat.created_at, event).await
}

type ForkChat = (TenantScope, ChatId, Option<MessageId>, Chat, AuditEvent);

async fn fork(tx: &mut Tx, (scope, from, until, chat, event): &ForkChat) -> Result<()> {
    let scope = *scope;
    if get(tx, scope, *from).await?.is_none() {
        return Err(StoreError::not_found("chat", from));
    }
    if let Some(until) = until
        && one(tx, scope, *from, *until).await?.is_none()
    {
        return Err(StoreError::not_found("message", until));
    }
    insert(tx, scope, chat).await?;
    let until = until.map_or(Uuid::max(), MessageId::as_uuid);
    tx.execute(&COPY, args![scope, from.as_uuid(), chat.id.as_uuid(), until]).await?;
    audit::append(tx, scope, chat.created_at, event).await
}

async fn get(tx: &mut Tx, scope: TenantScope, id: ChatId) -> Result<Option<Chat>> {
    tx.find(&GET, args![scope, id.as_uuid()], chat).await
}

type ListChats = (TenantScope, Option<UserId>, Option<ChatId>, u32);

async fn list(tx: &mut Tx, &(scope, user, after, limit): &ListChats) -> Result<Page<Chat>> {
    let (limit, before) = (limit.clamp(1, 200), after.map_or(Uuid::max(), ChatId::as_uuid));
    let items = match user {
        Some(user) => tx.list(&LIST_USER, args![scope, before, limit + 1, user.as_uuid()], chat).await?,
        None => tx.list(&LIST, args![scope, before, limit + 1], chat).await?,
    };
    Ok(crate::page::cut(items, limit, |chat| chat.id.to_string()))
}

type ChatAct = (TenantScope, ChatId, Timestamp, AuditEvent);

/// Wants all turns of a chat to end that have not, and holds the chat. Its tasks come first, as they do where a turn
/// ends; what was said meanwhile comes after it.
async fn stop_turns(tx: &mut Tx, scope: TenantScope, id: ChatId, at: Timestamp) -> Result<bool> {
    retention::refuse_if_held(tx, scope, id).await?;
    let mut stopped = Vec::new();
    for holds in [false, true] {
        if holds && !hold(tx, scope, id, at).await? {
            return Ok(false);
        }
        for task in open(tx, scope, id).await? {
            if !stopped.contains(&task) {
                tx.execute(&CANCEL, args![scope, task.as_uuid(), at]).await?;
                tx.wake();
                stopped.push(task);
            }
        }
    }
    Ok(true)
}

/// Removes a chat that is held, with everything in it.
pub(crate) async fn remove(tx: &mut Tx, scope: TenantScope, id: ChatId) -> Result<()> {
    for sql in [&FORGET, &CLEAR, &DELETE] {
        tx.execute(sql, args![scope, id.as_uuid()]).await?;
    }
    Ok(())
}

async fn delete(tx: &mut Tx, (scope, id, at, event): &ChatAct) -> Result<bool> {
    let there = stop_turns(tx, *scope, *id, *at).await?;
    if there {
        remove(tx, *scope, *id).await?;
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

async fn clear(tx: &mut Tx, (scope, id, at, event): &ChatAct) -> Result<bool> {
    let there = stop_turns(tx, *scope, *id, *at).await?;
    if there {
        // A turn that is forgotten leaves no answer behind.
        for sql in [&FORGET, &CLEAR] {
            tx.execute(sql, args![*scope, id.as_uuid()]).await?;
        }
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

async fn open(tx: &mut Tx, scope: TenantScope, chat: ChatId) -> Result<Vec<TaskId>> {
    tx.list(&OPEN, args![scope, chat.as_uuid()], |row| row.uuid().map(TaskId::from_uuid)).await
}

#[async_trait]
impl<D: 'static> ChatStore for SqlStore<D> {
    async fn put_chat(
        &self,
        scope: TenantScope,
        chat: &Chat,
        messages: &[Message],
        audit: AuditEvent,
    ) -> PortResult<()> {
        let args = (scope, chat.clone(), messages.to_vec(), audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(put(tx, args))).await?)
    }

    async fn fork_chat(
        &self,
        scope: TenantScope,
        from: ChatId,
        until: Option<MessageId>,
        chat: &Chat,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let args = (scope, from, until, chat.clone(), audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(fork(tx, args))).await?)
    }

    async fn chat(&self, scope: TenantScope, id: ChatId) -> PortResult<Option<Chat>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn chats(
        &self,
        scope: TenantScope,
        user: Option<UserId>,
        after: Option<ChatId>,
        limit: u32,
    ) -> PortResult<Page<Chat>> {
        Ok(self.read(scope, (scope, user, after, limit), |tx, args| Box::pin(list(tx, args))).await?)
    }

    async fn delete_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> PortResult<bool> {
        Ok(self.write(scope, (scope, id, at, audit), |tx, args| Box::pin(delete(tx, args))).await?)
    }

    async fn clear_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> PortResult<bool> {
        Ok(self.write(scope, (scope, id, at, audit), |tx, args| Box::pin(clear(tx, args))).await?)
    }

    async fn messages(
        &self,
        scope: TenantScope,
        chat: ChatId,
        since: Option<MessageId>,
        limit: u32,
    ) -> PortResult<Page<Message>> {
        Ok(self.read(scope, (scope, chat, since, limit), |tx, args| Box::pin(after(tx, args))).await?)
    }

    async fn message(&self, scope: TenantScope, chat: ChatId, id: MessageId) -> PortResult<Option<Message>> {
        let args = (scope, chat, id);
        Ok(self.read_few(scope, args, |tx, (scope, chat, id)| Box::pin(one(tx, *scope, *chat, *id))).await?)
    }

    async fn said_before(
        &self,
        scope: TenantScope,
        chat: ChatId,
        until: MessageId,
        limit: u32,
    ) -> PortResult<Vec<Message>> {
        // A hundred messages at most, where they lie together.
        Ok(self.read_few(scope, (scope, chat, until, limit), |tx, args| Box::pin(before(tx, args))).await?)
    }

    async fn redact_message(
        &self,
        scope: TenantScope,
        chat: ChatId,
        id: MessageId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        let args = (scope, chat, id, at, audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(redact(tx, args))).await?)
    }

    async fn open_turns(&self, scope: TenantScope, chat: ChatId) -> PortResult<Vec<TaskId>> {
        Ok(self.read_few(scope, (scope, chat), |tx, (scope, chat)| Box::pin(open(tx, *scope, *chat))).await?)
    }
}
