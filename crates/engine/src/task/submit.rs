//! Submitting: over the API, by a channel, for a tool call. All end in one store call, which may claim at once.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use kybern_core::actor::{Actor, Rights};
use kybern_core::digest;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::json::{canonical, check_value};
use kybern_core::mail::ParsedMail;
use kybern_core::money::NanoUsd;
use kybern_core::plan::FrozenPlan;
use kybern_core::task::{AttachmentSource, Channel, NewAttachment, NewKind, NewTask, Submitted, limits};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use serde_json::Value;

use super::Tasks;
use super::nul;
use super::request::{AttachmentRequest, SubmitRequest};
use crate::events::TaskWatch;
use crate::executor::view::TaskView;
use crate::size;
use crate::worker::Worker;

/// A file on its way in.
#[derive(Clone, Debug)]
pub(crate) struct SubmittedFile {
    pub(crate) filename: String,
    pub(crate) content_type: String,
    pub(crate) bytes: Bytes,
    pub(crate) source: AttachmentSource,
}

/// What a channel brings.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) channel: Channel,
    pub(crate) source: String,
    pub(crate) dedupe_key: Option<String>,
    pub(crate) body_hash: Option<String>,
    pub(crate) input: String,
    pub(crate) payload: Value,
    pub(crate) parts: Vec<SubmittedFile>,
    /// What the original was taken apart into, so that the task need not do it again.
    pub(crate) mail: Option<Arc<ParsedMail>>,
    pub(crate) trace_id: Option<String>,
    pub(crate) kind: NewKind,
}

/// What became of a submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SubmitOutcome {
    /// This process has begun with it.
    Started(TaskId),
    /// It waits for a worker.
    Queued(TaskId),
    /// A task came with its key before.
    Known {
        id: TaskId,
        /// Whether it said the same.
        same_body: bool,
    },
}

impl Tasks {
    /// Submits a task. With `wait` the answer comes when it ends or waits for a person, at most that much later.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`, `NOT_FOUND` for an unknown plan, `UNPROCESSABLE` for one in quarantine, `CONFLICT` when
    /// the idempotency key was used with another body.
    pub async fn submit(&self, actor: &Actor, request: SubmitRequest, wait: Option<Millis>) -> Result<TaskView> {
        let plan = match &request.plan_key {
            None => None,
            Some(key) => Some(self.plan_for(actor, key).await?),
        };
        self.submit_with_plan(actor, request, (NewKind::Plan, plan), wait).await
    }

    async fn plan_for(&self, actor: &Actor, key: &str) -> Result<Arc<FrozenPlan>> {
        let own = self.services.plans.own(actor.scope()).await?;
        let plan = self.services.plans.plan_catalogue.find(&own, key);
        let plan = plan.ok_or_else(|| match own.iter().any(|plan| plan.key == key) {
            true => Error::new(ErrorCode::NotFound, format!("plan {key} was taken out of use; it can be brought back")),
            false => Error::not_found("plan", key),
        })?;
        if let Some(fault) = plan.quarantine.first() {
            let message = format!("plan {key} is in quarantine: {fault}");
            return Err(Error::new(ErrorCode::Unprocessable, message));
        }
        Ok(self.kernel.frozen.freeze(plan))
    }

    pub(crate) async fn submit_with_plan(
        &self,
        actor: &Actor,
        request: SubmitRequest,
        (kind, plan): (NewKind, Option<Arc<FrozenPlan>>),
        wait: Option<Millis>,
    ) -> Result<TaskView> {
        check(&request)?;
        if plan.is_none() && request.input.trim().is_empty() && request.attachments.is_empty() {
            let message = "input is empty: say what is wanted, attach a document, or name a plan";
            return Err(Error::invalid("/input", message));
        }
        let body_hash = request.idempotency_key.as_ref().map(|_| hash_of(&request));
        let incoming = Incoming {
            channel: request.channel,
            source: format!("api/{}", actor.principal().label()),
            dedupe_key: request.idempotency_key.clone(),
            body_hash,
            input: request.input.clone(),
            payload: request.payload.clone(),
            parts: request
                .attachments
                .iter()
                .map(|file| SubmittedFile {
                    filename: file.filename.clone(),
                    content_type: file.content_type.clone(),
                    bytes: file.bytes.clone(),
                    source: AttachmentSource::Attached,
                })
                .collect(),
            mail: None,
            trace_id: request.trace_id.clone(),
            kind,
        };
        let caps = SubmitLimits {
            max_steps: request.max_steps.unwrap_or(self.kernel.settings.max_steps),
            threshold: request.confidence_threshold.unwrap_or(self.kernel.settings.confidence_threshold),
            budget: request.budget,
        };
        let id = TaskId::from_uuid(self.kernel.ids.next());
        self.submit_and_wait(actor, id, incoming, plan, caps, wait).await
    }

    /// Submits a turn of a conversation.
    pub(crate) async fn submit_turn(
        &self,
        actor: &Actor,
        id: TaskId,
        incoming: Incoming,
        plan: Arc<FrozenPlan>,
        budget: Option<NanoUsd>,
        wait: Option<Millis>,
    ) -> Result<TaskView> {
        let settings = &self.kernel.settings;
        let caps = SubmitLimits { max_steps: settings.max_steps, threshold: settings.confidence_threshold, budget };
        self.submit_and_wait(actor, id, incoming, Some(plan), caps, wait).await
    }

    async fn submit_and_wait(
        &self,
        actor: &Actor,
        id: TaskId,
        incoming: Incoming,
        plan: Option<Arc<FrozenPlan>>,
        caps: SubmitLimits,
        wait: Option<Millis>,
    ) -> Result<TaskView> {
        let watch = wait.map(|_| self.kernel.watchers.watch(id));
        let rest = watch.as_ref().map(TaskWatch::first_rest).zip(wait);
        let (id, is_new) = match self.store_incoming(actor, id, incoming, plan, caps).await? {
            SubmitOutcome::Started(id) => match rest {
                Some((view, wait)) => return self.first_rest(actor, id, wait, view).await,
                None => (id, true),
            },
            SubmitOutcome::Queued(id) => (id, true),
            SubmitOutcome::Known { id, same_body: true } => (id, false),
            SubmitOutcome::Known { same_body: false, .. } => {
                let message = "the idempotency key was used before with another body, use a fresh key";
                return Err(Error::new(ErrorCode::Conflict, message));
            }
        };
        match wait {
            Some(wait) => Box::pin(self.wait_for(actor, id, wait)).await,
            None if is_new => Box::pin(self.just_made(actor, id)).await,
            None => Box::pin(self.get(actor, id)).await,
        }
    }

    pub(crate) async fn submit_incoming(&self, actor: &Actor, incoming: Incoming) -> Result<SubmitOutcome> {
        let caps = SubmitLimits {
            max_steps: self.kernel.settings.max_steps,
            threshold: self.kernel.settings.confidence_threshold,
            budget: None,
        };
        let id = TaskId::from_uuid(self.kernel.ids.next());
        self.store_incoming(actor, id, incoming, None, caps).await
    }

    /// Stores the files, then the task, and starts it at once when there is a free slot.
    async fn store_incoming(
        &self,
        actor: &Actor,
        id: TaskId,
        incoming: Incoming,
        plan: Option<Arc<FrozenPlan>>,
        caps: SubmitLimits,
    ) -> Result<SubmitOutcome> {
        let mut incoming = incoming;
        without_nul(&mut incoming);
        super::files::within_limits(&incoming.parts)?;
        check_value(&incoming.payload).map_err(|deep| deep.at("/payload"))?;
        if incoming.input.len() > limits::MAX_INPUT {
            let message = format!("the input is over the limit of {} bytes", limits::MAX_INPUT);
            return Err(Error::new(ErrorCode::PayloadTooLarge, message));
        }
        let size = size::of_value(&incoming.payload);
        if size > limits::MAX_PAYLOAD {
            let message = format!(
                "the payload is {size} bytes of JSON, over the limit of {}: send large content as an attachment",
                limits::MAX_PAYLOAD
            );
            return Err(Error::new(ErrorCode::PayloadTooLarge, message));
        }
        let (kernel, scope) = (&self.kernel, actor.scope());
        let mut attachments = Vec::with_capacity(incoming.parts.len());
        for part in incoming.parts {
            let bytes = part.bytes.len();
            let size = u64::try_from(bytes).unwrap_or(u64::MAX);
            let hash = kernel.store.put_blob(scope, part.bytes).await?;
            if let Some(mail) = incoming.mail.as_ref().filter(|_| part.source == AttachmentSource::Original) {
                self.services.texts.keep_mail(scope.tenant(), &hash, bytes, Arc::clone(mail));
            }
            attachments.push(NewAttachment {
                filename: part.filename,
                content_type: part.content_type,
                size,
                hash,
                source: part.source,
            });
        }
        let has_documents = attachments.iter().any(|file| file.source == AttachmentSource::Attached);
        if let Some(plan) = &plan {
            kernel.frozen.keep(Arc::clone(plan));
        }
        let task = NewTask {
            id,
            channel: incoming.channel,
            source: incoming.source,
            dedupe_key: incoming.dedupe_key,
            body_hash: incoming.body_hash,
            input: incoming.input,
            payload: incoming.payload,
            created_by: actor.principal().label(),
            user: actor.user(),
            rights: rights_of(actor, incoming.channel),
            plan,
            intent: None,
            attachments,
            max_steps: caps.max_steps,
            confidence_threshold: caps.threshold,
            budget: caps.budget,
            trace_id: incoming.trace_id.unwrap_or_else(|| kernel.ids.next().simple().to_string()),
            parent: None,
            depth: 0,
            forked_from: None,
            kind: incoming.kind,
            at: kernel.time.now(),
        };
        self.store_task(actor, task, Some(has_documents)).await
    }

    /// Stores a task and starts it at once when this process works and has a free slot. What the store has leased to
    /// this process is run, also when whoever asked for it has left.
    pub(crate) async fn store_task(
        &self,
        actor: &Actor,
        task: NewTask,
        has_documents: Option<bool>,
    ) -> Result<SubmitOutcome> {
        let (engine, scope) = (self.clone(), actor.scope());
        let work = async move { engine.store_and_start(scope, task, has_documents).await };
        // Tracked, so that an engine that stops waits for it, and gives back what it has claimed.
        let work = Box::pin(self.kernel.spawned.track_future(work));
        ToItsEnd { tasks: self.clone(), work: Some(work) }.await
    }

    async fn store_and_start(
        &self,
        scope: TenantScope,
        task: NewTask,
        has_documents: Option<bool>,
    ) -> Result<SubmitOutcome> {
        let kernel = &self.kernel;
        let works = kernel.settings.work && !kernel.stopping.is_cancelled();
        let slot = if works { kernel.slots.take(scope.tenant()) } else { None };
        let claim = slot.as_ref().map(|_| (&kernel.worker, kernel.settings.lease));
        Ok(match kernel.store.submit(scope, task, claim).await? {
            Submitted::New(claimed) => {
                let id = claimed.task.id;
                Worker { kernel: Arc::clone(&self.kernel) }.run_claimed(claimed, has_documents, slot);
                SubmitOutcome::Started(id)
            }
            Submitted::Queued(task) => SubmitOutcome::Queued(task.id),
            Submitted::Duplicate { task, same_body } => SubmitOutcome::Known { id: task.id, same_body },
        })
    }
}

/// What a task may do that an actor submits or forks. Whoever hands in what a stranger has written lends it no more than an
/// operator's rights, whatever their own are.
pub(super) fn rights_of(actor: &Actor, channel: Channel) -> Rights {
    match channel {
        Channel::Email | Channel::Web | Channel::Webhook | Channel::Sms | Channel::Whatsapp => {
            actor.rights().and(Rights::OPERATOR)
        }
        Channel::Api | Channel::Chat | Channel::Mcp | Channel::Trigger | Channel::System => actor.rights(),
    }
}

/// Work that is done to its end, also when whoever waits for it leaves.
struct ToItsEnd {
    tasks: Tasks,
    work: Option<BoxFuture<'static, Result<SubmitOutcome>>>,
}

impl Future for ToItsEnd {
    type Output = Result<SubmitOutcome>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let done = work.as_mut().poll(cx);
        if done.is_ready() {
            self.work = None;
        }
        done
    }
}

impl Drop for ToItsEnd {
    fn drop(&mut self) {
        // Where the process ends, nothing goes on, and the lease expires.
        if let Some(work) = self.work.take()
            && tokio::runtime::Handle::try_current().is_ok()
        {
            self.tasks.kernel.spawn(async move { drop(work.await) });
        }
    }
}

/// Cleans everything that is kept as text; the files' own bytes are left as they are.
fn without_nul(incoming: &mut Incoming) {
    nul::clean(&mut incoming.input);
    nul::clean_value(&mut incoming.payload);
    if let Some(key) = &mut incoming.dedupe_key {
        nul::clean(key);
    }
    for part in &mut incoming.parts {
        nul::clean(&mut part.filename);
        nul::clean(&mut part.content_type);
    }
}

#[derive(Clone, Copy)]
struct SubmitLimits {
    max_steps: u32,
    threshold: f64,
    budget: Option<NanoUsd>,
}

fn check(request: &SubmitRequest) -> Result<()> {
    if request.max_steps.is_some_and(|steps| !(1..=limits::MAX_MAX_STEPS).contains(&steps)) {
        let message = format!("maxSteps must be an integer from 1 to {}", limits::MAX_MAX_STEPS);
        return Err(Error::invalid("/maxSteps", message));
    }
    if request.confidence_threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        return Err(Error::invalid("/confidenceThreshold", "confidenceThreshold must be a number from 0 to 1"));
    }
    if request.budget.is_some_and(|budget| budget.0 < 0) {
        return Err(Error::invalid("/budgetNanos", "budgetNanos must not be negative"));
    }
    Ok(())
}

/// What a submission says, as a hash: the same key with another one is a conflict.
fn hash_of(request: &SubmitRequest) -> String {
    let caps = format!("{:?}{:?}{:?}", request.max_steps, request.confidence_threshold, request.budget);
    let (payload, plan) = (canonical(&request.payload), request.plan_key.as_deref().unwrap_or_default());
    let said = [request.input.as_bytes(), &payload, plan.as_bytes(), caps.as_bytes()];
    digest::hash_of(said.into_iter().chain(request.attachments.iter().flat_map(AttachmentRequest::said)))
}
