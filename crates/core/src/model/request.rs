//! What a language model is asked. No provider's own words: each adapter translates into its wire format, and says
//! clearly when a provider cannot do what is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::{ModelMessage, Part};
use crate::time::Millis;

/// A tool as a model sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Whether the provider shall hold the model to the schema, where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// Whether the model may, must or must not call tools.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FunctionChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// At least one.
    Required,
    Named(String),
}

/// A JSON answer by a schema.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputSchema {
    /// A name for it: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// JSON Schema of an object. `None` asks for any JSON object.
    pub schema: Option<Value>,
    /// Whether the provider shall hold the model to it, where it can.
    pub strict: bool,
}

/// How hard the model shall think, where it can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelRequest {
    /// The provider's own name of the model.
    pub model: String,
    /// The conversation. System messages stand where the caller put them; adapters of providers that know only one
    /// join them in order.
    pub messages: Vec<ModelMessage>,
    /// The tools it may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionSpec>,
    /// Whether it may, must or must not.
    pub function_choice: FunctionChoice,
    /// Whether it may ask for several calls in one reply; `None` leaves that to the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// A JSON answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
    /// The most tokens of the reply, reasoning included where the provider counts it. Adapters whose provider wants
    /// one set 4,000 when it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// From 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Where the reply ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// For replies that can be repeated, where the provider offers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// How likely each token was, with so many others that could have stood in its place, from 0 to 20; `None` does not
    /// ask. Refused where the provider does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<u8>,
    /// How hard to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// An opaque name of the end user, for the provider's own abuse rules. Never an e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Fields of the provider's own format that the adapter passes on unchanged, after all others, for instance
    /// `frequency_penalty`. Fields that Kybern sets itself are not overwritten.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The W3C `traceparent` that goes along, for providers and proxies that continue a trace. No part of the
    /// question: it is not kept.
    #[serde(skip)]
    pub traceparent: Option<String>,
}

/// What a model must be able to do for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Abilities {
    /// Calls tools.
    pub functions: bool,
    /// Sees images.
    pub images: bool,
    /// Answers by a JSON schema.
    pub json_schema: bool,
    /// Thinks before it answers.
    pub reasoning: bool,
}

impl Abilities {
    /// Whether everything that `needed` names is here.
    #[must_use]
    pub const fn cover(self, needed: Self) -> bool {
        (self.functions || !needed.functions)
            && (self.images || !needed.images)
            && (self.json_schema || !needed.json_schema)
            && (self.reasoning || !needed.reasoning)
    }
}

impl ModelRequest {
    /// What the model must be able to do.
    #[must_use]
    pub fn needs(&self) -> Abilities {
        let images =
            self.messages.iter().any(|message| message.parts.iter().any(|part| matches!(part, Part::Image(_))));
        Abilities {
            functions: !self.functions.is_empty(),
            images,
            json_schema: self.output.as_ref().is_some_and(|output| output.schema.is_some()),
            reasoning: false,
        }
    }
}

/// How long a call may take. Each part ends the call by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelTimeouts {
    pub connect: Millis,
    /// From the request to the first byte of the reply; of a call that does not stream, to its headers.
    pub first: Millis,
    /// Between two pieces of the reply.
    pub between: Millis,
    pub whole: Millis,
}

impl ModelTimeouts {
    /// 5 s, 60 s, 30 s and 120 s: the defaults of the orchestrator's timeout policy, with a connection's own.
    pub const DEFAULT: Self = Self {
        connect: Millis::from_secs(5),
        first: Millis::from_secs(60),
        between: Millis::from_secs(30),
        whole: Millis::from_secs(120),
    };

    /// The same with at most `left` for all of it.
    #[must_use]
    pub fn within(self, left: Millis) -> Self {
        Self { whole: self.whole.min(left), ..self }
    }
}
