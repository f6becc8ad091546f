//! `[models]`: how language models are chosen and how long they may take.

use std::path::PathBuf;

use kybern_core::model::ModelTimeouts;
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// How language models are chosen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelsOptions {
    /// What is meant when nobody names a model: a strategy, or `provider/model`.
    pub(crate) default: String,
    /// Models that are asked when the chosen one fails, in order.
    pub(crate) fallback: Vec<String>,
    /// Whom tools ask to think a problem through: a strategy, or `provider/model`.
    pub(crate) reasoning: String,
    /// Whom tools ask to summarise, to translate and to take facts out of texts: a strategy, or `provider/model`.
    pub(crate) texts: String,
    /// Who is asked what messages want and what documents say: a strategy, or `provider/model`.
    pub(crate) understanding: String,
    /// Who makes the vectors of memories and knowledge: a provider, or `provider/model`.
    pub(crate) embedding: String,
    /// A table of models that takes the place of the one that comes along, for the providers that it has.
    pub(crate) file: Option<PathBuf>,
    /// How long a connection may take to be made.
    pub(crate) connect_ms: Millis,
    /// How long the first piece of a reply may take.
    pub(crate) first_ms: Millis,
    /// How long a reply may be silent in the middle.
    pub(crate) between_ms: Millis,
    /// How long a reply may take, all tries together.
    pub(crate) whole_ms: Millis,
}

impl Default for ModelsOptions {
    fn default() -> Self {
        let ModelTimeouts { connect, first, between, whole } = ModelTimeouts::DEFAULT;
        Self {
            default: "balanced".to_owned(),
            fallback: Vec::new(),
            reasoning: "reasoning".to_owned(),
            texts: "cheapest".to_owned(),
            understanding: "balanced".to_owned(),
            embedding: "builtin".to_owned(),
            file: None,
            connect_ms: connect,
            first_ms: first,
            between_ms: between,
            whole_ms: whole,
        }
    }
}

impl ModelsOptions {
    /// How long calls may take.
    pub(crate) fn timeouts(&self) -> ModelTimeouts {
        let Self { connect_ms, first_ms, between_ms, whole_ms, .. } = *self;
        ModelTimeouts { connect: connect_ms, first: first_ms, between: between_ms, whole: whole_ms }
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let spans = [
            ("connect_ms", self.connect_ms),
            ("first_ms", self.first_ms),
            ("between_ms", self.between_ms),
            ("whole_ms", self.whole_ms),
        ];
        for (name, span) in spans {
            if span == Millis(0) || span > Millis(86_400_000) {
                faults.add(Fault::bad(&format!("models.{name}"), &span.0, "is not from 1 to 86400000"));
            }
        }
    }
}
