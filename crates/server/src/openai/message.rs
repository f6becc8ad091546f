//! Messages as OpenAI's clients write them.

use kybern_core::error::Detail;
use kybern_core::model::{Image, ImageDetail, ModelMessage, Part, Reasoning, Role, ToolCall, ToolResult};
use kybern_core::policy::place::behind_scheme;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::schema::words::{ChatRoleSchema, ImageDetailSchema, PartKindSchema};

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(expecting = "a message with role and content")]
#[schema(as = ChatMessage)]
pub(crate) struct MessageBody {
    /// Who says it.
    #[schema(value_type = ChatRoleSchema)]
    role: String,
    /// What is said.
    content: Option<Content>,
    /// The calls of an assistant's message.
    tool_calls: Option<Vec<CallBody>>,
    /// The call that a tool's message answers.
    tool_call_id: Option<String>,
    /// A name of the speaker; for a tool's message, the function's.
    name: Option<String>,
    /// A refusal of an earlier reply; taken for its text.
    refusal: Option<String>,
    /// Reasoning of an earlier reply.
    reasoning_content: Option<String>,
}

/// What is said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "a text or a list of parts")]
#[schema(as = ChatContent)]
enum Content {
    /// A text.
    Text(String),
    /// Texts and pictures.
    Parts(Vec<ContentPart>),
}

/// One part of what is said.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatContentPart)]
struct ContentPart {
    /// Which of the members it has.
    #[serde(rename = "type")]
    #[schema(value_type = PartKindSchema)]
    kind: String,
    /// The text.
    text: Option<String>,
    /// A refusal of an earlier reply; taken for its text.
    refusal: Option<String>,
    /// The picture, of a user.
    image_url: Option<ImageUrl>,
}

/// A picture: OpenAI's object, or its bare URL.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ChatImage)]
enum ImageUrl {
    /// OpenAI's object.
    Object {
        /// An `https` URL, or a data URL with base64.
        url: String,
        /// How closely it is looked at.
        #[schema(value_type = Option<ImageDetailSchema>)]
        detail: Option<String>,
    },
    /// Its URL.
    Bare(String),
}

/// A call.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatToolCall)]
pub(crate) struct CallBody {
    /// Its id.
    id: String,
    /// The function and its arguments.
    function: CalledBody,
}

/// What is called.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatCalledFunction)]
struct CalledBody {
    /// The function.
    name: String,
    /// The arguments as JSON text.
    #[serde(default)]
    arguments: String,
}

/// The messages of a request; faults are added with their places.
pub(super) fn messages(bodies: Vec<MessageBody>, faults: &mut Vec<Detail>) -> Vec<ModelMessage> {
    if bodies.is_empty() {
        faults.push(Detail::new("/messages", "a conversation has at least one message"));
    }
    let mut messages: Vec<ModelMessage> = Vec::with_capacity(bodies.len());
    for (n, body) in bodies.into_iter().enumerate() {
        let Some(message) = message(n, body, faults) else { continue };
        // All answers to the calls of one reply stand in one message.
        match messages.last_mut() {
            Some(last) if last.role == Role::Tool && message.role == Role::Tool => last.parts.extend(message.parts),
            _ => messages.push(message),
        }
    }
    name_answers(&mut messages);
    messages
}

fn message(n: usize, body: MessageBody, faults: &mut Vec<Detail>) -> Option<ModelMessage> {
    let place = format!("/messages/{n}");
    let role = match body.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "function" => {
            faults.push(Detail::new(format!("{place}/role"), "functions have been replaced by tools: use role tool"));
            return None;
        }
        other => {
            let message = format!("{other:?} is no role: use system, developer, user, assistant or tool");
            faults.push(Detail::new(format!("{place}/role"), message));
            return None;
        }
    };
    let mut parts = Vec::new();
    if let Some(text) = body.reasoning_content.filter(|text| !text.is_empty() && role == Role::Assistant) {
        parts.push(Part::Reasoning(Reasoning { text, opaque: None }));
    }
    match body.content {
        None => {}
        Some(Content::Text(text)) => parts.push(Part::Text { text }),
        Some(Content::Parts(all)) => {
            for (at, one) in all.into_iter().enumerate() {
                match part(one, role) {
                    Ok(part) => parts.push(part),
                    Err(why) => faults.push(Detail::new(format!("{place}/content/{at}"), why)),
                }
            }
        }
    }
    parts.extend(body.refusal.filter(|text| !text.is_empty()).map(|text| Part::Text { text }));
    if role == Role::Tool {
        let Some(call_id) = body.tool_call_id else {
            faults
                .push(Detail::new(format!("{place}/tool_call_id"), "a tool's message names the call that it answers"));
            return None;
        };
        let content = ModelMessage { role, parts }.joined_text();
        let name = body.name.unwrap_or_default();
        let answer = ToolResult { call_id, name, content, is_error: false };
        return Some(ModelMessage { role, parts: vec![Part::ToolAnswer(answer)] });
    }
    for call in body.tool_calls.unwrap_or_default() {
        if role != Role::Assistant {
            faults.push(Detail::new(format!("{place}/tool_calls"), "only an assistant's message has calls"));
            break;
        }
        let CallBody { id, function: CalledBody { name, arguments } } = call;
        parts.push(Part::ToolCall(ToolCall { id, name, arguments }));
    }
    Some(ModelMessage { role, parts })
}

fn part(part: ContentPart, role: Role) -> Result<Part, String> {
    let picture = match part.image_url {
        Some(ImageUrl::Object { url, detail }) => Some((url, self::detail(detail.as_deref())?)),
        Some(ImageUrl::Bare(url)) => Some((url, None)),
        None => None,
    };
    match (part.kind.as_str(), part.text, picture, part.refusal) {
        ("text", Some(text), _, _) | ("refusal", _, _, Some(text)) => Ok(Part::Text { text }),
        ("image_url", _, Some((url, detail)), _) if role == Role::User => image(&url, detail).map(Part::Image),
        ("image_url", _, Some(_), _) => Err("only a user's message has images".to_owned()),
        ("text" | "image_url" | "refusal", ..) => Err(format!("a part of type {:?} lacks its member", part.kind)),
        (other, ..) => Err(format!("parts of type {other:?} are not taken: use text or image_url")),
    }
}

fn detail(word: Option<&str>) -> Result<Option<ImageDetail>, String> {
    match word {
        None | Some("auto") => Ok(None),
        Some("low") => Ok(Some(ImageDetail::Low)),
        Some("high") => Ok(Some(ImageDetail::High)),
        Some(other) => Err(format!("{other:?} is no detail: use auto, low or high")),
    }
}

fn image(url: &str, detail: Option<ImageDetail>) -> Result<Image, String> {
    let Some(data) = url.strip_prefix("data:") else {
        return if behind_scheme(url, "https").is_some() {
            Ok(Image::Url { url: url.to_owned(), detail })
        } else {
            Err("an image is an https URL, or a data URL with base64".to_owned())
        };
    };
    let (media_type, data) =
        data.split_once(";base64,").ok_or_else(|| "a data URL of an image is base64".to_owned())?;
    if !media_type.starts_with("image/") {
        return Err(format!("{media_type:?} is no image"));
    }
    Ok(Image::Data { media_type: media_type.to_owned(), data: data.into(), detail })
}

/// Writes the functions' names into the answers that lack them: some providers want them.
fn name_answers(messages: &mut [ModelMessage]) {
    let mut names: Vec<(String, String)> = Vec::new();
    for message in messages {
        for part in &mut message.parts {
            match part {
                Part::ToolCall(call) => names.push((call.id.clone(), call.name.clone())),
                Part::ToolAnswer(answer) if answer.name.is_empty() => {
                    if let Some((_, name)) = names.iter().rev().find(|(id, _)| *id == answer.call_id) {
                        answer.name.clone_from(name);
                    }
                }
                Part::ToolAnswer(_) | Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) => {}
            }
        }
    }
}
