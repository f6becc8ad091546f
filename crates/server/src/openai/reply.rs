//! Replies as OpenAI's clients read them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_core::model::{Embedded, FinishReason, ModelKind, ModelReply, Part, TokenUsage};
use kybern_engine::models::{Answered, ModelView};
use serde_json::{Value, json};

/// What a reply is called.
pub(crate) fn id(request: &str) -> String {
    format!("chatcmpl-{request}")
}

/// OpenAI's word for why a reply ended.
pub(super) const fn finish(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::Refusal => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
    }
}

pub(super) fn usage(usage: &TokenUsage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cached_input},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

/// A whole reply.
pub(crate) fn completion(answered: &Answered, request: &str, created: i64) -> Value {
    json!({
        "id": id(request),
        "object": "chat.completion",
        "created": created,
        "model": answered.model,
        "choices": [{
            "index": 0,
            "message": message(&answered.reply),
            "logprobs": answered.reply.logprobs,
            "finish_reason": finish(answered.reply.finish),
        }],
        "usage": usage(&answered.usage),
    })
}

fn message(reply: &ModelReply) -> Value {
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Reasoning(more) => reasoning.push_str(&more.text),
            Part::ToolCall(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })),
            Part::Text { .. } | Part::Image(_) | Part::ToolAnswer(_) => {}
        }
    }
    let text = reply.text();
    let refused = reply.finish == FinishReason::Refusal;
    let said = Some(text).filter(|text| !text.is_empty() || calls.is_empty());
    let (content, refusal) = if refused { (None, said) } else { (said, None) };
    let mut message = json!({"role": "assistant", "content": content, "refusal": refusal});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if !reasoning.is_empty() {
        message["reasoning_content"] = Value::String(reasoning);
    }
    message
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
