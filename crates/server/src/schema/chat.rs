//! Chats and messages.

use kybern_core::agent::TurnFinish;
use kybern_core::chat::{Chat, Speaker};
use kybern_core::money::Usage;
use kybern_core::task::TaskStatus;
use serde_json::Value;
use utoipa::ToSchema;

use super::words::TurnCallStatusSchema;

/// A message.
#[derive(ToSchema)]
#[schema(as = Message, rename_all = "camelCase")]
pub struct MessageSchema {
    /// Its id; messages stand in the order of their ids.
    #[schema(format = "uuid")]
    pub id: String,
    /// The chat.
    #[schema(format = "uuid")]
    pub chat_id: String,
    /// Who said it.
    pub role: Speaker,
    /// What was said; empty when it was taken back.
    pub content: String,
    /// The task of the turn.
    #[schema(required, format = "uuid")]
    pub task_id: Option<String>,
    /// The calls of an answer's turn.
    pub tool_calls: Option<Vec<ToolCallSchema>>,
    /// Why an answer's turn ended.
    pub finish_reason: Option<TurnFinish>,
    /// What an answer's turn used.
    pub usage: Option<Usage>,
    /// Whether the turn had read what strangers wrote.
    pub tainted: Option<bool>,
    /// When it was taken back.
    #[schema(format = "date-time")]
    pub redacted_at: Option<String>,
    /// When it was said.
    #[schema(format = "date-time")]
    pub created_at: String,
}

/// A call of a turn.
#[derive(ToSchema)]
#[schema(as = TurnToolCall, rename_all = "camelCase")]
pub struct ToolCallSchema {
    /// The step of the turn's task; null when none was made of it.
    #[schema(required)]
    pub step_id: Option<String>,
    /// The tool.
    pub name: String,
    /// How it ended.
    pub status: TurnCallStatusSchema,
}

/// A chat with all its messages.
#[derive(ToSchema)]
#[schema(as = ChatExport, rename_all = "camelCase")]
pub struct ChatExportSchema {
    /// The chat.
    pub chat: Chat,
    /// Its messages, the oldest first.
    pub messages: Vec<MessageSchema>,
}

/// A turn, as it stands.
#[derive(ToSchema)]
#[schema(as = Turn, rename_all = "camelCase")]
pub struct TurnSchema {
    /// The message that answers.
    #[schema(format = "uuid")]
    pub message_id: String,
    /// The task of the turn.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// The status of that task.
    pub status: TaskStatus,
    /// What was answered.
    pub content: String,
    /// The calls that were made for it.
    pub tool_calls: Vec<ToolCallSchema>,
    /// What it used.
    pub usage: Usage,
    /// Why it ended; not there while the turn goes on.
    pub finish_reason: Option<TurnFinish>,
    /// What the model would like to remember. Nothing of it is remembered until somebody says so.
    pub memory_suggestions: Vec<String>,
    /// Why it failed.
    pub error: Option<Value>,
    /// The question, when a person is asked.
    #[schema(format = "uuid")]
    pub approval_id: Option<String>,
}

page! {
    /// A page of chats.
    pub ChatPage of Chat: "The chats, the newest first."
}

page! {
    /// A page of messages.
    pub MessagePage of MessageSchema: "The messages, the oldest first."
}
