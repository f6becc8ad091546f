//! The four wire formats, as pure functions: a request into bytes, bytes into a reply, pieces of a stream into events,
//! an error body into a typed failure. Nothing here connects, waits or knows a key.
//!
//! What always holds: a tool, a schema or an image is never left out silently; what a format cannot say is
//! [`ModelFailureKind::Unsupported`]. Wishes that a provider cannot fulfil (a seed, an effort, a temperature that a
//! reasoning model refuses) are left out. A whole reply and the same reply in pieces give the same parts.
//!
//! [`ModelFailureKind::Unsupported`]: kybern_core::model::ModelFailureKind::Unsupported

pub mod anthropic;
mod body;
mod calls;
pub mod embedding;
pub mod failure;
pub mod gemini;
mod ids;
mod lenient;
pub mod listing;
mod opaque;
pub mod openai_chat;
pub mod openai_responses;
mod parts;
pub mod sse;

use std::borrow::Cow;

use bytes::Bytes;
use kybern_core::json::{Unstorable, check_text};
use kybern_core::model::{
    FunctionSpec, ModelEvent, ModelFailure, ModelFailureKind, ModelMessage, ModelReply, ModelRequest, Part, Role,
    TokenUsage,
};
use serde_json::json;
use serde_json::value::RawValue;

pub use self::parts::events_of;
use super::quirks::Quirks;

kybern_core::named! {
    /// A way to talk to models.
    pub enum WireFormat {
        /// OpenAI's chat completions, which most providers copy.
        OpenaiChat = "openai_chat",
        /// OpenAI's responses.
        OpenaiResponses = "openai_responses",
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// Google's Gemini.
        Gemini = "gemini",
    }
}

/// A request as it goes out; the provider adds its base URL and its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireRequest {
    /// The method, upper case.
    pub method: &'static str,
    /// What follows the base URL; begins with `/`.
    pub path: String,
    /// Headers of the format, without the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// JSON, or nothing.
    pub body: Bytes,
}

/// Turns the events of a stream into pieces of a reply.
pub trait StreamDecoder: Send {
    /// Takes one event. What comes after the end is ignored.
    ///
    /// # Errors
    /// When the provider reports a failure, or the event is not of this format. What `out` holds stays true.
    fn push(&mut self, event: &str, data: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure>;

    /// Says that no event follows.
    ///
    /// # Errors
    /// `Broken` when the reply was not at its end.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure>;

    /// What was counted so far.
    fn usage(&self) -> Option<TokenUsage>;

    /// Whether [`ModelEvent::Finished`] was given.
    fn is_finished(&self) -> bool;
}

impl WireFormat {
    /// The request in this format.
    ///
    /// # Errors
    /// `Unsupported` when the provider cannot do what it asks for; `Request` when it contradicts itself.
    pub fn encode(self, request: &ModelRequest, stream: bool, quirks: &Quirks) -> Result<WireRequest, ModelFailure> {
        if request.logprobs.is_some() && self != Self::OpenaiChat {
            let who = quirks.kind.as_str();
            return Err(unsupported(format!("{who} does not say here how likely tokens were: leave logprobs out")));
        }
        match self {
            Self::OpenaiChat => openai_chat::encode(request, stream, quirks),
            Self::OpenaiResponses => openai_responses::encode(request, stream, quirks),
            Self::Anthropic => anthropic::encode(request, stream),
            Self::Gemini => gemini::encode(request, stream),
        }
    }

    /// A whole reply.
    ///
    /// # Errors
    /// What the body reports, or `Garbage` when it is not of this format.
    pub fn decode(self, body: &[u8]) -> Result<ModelReply, ModelFailure> {
        bounded(body)?;
        match self {
            Self::OpenaiChat => openai_chat::decode(body),
            Self::OpenaiResponses => openai_responses::decode(body),
            Self::Anthropic => anthropic::decode(body),
            Self::Gemini => gemini::decode(body),
        }
    }

    #[must_use]
    pub fn decoder(self) -> Box<dyn StreamDecoder> {
        match self {
            Self::OpenaiChat => Box::<openai_chat::Stream>::default(),
            Self::OpenaiResponses => Box::<openai_responses::Stream>::default(),
            Self::Anthropic => Box::<anthropic::Stream>::default(),
            Self::Gemini => Box::<gemini::Stream>::default(),
        }
    }
}

/// Something that this provider cannot do.
fn unsupported(message: impl Into<String>) -> ModelFailure {
    ModelFailure::new(ModelFailureKind::Unsupported, message)
}

/// Refuses an answer that holds more than is worth reading, before it is read.
fn bounded(body: &[u8]) -> Result<(), ModelFailure> {
    let too_much = |fault: Unstorable| ModelFailure::new(ModelFailureKind::TooLarge, format!("in the answer, {fault}"));
    check_text(body).map_err(too_much)
}

/// An answer that is not of this format. The reader's error names a place, not the content.
fn garbage(what: &str, error: &serde_json::Error) -> ModelFailure {
    let (line, column) = (error.line(), error.column());
    let message = format!("{what} cannot be read: {:?} error at line {line}, column {column}", error.classify());
    ModelFailure::new(ModelFailureKind::Garbage, message)
}

/// A stream that stopped before its end.
fn cut(what: &str) -> ModelFailure {
    ModelFailure::new(ModelFailureKind::Broken, format!("the stream ended without {what}"))
}

/// The messages between a user and a model that say something, each with its role and what `pieces` makes of its parts.
fn turns<'a, P>(
    messages: &'a [ModelMessage],
    assistant: &'static str,
    pieces: impl Fn(&'a [Part]) -> Vec<P>,
) -> impl Iterator<Item = (&'static str, Vec<P>)> {
    let said = messages.iter().filter(|message| message.role != Role::System);
    let role = move |message: &ModelMessage| if message.role == Role::Assistant { assistant } else { "user" };
    let turn = move |message: &'a ModelMessage| (role(message), pieces(&message.parts));
    said.map(turn).filter(|(_, pieces)| !pieces.is_empty())
}

/// The arguments as the object that must stand here. What the model wrote wrongly is shown to it as it was, as `invalid`.
fn object_of<'a>(arguments: &'a str, invalid: &str) -> Cow<'a, RawValue> {
    if arguments.trim_start().starts_with('{')
        && let Ok(raw) = serde_json::from_str::<&RawValue>(arguments)
    {
        return Cow::Borrowed(raw);
    }
    let wrong = serde_json::value::to_raw_value(&json!({invalid: arguments}));
    wrong.map_or_else(|_| Cow::Owned(RawValue::NULL.to_owned()), Cow::Owned)
}

fn find_tool<'a>(request: &'a ModelRequest, name: &str) -> Result<&'a FunctionSpec, ModelFailure> {
    let found = request.functions.iter().find(|function| function.name == name);
    found.ok_or_else(|| {
        ModelFailure::new(ModelFailureKind::Request, format!("the tool {name:?} must be called, but is not offered"))
    })
}

/// A request that wants a call, but offers no tool.
fn no_such_tool() -> ModelFailure {
    ModelFailure::new(ModelFailureKind::Request, "a tool must be called, but none is offered")
}
