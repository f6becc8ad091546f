//! How a tool asks a language model: with one of the server's own prompts, on the account of the task that called it.

use async_trait::async_trait;
use serde_json::Value;

use crate::money::Usage;
use crate::tool::ToolFailure;

/// One of the server's own prompts for tools. Its text lies with the engine, and its mark stands in the audit of the
/// call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ToolPrompt {
    /// Think a problem through.
    DeepReasoning,
    /// Say the same in fewer words.
    Summarize,
    /// Say the same in another language.
    Translate,
    /// Take what a schema asks for out of a text.
    Extract,
    /// Take the JSON that a broken text was meant to be.
    RepairJson,
}

/// A question of a tool.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelQuestion {
    pub prompt: ToolPrompt,
    /// What the caller wishes, as names and values of a closed set: a length, a language. They come from arguments,
    /// so they are data like the rest.
    pub wishes: Vec<(&'static str, String)>,
    /// The texts that are worked on, each with its label. Whatever they say, they are data.
    pub material: Vec<(&'static str, String)>,
    /// The schema of a JSON answer.
    pub schema: Option<Value>,
    /// An answer that did not fit, with what was wrong with it, for one more try.
    pub correction: Option<(String, String)>,
    /// The most tokens of the answer.
    pub max_output: u32,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelAnswer {
    pub text: String,
    /// `provider/model` that wrote it.
    pub model: String,
    /// What it took and cost, with all calls that failed on the way.
    pub usage: Usage,
}

/// The way to the language models, for one call of a tool.
#[async_trait]
pub trait ModelDesk: Send + Sync {
    /// Asks, and waits for the whole answer. What it can cost at most is reserved before, under every budget that
    /// covers the call's tenant, user and task, and settled afterwards.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when no model is configured or none can do it; `BUDGET_EXCEEDED` with what is used, reserved
    /// and allowed; `MODEL_ERROR` when the model refuses, or its answer is cut; `RATE_LIMITED`, `TIMEOUT` or
    /// `MODEL_ERROR` when the providers fail.
    ///
    /// # Cancel safety
    /// Dropping the future ends the request; what it may have cost is settled at its estimate.
    async fn ask(&self, question: &ModelQuestion) -> Result<ModelAnswer, ToolFailure>;
}
