//! Replies as OpenAI's clients read them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_core::model::{Embedded, FinishReason, ModelKind, ModelReply, Part, TokenUsage};
use kybern_engine::models::{AnsweredCall, ModelView};
use serde::Serialize;
use serde_json::{Value, json};

/// What a reply is called.
pub(crate) fn id(request: &str) -> String {
    format!("chatcmpl-{request}")
}

/// OpenAI's word for why a reply ended.
pub(super) const fn finish(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::Refusal | FinishReason::NoModel => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
    }
}

/// What a reply took.
#[derive(Serialize)]
pub(super) struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: CachedUsage,
    completion_tokens_details: ReasoningUsage,
}

#[derive(Serialize)]
struct CachedUsage {
    cached_tokens: u64,
}

#[derive(Serialize)]
struct ReasoningUsage {
    reasoning_tokens: u64,
}

pub(super) fn usage(usage: &TokenUsage) -> Usage {
    Usage {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input.saturating_add(usage.output),
        prompt_tokens_details: CachedUsage { cached_tokens: usage.cached_input },
        completion_tokens_details: ReasoningUsage { reasoning_tokens: usage.reasoning },
    }
}

/// A whole reply, written straight into bytes: a tree of values is not needed.
#[derive(Serialize)]
pub(crate) struct Completion<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: Usage,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u8,
    message: Message<'a>,
    /// Not offered.
    logprobs: Option<&'a Value>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<String>,
    refusal: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// A whole reply.
pub(crate) fn completion<'a>(answered: &'a AnsweredCall, request: &str, created: i64) -> Completion<'a> {
    let choice = Choice {
        index: 0,
        message: message(&answered.reply),
        logprobs: answered.reply.logprobs.as_deref(),
        finish_reason: finish(answered.reply.finish),
    };
    Completion {
        id: id(request),
        object: "chat.completion",
        created,
        model: &answered.model,
        choices: [choice],
        usage: usage(&answered.usage),
    }
}

fn message(reply: &ModelReply) -> Message<'_> {
    let (mut reasoning_content, mut tool_calls) = (String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Reasoning(more) => reasoning_content.push_str(&more.text),
            Part::ToolCall(call) => tool_calls.push(Call {
                id: &call.id,
                kind: "function",
                function: CalledFunction { name: &call.name, arguments: &call.arguments },
            }),
            Part::Text { .. } | Part::Image(_) | Part::ToolAnswer(_) => {}
        }
    }
    let said = Some(reply.text()).filter(|text| !text.is_empty() || tool_calls.is_empty());
    let refused = reply.finish == FinishReason::Refusal;
    let (content, refusal) = if refused { (None, said) } else { (said, None) };
    Message { role: "assistant", content, refusal, tool_calls, reasoning_content }
}

/// Strategies that may be named in place of a model.
const STRATEGIES: [&str; 6] = ["balanced", "cheapest", "fastest", "smartest", "reasoning", "fallback"];

/// The models that may be named.
pub(crate) fn model_list(models: &[ModelView]) -> Value {
    json!({"object": "list", "data": entries(models)})
}

/// One of them.
pub(crate) fn model_entry(models: &[ModelView], id: &str) -> Option<Value> {
    entries(models).into_iter().find(|entry| entry["id"] == id)
}

fn entries(models: &[ModelView]) -> Vec<Value> {
    let entry = |id: &str, owner: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": owner});
    let strategies = STRATEGIES.iter().map(|name| entry(name, "kybern"));
    let chosen = models.iter().any(|model| model.spec.kind == ModelKind::Chat && model.spec.quality.is_some());
    let strategies = strategies.filter(|_| chosen);
    strategies.chain(models.iter().map(|model| entry(&model.key, &model.provider))).collect()
}

/// Vectors.
pub(crate) fn embedding_list(embedded: &Embedded, model: &str, as_base64: bool) -> Value {
    let vector = |vector: &Vec<f32>| {
        if as_base64 {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            Value::String(STANDARD.encode(bytes))
        } else {
            json!(vector)
        }
    };
    let data: Vec<Value> = embedded
        .vectors
        .iter()
        .enumerate()
        .map(|(n, numbers)| json!({"object": "embedding", "index": n, "embedding": vector(numbers)}))
        .collect();
    let tokens = embedded.usage.map_or(0, |usage| usage.input);
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    json!({"object": "list", "data": data, "model": model, "usage": usage})
}
