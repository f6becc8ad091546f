//! Beginning, listing, forking, clearing, exporting and deleting chats, and taking messages back.

use kybern_core::actor::{Actor, Right};
use kybern_core::audit::AuditEvent;
use kybern_core::chat::{Chat, MAX_CONTENT, MAX_TITLE, Message, Speaker};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{ChatId, MessageId, TaskId};
use kybern_core::money::Usage;
use kybern_core::ports::Page;
use serde::Serialize;
use serde_json::{Value, json};

use super::Chats;
use crate::command::{id_for, once};

/// The most messages that one import brings.
const MAX_IMPORTED: usize = 10_000;
/// Messages that are read at once for an export.
const PAGE: u32 = 200;
/// What a chat is called that nobody has named.
const UNTITLED: &str = "New chat";

/// A chat with all its messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatExport {
    pub chat: Chat,
    /// Its messages, the oldest first.
    pub messages: Vec<Message>,
}

/// A message of an import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedMessage {
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    pub content: String,
}

impl Chats {
    /// Begins a chat. Without an agent the words of each message choose one.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown agent; `VALIDATION_ERROR` for a title that is too long.
    pub async fn create(&self, actor: &Actor, agent: Option<&str>, title: Option<&str>) -> Result<Chat> {
        let chat = self.new_chat(actor, agent, title).await?;
        let audit = self.about_chat(actor, "chat.create", chat.id, json!({"agent": chat.agent}));
        self.make_chat(actor, &chat, self.tasks.kernel.store.put_chat(actor.scope(), &chat, &[], audit)).await
    }

    /// The chat, once it has been made.
    async fn make_chat(&self, actor: &Actor, chat: &Chat, made: impl Future<Output = Result<()>>) -> Result<Chat> {
        let make = async {
            made.await?;
            Ok(chat.clone())
        };
        once(actor, || self.tasks.kernel.store.chat(actor.scope(), chat.id), make).await
    }

    async fn new_chat(&self, actor: &Actor, agent: Option<&str>, title: Option<&str>) -> Result<Chat> {
        let agent = match agent {
            Some(name) => Some(self.agents.get(actor.scope(), name).await?.draft.key),
            None => None,
        };
        let title = title.map(str::trim).filter(|title| !title.is_empty()).unwrap_or(UNTITLED);
        if title.chars().count() > MAX_TITLE {
            return Err(Error::invalid("/title", format!("title has at most {MAX_TITLE} characters")));
        }
        let now = self.tasks.kernel.clock.now();
        Ok(Chat {
            id: ChatId::from_uuid(id_for(self.tasks.kernel.ids.as_ref(), actor, "chat")),
            user_id: actor.user(),
            agent,
            title: title.to_owned(),
            forked_from: None,
            created_at: now,
            updated_at: now,
        })
    }

    fn about_chat(&self, actor: &Actor, action: &str, chat: ChatId, detail: Value) -> AuditEvent {
        AuditEvent::by(actor, action, format!("chat:{chat}"), detail)
    }

    /// The actor's chats, the newest first; those before `after`. An administrator may see all.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for everybody's chats without being an administrator.
    pub async fn list(&self, actor: &Actor, all: bool, after: Option<ChatId>, limit: u32) -> Result<Page<Chat>> {
        if all && !actor.may(Right::Administer) {
            return Err(Error::new(ErrorCode::PermissionDenied, "all chats are for administrators"));
        }
        let user = if all { None } else { actor.user() };
        self.tasks.kernel.store.chats(actor.scope(), user, after, limit).await
    }

    /// A chat of the actor's; any for an administrator.
    ///
    /// # Errors
    /// `NOT_FOUND`, also for somebody else's.
    pub async fn get(&self, actor: &Actor, id: ChatId) -> Result<Chat> {
        let chat = self.tasks.kernel.store.chat(actor.scope(), id).await?;
        let own = |chat: &Chat| chat.user_id.is_none() || chat.user_id == actor.user();
        chat.filter(|chat| own(chat) || actor.may(Right::Administer)).ok_or_else(|| Error::not_found("chat", id))
    }

    /// Messages of a chat after `after`, the oldest first.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn messages(
        &self,
        actor: &Actor,
        chat: ChatId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Page<Message>> {
        self.get(actor, chat).await?;
        self.tasks.kernel.store.messages(actor.scope(), chat, after, limit).await
    }

    /// Deletes a chat with its messages. Its turns that have not ended are cancelled; their tasks stay, as the record
    /// of what was done.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when a task of it, or everything of its organisation, is on hold.
    pub async fn delete(&self, actor: &Actor, id: ChatId) -> Result<()> {
        self.get(actor, id).await?;
        self.removal.not_on_hold(actor.tenant()).await?;
        let open = self.tasks.kernel.store.open_turns(actor.scope(), id).await?;
        let audit = self.about_chat(actor, "chat.delete", id, json!({}));
        let there =
            self.tasks.kernel.store.delete_chat(actor.scope(), id, self.tasks.kernel.clock.now(), audit).await?;
        self.cancel_turns(actor, open).await?;
        if there { Ok(()) } else { Err(Error::not_found("chat", id)) }
    }

    /// Deletes the messages of a chat, which goes on from nothing.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when a task of it, or everything of its organisation, is on hold.
    pub async fn reset(&self, actor: &Actor, id: ChatId) -> Result<Chat> {
        let chat = self.get(actor, id).await?;
        self.removal.not_on_hold(actor.tenant()).await?;
        let open = self.tasks.kernel.store.open_turns(actor.scope(), id).await?;
        let audit = self.about_chat(actor, "chat.reset", id, json!({}));
        let now = self.tasks.kernel.clock.now();
        let there = self.tasks.kernel.store.clear_chat(actor.scope(), id, now, audit).await?;
        self.cancel_turns(actor, open).await?;
        if there { Ok(Chat { updated_at: now, ..chat }) } else { Err(Error::not_found("chat", id)) }
    }

    /// Tells the turns of a chat that are under way that they are wanted to end, as its removal has left for them.
    async fn cancel_turns(&self, actor: &Actor, open: Vec<TaskId>) -> Result<()> {
        for task in open {
            match self.tasks.cancel(actor, task).await {
                Ok(_) => {}
                // It has ended meanwhile.
                Err(error) if matches!(error.code(), ErrorCode::Conflict | ErrorCode::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Begins a chat with a copy of another one's messages, up to and with `until`.
    ///
    /// # Errors
    /// `NOT_FOUND` for the chat or the message.
    pub async fn fork(&self, actor: &Actor, id: ChatId, until: Option<MessageId>) -> Result<Chat> {
        let from = self.get(actor, id).await?;
        let now = self.tasks.kernel.clock.now();
        let fork = Chat {
            id: ChatId::from_uuid(id_for(self.tasks.kernel.ids.as_ref(), actor, "chat")),
            user_id: actor.user(),
            forked_from: Some(id),
            created_at: now,
            updated_at: now,
            ..from
        };
        let audit = self.about_chat(actor, "chat.fork", fork.id, json!({"from": id, "until": until}));
        self.make_chat(actor, &fork, self.tasks.kernel.store.fork_chat(actor.scope(), id, until, &fork, audit)).await
    }

    /// A chat with all its messages. Audited as `chat.export`.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn export(&self, actor: &Actor, id: ChatId) -> Result<ChatExport> {
        let chat = self.get(actor, id).await?;
        let (mut messages, mut after): (Vec<Message>, _) = (Vec::new(), None);
        loop {
            let page = self.tasks.kernel.store.messages(actor.scope(), id, after, PAGE).await?;
            after = page.items.last().map(|message| message.id);
            messages.extend(page.items);
            if page.next.is_none() {
                // Whoever carries a conversation out of the house is named, before they have it.
                let event = self.about_chat(actor, "chat.export", id, json!({"messages": messages.len()}));
                self.tasks.kernel.store.append_audit(actor.scope(), self.tasks.kernel.clock.now(), event).await?;
                return Ok(ChatExport { chat, messages });
            }
        }
    }

    /// Begins a chat with messages that were said elsewhere. Nobody here has seen how they came about, so they count as
    /// what strangers wrote.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown agent; `VALIDATION_ERROR` for too many or too long messages.
    pub async fn import(
        &self,
        actor: &Actor,
        agent: Option<&str>,
        title: Option<&str>,
        messages: Vec<ImportedMessage>,
    ) -> Result<Chat> {
        if messages.len() > MAX_IMPORTED {
            return Err(Error::invalid("/messages", format!("at most {MAX_IMPORTED} messages")));
        }
        let chat = self.new_chat(actor, agent, title).await?;
        let mut imported = Vec::with_capacity(messages.len());
        for (n, message) in messages.into_iter().enumerate() {
            check_content(&format!("/messages/{n}/content"), &message.content)?;
            imported.push(Message {
                id: MessageId::from_uuid(self.tasks.kernel.ids.next()),
                chat_id: chat.id,
                role: message.role,
                content: message.content.replace('\0', ""),
                task_id: None,
                tool_calls: Value::Null,
                finish_reason: None,
                usage: Usage::default(),
                transcript: Vec::new(),
                tainted: true,
                redacted_at: None,
                created_at: chat.created_at,
            });
        }
        let audit =
            self.about_chat(actor, "chat.import", chat.id, json!({"agent": chat.agent, "messages": imported.len()}));
        self.make_chat(actor, &chat, self.tasks.kernel.store.put_chat(actor.scope(), &chat, &imported, audit)).await
    }

    /// Takes a message back: its words are gone and no model is shown it again. The task of its turn keeps its input
    /// and its journal, and a fork of the chat its copy.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it was taken back before, while its turn goes on, or when a task of the chat, or
    /// everything of its organisation, is on hold.
    pub async fn redact(&self, actor: &Actor, chat: ChatId, id: MessageId) -> Result<Message> {
        self.get(actor, chat).await?;
        self.removal.not_on_hold(actor.tenant()).await?;
        let (store, scope) = (&self.tasks.kernel.store, actor.scope());
        let unknown = || Error::not_found("message", id);
        let known = store.message(scope, chat, id).await?.ok_or_else(unknown)?;
        if let Some(task) = known.task_id
            && store.open_turns(scope, chat).await?.contains(&task)
        {
            let message = format!("its turn has not ended, and a model is told these words: cancel task {task} first");
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let audit = self.about_chat(actor, "message.redact", chat, json!({"messageId": id}));
        if !store.redact_message(scope, chat, id, self.tasks.kernel.clock.now(), audit).await? {
            return Err(Error::new(ErrorCode::Conflict, "the message was taken back before"));
        }
        store.message(scope, chat, id).await?.ok_or_else(unknown)
    }
}

/// Whether something can be said so.
///
/// # Errors
/// `VALIDATION_ERROR` at `path` when it is empty or too long.
pub fn check_content(path: &str, content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid(path, "say something"));
    }
    if content.len() > MAX_CONTENT {
        let message = format!("a message has at most {MAX_CONTENT} bytes, this one has {}", content.len());
        return Err(Error::invalid(path, message));
    }
    Ok(())
}
