//! A conversation as messages of two roles with blocks.

use std::borrow::Cow;

use kybern_core::model::{Image, ModelMessage, Part, Reasoning, ToolCall, ToolResult};
use serde_json::value::RawValue;

use crate::models::wire::ids::{FittedId, IdRule};
use crate::models::wire::{object_of, opaque, turns};

/// As <https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming> advises.
const INVALID: &str = "INVALID_JSON";

#[derive(serde::Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

/// All messages but the system's. Adjoining messages of one role are joined there; empty messages and empty texts are
/// refused.
pub(super) fn messages(all: &[ModelMessage]) -> Vec<Message<'_>> {
    turns(all, "assistant", blocks).map(|(role, content)| Message { role, content }).collect()
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: FittedId<'a>,
        name: &'a str,
        input: Cow<'a, RawValue>,
    },
    ToolResult {
        tool_use_id: FittedId<'a>,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

fn blocks(parts: &[Part]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text { text } if text.is_empty() => {}
            Part::Text { text } => blocks.push(Block::Text { text }),
            Part::Image(picture) => {
                let block = Block::Image { source: source(picture) };
                // An image after a tool's answer belongs to it.
                match blocks.last_mut() {
                    Some(Block::ToolResult { content, .. }) => content.push(block),
                    _ => blocks.push(block),
                }
            }
            Part::Reasoning(reasoning) => blocks.extend(thinking(reasoning)),
            Part::ToolCall(ToolCall { id, name, arguments }) => {
                blocks.push(Block::ToolUse {
                    id: FittedId(id, IdRule::Plain),
                    name,
                    input: object_of(arguments, INVALID),
                });
            }
            Part::ToolAnswer(ToolResult { call_id, content, is_error, .. }) => {
                let text = Some(Block::Text { text: content }).filter(|_| !content.is_empty());
                let content = text.into_iter().collect();
                blocks.push(Block::ToolResult {
                    tool_use_id: FittedId(call_id, IdRule::Plain),
                    content,
                    is_error: *is_error,
                });
            }
        }
    }
    blocks
}

fn source(image: &Image) -> Source<'_> {
    match image {
        Image::Data { media_type, data, .. } => Source::Base64 { media_type, data },
        Image::Url { url, .. } => Source::Url { url },
    }
}

/// Only what Anthropic signed itself can go back.
fn thinking(reasoning: &Reasoning) -> Option<Block<'_>> {
    let known = reasoning.opaque.as_deref();
    if let Some(signature) = opaque::of(opaque::ANTHROPIC_SIGNATURE, known) {
        return Some(Block::Thinking { thinking: &reasoning.text, signature });
    }
    opaque::of(opaque::ANTHROPIC_REDACTED, known).map(|data| Block::RedactedThinking { data })
}
