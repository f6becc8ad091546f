//! Handlers of `agent` and `decision` steps that follow a script and remember what they were asked.

use std::sync::Mutex;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kybern_core::plan::{StepId, StepKind};
use kybern_core::ports::{StepHandler, ToolContext};
use serde_json::Value;

use crate::tools::ScriptedAnswer;

type HandlerScript = Box<dyn Fn(ToolContext, StepKind, Value) -> BoxFuture<'static, ScriptedAnswer> + Send + Sync>;

/// What a handler was asked.
#[derive(Clone, PartialEq, Debug)]
pub struct HandlerCall {
    pub step: Option<StepId>,
    /// The idempotency key.
    pub key: String,
    /// Which try.
    pub attempt: u32,
    /// The step's text with its templates filled in.
    pub rendered: Value,
}

/// A handler that does what a test says.
pub struct ScriptedHandler {
    script: HandlerScript,
    faults: Vec<String>,
    asked: Mutex<Vec<HandlerCall>>,
}

impl std::fmt::Debug for ScriptedHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedHandler").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl ScriptedHandler {
    /// A handler that answers by a function of its context, the step's kind and its rendered text.
    pub fn new<F>(answer: F) -> Self
    where
        F: Fn(&ToolContext, &StepKind, &Value) -> ScriptedAnswer + Send + Sync + 'static,
    {
        Self::pending(move |context, kind, text| std::future::ready(answer(&context, &kind, &text)).boxed())
    }

    /// A handler whose answers may take their time, or never come.
    pub fn pending<F>(answer: F) -> Self
    where
        F: Fn(ToolContext, StepKind, Value) -> BoxFuture<'static, ScriptedAnswer> + Send + Sync + 'static,
    {
        Self { script: Box::new(answer), faults: Vec::new(), asked: Mutex::default() }
    }

    /// The same handler, which finds these faults in every step.
    #[must_use]
    pub fn finding(mut self, faults: &[&str]) -> Self {
        self.faults = faults.iter().map(|fault| (*fault).to_owned()).collect();
        self
    }

    /// Everything it was asked, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<HandlerCall> {
        self.asked.lock().expect("no test panics while it holds this").clone()
    }
}

#[async_trait]
impl StepHandler for ScriptedHandler {
    fn faults(&self, _kind: &StepKind) -> Vec<String> {
        self.faults.clone()
    }

    async fn run(&self, context: &ToolContext, kind: &StepKind, rendered: Value) -> ScriptedAnswer {
        self.asked.lock().expect("no test panics while it holds this").push(HandlerCall {
            step: context.step.clone(),
            key: context.key.clone(),
            attempt: context.attempt,
            rendered: rendered.clone(),
        });
        (self.script)(context.clone(), kind.clone(), rendered).await
    }
}
