//! What stands in for the outside while a plan is proved: tools that record, decisions that are made up, receivers of
//! dispatches, and one disturbance. It outlives the process that dies, as the outside does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::error::{Detail, ErrorCode};
use kybern_core::plan::StepKind;
use kybern_core::ports::{
    HttpBody, HttpClient, HttpFailure, HttpRequest, HttpResponse, StepHandler, Tool, ToolContext,
};
use kybern_core::task::EffectClass;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolReach, ToolSpec};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::answers::{Answers, base_of};
use super::fault::Fault;

/// A call as the outside saw it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The step under its derived id.
    pub(super) step: String,
    pub(super) tool: String,
    pub(super) args: Value,
    /// By what the receiver recognises it.
    pub(super) key: String,
    pub(super) effect: EffectClass,
    /// Whether it changed something outside, for the first time.
    pub(super) took_effect: bool,
    /// Whether the receiver dropped it, because another call had the same key.
    pub(super) was_swallowed: bool,
}

/// What a workflow was asked, to be called back.
#[derive(Clone, Debug)]
pub(super) struct Dispatch {
    pub(super) step: String,
    pub(super) workflow_id: String,
    pub(super) secret: String,
}

/// What the program says of a tool.
#[derive(Clone)]
pub(super) struct KnownTool {
    pub(super) spec: ToolSpec,
    pub(super) output_schema: Option<Value>,
}

#[derive(Default)]
struct Scene {
    fault: Fault,
    target: String,
    answers: Arc<Answers>,
    calls: Vec<Call>,
    dispatches: Vec<Dispatch>,
    /// How often each step has been answered.
    answered: BTreeMap<String, usize>,
    is_spent: bool,
    is_dead: bool,
}

/// The outside of one run after the other.
#[derive(Default)]
pub(super) struct Stage {
    scene: Mutex<Scene>,
    tools: Mutex<BTreeMap<String, KnownTool>>,
    pub(super) struck: Notify,
}

/// What becomes of a call.
enum CallFate {
    Answers(Map<String, Value>),
    Fails(ToolFailure),
    /// The process dies: nobody hears what becomes of it.
    Dies,
}

impl Stage {
    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new run: nothing has happened outside.
    pub(super) fn begin(&self, fault: Fault, target: &str, answers: Arc<Answers>) {
        *self.scene() = Scene { fault, target: target.to_owned(), answers, ..Scene::default() };
    }

    /// The next process begins.
    pub(super) fn revive(&self) {
        self.scene().is_dead = false;
    }

    /// The process dies now.
    pub(super) fn die(&self) {
        self.scene().is_dead = true;
        self.struck.notify_one();
    }

    /// Whether the disturbance is this one, at that step, for the first time.
    pub(super) fn strikes(&self, fault: Fault, step: &str) -> bool {
        let mut scene = self.scene();
        let strikes = scene.fault == fault && scene.target == step && !scene.is_spent;
        scene.is_spent |= strikes;
        strikes
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.scene().calls.clone()
    }

    pub(super) fn dispatches(&self) -> Vec<Dispatch> {
        self.scene().dispatches.clone()
    }

    /// What the program says of each tool that can be called, by key and alias.
    pub(super) fn tools(&self) -> BTreeMap<String, KnownTool> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether calls of that tool are recorded, rather than made.
    pub(super) fn is_recorded(&self, key: &str) -> bool {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools.get(key).is_some_and(|tool| !is_pure(&tool.spec))
    }

    /// What a tool answers, by its definition.
    pub(super) fn returns(&self, key: &str, output_schema: Option<Value>) {
        if let Some(known) = self.tools.lock().unwrap_or_else(PoisonError::into_inner).get_mut(key) {
            known.output_schema = output_schema;
        }
    }

    /// The recorder that takes a tool's place, and what it remembers of the tool.
    pub(super) fn recorder(self: &Arc<Self>, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        let spec = tool.spec();
        let known = KnownTool { spec: spec.clone(), output_schema: None };
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        for name in spec.aliases.iter().chain([&spec.key]) {
            // Each process registers the engine's own tools anew.
            tools.entry(name.clone()).or_insert_with(|| known.clone());
        }
        drop(tools);
        Arc::new(Recorder { tool, stage: Arc::clone(self) })
    }

    /// Whether an answer was given for that step by whoever proves the plan.
    fn is_given(&self, step: &str) -> bool {
        self.scene().answers.is_given(step)
    }

    fn meet(&self, call: Call, may_have_happened: bool) -> CallFate {
        let mut scene = self.scene();
        if scene.is_dead {
            return CallFate::Dies;
        }
        let is_target = scene.target == call.step;
        let fault = if is_target { scene.fault } else { Fault::None };
        let once = is_target && !scene.is_spent;
        let later = || ToolFailure::transient("the receiver cannot take it now");
        match fault {
            Fault::DiesBefore | Fault::DiesAfter if once => {
                scene.is_spent = true;
                if fault == Fault::DiesAfter {
                    scene.take(call, may_have_happened);
                }
                scene.is_dead = true;
                drop(scene);
                self.struck.notify_one();
                CallFate::Dies
            }
            Fault::FailsOnce if once => {
                scene.is_spent = true;
                scene.calls.push(call);
                CallFate::Fails(later())
            }
            Fault::FailsForGood => {
                scene.calls.push(call);
                CallFate::Fails(ToolFailure::permanent("the receiver refuses it"))
            }
            Fault::AnswerLost if once => {
                scene.is_spent = true;
                scene.take(call, may_have_happened);
                CallFate::Fails(later().unknown())
            }
            Fault::Slow => {
                scene.take(call, may_have_happened);
                let failure = ToolFailure::transient("it took longer than it may");
                CallFate::Fails(failure.code(ErrorCode::Timeout).unknown())
            }
            _undisturbed => {
                let step = call.step.clone();
                scene.take(call, may_have_happened);
                let n = scene.answered.entry(base_of(&step).to_owned()).or_insert(0);
                *n += 1;
                let n = *n - 1;
                CallFate::Answers(scene.answers.of(&step, n))
            }
        }
    }
}

impl Scene {
    /// The call reaches its receiver, who drops what it recognises.
    fn take(&mut self, mut call: Call, may_have_happened: bool) {
        let known = self.calls.iter().find(|known| known.took_effect && known.key == call.key);
        let is_known = match call.effect {
            EffectClass::Read | EffectClass::Local => true,
            EffectClass::Keyed => known.is_some(),
            EffectClass::Queryable => may_have_happened && known.is_some(),
            EffectClass::Unkeyed => false,
        };
        let is_other = known.is_some_and(|known| known.step != call.step || known.args != call.args);
        call.took_effect = !is_known;
        call.was_swallowed = call.effect == EffectClass::Keyed && is_known && is_other;
        self.calls.push(call);
    }
}

/// A tool of which only the description is real, unless it touches nothing but its arguments.
struct Recorder {
    tool: Arc<dyn Tool>,
    stage: Arc<Stage>,
}

/// Whether a tool works on its arguments alone, so that it can be called as it is.
pub(super) fn is_pure(spec: &ToolSpec) -> bool {
    spec.needs == ToolNeeds::default() && !spec.effect.needs_attempt_row()
}

#[async_trait]
impl Tool for Recorder {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn faults(&self, args: &Map<String, Value>) -> Vec<Detail> {
        self.tool.faults(args)
    }

    fn effect_of(&self, args: &Map<String, Value>) -> EffectClass {
        self.tool.effect_of(args)
    }

    fn reach_of(&self, args: &Map<String, Value>) -> ToolReach {
        self.tool.reach_of(args)
    }

    fn least_reach(&self) -> ToolReach {
        self.tool.least_reach()
    }

    /// What it needs is there, but nothing asks a model or computes over documents.
    fn needs_of(&self, args: &Map<String, Value>) -> ToolNeeds {
        ToolNeeds { model: false, language_model: false, lessons: false, ..self.tool.needs_of(args) }
    }

    fn computes(&self, _args: &Map<String, Value>) -> bool {
        false
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let step = context.step.as_ref().map(ToString::to_string).unwrap_or_default();
        if is_pure(self.spec()) && !self.stage.is_given(&step) {
            return self.tool.call(context, args).await;
        }
        let call = Call {
            tool: self.spec().key.clone(),
            key: receivers_key(&args).unwrap_or_else(|| context.key.clone()),
            effect: self.tool.effect_of(&args),
            args: Value::Object(args),
            step,
            took_effect: false,
            was_swallowed: false,
        };
        end(self.stage.meet(call, context.may_have_happened)).await
    }
}

async fn end(fate: CallFate) -> Result<ToolOutcome, ToolFailure> {
    match fate {
        CallFate::Answers(data) => Ok(ToolOutcome::new(data, "recorded")),
        CallFate::Fails(failure) => Err(failure),
        CallFate::Dies => std::future::pending().await,
    }
}

/// The idempotency key that the plan itself gives the receiver, in place of the step's.
fn receivers_key(args: &Map<String, Value>) -> Option<String> {
    let headers = args.get("headers")?.as_object()?;
    let named = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Idempotency-Key"))?;
    named.1.as_str().map(str::to_owned)
}

/// What a model would decide.
pub(super) struct MadeDecision(pub(super) Arc<Stage>);

#[async_trait]
impl StepHandler for MadeDecision {
    fn faults(&self, _kind: &StepKind) -> Vec<String> {
        Vec::new()
    }

    async fn run(&self, context: &ToolContext, kind: &StepKind, rendered: Value) -> Result<ToolOutcome, ToolFailure> {
        let call = Call {
            step: context.step.as_ref().map(ToString::to_string).unwrap_or_default(),
            tool: kind.name().to_owned(),
            args: rendered,
            key: context.key.clone(),
            effect: EffectClass::Read,
            took_effect: false,
            was_swallowed: false,
        };
        end(self.0.meet(call, context.may_have_happened)).await
    }
}

/// Receivers of webhooks and dispatches: they take everything.
pub(super) struct Receivers(pub(super) Arc<Stage>);

#[async_trait]
impl HttpClient for Receivers {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        let accepted = || HttpResponse { status: 202, headers: Vec::new(), body: Bytes::from_static(b"{}") };
        let body = match request.body {
            HttpBody::Json(body) => body,
            // What is signed goes out as the text that was signed.
            HttpBody::Text(text) => serde_json::from_str(&text).unwrap_or_default(),
            HttpBody::Empty => Value::Null,
        };
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (step, workflow_id) = (text("stepId"), text("workflowId"));
        if workflow_id.is_empty() {
            return Ok(accepted());
        }
        let call = Call {
            step: step.clone(),
            tool: format!("workflow {}", text("workflow")),
            args: body.get("args").cloned().unwrap_or_else(|| json!({})),
            key: workflow_id.clone(),
            effect: EffectClass::Keyed,
            took_effect: false,
            was_swallowed: false,
        };
        let dispatch = Dispatch { step, workflow_id, secret: text("callbackSecret") };
        match self.0.meet(call, false) {
            CallFate::Answers(_) => {
                let mut scene = self.0.scene();
                if !scene.dispatches.iter().any(|known| known.workflow_id == dispatch.workflow_id) {
                    scene.dispatches.push(dispatch);
                }
                Ok(accepted())
            }
            CallFate::Fails(failure) if failure.effect_unknown => Err(HttpFailure::NoAnswer(failure.message)),
            CallFate::Fails(failure) => Err(HttpFailure::Connect(failure.message)),
            CallFate::Dies => std::future::pending().await,
        }
    }
}
