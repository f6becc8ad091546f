//! Governed prompts.

use utoipa::ToSchema;

use super::words::{LayerSchema, ModelRoleSchema, PromptStatusSchema, SectionSchema};
/// A prompt.
#[derive(ToSchema)]
#[schema(as = Prompt, rename_all = "camelCase")]
pub struct PromptSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// The key of the agent that it is for; null for all agents that have none of their own.
    #[schema(required)]
    pub agent: Option<String>,
    /// Grows by one with each prompt of the same agent.
    pub version: u32,
    /// What it says.
    pub text: String,
    /// The BLAKE3 of the text, in hex: what is sent back to approve or activate it.
    pub text_hash: String,
    /// How far it is.
    pub status: PromptStatusSchema,
    /// Everybody who has written at it.
    pub authors: Vec<String>,
    /// Who approved it.
    #[schema(required, format = "uuid")]
    pub approved_by: Option<String>,
    /// What was said when it was rejected last.
    #[schema(required)]
    pub note: Option<String>,
    /// When it was begun.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was changed last.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// A page of prompts.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PromptPage {
    /// The prompts.
    pub items: Vec<PromptSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// What would be sent to a model.
#[derive(ToSchema)]
#[schema(as = PromptPreview, rename_all = "camelCase")]
pub struct PreviewSchema {
    /// The agent's key.
    pub agent: String,
    /// By what the model would be chosen: a model, a strategy, or `default`.
    pub model: String,
    /// The governed prompt in it; null for the agent's own text, and for a text that is tried.
    #[schema(required, format = "uuid")]
    pub prompt_id: Option<String>,
    /// What would be sent, in order.
    pub messages: Vec<PreviewMessage>,
    /// What each layer takes, the strongest first.
    pub layers: Vec<PreviewLayer>,
    /// What found no place.
    pub left_out: PreviewLeftOut,
    /// The functions that the model would be given, by name.
    pub tools: Vec<String>,
}

/// A message as it would be sent.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PreviewMessage {
    /// Who says it.
    pub role: ModelRoleSchema,
    /// Its parts, each with a `type`: texts, calls and their answers.
    #[schema(value_type = Vec<Object>)]
    pub parts: Vec<serde_json::Value>,
}

/// What a layer takes.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PreviewLayer {
    /// The layer.
    pub layer: LayerSchema,
    /// About how many tokens.
    pub tokens: u64,
    /// A digest of its messages.
    #[schema(required)]
    pub hash: Option<String>,
}

/// What found no place in a prompt.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PreviewLeftOut {
    /// Sections of which nothing is there.
    pub sections: Vec<SectionSchema>,
    /// How many texts of preferences.
    pub items: u64,
    /// How many memories.
    pub memories: u64,
    /// How many pieces of knowledge.
    pub knowledge: u64,
    /// How many messages of the conversation.
    pub messages: u64,
}
