//! `decision` steps: a model decides by a schema. One question, and one more when the answer does not fit.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::json::{self as bounded, Unreadable};
use kybern_core::model::{FinishReason, ModelMessage, ModelRequest, OutputSchema, Role};
use kybern_core::money::Usage;
use kybern_core::plan::StepKind;
use kybern_core::ports::{StepHandler, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value};

use super::call::AnsweredCall;
use super::desk::{self, Requester, StepModels, failed, still_held};
use super::prompt::{DECISION, DECISION_REPAIR};
use super::route::Route;
use super::service::ModelService;
use crate::schema;

/// The most tokens of a decision: an object of some fields, not an essay.
const MAX_OUTPUT: u32 = 2_000;

/// Runs `decision` steps.
pub(crate) struct DecisionRunner {
    models: ModelService,
}

impl DecisionRunner {
    pub(crate) fn new(models: ModelService) -> Self {
        Self { models }
    }

    async fn ask(
        &self,
        context: &ToolContext,
        desk: &StepModels,
        messages: Vec<ModelMessage>,
        schema: &Value,
    ) -> Result<AnsweredCall, Error> {
        if let Some(lease) = &context.lease {
            still_held(&self.models, lease).await?;
        }
        let request = ModelRequest {
            messages,
            output: Some(OutputSchema { name: "decision".to_owned(), schema: Some(schema.clone()), strict: false }),
            max_output_tokens: Some(MAX_OUTPUT),
            temperature: Some(0.0),
            ..ModelRequest::default()
        };
        desk.complete(Route::Default, request, &DECISION).await
    }
}

/// The object in an answer, held against the schema.
pub(crate) fn judge(text: &str, schema: &Value) -> Result<Map<String, Value>, Vec<Detail>> {
    let object = match bounded::read(unfenced(text).as_bytes()) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(vec![Detail::new("", "the answer is JSON, but no object")]),
        Err(Unreadable::TooMuch(fault)) => return Err(vec![fault.detail("")]),
        Err(Unreadable::Syntax(error)) => {
            return Err(vec![Detail::new("", format!("the answer is not JSON: {error}"))]);
        }
    };
    let value = Value::Object(object);
    let faults = schema::check(schema, &value);
    match value {
        Value::Object(object) if faults.is_empty() => Ok(object),
        _ => Err(faults),
    }
}

/// The text without the fence that models like to put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}

/// What is wrong with an answer, as its model is told.
pub(crate) fn said(faults: &[Detail]) -> String {
    let line = |fault: &Detail| match fault.path.as_str() {
        "" => format!("- {}", fault.message),
        path => format!("- {path}: {}", fault.message),
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[async_trait]
impl StepHandler for DecisionRunner {
    fn faults(&self, kind: &StepKind) -> Vec<String> {
        let StepKind::Decision { schema, .. } = kind else { return Vec::new() };
        match schema::compile(&schema::form(schema)) {
            Ok(_) => Vec::new(),
            Err(problem) => vec![problem],
        }
    }

    async fn run(&self, context: &ToolContext, kind: &StepKind, rendered: Value) -> Result<ToolOutcome, ToolFailure> {
        let StepKind::Decision { schema, .. } = kind else {
            return Err(ToolFailure::permanent("this handler decides, and nothing else"));
        };
        let schema = schema::form(schema);
        let question = match rendered {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let mut messages =
            vec![ModelMessage::text(Role::System, DECISION.text), ModelMessage::text(Role::User, question)];
        let desk = StepModels::new(&self.models, Requester::of(context), context.timeout);
        let mut usage = Usage::default();
        for last in [false, true] {
            let answered = self.ask(context, &desk, messages.clone(), &schema).await;
            let answered = answered.map_err(|error| failed(&error).used(usage))?;
            usage = usage.plus(desk::usage(&answered));
            let failure = |message: String| ToolFailure::permanent(message).code(ErrorCode::Model).used(usage);
            if answered.reply.finish == FinishReason::ContentFilter || answered.reply.finish == FinishReason::Refusal {
                return Err(failure(format!("{} refused to decide", answered.model)));
            }
            match judge(&answered.reply.text(), &schema) {
                Ok(data) => {
                    let summary = format!("decided by {}", answered.model);
                    return Ok(ToolOutcome { usage, ..ToolOutcome::new(data, summary) });
                }
                Err(faults) if last => {
                    let faults = said(&faults);
                    return Err(failure(format!("{} gave no answer that fits the schema: {faults}", answered.model)));
                }
                Err(faults) => {
                    messages.push(ModelMessage::text(Role::Assistant, answered.reply.text()));
                    let repair = format!("{}{}", DECISION_REPAIR.text, said(&faults));
                    messages.push(ModelMessage::text(Role::User, repair));
                }
            }
        }
        Err(ToolFailure::permanent("no decision was taken").code(ErrorCode::Internal))
    }
}

/// The handler, where there is a model to ask.
pub(crate) fn handler(models: &ModelService) -> Option<Arc<dyn StepHandler>> {
    let there = !models.providers().is_empty();
    there.then(|| Arc::new(DecisionRunner::new(models.clone())) as Arc<dyn StepHandler>)
}
