//! What a language model answers, whole or in pieces.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::{Part, Reasoning, ToolCall, text_of};

/// Why a reply ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was complete.
    Stop,
    /// Its tokens were used up.
    Length,
    /// It asks for tools.
    ToolCalls,
    /// The provider's filter ended or withheld it.
    ContentFilter,
    /// The model refused, in words.
    Refusal,
    /// No model was asked: none is configured, and the server says so in its own words.
    NoModel,
}

/// The tokens of a call.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// All tokens that were read, those out of a cache and those written to one included.
    pub input: u64,
    /// Of them, read from the provider's cache.
    pub cached_input: u64,
    /// Of them, written to the provider's cache.
    pub cache_write: u64,
    /// All tokens that were written, reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// Whether these are our own estimate, because the provider said nothing.
    pub estimated: bool,
}

impl TokenUsage {
    /// Whether nothing was counted.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.input == 0 && self.output == 0
    }

    /// The larger of each: providers repeat running totals while they stream.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            cached_input: self.cached_input.max(other.cached_input),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
            estimated: self.estimated && other.estimated,
        }
    }
}

/// A whole reply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReply {
    /// The provider's id of it; empty when it gives none.
    pub id: String,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Text, reasoning and calls, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it took; `None` when the provider said nothing.
    pub usage: Option<TokenUsage>,
    /// How likely its tokens were, in OpenAI's own form, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Box<Value>>,
}

impl ModelReply {
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    /// The calls that it asks for.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolAnswer(_) => None,
        })
    }
}

/// A piece of a reply that streams. Pieces of one stream, put together by [`Assembly`], are the reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ModelEvent {
    /// The reply has begun. Comes once, first.
    Started {
        /// The provider's id; empty when it gives none.
        id: String,
        /// The model that answers.
        model: String,
    },
    /// More text; never empty.
    Text(String),
    /// More reasoning. `opaque` closes a block of it.
    Reasoning(Reasoning),
    /// A call begins.
    CallBegun {
        /// Its place in the reply, from 0, whatever the provider counts.
        index: usize,
        id: String,
        /// The function.
        name: String,
    },
    /// More of a call's arguments; never empty.
    CallArguments {
        /// The call's place.
        index: usize,
        /// The next piece of its JSON text.
        fragment: String,
    },
    /// How likely the tokens of the last pieces were, in OpenAI's own form.
    Logprobs(Box<Value>),
    /// The reply has ended. Comes once, last.
    Finished {
        /// Why.
        finish: FinishReason,
        /// What it took.
        usage: Option<TokenUsage>,
    },
}

/// Puts a stream's pieces together.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    id: String,
    model: String,
    parts: Vec<Part>,
    /// Where the calls stand among the parts.
    calls: Vec<usize>,
    logprobs: Option<Box<Value>>,
    end: Option<(FinishReason, Option<TokenUsage>)>,
}

impl Assembly {
    /// Takes the next piece. A piece of a call that never began is dropped: adapters do not send one.
    pub fn add(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Started { id, model } => {
                self.id.clone_from(id);
                self.model.clone_from(model);
            }
            ModelEvent::Text(more) => match self.parts.last_mut() {
                Some(Part::Text { text }) => text.push_str(more),
                Some(Part::Image(_) | Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_)) | None => {
                    self.parts.push(Part::Text { text: more.clone() });
                }
            },
            ModelEvent::Reasoning(more) => match self.parts.last_mut() {
                Some(Part::Reasoning(known)) if known.opaque.is_none() => {
                    known.text.push_str(&more.text);
                    known.opaque.clone_from(&more.opaque);
                }
                Some(
                    Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_),
                )
                | None => self.parts.push(Part::Reasoning(more.clone())),
            },
            ModelEvent::CallBegun { index: _, id, name } => {
                self.calls.push(self.parts.len());
                let call = ToolCall { id: id.clone(), name: name.clone(), arguments: String::new() };
                self.parts.push(Part::ToolCall(call));
            }
            ModelEvent::CallArguments { index, fragment } => {
                let part = self.calls.get(*index).and_then(|place| self.parts.get_mut(*place));
                if let Some(Part::ToolCall(call)) = part {
                    call.arguments.push_str(fragment);
                }
            }
            ModelEvent::Logprobs(more) => match &mut self.logprobs {
                Some(known) => join(known, more),
                None => self.logprobs = Some(more.clone()),
            },
            ModelEvent::Finished { finish, usage } => self.end = Some((*finish, *usage)),
        }
    }

    /// Whether anything that a reader would see has come.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The reply so far, whether it has ended or not: what is kept of one that broke.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The whole reply; `None` before its end.
    #[must_use]
    pub fn finished(self) -> Option<ModelReply> {
        let (finish, usage) = self.end?;
        Some(ModelReply { id: self.id, model: self.model, parts: self.parts, finish, usage, logprobs: self.logprobs })
    }
}

/// Adds the lists of one to those of another.
fn join(known: &mut Value, more: &Value) {
    for (name, list) in more.as_object().into_iter().flatten() {
        match (known.get_mut(name).and_then(Value::as_array_mut), list.as_array()) {
            (Some(known), Some(list)) => known.extend(list.iter().cloned()),
            (None, Some(_)) => known[name] = list.clone(),
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn likelihoods_of_all_pieces_are_the_replys() {
        let mut assembly = Assembly::default();
        for (token, refusal) in [("a", Value::Null), ("b", Value::Null), ("c", json!([{"token": "no"}]))] {
            let piece = json!({"content": [{"token": token, "logprob": -0.5}], "refusal": refusal});
            assembly.add(&ModelEvent::Logprobs(Box::new(piece)));
        }
        assembly.add(&ModelEvent::Finished { finish: FinishReason::Stop, usage: None });
        let logprobs = assembly.finished().unwrap().logprobs.unwrap();
        let tokens: Vec<&str> =
            logprobs["content"].as_array().unwrap().iter().filter_map(|one| one["token"].as_str()).collect();
        assert_eq!((tokens.join(""), &logprobs["refusal"]), ("abc".to_owned(), &json!([{"token": "no"}])));
    }
}
