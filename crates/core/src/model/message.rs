//! What is said to a language model, and by whom.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

words! {
    /// Who says a message to a model.
    #[cfg_attr(feature = "schema", schema(as = ModelRole))]
    pub enum Role {
        /// The operator's instructions.
        System = "system",
        /// The user, or data that is handed over in the user's name.
        User = "user",
        /// The model itself, earlier.
        Assistant = "assistant",
        /// The results of tools that the model asked for.
        Tool = "tool",
    }
}

/// How closely a model looks at an image, where that can be said. It changes what the image costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageDetail {
    /// At a small copy of it.
    Low,
    High,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Image {
    /// Its bytes, in base64 with padding.
    #[serde(rename_all = "camelCase")]
    Data {
        /// For instance `image/png`.
        media_type: String,
        /// Base64. Shared, because it is large and goes with every question of its turn.
        data: Arc<str>,
        /// How closely to look; `None` leaves that to the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<ImageDetail>,
    },
    /// Where the provider finds it. The provider fetches it, not this server.
    Url {
        /// An `https` URL.
        url: String,
        /// How closely to look; `None` leaves that to the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<ImageDetail>,
    },
}

impl Image {
    /// How closely to look at it.
    #[must_use]
    pub const fn detail(&self) -> Option<ImageDetail> {
        match self {
            Self::Data { detail, .. } | Self::Url { detail, .. } => *detail,
        }
    }
}

/// A call that a model asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's name for the call, or one that was made where it gives none; unique in its reply.
    pub id: String,
    /// The function's name, as the model was given it.
    pub name: String,
    /// The arguments as the model wrote them: meant to be a JSON object, not proven to be one.
    pub arguments: String,
}

/// The answer to such a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The function's name; some providers want it again.
    pub name: String,
    /// What the tool returned, or why it failed.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// A model's reasoning, where the provider shows it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reasoning {
    /// The text; empty when the provider hides it.
    pub text: String,
    /// What the provider wants back unchanged with the next request of the turn: a signature, or the hidden text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
}

/// One part of a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Part {
    Text {
        text: String,
    },
    /// An image, in a user's message or a tool's answer.
    Image(Image),
    /// Reasoning, in an assistant's message.
    Reasoning(Reasoning),
    /// A call, in an assistant's message.
    ToolCall(ToolCall),
    /// An answer, in a tool's message.
    ToolAnswer(ToolResult),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order. All calls of one reply stand in one message, and all their answers in the next.
    pub parts: Vec<Part>,
}

/// The text of the parts, without anything else.
pub(crate) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Image(_) | Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_) => None,
    });
    texts.collect()
}

impl ModelMessage {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text { text: text.into() }] }
    }

    /// Its texts, one after the other.
    #[must_use]
    pub fn joined_text(&self) -> String {
        text_of(&self.parts)
    }
}
