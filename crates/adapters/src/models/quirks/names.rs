//! What only the name of a model tells. A gateway's prefix (`openai/gpt-5`) does not matter.

use kybern_core::model::Effort;

fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Whether an OpenAI model always thinks, and so refuses sampling parameters: the o-series, and GPT since 5:
/// <https://developers.openai.com/api/docs/guides/reasoning>.
#[must_use]
pub fn thinks_always(model: &str) -> bool {
    let model = bare(model);
    let o_series = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let number = model.strip_prefix("gpt-").map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let version = number.flatten().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    o_series || (version >= 5 && !model.contains("-chat"))
}

/// The word for an effort at OpenAI. `minimal` belongs to the first GPT-5 alone, its successors say `none`, and the
/// o-series has neither.
#[must_use]
pub fn openai_effort(model: &str, effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => match bare(model).strip_prefix("gpt-") {
            Some(rest) if rest == "5" || rest.starts_with("5-") => "minimal",
            Some(_) => "none",
            None => "low",
        },
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// How a Claude model is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaudeThinking {
    /// It does not think.
    No,
    /// By a budget of tokens.
    Budget,
    /// By an effort; it chooses how much.
    Adaptive,
}

/// The version in a Claude model's name: `claude-3-7-sonnet-20250219` is 3.7, `claude-opus-4-20250514` is 4.0.
/// Names without one are newer than those with one.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let mut numbers =
        bare(model).split(['-', '.', '@']).filter_map(|word| word.parse::<u32>().ok()).filter(|number| *number < 100);
    let major = numbers.next()?;
    Some((major, numbers.next().unwrap_or(0)))
}

/// Budgets until 4.5, an effort since 4.6: <https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking>.
#[must_use]
pub fn claude_thinking(model: &str) -> ClaudeThinking {
    match claude_version(model) {
        Some(version) if version < (3, 7) => ClaudeThinking::No,
        Some(version) if version < (4, 6) => ClaudeThinking::Budget,
        Some(_) | None => ClaudeThinking::Adaptive,
    }
}

/// Since 4.7 a temperature is refused:
/// <https://platform.claude.com/docs/en/about-claude/models/migration-guide>.
#[must_use]
pub fn claude_takes_sampling(model: &str) -> bool {
    claude_version(model).is_some_and(|version| version < (4, 7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openai_models_are_told_apart() {
        for model in ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.1", "gpt-6", "openai/gpt-5-nano"] {
            assert!(thinks_always(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1", "gpt-oss-120b", "gpt-5-chat-latest", "omni-moderation-latest", "llama3"] {
            assert!(!thinks_always(model), "{model}");
        }
        let minimal = ["gpt-5-mini", "gpt-5.2", "o3"].map(|model| openai_effort(model, Effort::Minimal));
        assert_eq!(minimal, ["minimal", "none", "low"]);
    }

    #[test]
    fn claude_models_are_told_apart() {
        let cases = [
            ("claude-3-5-haiku-20241022", ClaudeThinking::No, true),
            ("claude-3-7-sonnet-latest", ClaudeThinking::Budget, true),
            ("claude-opus-4-20250514", ClaudeThinking::Budget, true),
            ("claude-sonnet-4-5", ClaudeThinking::Budget, true),
            ("claude-sonnet-4-6", ClaudeThinking::Adaptive, true),
            ("claude-opus-4-7", ClaudeThinking::Adaptive, false),
            ("anthropic/claude-opus-4.8", ClaudeThinking::Adaptive, false),
            ("claude-opus-5", ClaudeThinking::Adaptive, false),
            ("claude-mythos-preview", ClaudeThinking::Adaptive, false),
        ];
        for (model, thinking, sampling) in cases {
            assert_eq!((claude_thinking(model), claude_takes_sampling(model)), (thinking, sampling), "{model}");
        }
    }
}
