//! A conversation as input items.

use kybern_core::model::{ImageDetail, ModelMessage, Part, Reasoning, Role, ToolCall, ToolResult};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::models::wire::ids::{FittedId, IdRule};
use crate::models::wire::opaque;

/// The most bytes of a call's id.
const IDS: IdRule = IdRule::UpTo(64);
use crate::models::wire::openai_chat::Source;

/// All items.
pub(super) struct Input<'a>(pub(super) &'a [ModelMessage]);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        for message in self.0 {
            match message.role {
                Role::System => {
                    let item = InputMessage { role: "developer", content: Content::Text(&message.joined_text()) };
                    out.serialize_element(&item)?;
                }
                Role::User => {
                    out.serialize_element(&InputMessage { role: "user", content: Content::of(&message.parts) })?;
                }
                Role::Assistant => assistant(&message.parts, &mut out)?,
                Role::Tool => answers(&message.parts, &mut out)?,
            }
        }
        out.end()
    }
}

fn assistant<S: SerializeSeq>(parts: &[Part], out: &mut S) -> Result<(), S::Error> {
    for part in parts {
        match part {
            Part::Text { text } => {
                out.serialize_element(&InputMessage { role: "assistant", content: Content::Text(text) })?;
            }
            Part::ToolCall(ToolCall { id, name, arguments }) => {
                out.serialize_element(&Item::FunctionCall { call_id: FittedId(id, IDS), name, arguments })?;
            }
            Part::Reasoning(reasoning) => {
                // Only what OpenAI encrypted itself can go back.
                let item = opaque::of(opaque::OPENAI_ITEM, reasoning.opaque.as_deref());
                if let Some((id, encrypted_content)) = item.and_then(|item| item.split_once(' ')) {
                    let summary = Summary(reasoning);
                    out.serialize_element(&Item::Reasoning { id, summary, encrypted_content })?;
                }
            }
            Part::Image(_) | Part::ToolAnswer(_) => {}
        }
    }
    Ok(())
}

/// An image belongs to the answer before it.
fn answers<S: SerializeSeq>(parts: &[Part], out: &mut S) -> Result<(), S::Error> {
    for (at, part) in parts.iter().enumerate() {
        if let Part::ToolAnswer(ToolResult { call_id, content, .. }) = part {
            let rest = parts.get(at + 1..).unwrap_or_default();
            let images = rest.iter().take_while(|part| matches!(part, Part::Image(_))).count();
            let images = rest.get(..images).unwrap_or_default();
            let output = Output { content, images };
            out.serialize_element(&Item::FunctionCallOutput { call_id: FittedId(call_id, IDS), output })?;
        }
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct InputMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

enum Content<'a> {
    Text(&'a str),
    Parts(&'a [Part]),
}

impl<'a> Content<'a> {
    fn of(parts: &'a [Part]) -> Self {
        match parts {
            [Part::Text { text }] => Self::Text(text),
            parts => Self::Parts(parts),
        }
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => serializer.collect_seq(parts.iter().filter_map(InputPart::of)),
        }
    }
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputPart<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        image_url: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<ImageDetail>,
    },
}

impl<'a> InputPart<'a> {
    fn of(part: &'a Part) -> Option<Self> {
        match part {
            Part::Text { text } => Some(Self::InputText { text }),
            Part::Image(image) => Some(Self::InputImage { image_url: Source(image), detail: image.detail() }),
            Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_) => None,
        }
    }
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    FunctionCall { call_id: FittedId<'a>, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: FittedId<'a>, output: Output<'a> },
    Reasoning { id: &'a str, summary: Summary<'a>, encrypted_content: &'a str },
}

struct Output<'a> {
    content: &'a str,
    images: &'a [Part],
}

impl Serialize for Output<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.images.is_empty() {
            return serializer.serialize_str(self.content);
        }
        let text = std::iter::once(InputPart::InputText { text: self.content });
        serializer.collect_seq(text.chain(self.images.iter().filter_map(InputPart::of)))
    }
}

struct Summary<'a>(&'a Reasoning);

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = Some(SummaryText::SummaryText { text: &self.0.text }).filter(|_| !self.0.text.is_empty());
        serializer.collect_seq(text)
    }
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SummaryText<'a> {
    SummaryText { text: &'a str },
}
