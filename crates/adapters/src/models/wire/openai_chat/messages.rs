//! Messages as chat completions want them: one for each tool's answer, images in the user's name.

use kybern_core::model::{
    Image, ImageDetail, ModelFailure, ModelMessage, ModelRequest, Part, Role, ToolCall, ToolResult,
};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::models::quirks::{ChatQuirks, Images};
use crate::models::wire::ids::{FittedId, IdRule};
use crate::models::wire::unsupported;

/// The most bytes of a call's id at OpenAI.
const MAX_ID: usize = 40;

/// Refuses images that the provider does not take, or that stand where none can.
pub(in crate::models::wire) fn check(request: &ModelRequest, images: Images, who: &str) -> Result<(), ModelFailure> {
    let parts = request.messages.iter().flat_map(|message| message.parts.iter().map(|part| (message.role, part)));
    for (role, part) in parts {
        match (part, images) {
            (Part::Image(_), _) if matches!(role, Role::System | Role::Assistant) => {
                return Err(unsupported("images stand in messages of users and tools only"));
            }
            (Part::Image(_), Images::No) => return Err(unsupported(format!("{who} takes no images"))),
            (Part::Image(Image::Url { .. }), Images::Data) => {
                return Err(unsupported(format!("{who} fetches no images: send their bytes")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// About how many bytes the texts have.
pub(in crate::models::wire) fn size(request: &ModelRequest) -> usize {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let bytes = parts.map(|part| match part {
        Part::Text { text } => text.len(),
        Part::Image(Image::Data { data, .. }) => data.len(),
        Part::Image(Image::Url { url, .. }) => url.len(),
        Part::Reasoning(reasoning) => reasoning.text.len(),
        Part::ToolCall(call) => call.arguments.len(),
        Part::ToolAnswer(answer) => answer.content.len(),
    });
    bytes.map(|bytes| bytes + bytes / 16 + 64).sum::<usize>() + request.functions.len() * 512
}

/// All messages of a request.
pub(super) struct Messages<'a> {
    pub(super) request: &'a ModelRequest,
    pub(super) chat: &'a ChatQuirks,
    /// Whether the system is called `developer`.
    pub(super) developer: bool,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = if self.chat.nine_ids { IdRule::Nine } else { IdRule::UpTo(MAX_ID) };
        let mut out = serializer.serialize_seq(None)?;
        for message in &self.request.messages {
            match message.role {
                Role::System => {
                    let role = if self.developer { "developer" } else { "system" };
                    out.serialize_element(&TextMessage { role, content: &message.joined_text() })?;
                }
                Role::User => out.serialize_element(&UserMessage { role: "user", content: Content(&message.parts) })?,
                Role::Assistant => {
                    out.serialize_element(&Assistant { message, ids, reasoning_back: self.chat.reasoning_back })?
                }
                Role::Tool => answers(message, ids, &mut out)?,
            }
        }
        out.end()
    }
}

/// The answers of tools. A tool's message holds text only, so that images follow in the user's name.
fn answers<S: SerializeSeq>(message: &ModelMessage, ids: IdRule, out: &mut S) -> Result<(), S::Error> {
    let mut images = Vec::new();
    for part in &message.parts {
        match part {
            Part::ToolAnswer(ToolResult { call_id, content, .. }) => {
                let tool_call_id = FittedId(call_id, ids);
                out.serialize_element(&ToolMessage { role: "tool", tool_call_id, content })?;
            }
            Part::Image(_) | Part::Text { .. } => images.push(part.clone()),
            Part::Reasoning(_) | Part::ToolCall(_) => {}
        }
    }
    if images.is_empty() {
        Ok(())
    } else {
        out.serialize_element(&UserMessage { role: "user", content: Content(&images) })
    }
}

#[derive(serde::Serialize)]
struct TextMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(serde::Serialize)]
struct UserMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(serde::Serialize)]
struct ToolMessage<'a> {
    role: &'static str,
    tool_call_id: FittedId<'a>,
    content: &'a str,
}

/// Text alone as a string, which every copy understands; otherwise a list of parts.
struct Content<'a>(&'a [Part]);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [Part::Text { text }] = self.0 {
            return serializer.serialize_str(text);
        }
        let mut out = serializer.serialize_seq(None)?;
        for part in self.0 {
            match part {
                Part::Text { text } => out.serialize_element(&ChatContentPart::Text { text })?,
                Part::Image(image) => {
                    out.serialize_element(&ChatContentPart::ImageUrl {
                        image_url: ImageUrl { url: Source(image), detail: image.detail() },
                    })?;
                }
                Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_) => {}
            }
        }
        out.end()
    }
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(serde::Serialize)]
struct ImageUrl<'a> {
    url: Source<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<ImageDetail>,
}

/// A URL; bytes are written as one, without a copy.
pub(in crate::models::wire) struct Source<'a>(pub(in crate::models::wire) &'a Image);

impl Serialize for Source<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Image::Url { url, .. } => serializer.serialize_str(url),
            Image::Data { media_type, data, .. } => {
                serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
            }
        }
    }
}

struct Assistant<'a> {
    message: &'a ModelMessage,
    ids: IdRule,
    reasoning_back: Option<&'static str>,
}

impl Assistant<'_> {
    fn reasoning(&self) -> String {
        let texts = self.message.parts.iter().filter_map(|part| match part {
            Part::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            Part::Text { .. } | Part::Image(_) | Part::ToolCall(_) | Part::ToolAnswer(_) => None,
        });
        texts.collect()
    }
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let calls = self.message.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(Call::new(call, self.ids)),
            Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolAnswer(_) => None,
        });
        let calls: Vec<_> = calls.collect();
        let text = self.message.joined_text();
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("role", "assistant")?;
        let content = Some(&text).filter(|text| !text.is_empty() || calls.is_empty());
        out.serialize_entry("content", &content)?;
        if !calls.is_empty() {
            out.serialize_entry("tool_calls", &calls)?;
            if let Some(name) = self.reasoning_back {
                let reasoning = self.reasoning();
                if !reasoning.is_empty() {
                    out.serialize_entry(name, &reasoning)?;
                }
            }
        }
        out.end()
    }
}

#[derive(serde::Serialize)]
struct Call<'a> {
    id: FittedId<'a>,
    r#type: &'static str,
    function: CallFunction<'a>,
}

#[derive(serde::Serialize)]
struct CallFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall, ids: IdRule) -> Self {
        let ToolCall { id, name, arguments } = call;
        Self { id: FittedId(id, ids), r#type: "function", function: CallFunction { name, arguments } }
    }
}
