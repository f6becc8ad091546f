//! Counts of tokens, wherever the copies put them.

use kybern_core::model::TokenUsage;
use serde::Deserialize;

use crate::models::wire::lenient::Count;

/// A `usage` object.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct Usage {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Count,
    /// Together.
    cached_tokens: Count,
    /// Some put it beside the others.
    reasoning_tokens: Count,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    /// OpenRouter.
    cache_write_tokens: Count,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

impl Usage {
    /// The counts; nothing when all are zero, as in the first chunks of those who send it with every chunk.
    pub(super) fn counts(self) -> Option<TokenUsage> {
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        let reasoning = completion.reasoning_tokens.0.max(self.reasoning_tokens.0);
        let (input, written, total) = (self.prompt_tokens.0, self.completion_tokens.0, self.total_tokens.0);
        // xAI does not count reasoning among the completion, but in the total.
        let apart = reasoning > 0 && total == input.saturating_add(written).saturating_add(reasoning);
        let cached = prompt.cached_tokens.0.max(self.prompt_cache_hit_tokens.0).max(self.cached_tokens.0);
        let usage = TokenUsage {
            input,
            cached_input: cached,
            cache_write: prompt.cache_write_tokens.0,
            output: if apart { written + reasoning } else { written },
            reasoning,
            estimated: false,
        };
        (!usage.is_zero()).then_some(usage)
    }
}
