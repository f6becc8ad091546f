//! What answers and events have in common.

use kybern_core::model::{FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::models::wire::lenient::{Count, Text};

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<Block<'a>>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
}

#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) data: Text<'a>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

impl Block<'_> {
    /// The arguments of a call; empty where there are none yet.
    pub(super) fn arguments(&self) -> &str {
        let raw = self.input.map(RawValue::get).unwrap_or_default();
        let is_empty = raw.bytes().all(|byte| matches!(byte, b'{' | b'}') || byte.is_ascii_whitespace());
        if is_empty { "" } else { raw }
    }
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct Usage {
    input_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    output_tokens: Count,
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Details {
    thinking_tokens: Count,
}

impl Usage {
    /// The counts. What was read from and written to the cache is not among the input tokens, so it is added.
    pub(super) fn counts(self) -> TokenUsage {
        let (read, written) = (self.cache_read_input_tokens.0, self.cache_creation_input_tokens.0);
        TokenUsage {
            input: self.input_tokens.0.saturating_add(read).saturating_add(written),
            cached_input: read,
            cache_write: written,
            output: self.output_tokens.0,
            reasoning: self.output_tokens_details.unwrap_or_default().thinking_tokens.0,
            estimated: false,
        }
    }
}

/// What the word for an end means.
pub(super) fn finish(word: &str, calls: bool) -> FinishReason {
    match word {
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Refusal,
        // `end_turn`, `stop_sequence`, `pause_turn`, `tool_use`, and words that nobody announced.
        _ if calls => FinishReason::ToolCalls,
        _ => FinishReason::Stop,
    }
}
