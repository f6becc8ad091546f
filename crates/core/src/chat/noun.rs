//! Chats and messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::TurnFinish;
use crate::id::{ChatId, MessageId, TaskId, UserId};
use crate::model::ModelMessage;
use crate::money::Usage;
use crate::time::Timestamp;

/// The id of the one step of a turn's plan.
pub const TURN_STEP: &str = "turn";
/// How many turns of a chat wait while one is taken.
pub const MAX_WAITING: u32 = 10;
/// The most characters of a title.
pub const MAX_TITLE: usize = 200;
/// The most bytes of a message.
pub const MAX_CONTENT: usize = 256 * 1024;

/// A conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Chat {
    /// Its id.
    pub id: ChatId,
    /// Whose it is.
    #[cfg_attr(feature = "schema", schema(required))]
    pub user_id: Option<UserId>,
    /// The key of the agent that answers; null lets the words of each message choose.
    #[cfg_attr(feature = "schema", schema(required))]
    pub agent: Option<String>,
    /// What it is called.
    pub title: String,
    /// The chat it was forked from.
    #[cfg_attr(feature = "schema", schema(required))]
    pub forked_from: Option<ChatId>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When something was said in it last, or it was cleared.
    pub updated_at: Timestamp,
}

words! {
    /// Who said a message.
    pub enum Speaker {
        User = "user",
        /// The agent.
        Assistant = "assistant",
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id; messages of a chat stand in the order of their ids.
    pub id: MessageId,
    pub chat_id: ChatId,
    /// Who said it.
    pub role: Speaker,
    /// What was said; empty when it was taken back.
    pub content: String,
    /// The turn.
    pub task_id: Option<TaskId>,
    /// The calls of the turn, of an answer.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub tool_calls: Value,
    /// Why the turn ended, of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<TurnFinish>,
    /// What the turn used, of an answer.
    #[serde(skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// What models are shown beside it in later turns: before an answer the replies with calls, and their results;
    /// behind what a user said the files that came with it.
    #[serde(skip)]
    pub transcript: Vec<ModelMessage>,
    /// Whether the turn had read what strangers wrote.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// When it was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redacted_at: Option<Timestamp>,
    /// When it was said.
    pub created_at: Timestamp,
}

/// The turn that a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRef {
    pub chat_id: ChatId,
    /// What the user said.
    pub message_id: MessageId,
    pub answer_id: MessageId,
}

/// The files that came with what the user said, as models are shown them in later turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Attached {
    pub chat_id: ChatId,
    /// What the user said. Once it is taken back, so are its files.
    pub message_id: MessageId,
    /// What models are shown.
    pub transcript: Vec<ModelMessage>,
}

/// A turn to be stored together with its task.
#[derive(Clone, PartialEq, Debug)]
pub struct NewTurn {
    pub turn: TurnRef,
    /// What the user says. Its task is the one that it is stored with.
    pub message: Message,
}
