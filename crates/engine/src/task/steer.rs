//! Steering tasks: cancel, pause, resume, retry, review, callback. Each is a fact left for the holder of the lease;
//! none of them writes the task's journal.

use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::{ApprovalId, TaskId, TenantId};
use kybern_core::json::{check_members, check_value};
use kybern_core::plan::StepId;
use kybern_core::policy::webhook::{self, WebhookHeaders};
use kybern_core::ports::{CallbackOutcome, ReviewRefused};
use kybern_core::task::{Channel, Resolution, Signal, Task, TaskStatus, Wait, WaitKind};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use serde_json::{Map, Value, json};

use super::Tasks;
use super::nul;
use super::request::{CallbackRequest, ReviewRequest};
use crate::executor::view::TaskView;
use crate::schema;
use crate::tools::grant::rules_of;
use crate::tools::{Grant, hash_args};
use crate::understanding::corrections;

/// How long an answer waits for what it caused to be taken in.
const TAKEN_IN: Millis = Millis(1_000);

/// How an outside engine proves that it is the one that was asked.
#[derive(Clone, Debug)]
pub enum CallbackProof {
    /// The delegation's secret, in `X-Callback-Secret`.
    Secret(String),
    /// A signature over the raw body with that secret, after Standard Webhooks.
    Signed {
        /// `webhook-id`.
        id: String,
        /// `webhook-timestamp`.
        timestamp: String,
        /// `webhook-signature`.
        signature: String,
        /// The raw body.
        body: Bytes,
    },
}

impl Tasks {
    /// Wants a task cancelled. What is in flight is recorded, nothing more is started.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has ended.
    pub async fn cancel(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        self.task_for(actor, id).await?;
        let (now, audit) = (self.kernel.clock.now(), audit(actor, "task.cancel", id, json!({})));
        self.kernel.store.request_cancel(actor.scope(), id, now, audit).await?;
        self.told(actor, id).await
    }

    /// Pauses a task: it keeps its status and is not worked on.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has ended or is paused.
    pub async fn pause(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        self.task_for(actor, id).await?;
        let (now, audit) = (self.kernel.clock.now(), audit(actor, "task.pause", id, json!({})));
        self.kernel.store.set_paused(actor.scope(), id, true, now, audit).await?;
        self.told(actor, id).await
    }

    /// Lets a paused task go on.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it is not paused.
    pub async fn resume(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        self.task_for(actor, id).await?;
        let (now, audit) = (self.kernel.clock.now(), audit(actor, "task.resume", id, json!({})));
        self.kernel.store.set_paused(actor.scope(), id, false, now, audit).await?;
        self.told(actor, id).await
    }

    /// Tries a failed task again: what failed begins anew under its next generation, what succeeded stays.
    ///
    /// # Errors
    /// `NOT_FOUND`; `PERMISSION_DENIED` for a turn of somebody else's conversation; `CONFLICT` when it has not failed, or is the turn of a conversation in which something was said since.
    pub async fn retry(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        let task = self.task_for(actor, id).await?;
        if task.channel == Channel::Chat && task.user.is_some() && task.user != actor.user() {
            let message = "only its user tries a turn of a conversation again";
            return Err(Error::new(ErrorCode::PermissionDenied, message));
        }
        let signal = Signal::Retry { by: actor.principal().label() };
        let (now, audit) = (self.kernel.clock.now(), audit(actor, "task.retry", id, json!({})));
        self.kernel.store.reopen(actor.scope(), id, signal, now, audit).await?;
        self.told(actor, id).await
    }

    async fn told(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        self.kernel.active.poke(id);
        self.kernel.watchers.tell(id);
        // A worker takes it in within milliseconds; then the answer already shows what came of it.
        let patience = if self.kernel.settings.work { TAKEN_IN } else { Millis(0) };
        self.after_news(actor.scope(), id, patience).await
    }

    /// Answers what a task waits for.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it does not wait for a person (any more), or not with the question that the person has
    /// seen; `VALIDATION_ERROR` when the answer does not fit the question; `PERMISSION_DENIED` where it is somebody else's
    /// to give.
    pub async fn review(&self, actor: &Actor, id: TaskId, request: ReviewRequest) -> Result<TaskView> {
        let task = self.task_for(actor, id).await?;
        self.answer(actor, &task, request).await
    }

    /// The same for whoever may see the question, which is not always the whole task.
    pub(crate) async fn answer(&self, actor: &Actor, task: &Task, mut request: ReviewRequest) -> Result<TaskView> {
        nul::clean_members(&mut request.corrections);
        check_members(&request.corrections).map_err(|deep| deep.at("/corrections"))?;
        let id = task.id;
        let found = find_wait(task, request.step_id.as_deref(), request.question);
        let is_closed = found.as_ref().is_err_and(|error| error.code() == ErrorCode::Conflict);
        if is_closed && self.asks_meanwhile(actor.scope(), task, &request).await? {
            let message = "the task asks this, but is still busy with another step: answer once that has ended";
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let wait = found?;
        check_answer(&wait, &request)?;
        if let Some(args) = args_put_in_place(&wait, &request) {
            self.may_call(actor, task, &wait, args).await?;
        }
        if let Some(until) = wait.until.filter(|until| *until <= self.kernel.time.now()) {
            let message = format!("the time to answer ended at {until}");
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let second = self.second_person(actor, task, &wait, &request).await?;
        let signal = Signal::Review {
            step: wait.step_id.clone(),
            wait_seq: wait.seq,
            corrections: request.corrections.clone(),
            resolution: request.resolution,
            replaces: request.replaces,
            note: request.note.clone(),
            by: actor.principal().label(),
        };
        let names: Vec<&String> = request.corrections.keys().collect();
        let mut detail = json!({
            "stepId": wait.step_id,
            "kind": wait.kind,
            "corrections": names,
            "resolution": request.resolution,
            "argsHash": decided_args(&wait, &request),
            "approvalId": wait.approval_id,
            "note": request.note,
        });
        for (name, told) in second {
            detail[name] = told;
        }
        let action = match (request.approval, request.resolution) {
            (None, _) => "task.review",
            (Some(_), Some(Resolution::Fail)) => "approval.deny",
            (Some(_), _) => "approval.approve",
        };
        let audit = audit(actor, action, id, detail);
        self.kernel.store.answer(actor.scope(), id, &wait, signal, audit).await.map_err(|refused| match refused {
            ReviewRefused::NotWaiting => {
                let message = "this question is not open any more: it has been answered, or its step has ended";
                Error::new(ErrorCode::Conflict, message)
            }
            ReviewRefused::NotFound => Error::not_found("task", id),
            ReviewRefused::Store(error) => error,
        })?;
        self.told(actor, id).await
    }

    /// Whether a task that is at work has asked a question which its row does not name yet, because whoever holds it is
    /// busy with another step.
    async fn asks_meanwhile(&self, scope: TenantScope, task: &Task, request: &ReviewRequest) -> Result<bool> {
        if task.status.is_terminal() || task.status == TaskStatus::NeedsReview {
            return Ok(false);
        }
        let walk = self.walk_of(scope, task).await?;
        let left = self.kernel.store.signals(scope, task.id, walk.signals_seen()).await?;
        let is_answered = |wait: &Wait| {
            left.iter().any(|(_, signal)| matches!(signal, Signal::Review { wait_seq, .. } if *wait_seq == wait.seq))
        };
        let is_known = |wait: &Wait| task.waits.iter().any(|known| known.seq == wait.seq);
        let is_meant = |wait: &Wait| {
            let is_step = request.step_id.as_deref().is_none_or(|step| is_in_step(wait, step));
            is_step && (request.question.is_none() || wait.approval_id == request.question)
        };
        Ok(walk.person_waits().iter().any(|wait| is_meant(wait) && !is_known(wait) && !is_answered(wait)))
    }

    /// Whether a person may put these arguments in place of those that they were asked about: a yes lets somebody
    /// else's call pass, another call is the person's own. So whoever the task works for and the person must both be
    /// allowed it.
    async fn may_call(&self, actor: &Actor, task: &Task, wait: &Wait, args: Map<String, Value>) -> Result<()> {
        let Some(tool) = wait.details.get("tool").and_then(Value::as_str) else { return Ok(()) };
        let (door, store) = (&self.services.tools, self.kernel.store.as_ref());
        let tools = self.services.catalogue.of(actor.scope()).await;
        let tasks = Grant::of_task(store, actor.scope(), task).await?;
        door.prepare(&tools, tool, args.clone(), &tasks).map_err(|refusal| refusal.at("/corrections"))?;
        let own = self.grant_of(actor).await?;
        door.prepare(&tools, tool, args, &own).map(|_| ()).map_err(|refusal| {
            let why =
                "to put other arguments in place you must be allowed the call yourself; say yes or no to it as it is";
            Error::new(refusal.code(), format!("{refusal}: {why}"))
        })
    }

    /// Takes in an outside engine's answer to a delegation. It proves itself by the delegation's own secret.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown task or delegation; `UNAUTHENTICATED` for a wrong proof.
    pub async fn callback(
        &self,
        id: TaskId,
        proof: &CallbackProof,
        mut request: CallbackRequest,
    ) -> Result<CallbackOutcome> {
        let kernel = &self.kernel;
        let unknown = || Error::not_found("delegation", &request.workflow_id);
        let (tenant, step) = named(&request.workflow_id, id).ok_or_else(unknown)?;
        // The secret is made of the delegation's name, so whoever has proved nothing yet does not learn whether there
        // is such a task.
        let secret = self.services.keys.callback_secret(&request.workflow_id);
        if !self.proves(proof, &secret) {
            return Err(Error::new(ErrorCode::Unauthenticated, "the callback's secret or signature is wrong"));
        }
        let scope = kernel.store.scope_of(tenant, id).await?.ok_or_else(unknown)?;
        let task = self.row(scope, id).await?;
        let walk = self.walk_of(scope, &task).await?;
        if walk.plan().is_some() && walk.find(&step).is_none() {
            return Err(Error::not_found("delegation", &request.workflow_id));
        }
        nul::clean_value(&mut request.data);
        check_value(&request.data).map_err(|deep| deep.at("/data"))?;
        if let Some(error) = &mut request.error {
            nul::clean(error);
        }
        let signal = Signal::Callback {
            step: step.clone(),
            workflow_id: request.workflow_id,
            success: request.success,
            data: request.data,
            error: request.error,
        };
        let now = kernel.clock.now();
        let outcome = kernel.store.callback(scope, id, &step, signal, &request.body_hash, now).await?;
        kernel.active.poke(id);
        Ok(outcome)
    }

    /// The tenant of a delegation, for whoever has its secret: what can be said before a callback has been read.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`.
    pub fn delegation_tenant(&self, id: TaskId, workflow_id: &str, secret: &str) -> Result<TenantId> {
        let wrong = || Error::new(ErrorCode::Unauthenticated, "the callback's secret is wrong");
        let (tenant, _) = named(workflow_id, id).ok_or_else(wrong)?;
        let proof = CallbackProof::Secret(secret.to_owned());
        if self.proves(&proof, &self.services.keys.callback_secret(workflow_id)) { Ok(tenant) } else { Err(wrong()) }
    }

    fn proves(&self, proof: &CallbackProof, secret: &str) -> bool {
        match proof {
            CallbackProof::Secret(given) => {
                // Hashing both makes the comparison independent of where they differ.
                blake3::hash(given.as_bytes()) == blake3::hash(secret.as_bytes())
            }
            CallbackProof::Signed { id, timestamp, signature, body } => {
                let headers = WebhookHeaders { id, timestamp, signature };
                webhook::verify(&signing_secret(secret), headers, body, self.kernel.clock.now()).is_ok()
            }
        }
    }

    /// What a call that a user makes by hand is held against.
    pub(crate) async fn grant_of(&self, actor: &Actor) -> Result<Grant> {
        let (store, scope) = (&self.kernel.store, actor.scope());
        let rules = rules_of(store.as_ref(), scope, actor.user()).await?;
        Ok(Grant::direct(actor, rules, store.tool_settings(scope).await?))
    }
}

/// A delegation's secret as Standard Webhooks want it: `whsec_` and base64.
fn signing_secret(secret: &str) -> String {
    let padded = secret.replace('-', "+").replace('_', "/");
    format!("whsec_{padded}")
}

/// The tenant and the step in `v1:{tenant}:{task}:{step}:{generation}`, when it is about that task.
fn named(workflow_id: &str, id: TaskId) -> Option<(TenantId, StepId)> {
    let (tenant, rest) = workflow_id.strip_prefix("v1:")?.split_once(':')?;
    let parsed = tenant.parse::<TenantId>().ok().filter(|parsed| parsed.to_string() == tenant)?;
    let (step, generation) = rest.strip_prefix(&format!("{id}:"))?.rsplit_once(':')?;
    generation.parse::<u32>().ok()?;
    let fits = (1..=kybern_core::plan::limits::MAX_DERIVED_ID).contains(&step.len())
        && step.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    fits.then(|| (parsed, StepId::trusted(step)))
}

/// The hash of the arguments that the answer is about: those that were shown, or those that were put in their place.
fn decided_args(wait: &Wait, request: &ReviewRequest) -> Option<Value> {
    let shown = wait.details.get("argsHash")?;
    Some(args_put_in_place(wait, request).map_or_else(|| shown.clone(), |args| hash_args(&args).into()))
}

/// The arguments with which a call is to be made, where they are not those that the person was asked about.
fn args_put_in_place(wait: &Wait, request: &ReviewRequest) -> Option<Map<String, Value>> {
    let is_edited = request.replaces || !request.corrections.is_empty();
    if wait.kind != WaitKind::Confirmation || !is_edited || request.resolution == Some(Resolution::Fail) {
        return None;
    }
    let mut args = match wait.details.get("args").and_then(Value::as_object) {
        Some(args) if !request.replaces => args.clone(),
        Some(_) | None => Map::new(),
    };
    args.extend(request.corrections.clone());
    Some(args)
}

fn audit(actor: &Actor, action: &str, id: TaskId, detail: Value) -> AuditEvent {
    AuditEvent::by(actor, action, format!("task:{id}"), detail)
}

fn not_waiting(task: &Task) -> Error {
    let message = if task.status == TaskStatus::NeedsReview {
        "what the task asks cannot be read: cancel it".to_owned()
    } else {
        format!("the task is {}, it does not wait for a person", task.status)
    };
    Error::new(ErrorCode::Conflict, message)
}

fn find_wait(task: &Task, step: Option<&str>, question: Option<ApprovalId>) -> Result<Wait> {
    let known = || task.waits.iter().map(|wait| wait.step_id.as_str()).collect::<Vec<_>>().join(", ");
    let is_meant = |wait: &&Wait| question.is_none() || wait.approval_id == question;
    let meant: Vec<&Wait> = task.waits.iter().filter(is_meant).collect();
    match (step, meant.as_slice()) {
        (_, []) if task.waits.is_empty() => Err(not_waiting(task)),
        (_, []) => {
            let message =
                format!("this question is not open any more, the task waits in: {}; look at it again", known());
            Err(Error::new(ErrorCode::Conflict, message))
        }
        (None, [only]) => Ok((*only).clone()),
        (None, _several) => {
            Err(Error::invalid("/stepId", format!("the task waits in several steps, name one of: {}", known())))
        }
        (Some(step), waits) => {
            let message = || format!("the task does not wait in step {step:?} but in: {}", known());
            waits
                .iter()
                .find(|wait| is_in_step(wait, step))
                .map(|wait| (*wait).clone())
                .ok_or_else(|| Error::new(ErrorCode::Conflict, message()))
        }
    }
}

/// Whether a wait is in the step of that name; that of a phase may be named without its `_`.
fn is_in_step(wait: &Wait, step: &str) -> bool {
    wait.step_id.as_str() == step || wait.step_id.as_str().strip_prefix('_') == Some(step)
}

fn check_answer(wait: &Wait, request: &ReviewRequest) -> Result<()> {
    if let Some(name) = request.corrections.keys().find(|name| name.starts_with('_')) {
        let message = format!("{name:?} cannot be corrected: names with a leading _ are the kernel's");
        return Err(Error::invalid(format!("/corrections/{name}"), message));
    }
    if wait.kind == WaitKind::Ambiguous && request.resolution.is_none() {
        let message = "resolution is needed: done (it happened), retry (do it again) or fail";
        return Err(Error::invalid("/resolution", message));
    }
    if let Some(message) = inapt(wait, request) {
        return Err(Error::invalid("/resolution", message));
    }
    // With `done` they are the step's data: held against the schema where that is what it describes, and not where it
    // describes what the tool would be called again with.
    let decided = match request.resolution {
        Some(Resolution::Fail) => true,
        Some(Resolution::Done) => !wait.answer_ends,
        Some(Resolution::Retry) | None => false,
    };
    if decided || wait.schema.is_null() || (request.corrections.is_empty() && !must_answer(wait)) {
        return Ok(());
    }
    let mut faults = match wait.kind {
        WaitKind::Document => corrections::faults(&wait.details, &request.corrections),
        _ => Vec::new(),
    };
    if faults.is_empty() {
        faults = schema::check(&wait.schema, &Value::Object(request.corrections.clone()));
    }
    if faults.is_empty() {
        return Ok(());
    }
    let details =
        faults.into_iter().map(|fault| Detail::new(format!("/corrections{}", fault.path), fault.message)).collect();
    Err(Error::new(ErrorCode::Validation, "the corrections do not fit the question").with_details(details))
}

/// Why a resolution is no answer to this question. Giving up is one to every question.
fn inapt(wait: &Wait, request: &ReviewRequest) -> Option<&'static str> {
    let resolution = request.resolution.filter(|resolution| *resolution != Resolution::Fail)?;
    match wait.kind {
        WaitKind::Ambiguous => None,
        WaitKind::Confirmation => {
            Some("this question takes a yes or a no: leave resolution out for a yes, or say fail for a no")
        }
        WaitKind::Review if resolution == Resolution::Done && request.corrections.is_empty() => Some(
            "done makes the corrections the step's data, and there are none: say what it found, or leave resolution out",
        ),
        WaitKind::Review => None,
        WaitKind::Intent
        | WaitKind::Document
        | WaitKind::Plan
        | WaitKind::Input
        | WaitKind::Timer
        | WaitKind::Child
        | WaitKind::Workflow => {
            Some("this question is answered by corrections; the only resolution that it takes is fail")
        }
    }
}

/// Whether nothing is no answer.
fn must_answer(wait: &Wait) -> bool {
    match wait.kind {
        WaitKind::Intent | WaitKind::Document | WaitKind::Input | WaitKind::Review => true,
        WaitKind::Plan
        | WaitKind::Confirmation
        | WaitKind::Ambiguous
        | WaitKind::Timer
        | WaitKind::Child
        | WaitKind::Workflow => false,
    }
}
