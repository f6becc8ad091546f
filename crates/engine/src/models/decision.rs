//! `decision` steps: a model decides by a schema. One question, and one more when the answer does not fit.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::budget::Limits;
use kybern_core::error::{Detail, Error, ErrorCode, Retry};
use kybern_core::id::TaskId;
use kybern_core::model::{FinishReason, ModelMessage, ModelRequest, ModelTimeouts, OutputSchema, Role};
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::plan::StepKind;
use kybern_core::ports::{StepHandler, ToolContext};
use kybern_core::task::{Commit, CommitRefused};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value};

use super::call::{Answered, Ask, Caller};
use super::prompt::{DECISION, DECISION_REPAIR};
use super::route::Route;
use super::service::ModelService;
use crate::tools::schema;

/// The most tokens of a decision: an object of some fields, not an essay.
const MAX_OUTPUT: u32 = 2_000;
/// How many parents lie between a task and the first of its tree at most; deeper is not allowed anyway.
const MAX_PARENTS: usize = 64;

/// Runs `decision` steps.
pub(crate) struct Decisions {
    models: ModelService,
}

impl Decisions {
    pub(crate) fn new(models: ModelService) -> Self {
        Self { models }
    }

    /// The first task of a task's tree, with what it says that the tree may spend.
    async fn tree(&self, context: &ToolContext) -> Result<Option<(TaskId, Option<Limits>)>, Error> {
        let Some(mut id) = context.task else { return Ok(None) };
        for _ in 0..MAX_PARENTS {
            let Some(task) = self.models.inner.store.task(context.scope, id).await? else { break };
            match task.parent {
                Some((parent, _)) => id = parent,
                None => {
                    let limits = task.budget.map(|cost| Limits { cost: Some(cost), ..Limits::default() });
                    return Ok(Some((id, limits)));
                }
            }
        }
        Ok(Some((id, None)))
    }

    /// Looks whether the step is still this worker's: one that has slept through its lease must not spend for it.
    async fn still_held(&self, context: &ToolContext) -> Result<(), Error> {
        let Some(lease) = &context.lease else { return Ok(()) };
        let nothing = Commit { at: self.models.inner.clock.now(), ..Commit::default() };
        match self.models.inner.store.commit(lease, nothing).await {
            Ok(_) => Ok(()),
            Err(CommitRefused::Store(error)) => Err(error),
            Err(refused @ (CommitRefused::Fenced | CommitRefused::RecordChanged { .. })) => {
                Err(Error::new(ErrorCode::Conflict, refused.to_string()))
            }
        }
    }

    async fn ask(&self, context: &ToolContext, messages: Vec<ModelMessage>, schema: &Value) -> Result<Answered, Error> {
        let caller = Caller {
            scope: context.scope,
            user: context.user,
            label: kybern_core::actor::Principal::Executor.label(),
            request: None,
            tree: self.tree(context).await?,
        };
        self.still_held(context).await?;
        let settings = self.models.settings();
        let request = ModelRequest {
            messages,
            output: Some(OutputSchema { name: "decision".to_owned(), schema: Some(schema.clone()), strict: false }),
            max_output_tokens: Some(MAX_OUTPUT),
            temperature: Some(0.0),
            ..ModelRequest::default()
        };
        let ask = Ask {
            route: Route::Default,
            request,
            timeouts: ModelTimeouts::within(settings.timeouts, context.timeout),
            may_fall_back: true,
            prompt: Some(DECISION.mark()),
        };
        self.models.complete(&caller, ask).await
    }
}

/// The object in a reply, held against the schema.
fn judge(answered: &Answered, schema: &Value) -> Result<Map<String, Value>, Vec<Detail>> {
    let text = answered.reply.text();
    let object = match serde_json::from_str::<Value>(unfenced(&text)) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(vec![Detail::new("", "the answer is JSON, but no object")]),
        Err(error) => return Err(vec![Detail::new("", format!("the answer is not JSON: {error}"))]),
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

fn spent(usage: Usage, answered: &Answered) -> Usage {
    usage.plus(Usage {
        input_tokens: Tokens(answered.usage.input),
        output_tokens: Tokens(answered.usage.output),
        cost_nanos: NanoUsd(answered.cost.0),
    })
}

fn failed(error: &Error) -> ToolFailure {
    let failure = ToolFailure::permanent(error.to_string()).code(error.code());
    // The model layer has tried again already; what may pass later is worth another try of the step.
    let passes = matches!(error.retry(), Retry::After(_))
        || matches!(error.code(), ErrorCode::Model | ErrorCode::Timeout | ErrorCode::Unavailable);
    ToolFailure { retryable: passes, ..failure }
}

fn said(faults: &[Detail]) -> String {
    let line = |fault: &Detail| match fault.path.as_str() {
        "" => format!("- {}", fault.message),
        path => format!("- {path}: {}", fault.message),
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[async_trait]
impl StepHandler for Decisions {
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
        let mut usage = Usage::default();
        for last in [false, true] {
            let answered = self.ask(context, messages.clone(), &schema).await;
            let answered = answered.map_err(|error| failed(&error).used(usage))?;
            usage = spent(usage, &answered);
            let failure = |message: String| ToolFailure::permanent(message).code(ErrorCode::Model).used(usage);
            if answered.reply.finish == FinishReason::ContentFilter || answered.reply.finish == FinishReason::Refusal {
                return Err(failure(format!("{} refused to decide", answered.model)));
            }
            match judge(&answered, &schema) {
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
    there.then(|| Arc::new(Decisions::new(models.clone())) as Arc<dyn StepHandler>)
}
