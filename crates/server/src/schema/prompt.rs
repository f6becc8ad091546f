//! Governed prompts.

use kybern_core::context::{Layer, SectionKind};
use kybern_core::model::Role;
use kybern_core::prompt::Prompt;
use serde::Serialize;
use utoipa::ToSchema;

/// A prompt.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Prompt)]
pub struct PromptAnswer {
    /// The prompt.
    #[serde(flatten)]
    pub prompt: Prompt,
    /// The BLAKE3 of the text, in hex: what is sent back to approve or activate it.
    pub text_hash: String,
}

impl From<Prompt> for PromptAnswer {
    fn from(prompt: Prompt) -> Self {
        Self { text_hash: prompt.text_hash(), prompt }
    }
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
    pub role: Role,
    /// Its parts, each with a `type`: texts, calls and their answers.
    #[schema(value_type = Vec<Object>)]
    pub parts: Vec<serde_json::Value>,
}

/// What a layer takes.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PreviewLayer {
    /// The layer.
    pub layer: Layer,
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
    pub sections: Vec<SectionKind>,
    /// How many texts of preferences.
    pub items: u64,
    /// How many memories.
    pub memories: u64,
    /// How many pieces of knowledge.
    pub knowledge: u64,
    /// How many messages of the conversation.
    pub messages: u64,
}

page! {
    /// A page of prompts.
    pub PromptPage of PromptAnswer: "The prompts."
}
