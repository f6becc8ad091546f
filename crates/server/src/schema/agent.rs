//! Agents.

use kybern_core::id::{AgentId, PromptId};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::time::{Millis, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Agent)]
pub struct AgentAnswer {
    /// Its id. That of a bundled agent is the same on every server.
    pub id: AgentId,
    /// How plans and models name it.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// A sign for it.
    #[schema(required)]
    pub emoji: Option<String>,
    /// Where it is listed.
    #[schema(required)]
    pub category: Option<String>,
    /// What it is told, unless a prompt is active for it or for all agents.
    pub system_prompt: String,
    /// The provider, or `default`.
    pub provider: String,
    /// The model, `default`, or a routing strategy where the provider is `default`.
    pub model: String,
    /// The most tokens of one reply.
    pub max_tokens: u32,
    /// From 0 to 2.
    pub temperature: f64,
    /// How often the model is asked in a turn at most.
    pub max_turns: u32,
    /// How many calls a turn makes at most.
    pub max_tool_calls: u32,
    /// The model is asked no more once a turn has read and written so many tokens, so the last question may go
    /// beyond; null for no limit of its own.
    #[schema(required)]
    pub max_turn_tokens: Option<Tokens>,
    /// The model is asked no more once a turn has cost so much, so the last question may go beyond; null for no limit
    /// of its own.
    #[schema(required)]
    pub max_cost_nanos: Option<NanoUsd>,
    /// How long a turn may take while nobody is waited for.
    pub timeout_ms: Millis,
    /// How far back in its conversation the model may see.
    pub history_ms: Millis,
    /// The tools it names.
    pub tools: Vec<String>,
    /// The groups of tools it names.
    pub tool_groups: Vec<String>,
    /// Words by which it is chosen.
    pub triggers: Vec<String>,
    /// The keys of the tools that it has on this server.
    pub tool_keys: Vec<String>,
    /// The names of tools that this server does not have.
    pub missing_tools: Vec<String>,
    /// Whether it comes with the program and nothing about it was changed.
    pub bundled: bool,
    /// Grows by one with each change, from 1; of an agent as it is in the program, 1, also after a reset.
    pub version: u32,
    /// When it was made; null for a bundled one.
    #[schema(required)]
    pub created_at: Option<Timestamp>,
    /// When it was changed last; null for a bundled one.
    #[schema(required)]
    pub updated_at: Option<Timestamp>,
    /// The draft that a new `systemPrompt` has just become; null otherwise.
    #[schema(required)]
    pub draft_prompt_id: Option<PromptId>,
}

/// What is as in the program again.
#[derive(ToSchema)]
#[schema(as = AgentResync)]
pub struct ResyncSchema {
    /// The keys of bundled agents that had been removed.
    pub created: Vec<String>,
    /// The keys of bundled agents that had been changed.
    pub updated: Vec<String>,
}

page! {
    /// A page of agents.
    pub AgentPage of AgentAnswer: "The agents."
}
