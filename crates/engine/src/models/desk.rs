//! The way from a step to the models: for whom it is, what it may spend, and how long it may take.
//!
//! Tools ask here with a prompt of the server and get a text; what they hand over is fenced and stays data.

use async_trait::async_trait;
use kybern_core::budget::Limits;
use kybern_core::error::{Error, ErrorCode, Result, Retry};
use kybern_core::id::{TaskId, UserId};
use kybern_core::model::{Effort, FinishReason, ModelMessage, ModelRequest, ModelTimeouts, OutputSchema, Role};
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::ports::{ModelAnswer, ModelDesk, ModelQuestion, ToolContext, ToolPrompt};
use kybern_core::task::{Commit, CommitRefused, Lease};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::ToolFailure;
use kybern_core::trace::traceparent;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::call::{AnsweredCall, Ask, CallContext};
use super::prompt::{OwnPrompt, TOOL_CORRECTION};
use super::route::Route;
use super::service::ModelService;
use crate::budget::tree::tree_of;
use crate::fence;

/// For whom a step asks.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    pub(crate) scope: TenantScope,
    pub(crate) user: Option<UserId>,
    pub(crate) task: Option<TaskId>,
    /// The W3C `traceparent` that goes along.
    pub(crate) traceparent: Option<String>,
}

impl Requester {
    /// Whoever a tool or a step is called for.
    pub(crate) fn of(context: &ToolContext) -> Self {
        let traceparent = traceparent(&context.trace_id, &context.key);
        Self { scope: context.scope, user: context.user, task: context.task, traceparent }
    }
}

/// The models, as one try of a step may ask them: several times, within one time limit.
pub(crate) struct StepModels {
    models: ModelService,
    asker: Requester,
    deadline: Timestamp,
    /// Parents do not change while a step runs: they are walked once.
    caller: OnceCell<CallContext>,
}

impl StepModels {
    /// A desk for one try, which may take that long from now.
    pub(crate) fn new(models: &ModelService, asker: Requester, timeout: Millis) -> Self {
        let deadline = models.inner.clock.now().plus(timeout);
        Self { models: models.clone(), asker, deadline, caller: OnceCell::new() }
    }

    /// The first task of the payer's tree, with what it says that the tree may spend.
    async fn tree(&self) -> Result<Option<(TaskId, Option<Limits>)>> {
        match self.asker.task {
            Some(task) => tree_of(self.models.inner.store.as_ref(), self.asker.scope, task).await.map(Some),
            None => Ok(None),
        }
    }

    async fn caller(&self) -> Result<&CallContext> {
        let make = || async {
            let Requester { scope, user, traceparent, .. } = &self.asker;
            let tree = self.tree().await?;
            Ok(CallContext { tree, ..CallContext::executor(*scope, *user, traceparent.clone()) })
        };
        self.caller.get_or_try_init(make).await
    }

    /// How much of the time is left.
    pub(crate) fn time_left(&self) -> Millis {
        self.deadline.since(self.models.inner.clock.now())
    }

    /// Asks for a whole reply within what is left of the time.
    ///
    /// # Errors
    /// Those of [`ModelService::complete`].
    pub(crate) async fn complete(
        &self,
        route: Route,
        request: ModelRequest,
        prompt: &OwnPrompt,
    ) -> Result<AnsweredCall> {
        let caller = self.caller().await?;
        let timeouts = ModelTimeouts::within(self.models.settings().timeouts, self.time_left());
        let ask = Ask { route, request, timeouts, may_fall_back: true, prompt: Some(prompt.mark()), digest: None };
        self.models.complete(caller, ask).await
    }
}

/// Looks whether a task is still this worker's: one that has slept through its lease must not spend for it.
///
/// # Errors
/// `CONFLICT` when it is somebody else's.
pub(crate) async fn still_held(models: &ModelService, lease: &Lease) -> Result<()> {
    let nothing = Commit { at: models.inner.clock.now(), ..Commit::default() };
    match models.inner.store.commit(lease, nothing.into()).await {
        Ok(_) => Ok(()),
        Err(CommitRefused::Store(error)) => Err(error),
        Err(refused @ (CommitRefused::Fenced | CommitRefused::Changed { .. })) => {
            Err(Error::new(ErrorCode::Conflict, refused.to_string()))
        }
    }
}

/// What a question took and cost.
pub(crate) fn usage(answered: &AnsweredCall) -> Usage {
    Usage {
        input_tokens: Tokens(answered.usage.input),
        output_tokens: Tokens(answered.usage.output),
        cost_nanos: NanoUsd(answered.cost.0),
    }
}

/// A failed question as the failure of a call.
pub(crate) fn failed(error: &Error) -> ToolFailure {
    let failure = ToolFailure::permanent(error.to_string()).code(error.code());
    // The model layer has tried again already; what may pass later is worth another try of the step.
    let passes = matches!(error.retry(), Retry::After(_))
        || matches!(error.code(), ErrorCode::Model | ErrorCode::Timeout | ErrorCode::Unavailable);
    ToolFailure { retryable: passes, ..failure }
}

/// The messages of a question: the prompt, then what is worked on, fenced.
fn messages(question: &ModelQuestion, prompt: &OwnPrompt) -> Vec<ModelMessage> {
    let mut said = String::new();
    for (name, value) in &question.wishes {
        said.push_str(&format!("{name}: {}\n", Value::from(value.as_str())));
    }
    // Providers take a schema of an object only; another one is told.
    let told = question.schema.as_ref().filter(|schema| !is_object(schema));
    if let Some(schema) = told {
        said.push_str(&format!("schema: {schema}\n"));
    }
    if !said.is_empty() {
        said.push('\n');
    }
    said.push_str(&fence::fenced(&question.material));
    let mut messages = vec![ModelMessage::text(Role::System, prompt.text), ModelMessage::text(Role::User, said)];
    if let Some((answer, wrong)) = &question.correction {
        messages.push(ModelMessage::text(Role::Assistant, answer.as_str()));
        messages.push(ModelMessage::text(Role::User, format!("{}{wrong}", TOOL_CORRECTION.text)));
    }
    messages
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

#[async_trait]
impl ModelDesk for StepModels {
    async fn ask(&self, question: &ModelQuestion) -> Result<ModelAnswer, ToolFailure> {
        let thinks = question.prompt == ToolPrompt::DeepReasoning;
        let settings = self.models.settings();
        let route = if thinks { settings.reasoning.clone() } else { settings.texts.clone() };
        let prompt = OwnPrompt::of(question.prompt);
        let schema = question.schema.clone().filter(is_object);
        let request = ModelRequest {
            messages: messages(question, &prompt),
            output: schema.map(|schema| OutputSchema {
                name: "answer".to_owned(),
                schema: Some(schema),
                strict: false,
            }),
            max_output_tokens: Some(question.max_output),
            temperature: (!thinks).then_some(0.0),
            effort: thinks.then_some(Effort::High),
            ..ModelRequest::default()
        };
        let answered = self.complete(route, request, &prompt).await.map_err(|error| failed(&error))?;
        let refused = |message: String| ToolFailure::permanent(message).code(ErrorCode::Model);
        let model = &answered.model;
        match answered.reply.finish {
            FinishReason::ContentFilter | FinishReason::Refusal => {
                return Err(refused(format!("{model} refused to answer")));
            }
            FinishReason::Length => {
                let most = question.max_output;
                let message = format!("the answer of {model} was cut at its limit of {most} tokens: give it less text");
                return Err(refused(message));
            }
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::NoModel => {}
        }
        let text = answered.reply.text();
        if text.trim().is_empty() {
            return Err(refused(format!("{model} answered with no text")));
        }
        Ok(ModelAnswer { text, model: model.clone(), usage: usage(&answered) })
    }
}
