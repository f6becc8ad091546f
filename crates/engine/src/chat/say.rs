//! Saying something: a message becomes a task, and what came of it is told.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::agent::{Agent, TurnFinish};
use kybern_core::chat::{Message, NewTurn, Speaker, TURN_STEP, TurnRef};
use kybern_core::digest;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{ApprovalId, ChatId, MessageId, TaskId};
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::plan::{FrozenPlan, StepId, StepKind, StepSpec};
use kybern_core::task::{AttachmentSource, Channel, NewKind, StepError, TaskStatus};
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Chats;
use super::check_content;
use super::follow::TurnReader;
use crate::task::{AttachmentRequest, Incoming, SubmittedFile, TaskView};

/// How the plans of turns are named. No stored plan may have a colon in its key.
const CHAT: &str = "chat:";

/// What is said.
#[derive(Clone, Debug, Default)]
pub struct SayRequest {
    /// The words.
    pub content: String,
    /// Files. Their text is read and shown to the model as data.
    pub attachments: Vec<AttachmentRequest>,
    /// The same key twice is one turn.
    pub idempotency_key: Option<String>,
    /// The most it may cost.
    pub budget: Option<NanoUsd>,
    /// The trace to join, 32 hex digits; a new one otherwise.
    pub trace_id: Option<String>,
}

/// A turn, as it stands.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// The message that answers.
    pub message_id: MessageId,
    /// The turn.
    pub task_id: TaskId,
    /// How the turn stands.
    pub status: TaskStatus,
    /// What was answered.
    pub content: String,
    /// The calls that were made for it.
    pub tool_calls: Value,
    /// What it used.
    pub usage: Usage,
    /// Why it ended; `None` while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<TurnFinish>,
    /// What the model would like to remember. Nothing of it is remembered until somebody says so.
    pub memory_suggestions: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// The question, when a person is asked: answered at `/api/approvals/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// The message had been said before, under the same idempotency key: nothing was done now.
    #[serde(skip)]
    pub repeated: bool,
}

impl Chats {
    /// Says something in a chat. The turn is on its way when this returns; with `wait` it answers when the turn has
    /// ended or a person is asked, at most that much later.
    ///
    /// # Errors
    /// `NOT_FOUND`; `PERMISSION_DENIED` in somebody else's chat; `VALIDATION_ERROR` for a message that is empty or too long; `RATE_LIMITED` when ten turns wait; `CONFLICT` when the
    /// idempotency key was used for another message.
    pub async fn say(
        &self,
        actor: &Actor,
        chat: ChatId,
        request: SayRequest,
        wait: Option<Millis>,
    ) -> Result<TurnView> {
        let budget = request.budget;
        let (incoming, plan) = self.turn_to_be(actor, chat, request).await?;
        let id = TaskId::from_uuid(self.tasks.kernel.ids.next());
        let told = turned(self.tasks.submit_turn(actor, id, incoming, plan, budget, wait).await?)?;
        Ok(TurnView { repeated: told.task_id != id, ..told })
    }

    /// Says something in a chat, and reads the turn along from its first word.
    ///
    /// # Errors
    /// The same as of [`Self::say`].
    pub async fn say_aloud(&self, actor: &Actor, chat: ChatId, request: SayRequest) -> Result<TurnReader> {
        let budget = request.budget;
        let (incoming, plan) = self.turn_to_be(actor, chat, request).await?;
        let id = TaskId::from_uuid(self.tasks.kernel.ids.next());
        // Whoever reads has to be there before the model is asked, or it is not asked for pieces.
        let _reads = self.tasks.kernel.lives.of(id);
        let view = self.tasks.submit_turn(actor, id, incoming, plan, budget, None).await?;
        let turn = turn_of(&view)?;
        Ok(self.following(actor.scope(), view.id, turn, None))
    }

    /// A message as the task that it becomes.
    async fn turn_to_be(
        &self,
        actor: &Actor,
        chat: ChatId,
        request: SayRequest,
    ) -> Result<(Incoming, Arc<FrozenPlan>)> {
        let known = self.get(actor, chat).await?;
        if known.user_id.is_some() && known.user_id != actor.user() {
            // An administrator's rights, memories and wishes are nothing for somebody else's conversation.
            let message = "only its user says something in a chat: fork it to go on with it";
            return Err(Error::new(ErrorCode::PermissionDenied, message));
        }
        check_content("/content", &request.content)?;
        let agent = match &known.agent {
            Some(key) => self.agents.get(actor.scope(), key).await?,
            None => self.agents.choose(actor.scope(), &request.content).await?,
        };
        let now = self.tasks.kernel.clock.now();
        let [message_id, answer_id] = [(); 2].map(|()| MessageId::from_uuid(self.tasks.kernel.ids.next()));
        let turn = TurnRef { chat_id: chat, message_id, answer_id };
        let content = request.content.replace('\0', "");
        let message = Message {
            id: message_id,
            chat_id: chat,
            role: Speaker::User,
            content: content.clone(),
            task_id: None,
            tool_calls: Value::Null,
            finish_reason: None,
            usage: Usage::default(),
            transcript: Vec::new(),
            // What is attached was written by whoever wrote it.
            tainted: !request.attachments.is_empty(),
            redacted_at: None,
            created_at: now,
        };
        // The same key with another message is a conflict.
        let files = request.attachments.iter().flat_map(AttachmentRequest::said);
        let said = [request.content.as_bytes()].into_iter().chain(files);
        let body_hash = request.idempotency_key.as_ref().map(|_| digest::hash_of(said));
        let incoming = Incoming {
            channel: Channel::Chat,
            source: format!("api/{}", actor.principal().label()),
            dedupe_key: request.idempotency_key.map(|own| format!("chat {chat} {own}")),
            body_hash,
            input: content,
            payload: json!(turn),
            parts: request
                .attachments
                .into_iter()
                .map(|file| SubmittedFile {
                    filename: file.filename,
                    content_type: file.content_type,
                    bytes: file.bytes,
                    source: AttachmentSource::Attached,
                })
                .collect(),
            mail: None,
            trace_id: request.trace_id,
            kind: NewKind::Turn(Box::new(NewTurn { turn, message })),
        };
        let plan = self.tasks.kernel.frozen.of_turn(&agent.draft.key, || plan_of(&agent));
        Ok((incoming, plan))
    }

    /// The answer of the last turn of a chat, whether it is there yet or not.
    ///
    /// # Errors
    /// `NOT_FOUND` when nothing was said yet.
    pub(crate) async fn last_turn(&self, actor: &Actor, chat: ChatId) -> Result<MessageId> {
        self.get(actor, chat).await?;
        let (store, scope) = (&self.tasks.kernel.store, actor.scope());
        if let Some(last) = store.open_turns(scope, chat).await?.last()
            && let Some(task) = store.task(scope, *last).await?
            && let Some(turn) = task.turn()
        {
            return Ok(turn.answer_id);
        }
        let newest = MessageId::from_uuid(uuid::Uuid::max());
        let said = store.said_before(scope, chat, newest, 1).await?;
        said.last().map(|message| message.id).ok_or_else(|| Error::not_found("turn", "in this chat"))
    }

    /// The turn to which a message belongs, by the user's message or by the answer, with its task.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn turn_and_task(&self, actor: &Actor, chat: ChatId, message: MessageId) -> Result<(TurnRef, TaskId)> {
        self.get(actor, chat).await?;
        let (store, scope) = (&self.tasks.kernel.store, actor.scope());
        let unknown = || Error::not_found("message", message);
        let task = match store.message(scope, chat, message).await? {
            Some(known) => known.task_id,
            // An answer has its id before it is there, and may be there by the time its turn is looked for.
            None => {
                let open = store.open_turns(scope, chat).await?;
                let mut found = None;
                for id in open {
                    let task = store.task(scope, id).await?;
                    let turn = task.and_then(|task| task.turn());
                    if turn.is_some_and(|turn| turn.answer_id == message) {
                        found = Some(id);
                    }
                }
                match found {
                    Some(id) => Some(id),
                    None => store.message(scope, chat, message).await?.and_then(|known| known.task_id),
                }
            }
        };
        let id = task.ok_or_else(unknown)?;
        let task = store.task(scope, id).await?.ok_or_else(unknown)?;
        let turn = task.turn().ok_or_else(unknown)?;
        Ok((turn, id))
    }
}

/// The plan of a turn: one step.
fn plan_of(agent: &Agent) -> FrozenPlan {
    let kind = StepKind::Agent { agent: agent.draft.key.clone(), task: json!("{{ task.input }}") };
    let step = StepSpec { kind, ..StepSpec::tool(StepId::trusted(TURN_STEP), "", serde_json::Map::new()) };
    FrozenPlan::freeze(&format!("{CHAT}{}", agent.draft.key), 1, vec![step], None)
}

fn turn_of(view: &TaskView) -> Result<TurnRef> {
    TurnRef::deserialize(&view.payload)
        .map_err(|_| Error::new(ErrorCode::NotFound, format!("task {} is no turn of a conversation", view.id)))
}

/// How a turn stands, by its task.
pub(crate) fn turned(view: TaskView) -> Result<TurnView> {
    let turn = turn_of(&view)?;
    let result = view.result.unwrap_or_default();
    // What failed, or was cancelled, has what there is of the answer in its step.
    let end = if result.get("finishReason").is_some() { result } else { view.end_of_turn.unwrap_or_default() };
    let of = |name: &str| end.get(name).cloned().unwrap_or_default();
    Ok(TurnView {
        message_id: turn.answer_id,
        task_id: view.id,
        status: view.status,
        content: of("content").as_str().unwrap_or_default().to_owned(),
        tool_calls: match of("toolCalls") {
            Value::Null => json!([]),
            calls => calls,
        },
        usage: view.usage,
        finish_reason: serde_json::from_value(of("finishReason")).ok().or(match view.status {
            TaskStatus::Failed => Some(TurnFinish::Error),
            TaskStatus::Cancelled => Some(TurnFinish::Cancelled),
            _ => None,
        }),
        memory_suggestions: serde_json::from_value(of("memorySuggestions")).unwrap_or_default(),
        error: view.error,
        approval_id: view.waits.first().and_then(|wait| wait.approval_id),
        repeated: false,
    })
}
