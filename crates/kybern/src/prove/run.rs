//! One run of a plan with one disturbance, to its end: the harness answers persons and calls back for workflows, and lets
//! time pass when nothing else is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_adapters::clock::UuidV7Ids;
use kybern_core::actor::Actor;
use kybern_core::id::TaskId;
use kybern_core::ports::IdSource as _;
use kybern_core::task::{Resolution, TaskStatus, Wait, WaitKind};
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::task::{CallbackProof, CallbackRequest, ReviewRequest, SubmitRequest, TaskView};
use serde_json::{Map, Value, json};

use super::answers::{Answers, base_of};
use super::fault::Fault;
use super::sandbox::Sandbox;
use super::shape::of_schema;
use super::stage::{Call, Dispatch};

/// How long a task may take, in the time of the sandbox, before it counts as one that never ends.
const LIFETIME: Millis = Millis::from_secs(3 * 366 * 24 * 60 * 60);
/// The first span that passes when nothing can be done; each further one is twice as long.
const FIRST_SPAN: Millis = Millis(100);
/// So many processes may take part in a run. One dies at most, so more mean that the harness itself is broken.
const MAX_LIVES: usize = 5;
/// How often a person is asked and answers, or a workflow calls back, before the run counts as one that never ends.
const MAX_ANSWERS: usize = 2_000;

/// What a run is made of.
pub(super) struct Run<'a> {
    pub(super) plan_key: &'a str,
    pub(super) payload: &'a Value,
    pub(super) answers: &'a Arc<Answers>,
    pub(super) fault: Fault,
    /// The derived id of the step that it strikes.
    pub(super) target: &'a str,
}

/// A person that was asked.
#[derive(Clone, Debug)]
pub(super) struct AskedQuestion {
    /// The step under its derived id.
    pub(super) step: String,
    pub(super) kind: WaitKind,
    /// Whether the question wants a yes or a no.
    pub(super) is_approval: bool,
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub(super) struct RunEnd {
    /// `None` when it never ended.
    pub(super) status: Option<TaskStatus>,
    /// The step at which it ended, and why it failed.
    pub(super) step: Option<String>,
    pub(super) error: Option<String>,
    pub(super) failed: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) asked: Vec<AskedQuestion>,
    pub(super) dispatched: Vec<String>,
}

impl RunEnd {
    pub(super) fn is_completed(&self) -> bool {
        self.status == Some(TaskStatus::Completed)
    }
}

/// How far a run has come, beyond the life of a process.
#[derive(Default)]
struct Progress {
    /// The idempotency key under which the task is submitted.
    submission: String,
    task: Option<TaskId>,
    asked: Vec<AskedQuestion>,
    answered: Vec<(TaskId, i64)>,
    called_back: Vec<String>,
    /// How often persons and workflows have answered, by step as the plan writes it.
    answers: BTreeMap<String, usize>,
    passed: Millis,
}

impl Progress {
    /// The number of the answer that a step gets next, from 0.
    fn next_answer(&mut self, step: &str) -> usize {
        let known = self.answers.entry(base_of(step).to_owned()).or_insert(0);
        *known += 1;
        *known - 1
    }
}

impl Run<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// When the engine refuses what the harness does, or does not come to rest.
    pub(super) fn end(&self, sandbox: &Sandbox) -> anyhow::Result<RunEnd> {
        sandbox.stage.begin(self.fault, self.target, Arc::clone(self.answers));
        let mut progress = Progress { submission: UuidV7Ids.next().to_string(), ..Progress::default() };
        for _ in 0..MAX_LIVES {
            let ended = sandbox.life(async |engine: &Engine, actor: &Actor| {
                self.live(sandbox, (engine, actor), &mut progress).await
            })?;
            if let Some(task) = ended {
                return Ok(RunEnd {
                    status: task.status.is_terminal().then_some(task.status),
                    step: task.current_step_id,
                    error: task.error_message,
                    failed: task.failed_steps,
                    calls: sandbox.stage.calls(),
                    asked: progress.asked,
                    dispatched: sandbox.stage.dispatches().into_iter().map(|dispatch| dispatch.step).collect(),
                });
            }
        }
        anyhow::bail!("the processes of one run died more than {MAX_LIVES} times")
    }

    async fn live(
        &self,
        sandbox: &Sandbox,
        (engine, actor): (&Engine, &Actor),
        progress: &mut Progress,
    ) -> anyhow::Result<TaskView> {
        let id = match progress.task {
            Some(id) => id,
            None => {
                let request = SubmitRequest {
                    plan_key: Some(self.plan_key.to_owned()),
                    payload: self.payload.clone(),
                    idempotency_key: Some(progress.submission.clone()),
                    ..SubmitRequest::text("a plan is proved")
                };
                // The process may die before this is answered, and the task is there all the same: the next process
                // submits it once more under the same key, as its submitter would.
                let task = engine.tasks().submit(actor, request, None).await?;
                *progress.task.insert(task.id)
            }
        };
        let mut span = FIRST_SPAN;
        let mut rows = 0;
        loop {
            sandbox.gate.open();
            sandbox.rest(engine).await?;
            let task = engine.tasks().get(actor, id).await?;
            if task.status.is_terminal() {
                return Ok(task);
            }
            let all = family(engine, actor, id).await?;
            let mut is_answered = false;
            let mut now = 0;
            for member in &all {
                let member = engine.tasks().get(actor, *member).await?;
                if member.paused_at.is_some() {
                    sandbox.steer(engine.tasks().resume(actor, member.id)).await?;
                    is_answered = true;
                }
                now += member.completed_step_ids.len() + member.failed_steps.len() + member.skipped_step_ids.len();
                for wait in &member.waits {
                    is_answered |= self.answer(sandbox, (engine, actor), (member.id, wait), progress).await?;
                }
            }
            for dispatch in sandbox.stage.dispatches() {
                is_answered |= self.call_back(sandbox, engine, &dispatch, progress).await?;
            }
            if progress.answered.len() + progress.called_back.len() > MAX_ANSWERS || progress.passed > LIFETIME {
                self.give_up(sandbox, (engine, actor), id).await?;
                return Ok(task);
            }
            if is_answered || now != rows {
                (rows, span) = (now, FIRST_SPAN);
            }
            if !is_answered {
                sandbox.clock.pass(span);
                progress.passed = Millis(progress.passed.0.saturating_add(span.0));
                span = Millis(span.0.saturating_mul(2));
            }
        }
    }

    /// Answers a wait as the run says; whether there is something new to do.
    async fn answer(
        &self,
        sandbox: &Sandbox,
        (engine, actor): (&Engine, &Actor),
        (id, wait): (TaskId, &Wait),
        progress: &mut Progress,
    ) -> anyhow::Result<bool> {
        let step = wait.step_id.as_str();
        let is_approval = wait.kind == WaitKind::Confirmation || has_yes_or_no(&wait.schema);
        if !wait.kind.is_person() || progress.answered.contains(&(id, wait.seq)) {
            return Ok(false);
        }
        let is_known = progress.asked.iter().any(|asked| asked.step == step && asked.kind == wait.kind);
        if !is_known {
            let asked = AskedQuestion { step: step.to_owned(), kind: wait.kind, is_approval };
            progress.asked.push(asked);
        }
        let is_target = self.target == step;
        if is_target && self.fault == Fault::Unanswered {
            return Ok(false);
        }
        let mut request = ReviewRequest { step_id: Some(step.to_owned()), ..ReviewRequest::default() };
        match wait.kind {
            _ if is_target && self.fault == Fault::Refused => request.resolution = Some(Resolution::Fail),
            WaitKind::Ambiguous => request.resolution = Some(self.looked_outside(sandbox, step)),
            WaitKind::Confirmation => {}
            _form => {
                let says_no = is_target && self.fault == Fault::AnsweredNo;
                request.corrections = self.form((step, progress.next_answer(step)), &wait.schema, says_no);
            }
        }
        let dies = sandbox.stage.strikes(Fault::DiesAnswered, step);
        progress.answered.push((id, wait.seq));
        if dies {
            // Nothing takes the answer in before the next process does.
            sandbox.steer(engine.tasks().pause(actor, id)).await?;
            sandbox.steer(engine.tasks().review(actor, id, request)).await?;
            sandbox.stage.die();
            std::future::pending::<()>().await;
        } else {
            sandbox.steer(engine.tasks().review(actor, id, request)).await?;
        }
        Ok(true)
    }

    /// What a person finds out who looks outside whether a call happened.
    fn looked_outside(&self, sandbox: &Sandbox, step: &str) -> Resolution {
        let has_happened = sandbox.stage.calls().iter().any(|call| call.step == step && call.took_effect);
        if has_happened { Resolution::Done } else { Resolution::Retry }
    }

    fn form(&self, (step, n): (&str, usize), schema: &Value, says_no: bool) -> Map<String, Value> {
        let given = self.answers.given_for(step, n).and_then(Value::as_object).cloned();
        let mut form = given.or_else(|| of_schema(schema).as_object().cloned()).unwrap_or_default();
        if says_no {
            form.values_mut().filter(|value| value.is_boolean()).for_each(|value| *value = json!(false));
        }
        form
    }

    async fn call_back(
        &self,
        sandbox: &Sandbox,
        engine: &Engine,
        dispatch: &Dispatch,
        progress: &mut Progress,
    ) -> anyhow::Result<bool> {
        if progress.called_back.contains(&dispatch.workflow_id) {
            return Ok(false);
        }
        let fault = if self.target == dispatch.step { self.fault } else { Fault::None };
        if fault == Fault::NotCalledBack {
            return Ok(false);
        }
        let success = fault != Fault::CalledBackFailed;
        let n = progress.next_answer(&dispatch.step);
        let data = if success { Value::Object(self.answers.of(&dispatch.step, n)) } else { Value::Null };
        let request = CallbackRequest {
            workflow_id: dispatch.workflow_id.clone(),
            success,
            error: (!success).then(|| "the workflow failed".to_owned()),
            body_hash: format!("{success}{data}"),
            data,
        };
        let Some(task) = task_of(&dispatch.workflow_id) else { return Ok(false) };
        let proof = CallbackProof::Secret(dispatch.secret.clone());
        progress.called_back.push(dispatch.workflow_id.clone());
        engine.tasks().callback(task, &proof, request.clone()).await?;
        if fault == Fault::CalledBackTwice {
            engine.tasks().callback(task, &proof, request).await?;
        }
        if sandbox.stage.strikes(Fault::DiesAnswered, &dispatch.step) {
            sandbox.stage.die();
            std::future::pending::<()>().await;
        }
        Ok(true)
    }

    /// Nothing of a task that never ends is to work on in the next run.
    async fn give_up(&self, sandbox: &Sandbox, (engine, actor): (&Engine, &Actor), id: TaskId) -> anyhow::Result<()> {
        sandbox.steer(engine.tasks().cancel(actor, id)).await?;
        sandbox.gate.open();
        sandbox.rest(engine).await
    }
}

/// Whether a form asks for a yes or a no that can be a no.
fn has_yes_or_no(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_open = |property: &Value| {
        property.get("type").and_then(Value::as_str) == Some("boolean")
            && property.get("const").is_none()
            && property.get("enum").is_none()
    };
    properties.is_some_and(|properties| properties.values().any(is_open))
}

/// A task with all that it has started.
async fn family(engine: &Engine, actor: &Actor, id: TaskId) -> anyhow::Result<Vec<TaskId>> {
    let (mut all, mut n) = (vec![id], 0);
    while let Some(member) = all.get(n).copied() {
        all.extend(engine.store().children(actor.scope(), member).await?);
        n += 1;
    }
    Ok(all)
}

/// The task in `v1:{tenant}:{task}:{step}:{generation}`.
fn task_of(workflow_id: &str) -> Option<TaskId> {
    workflow_id.split(':').nth(2)?.parse().ok()
}

/// The written ids of steps under derived ones.
pub(super) fn written(ids: &[String]) -> impl Iterator<Item = &str> {
    ids.iter().map(|id| base_of(id))
}
