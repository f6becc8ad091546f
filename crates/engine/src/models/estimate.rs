//! How many tokens a request takes at most, before anybody has counted them.

use kybern_core::model::{ModelRequest, Part};
use kybern_core::ports::TokenCounter;

use crate::size::{PER_IMAGE, PER_MESSAGE, bytes, of_part, of_value};

/// What a tool's frame costs beside its words.
const PER_FUNCTION: u64 = 16;
/// What an image costs at `gpt-4o-mini`, which counts 2,833 and 5,667 for each of up to eight tiles (OpenAI, "Images and vision").
const PER_IMAGE_4O_MINI: u64 = 50_000;
/// What tools cost beside their own words: a provider's instructions for them, which nobody sees (Anthropic documents
/// up to some 500).
const FOR_TOOLS: u64 = 600;

/// The most tokens that the request can be. A token is at least one byte of text, so the bytes are a bound that holds
/// for every tokenizer; a real count is about a quarter of it.
pub(crate) fn at_most(request: &ModelRequest) -> u64 {
    let mut total = PER_MESSAGE;
    for message in &request.messages {
        total += PER_MESSAGE;
        total += message.parts.iter().map(of_part).sum::<u64>();
        let images = message.parts.iter().filter(|part| matches!(part, Part::Image(_))).count();
        if request.model.contains("4o-mini") {
            total += u64::try_from(images).unwrap_or(u64::MAX).saturating_mul(PER_IMAGE_4O_MINI - PER_IMAGE);
        }
    }
    total += if request.functions.is_empty() { 0 } else { FOR_TOOLS };
    for function in &request.functions {
        total += PER_FUNCTION + bytes(&function.name) + bytes(&function.description);
        total += size(&function.parameters);
    }
    if let Some(output) = &request.output {
        total += PER_FUNCTION + output.schema.as_ref().map_or(0, size);
    }
    total
}

/// About how many tokens the request is: four bytes to a token, the usual rule.
pub(crate) fn about(request: &ModelRequest) -> u64 {
    at_most(request).div_ceil(4)
}

/// About how many tokens a text is.
pub(crate) fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

fn size(value: &serde_json::Value) -> u64 {
    u64::try_from(of_value(value)).unwrap_or(u64::MAX)
}

/// How many tokens the request is by the model's own tokenizer; `None` when that is not here. What is not text
/// (images, the frames of tools, schemas) stays at its bound.
pub(crate) fn counted(request: &ModelRequest, model: &str, counter: &dyn TokenCounter) -> Option<u64> {
    let mut texts: Vec<&str> = Vec::new();
    for message in &request.messages {
        texts.extend(message.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::ToolCall(call) => Some(call.arguments.as_str()),
            Part::ToolAnswer(answer) => Some(answer.content.as_str()),
            Part::Image(_) | Part::Reasoning(_) => None,
        }));
    }
    let bytes: u64 = texts.iter().map(|text| bytes(text)).sum();
    let counted = counter.count(model, &mut texts.into_iter())?;
    Some(at_most(request).saturating_sub(bytes).saturating_add(counted))
}
