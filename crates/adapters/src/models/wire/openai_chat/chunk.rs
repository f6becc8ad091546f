//! What answers and chunks look like. An answer has a message where a chunk has a delta; nothing else differs.

use std::borrow::Cow;
use std::fmt;

use kybern_core::model::{FinishReason, ModelFailure, ModelFailureKind};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::usage::Usage;
use crate::models::wire::lenient::{Count, Text};

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// Groq puts usage and errors here.
    #[serde(borrow, default)]
    pub(super) x_groq: Option<Groq<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Groq<'a> {
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// Perplexity repeats all of it beside every delta.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Text<'a>,
    #[serde(borrow, default)]
    logprobs: Option<&'a RawValue>,
}

impl Choice<'_> {
    /// How likely the tokens were. Legacy servers send it in a form of their own, which is no object with lists.
    pub(super) fn logprobs(&self) -> Option<Box<Value>> {
        let value: Value = serde_json::from_str(self.logprobs?.get()).ok()?;
        value.get("content").is_some_and(Value::is_array).then(|| Box::new(value))
    }
}

#[derive(Deserialize, Default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Content<'a>,
    /// DeepSeek, xAI, vLLM, llama.cpp, Zhipu, Fireworks.
    #[serde(borrow, default)]
    pub(super) reasoning_content: Text<'a>,
    /// OpenRouter, Groq, Ollama, Together.
    #[serde(borrow, default)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<Call<'a>>>,
}

impl Delta<'_> {
    /// The reasoning. Some servers send it under both names, for clients of both kinds.
    pub(super) fn reasoning(&self) -> &str {
        self.reasoning_content.some().unwrap_or(&self.reasoning)
    }
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(default)]
    pub(super) index: Option<Count>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Deserialize, Default)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl<'a> Function<'a> {
    /// The arguments as text, also from servers that send the object itself.
    pub(super) fn arguments(&self) -> Cow<'a, str> {
        let raw = self.arguments.map(RawValue::get).unwrap_or_default();
        if raw.starts_with('"') {
            return serde_json::from_str::<Text<'a>>(raw).map(|text| text.0).unwrap_or_default();
        }
        Cow::Borrowed(raw)
    }
}

/// Text, or Mistral's list of texts and thoughts.
#[derive(Default)]
pub(super) struct Content<'a> {
    pub(super) text: Text<'a>,
    pub(super) pieces: Vec<ContentPiece<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ContentPiece<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Content<'a>,
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content { text: Text(Cow::Borrowed(text)), pieces: Vec::new() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content { text: Text(Cow::Owned(text.to_owned())), pieces: Vec::new() })
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let piece = ContentPiece::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(Content { text: Text::default(), pieces: vec![piece] })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = items.next_element()? {
            pieces.push(piece);
        }
        Ok(Content { text: Text::default(), pieces })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

impl Content<'_> {
    /// Gives each text, and whether it is a thought.
    pub(super) fn each(&self, give: &mut dyn FnMut(&str, bool)) {
        self.walk(false, give);
    }

    fn walk(&self, thought: bool, give: &mut dyn FnMut(&str, bool)) {
        if !self.text.is_empty() {
            give(&self.text, thought);
        }
        for piece in &self.pieces {
            piece.thinking.walk(true, give);
            if !piece.text.is_empty() {
                give(&piece.text, thought);
            }
        }
    }
}

/// What the word for an end means.
///
/// # Errors
/// When it stands for a failure of the provider.
pub(super) fn finish(word: &str) -> Result<FinishReason, ModelFailure> {
    Ok(match word {
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        // `sensitive` is Zhipu's.
        "content_filter" | "safety" | "sensitive" => FinishReason::ContentFilter,
        "refusal" => FinishReason::Refusal,
        // OpenRouter and Mistral, Zhipu, DeepSeek, vLLM: it did not end, it failed.
        "error" | "network_error" | "insufficient_system_resource" | "abort" => {
            let message = format!("the reply ended with {word:?}");
            return Err(ModelFailure::new(ModelFailureKind::Provider, message));
        }
        // `stop`, `eos`, `end_turn`, and words that nobody announced.
        _ => FinishReason::Stop,
    })
}

/// What the end is, seen with the reply: servers say `stop` although there are calls, or the other way round.
pub(super) const fn settle(finish: FinishReason, calls: bool, refused: bool) -> FinishReason {
    match finish {
        FinishReason::Stop | FinishReason::ToolCalls if calls => FinishReason::ToolCalls,
        FinishReason::Stop | FinishReason::ToolCalls if refused => FinishReason::Refusal,
        FinishReason::ToolCalls => FinishReason::Stop,
        other => other,
    }
}
