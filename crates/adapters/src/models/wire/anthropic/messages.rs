//! A conversation as messages of two roles with blocks.

use std::borrow::Cow;

use kybern_core::model::{Image, ModelMessage, Part, Reasoning, Role, ToolAnswer, ToolCall};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::models::wire::ids::{Fitted, IdRule};
use crate::models::wire::opaque;

/// All messages but the system's. Adjoining messages of one role are joined there.
pub(super) struct Messages<'a>(pub(super) &'a [ModelMessage]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        for message in self.0.iter().filter(|message| message.role != Role::System) {
            let role = if message.role == Role::Assistant { "assistant" } else { "user" };
            let content = blocks(&message.parts);
            // Empty messages and empty texts are refused.
            if !content.is_empty() {
                out.serialize_element(&Message { role, content })?;
            }
        }
        out.end()
    }
}

#[derive(serde::Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
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
        id: Fitted<'a>,
        name: &'a str,
        input: Cow<'a, RawValue>,
    },
    ToolResult {
        tool_use_id: Fitted<'a>,
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
                blocks.push(Block::ToolUse { id: Fitted(id, IdRule::Plain), name, input: input(arguments) });
            }
            Part::ToolAnswer(ToolAnswer { call_id, content, is_error, .. }) => {
                let text = Some(Block::Text { text: content }).filter(|_| !content.is_empty());
                let content = text.into_iter().collect();
                blocks.push(Block::ToolResult {
                    tool_use_id: Fitted(call_id, IdRule::Plain),
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

/// The arguments as the object that must stand here. What the model wrote wrongly is shown to it as it was.
fn input(arguments: &str) -> Cow<'_, RawValue> {
    if arguments.trim_start().starts_with('{')
        && let Ok(raw) = serde_json::from_str::<&RawValue>(arguments)
    {
        return Cow::Borrowed(raw);
    }
    let wrong = serde_json::value::to_raw_value(&Wrong { invalid_json: arguments });
    wrong.map_or_else(|_| Cow::Owned(RawValue::NULL.to_owned()), Cow::Owned)
}

/// As <https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming> advises.
#[derive(serde::Serialize)]
struct Wrong<'a> {
    #[serde(rename = "INVALID_JSON")]
    invalid_json: &'a str,
}
