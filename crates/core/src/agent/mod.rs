//! Agents: a model that is given tools and works until it has answered.
//!
//! One stretch of that work is a [turn](Turn). This module knows what a turn does next and when it ends, and nothing of
//! who asks the model or makes the calls.

mod batch;
mod builder;
mod config;
mod exchange;
mod limit;
mod own;
mod turn;

pub use batch::{CallKind, batches};
pub use builder::AgentBuilder;
pub use config::{
    Agent, AgentDraft, DEFAULT, MAX_DESCRIPTION, MAX_ITEMS, MAX_KEY, MAX_LABEL, MAX_NAME, MAX_NAMED, MAX_OUTPUT,
    STRATEGIES, key_of,
};
pub use exchange::{AskedCall, CallOutcome, Links, ReplyRecord, TurnStart};
pub use limit::{Cap, TurnFinish, TurnLimits};
pub use own::{ASSISTANT, AgentChange, LimitsChange, OwnAgent, bundled_id, chosen, merged};
pub use turn::{AskOptions, Reply, SHORTEST, Turn, TurnMove, UnmadeCall};
