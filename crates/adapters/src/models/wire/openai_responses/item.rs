//! What responses and their items look like.

use kybern_core::model::{FinishReason, ModelFailure, ModelFailureKind, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::lenient::{Count, Text};
use crate::models::wire::opaque;

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(borrow, default)]
    status: Text<'a>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<Item<'a>>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Text<'a>,
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<OutputPart<'a>>>,
    #[serde(borrow, default)]
    pub(super) summary: Option<Vec<OutputPart<'a>>>,
    #[serde(borrow, default)]
    encrypted_content: Text<'a>,
}

impl Item<'_> {
    /// What must go back with the next request of the turn.
    pub(super) fn opaque(&self) -> Option<String> {
        let encrypted = self.encrypted_content.some()?;
        Some(opaque::mark(opaque::OPENAI_ITEM, &format!("{} {encrypted}", &*self.id)))
    }
}

#[derive(Deserialize)]
pub(super) struct OutputPart<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Text<'a>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Usage {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

impl Response<'_> {
    /// The counts; they come with the end.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = self.usage?;
        let input = usage.input_tokens_details.unwrap_or_default();
        let counts = TokenUsage {
            input: usage.input_tokens.0,
            cached_input: input.cached_tokens.0,
            cache_write: input.cache_write_tokens.0,
            output: usage.output_tokens.0,
            reasoning: usage.output_tokens_details.unwrap_or_default().reasoning_tokens.0,
            estimated: false,
        };
        (!counts.is_zero()).then_some(counts)
    }

    /// Why it ended.
    ///
    /// # Errors
    /// When it failed, or was cancelled.
    pub(super) fn finish(&self, calls: bool, refused: bool) -> Result<FinishReason, ModelFailure> {
        if let Some(error) = self.error {
            return Err(of_report(Report::parse(error.get().as_bytes())).usage(self.usage()));
        }
        let incomplete = self.incomplete_details.as_ref().map(|details| &*details.reason);
        match (&*self.status, incomplete) {
            ("failed" | "cancelled", _) => {
                let message = format!("the response ended as {}", &*self.status);
                Err(ModelFailure::new(ModelFailureKind::Provider, message).usage(self.usage()))
            }
            (_, Some("content_filter")) => Ok(FinishReason::ContentFilter),
            ("incomplete", _) | (_, Some("max_output_tokens" | "max_tokens")) => Ok(FinishReason::Length),
            _ if calls => Ok(FinishReason::ToolCalls),
            _ if refused => Ok(FinishReason::Refusal),
            _ => Ok(FinishReason::Stop),
        }
    }
}
