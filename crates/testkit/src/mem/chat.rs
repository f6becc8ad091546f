//! Conversations.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::chat::{Attached, Chat, MAX_WAITING, Message, NewTurn, TurnRef};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{ChatId, MessageId, TaskId, TenantId, UserId};
use kybern_core::money::Usage;
use kybern_core::ports::{ChatStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::Value;

use super::MemStore;
use super::state::{State, conflict};
use super::task::{page, page_of_large};

/// A turn that has not ended.
pub(super) struct OpenTurn {
    pub(super) chat: ChatId,
    pub(super) message: MessageId,
    pub(super) waits: bool,
}

impl State {
    /// Whether a turn has to wait.
    pub(super) fn must_wait(&mut self, tenant: TenantId, new: &NewTurn) -> Result<bool> {
        let chat = new.turn.chat_id;
        let known = self.chats.get_mut(&(tenant, chat)).ok_or_else(|| Error::not_found("chat", chat))?;
        let open = self.turns.iter().filter(|((owner, _), turn)| *owner == tenant && turn.chat == chat).count();
        if open > MAX_WAITING as usize {
            let message = format!("{MAX_WAITING} messages of this chat wait already: wait until one is answered");
            return Err(Error::new(ErrorCode::RateLimited, message));
        }
        known.updated_at = new.message.created_at;
        Ok(open > 0)
    }

    pub(super) fn begin_turn(&mut self, (tenant, task): (TenantId, TaskId), new: &NewTurn, waits: bool) {
        let message = Message { task_id: Some(task), ..new.message.clone() };
        self.messages.insert((tenant, message.chat_id, message.id), message);
        let turn = OpenTurn { chat: new.turn.chat_id, message: new.turn.message_id, waits };
        self.turns.insert((tenant, task), turn);
        if waits && let Some(row) = self.tasks.get_mut(&task) {
            row.claimable_at = None;
        }
    }

    pub(super) fn answer_turn(&mut self, (tenant, task): (TenantId, TaskId), answer: Message, at: Timestamp) {
        let chat = answer.chat_id;
        let Some(known) = self.chats.get_mut(&(tenant, chat)) else { return };
        if self.turns.remove(&(tenant, task)).is_none() {
            return;
        }
        known.updated_at = at;
        self.messages.insert((tenant, chat, answer.id), Message { task_id: Some(task), ..answer });
        let open = self.turns.iter_mut().filter(|((owner, _), turn)| *owner == tenant && turn.chat == chat);
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|(_, turn)| turn.message);
        let next = if open.iter().all(|(_, turn)| turn.waits) { open.into_iter().next() } else { None };
        if let Some(((_, next), turn)) = next {
            turn.waits = false;
            let next = *next;
            self.let_begin(next, at);
        }
    }

    /// Lets a turn that failed be taken once more: its answer goes.
    pub(super) fn take_again(
        &mut self,
        (tenant, task): (TenantId, TaskId),
        turn: TurnRef,
        at: Timestamp,
    ) -> Result<()> {
        let chat = turn.chat_id;
        let said = self.messages.get(&(tenant, chat, turn.message_id));
        let known = self.chats.get_mut(&(tenant, chat)).filter(|_| said.is_some_and(|said| said.redacted_at.is_none()));
        let Some(known) = known else {
            return Err(conflict("what it answers is no longer in its conversation: say it again".to_owned()));
        };
        let of_chat = |place: &&(TenantId, ChatId, MessageId)| place.0 == tenant && place.1 == chat;
        let last = self.messages.keys().filter(of_chat).map(|(_, _, id)| *id).max();
        if last != Some(turn.answer_id) {
            return Err(conflict("something else was said in its conversation since: say it again".to_owned()));
        }
        known.updated_at = at;
        self.messages.remove(&(tenant, chat, turn.answer_id));
        self.turns.insert((tenant, task), OpenTurn { chat, message: turn.message_id, waits: false });
        Ok(())
    }

    /// Keeps what came with a message that was not taken back.
    pub(super) fn attach(&mut self, tenant: TenantId, attached: Attached) {
        let known = self.messages.get_mut(&(tenant, attached.chat_id, attached.message_id));
        if let Some(message) = known.filter(|message| message.redacted_at.is_none()) {
            (message.transcript, message.tainted) = (attached.transcript, true);
        }
    }

    fn let_begin(&mut self, task: TaskId, at: Timestamp) {
        let now = self.moment(at);
        let row = self.tasks.get_mut(&task);
        if let Some(row) = row.filter(|row| row.lease_owner.is_none() && row.claimable_at.is_none()) {
            row.claimable_at = Some(now);
        }
    }

    /// Wants all turns of a chat to end that have not, and forgets them.
    fn stop_turns(&mut self, tenant: TenantId, chat: ChatId, at: Timestamp) {
        let of = |owner: TenantId, turn: &OpenTurn| owner == tenant && turn.chat == chat;
        let open = self.turns.iter().filter(|((owner, _), turn)| of(*owner, turn)).map(|((_, task), _)| *task);
        for task in open.collect::<Vec<_>>() {
            if let Some(row) = self.tasks.get_mut(&task).filter(|row| !row.task.status.is_terminal()) {
                row.task.cancel_requested = true;
                row.task.paused_at = None;
                row.make_due(at);
            }
        }
        self.turns.retain(|(owner, _), turn| !of(*owner, turn));
    }

    fn messages_of(&self, scope: TenantScope, chat: ChatId) -> impl DoubleEndedIterator<Item = &Message> {
        let own = move |place: &(TenantId, ChatId, MessageId)| place.0 == scope.tenant() && place.1 == chat;
        self.messages.iter().filter(move |(place, _)| own(place)).map(|(_, message)| message)
    }

    fn forget_messages(&mut self, scope: TenantScope, chat: ChatId) {
        self.messages.retain(|(tenant, owner, _), _| *tenant != scope.tenant() || *owner != chat);
    }
}

#[async_trait]
impl ChatStore for MemStore {
    async fn put_chat(&self, scope: TenantScope, chat: &Chat, messages: &[Message], audit: AuditEvent) -> Result<()> {
        self.run("put_chat", |state| {
            state.chats.insert((scope.tenant(), chat.id), chat.clone());
            for message in messages {
                state.messages.insert((scope.tenant(), chat.id, message.id), message.clone());
            }
            state.append_audit(scope.tenant(), chat.created_at, audit);
            Ok(())
        })
        .await
    }

    async fn fork_chat(
        &self,
        scope: TenantScope,
        from: ChatId,
        until: Option<MessageId>,
        chat: &Chat,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("fork_chat", |state| {
            if !state.chats.contains_key(&(scope.tenant(), from)) {
                return Err(Error::not_found("chat", from));
            }
            if let Some(until) = until
                && !state.messages.contains_key(&(scope.tenant(), from, until))
            {
                return Err(Error::not_found("message", until));
            }
            let taken = state.messages_of(scope, from).filter(|message| until.is_none_or(|until| message.id <= until));
            let copies: Vec<Message> = taken.cloned().map(|message| Message { chat_id: chat.id, ..message }).collect();
            state.chats.insert((scope.tenant(), chat.id), chat.clone());
            for message in copies {
                state.messages.insert((scope.tenant(), chat.id, message.id), message);
            }
            state.append_audit(scope.tenant(), chat.created_at, audit);
            Ok(())
        })
        .await
    }

    async fn chat(&self, scope: TenantScope, id: ChatId) -> Result<Option<Chat>> {
        self.run("chat", |state| Ok(state.chats.get(&(scope.tenant(), id)).cloned())).await
    }

    async fn chats(
        &self,
        scope: TenantScope,
        user: Option<UserId>,
        after: Option<ChatId>,
        limit: u32,
    ) -> Result<Page<Chat>> {
        self.run("chats", |state| {
            let own = state.chats.iter().rev().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let wanted = own.map(|(_, chat)| chat).filter(|chat| {
                user.is_none_or(|user| chat.user_id == Some(user)) && after.is_none_or(|after| chat.id < after)
            });
            Ok(page(wanted.cloned(), limit, |chat| chat.id.to_string()))
        })
        .await
    }

    async fn delete_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> Result<bool> {
        self.run("delete_chat", |state| {
            state.refuse_if_held(scope.tenant(), id)?;
            let there = state.chats.remove(&(scope.tenant(), id)).is_some();
            if there {
                state.forget_messages(scope, id);
                state.stop_turns(scope.tenant(), id, at);
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(there)
        })
        .await
    }

    async fn clear_chat(&self, scope: TenantScope, id: ChatId, at: Timestamp, audit: AuditEvent) -> Result<bool> {
        self.run("clear_chat", |state| {
            state.refuse_if_held(scope.tenant(), id)?;
            let there = state.chats.contains_key(&(scope.tenant(), id));
            if there {
                state.forget_messages(scope, id);
                state.stop_turns(scope.tenant(), id, at);
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(there)
        })
        .await
    }

    async fn messages(
        &self,
        scope: TenantScope,
        chat: ChatId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Page<Message>> {
        self.run("messages", |state| {
            let wanted = state.messages_of(scope, chat).filter(|one| after.is_none_or(|after| one.id > after));
            Ok(page_of_large(wanted.cloned(), limit, |message| message.id.to_string()))
        })
        .await
    }

    async fn message(&self, scope: TenantScope, chat: ChatId, id: MessageId) -> Result<Option<Message>> {
        self.run("message", |state| Ok(state.messages.get(&(scope.tenant(), chat, id)).cloned())).await
    }

    async fn said_before(
        &self,
        scope: TenantScope,
        chat: ChatId,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Message>> {
        self.run("said_before", |state| {
            let earlier = state.messages_of(scope, chat).rev().filter(|message| message.id < before);
            let mut said: Vec<Message> = earlier.take(limit as usize).cloned().collect();
            said.reverse();
            Ok(said)
        })
        .await
    }

    async fn redact_message(
        &self,
        scope: TenantScope,
        chat: ChatId,
        id: MessageId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool> {
        self.run("redact_message", |state| {
            state.refuse_if_held(scope.tenant(), chat)?;
            let known = state.messages.get_mut(&(scope.tenant(), chat, id));
            let Some(message) = known.filter(|message| message.redacted_at.is_none()) else { return Ok(false) };
            message.content = String::new();
            (message.tool_calls, message.transcript) = (Value::Null, Vec::new());
            (message.finish_reason, message.usage, message.tainted) = (None, Usage::default(), false);
            message.redacted_at = Some(at);
            state.append_audit(scope.tenant(), at, audit);
            Ok(true)
        })
        .await
    }

    async fn open_turns(&self, scope: TenantScope, chat: ChatId) -> Result<Vec<TaskId>> {
        self.run("open_turns", |state| {
            let open = state.turns.iter().filter(|((tenant, _), turn)| *tenant == scope.tenant() && turn.chat == chat);
            let mut open: Vec<(MessageId, TaskId)> = open.map(|((_, task), turn)| (turn.message, *task)).collect();
            open.sort_unstable();
            Ok(open.into_iter().map(|(_, task)| task).collect())
        })
        .await
    }
}
