//! What answers look like. The chunks of a stream are answers too.

use kybern_core::model::{FinishReason, ModelFailure, ModelFailureKind, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::lenient::{Count, Text};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateResponse<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    usage_metadata: Option<Usage>,
    #[serde(borrow, default)]
    pub(super) model_version: Text<'a>,
    #[serde(borrow, default)]
    pub(super) response_id: Text<'a>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<AnswerPart<'a>>>,
}

impl<'a> Candidate<'a> {
    pub(super) fn pieces(&self) -> &[AnswerPart<'a>] {
        self.content.as_ref().and_then(|content| content.parts.as_deref()).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnswerPart<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(default)]
    pub(super) thought: Option<bool>,
    #[serde(borrow, default)]
    pub(super) thought_signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<Call<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

impl Call<'_> {
    pub(super) fn arguments(&self) -> &str {
        let raw = self.args.map(RawValue::get).unwrap_or_default();
        let is_empty = raw.bytes().all(|byte| matches!(byte, b'{' | b'}') || byte.is_ascii_whitespace());
        if is_empty { "{}" } else { raw }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: Text<'a>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
    tool_use_prompt_token_count: Count,
}

impl GenerateResponse<'_> {
    /// The counts. Thoughts are not among the candidates' tokens.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = self.usage_metadata?;
        let counts = TokenUsage {
            input: usage.prompt_token_count.0.saturating_add(usage.tool_use_prompt_token_count.0),
            cached_input: usage.cached_content_token_count.0,
            cache_write: 0,
            output: usage.candidates_token_count.0.saturating_add(usage.thoughts_token_count.0),
            reasoning: usage.thoughts_token_count.0,
            estimated: false,
        };
        (!counts.is_zero()).then_some(counts)
    }

    /// What it reports instead of a reply.
    ///
    /// # Errors
    /// When it reports something.
    pub(super) fn check(&self) -> Result<(), ModelFailure> {
        if let Some(error) = self.error {
            return Err(of_report(Report::parse(error.get().as_bytes())));
        }
        if let Some(reason) = self.prompt_feedback.as_ref().and_then(|feedback| feedback.block_reason.some()) {
            let message = format!("the prompt was blocked: {reason}");
            return Err(ModelFailure::new(ModelFailureKind::ContentFilter, message));
        }
        Ok(())
    }
}

/// What the word for an end means.
///
/// # Errors
/// When the model's own call cannot be used, or the request was wrong.
pub(super) fn finish(word: &str, calls: bool) -> Result<FinishReason, ModelFailure> {
    let failed = |kind| Err(ModelFailure::new(kind, format!("the reply ended with {word}")));
    match word {
        "MAX_TOKENS" => Ok(FinishReason::Length),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Ok(FinishReason::ContentFilter)
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => failed(ModelFailureKind::Garbage),
        "MISSING_THOUGHT_SIGNATURE" => failed(ModelFailureKind::Request),
        _ if calls => Ok(FinishReason::ToolCalls),
        _ => Ok(FinishReason::Stop),
    }
}
