//! A whole message.

use kybern_core::model::{ModelFailure, ModelReply};

use super::block::{Block, Message, Usage, finish};
use crate::models::wire::failure::without;
use crate::models::wire::parts::ReplyPartsBuilder;
use crate::models::wire::{garbage, opaque};

/// The reply.
///
/// # Errors
/// What the body reports; `Garbage` when it is no message.
pub fn decode(body: &[u8]) -> Result<ModelReply, ModelFailure> {
    let message: Message<'_> = serde_json::from_slice(body).map_err(|error| garbage("the answer", &error))?;
    let usage = message.usage.map(Usage::counts).filter(|usage| !usage.is_zero());
    let Some(content) = &message.content else {
        return Err(without(body, "content").usage(usage));
    };
    let mut parts = ReplyPartsBuilder::default();
    for block in content {
        take(block, &mut parts).map_err(|failure| failure.usage(usage))?;
    }
    Ok(ModelReply {
        logprobs: None,
        id: message.id.to_string(),
        model: message.model.to_string(),
        finish: finish(&message.stop_reason, parts.calls() > 0),
        parts: parts.parts,
        usage,
    })
}

fn take(block: &Block<'_>, parts: &mut ReplyPartsBuilder) -> Result<(), ModelFailure> {
    match &*block.r#type {
        "text" => parts.text(&block.text),
        "thinking" => {
            let signature = block.signature.some();
            let signature = signature.map(|signature| opaque::mark(opaque::ANTHROPIC_SIGNATURE, signature));
            parts.reasoning(&block.thinking, signature);
        }
        "redacted_thinking" => parts.reasoning("", Some(opaque::mark(opaque::ANTHROPIC_REDACTED, &block.data))),
        "tool_use" => parts.call(&block.id, &block.name, block.arguments())?,
        // Tools that run at the provider, and blocks that nobody announced.
        _ => {}
    }
    Ok(())
}
