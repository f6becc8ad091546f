//! Governed prompts.

use utoipa::ToSchema;

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
    /// `draft`, `review`, `approved`, `active` or `retired`.
    pub status: String,
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
    /// Where the next page begins.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
