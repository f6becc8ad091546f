//! Sending what the outbox holds.
//!
//! Webhooks, completions and dispatches carry the message's key, so a repeat is the receiver's to drop. Mail has no
//! such key: a message that may have been handed over is never handed over again by itself, it becomes `uncertain`. It is
//! `sending` only once a server waits for it, so that whatever ends before, this process too, leaves it `pending`.
//! A dispatch that may have arrived stays `sending` from then on, because its workflow may be under way: it is never
//! said not to have been started, and becomes `uncertain` when its tries are used up.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::id::OutboxId;
use kybern_core::job::ClaimedJob;
use kybern_core::mail::{MAX_REFERENCES, OutgoingFile, OutgoingMail, SendFault};
use kybern_core::outbox::{
    Dispatch, MAX_MAIL_FILE_BYTES, MAX_MAIL_FILES, MailFile, NewOutbox, OutboxChannel, OutboxMessage, OutboxStatus,
    message_id,
};
use kybern_core::plan::StepId;
use kybern_core::policy::redact::redact_text;
use kybern_core::ports::{HttpBody, HttpClient, HttpFailure, HttpRequest, Keys, MailSender};
use kybern_core::task::Signal;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::trace::{traceparent, traceparent_of};
use serde_json::{Value, json};

use super::receiver::{Delivery, PutOff, Receiver, Receivers};
use super::{JobFailure, JobHandler, sign};
use crate::executor::Kernel;
use crate::executor::patience::until_available;

/// How long a receiver may take to answer.
const RECEIVER_TIMEOUT: Millis = Millis(20_000);
/// How long a message waits for a receiver that does not answer.
const MAX_WAIT: Millis = Millis(72 * 60 * 60 * 1000);
/// How long a message rests after its last try of a receiver that was silent.
const REST: Millis = Millis(30_000);
/// How long a dispatch waits before its task is looked at again that is being cancelled, or has failed and may be
/// retried.
const WHILE_ITS_TASK_RESTS: Millis = Millis(60_000);
/// Bytes of a receiver's answer that are read.
const MAX_ANSWER: usize = 64 * 1024;

/// Sends what is in the outbox.
pub(crate) struct OutboxSender {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) mail_sender: Option<Arc<dyn MailSender>>,
    pub(crate) receivers: Arc<Receivers>,
}

#[async_trait]
impl JobHandler for OutboxSender {
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        self.send_outbox(job).await
    }

    async fn wind_up(&self, job: &ClaimedJob, reason: &str) -> Result<bool, JobFailure> {
        self.wind_up_outbox(job, reason).await
    }
}

impl OutboxSender {
    async fn send_outbox(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let id = outbox_id(job).ok_or_else(|| JobFailure::permanent("the job names no outbox message"))?;
        let message = self.kernel.store.outbox_message(job.scope(), id).await?;
        let message = message.ok_or_else(|| JobFailure::permanent("the outbox message is gone"))?;
        if let Some(problem) = &message.unreadable {
            return Err(JobFailure::permanent(format!("the outbox message cannot be read: {problem}")));
        }
        match (message.status, message.message.channel) {
            (OutboxStatus::Pending, OutboxChannel::Email) => self.send_mail(job, &message).await,
            (OutboxStatus::Sending, OutboxChannel::Email) => {
                let reason = "the process ended while the message was being handed over";
                self.move_status(job, &message, OutboxStatus::Sending, OutboxStatus::Uncertain, Some(reason)).await
            }
            (OutboxStatus::Pending | OutboxStatus::Sending, _) => self.post(job, &message).await,
            (OutboxStatus::Sent | OutboxStatus::Kept | OutboxStatus::Failed | OutboxStatus::Uncertain, _) => Ok(()),
        }
    }

    /// A message's way to its receiver.
    async fn delivery(
        &self,
        job: &ClaimedJob,
        message: &OutboxMessage,
        receiver: Receiver,
    ) -> Result<Delivery, JobFailure> {
        let now = self.kernel.clock.now();
        let PutOff { until, reason } = match self.receivers.enter(receiver, now) {
            Ok(delivery) => return Ok(delivery),
            Err(put_off) => put_off,
        };
        let Some(reason) = reason else { return Err(JobFailure::put_off("waits for its receiver", until)) };
        if self.has_waited_long(job, message) {
            return Err(JobFailure::permanent(format!("given up after {MAX_WAIT}: {reason}")));
        }
        let told = message.error.as_deref().is_some_and(|error| error.starts_with("receiver "));
        if message.status == OutboxStatus::Pending && !told {
            self.move_status(job, message, OutboxStatus::Pending, OutboxStatus::Pending, Some(&reason)).await?;
        }
        Err(JobFailure::put_off(reason, until))
    }

    /// A receiver was silent. Until then the message waits without having used up a try: where the receiver's breaker is
    /// open, which other messages may have opened, and where this was its last try.
    fn silent(&self, job: &ClaimedJob, delivery: Delivery) -> Option<Timestamp> {
        let now = self.kernel.clock.now();
        let is_last = job.attempt >= job.max_attempts;
        delivery.silent(now).or_else(|| is_last.then(|| now.plus(REST)))
    }

    /// Whether a message has waited for its receiver as long as it may.
    fn has_waited_long(&self, job: &ClaimedJob, message: &OutboxMessage) -> bool {
        // Made by the clock of tasks: this machine's own may be far ahead of it.
        self.kernel.time.now().since(since(job).unwrap_or(message.created_at)) > MAX_WAIT
    }

    async fn send_mail(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<(), JobFailure> {
        let Some(sender) = &self.mail_sender else {
            let reason = "no SMTP server is configured, see [smtp]";
            return self.move_status(job, message, OutboxStatus::Pending, OutboxStatus::Kept, Some(reason)).await;
        };
        let files = self.files_of(job, message).await?;
        let delivery = self.delivery(job, message, Receiver::Mail).await?;
        let text = |name: &str| message.message.body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mail = OutgoingMail {
            to: message.message.target.clone(),
            subject: text("subject"),
            body: text("body"),
            message_id: message_id(message.message.id),
            references: references(&message.message.body),
            files,
        };
        let (from, sent) = match sender.prepare(&mail).await {
            Err(fault) => (OutboxStatus::Pending, Err(fault)),
            Ok(prepared) => {
                self.move_status(job, message, OutboxStatus::Pending, OutboxStatus::Sending, None).await?;
                self.ensure_held(job).await?;
                (OutboxStatus::Sending, prepared.hand_over().await)
            }
        };
        let mut rests = None;
        match &sent {
            Ok(()) | Err(SendFault::NotSent { .. }) => delivery.answered(),
            Err(SendFault::Unreachable { .. } | SendFault::Unknown { .. }) => rests = self.silent(job, delivery),
        }
        let (reason, retryable) = match sent {
            Ok(()) => return self.move_status(job, message, from, OutboxStatus::Sent, None).await,
            Err(SendFault::Unknown { message: reason }) => {
                return self.move_status(job, message, from, OutboxStatus::Uncertain, Some(&reason)).await;
            }
            Err(SendFault::NotSent { message: reason, retryable }) => (reason, retryable),
            Err(SendFault::Unreachable { message: reason }) => (reason, true),
        };
        let put_off = rests.filter(|_| !self.has_waited_long(job, message));
        let again = put_off.is_some() || retryable && job.attempt < job.max_attempts;
        let to = if again { OutboxStatus::Pending } else { OutboxStatus::Failed };
        self.move_status(job, message, from, to, Some(&reason)).await?;
        Err(JobFailure { message: reason, retryable, put_off, only_waits: false })
    }

    /// Refuses to go on where somebody else may have claimed the job while the mail server was made ready: they may have
    /// written the same status, and only the lease tells who hands the mail over.
    async fn ensure_held(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let kernel = &self.kernel;
        match kernel.store.renew_job(job, kernel.settings.lease, kernel.clock.now()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(JobFailure::transient("somebody else has claimed the job")),
            Err(error) => Err(JobFailure::transient(error.to_string())),
        }
    }

    /// The files that go along with a mail. If any is missing the mail is not sent, because its text refers to it.
    async fn files_of(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<Vec<OutgoingFile>, JobFailure> {
        let Some(listed) = message.message.body.get("attachments") else { return Ok(Vec::new()) };
        let listed = serde_json::from_value::<Vec<MailFile>>(listed.clone())
            .map_err(|error| JobFailure::permanent(format!("the attachments cannot be read: {error}")))?;
        let (mut files, mut bytes) = (Vec::new(), 0_u64);
        for MailFile { filename, content_type, hash, .. } in listed {
            let Some(kept) = self.kernel.store.blob(job.scope(), &hash).await? else {
                return Err(JobFailure::permanent(format!("the attachment {filename:?} is not kept any more")));
            };
            bytes = bytes.saturating_add(u64::try_from(kept.len()).unwrap_or(u64::MAX));
            if files.len() == MAX_MAIL_FILES || bytes > MAX_MAIL_FILE_BYTES {
                let limits = format!("{MAX_MAIL_FILES} attachments of {MAX_MAIL_FILE_BYTES} bytes together");
                return Err(JobFailure::permanent(format!("a mail takes at most {limits}")));
            }
            files.push(OutgoingFile { filename, content_type, bytes: kept });
        }
        Ok(files)
    }

    async fn post(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<(), JobFailure> {
        if message.message.channel == OutboxChannel::Completion && !self.is_subscribed(job, message).await? {
            return self.withdraw(job, message, "its webhook was removed").await;
        }
        let request = self.request(job, message);
        let url = request.as_ref().map_or("", |request| &request.url);
        let delivery = match Receiver::of_url(job.scope().tenant(), url) {
            Some(receiver) => Some(self.delivery(job, message, receiver).await?),
            None => None,
        };
        if !self.start_sending(job, message).await? {
            return Ok(());
        }
        let result = match request {
            Ok(request) => self.http.send(request).await,
            Err(reason) => Err(HttpFailure::Invalid(reason)),
        };
        let mut rests = None;
        match (delivery, &result) {
            (Some(delivery), Ok(_) | Err(HttpFailure::TooLarge(_))) => delivery.answered(),
            (Some(delivery), Err(HttpFailure::Connect(_) | HttpFailure::NoAnswer(_) | HttpFailure::TimedOut(_))) => {
                rests = self.silent(job, delivery);
            }
            (_, Err(HttpFailure::Denied(_) | HttpFailure::Invalid(_))) | (None, _) => {}
        }
        let may_have_arrived = match &result {
            Ok(answer) => !(400..500).contains(&answer.status) || matches!(answer.status, 408 | 409),
            Err(HttpFailure::NoAnswer(_) | HttpFailure::TimedOut(_) | HttpFailure::TooLarge(_)) => true,
            Err(HttpFailure::Connect(_) | HttpFailure::Denied(_) | HttpFailure::Invalid(_)) => false,
        };
        let (reason, retryable) = match result {
            Ok(answer) if answer.status < 300 => {
                return self.move_status(job, message, OutboxStatus::Sending, OutboxStatus::Sent, None).await;
            }
            Ok(answer) => {
                let later = matches!(answer.status, 408 | 409 | 425 | 429 | 500..=599);
                (format!("the receiver answered {}", answer.status), later)
            }
            Err(failure @ (HttpFailure::Denied(_) | HttpFailure::Invalid(_))) => (failure.to_string(), false),
            Err(failure) => (failure.to_string(), true),
        };
        let is_dispatch = message.message.channel == OutboxChannel::Workflow;
        // A step waits for what was dispatched, so that is given up when its tries are over.
        let put_off = rests.filter(|_| !is_dispatch && !self.has_waited_long(job, message));
        let again = put_off.is_some() || retryable && job.attempt < job.max_attempts;
        // It was `sending` before this try when an earlier one may have arrived.
        let may_have_begun = is_dispatch && (may_have_arrived || message.status == OutboxStatus::Sending);
        let to = match (again, may_have_begun) {
            (true, true) => OutboxStatus::Sending,
            (true, false) => OutboxStatus::Pending,
            (false, true) => OutboxStatus::Uncertain,
            (false, false) => OutboxStatus::Failed,
        };
        if is_dispatch && to == OutboxStatus::Failed {
            self.dispatch_failed(job, message, &reason).await?;
        }
        self.move_status(job, message, OutboxStatus::Sending, to, Some(&reason)).await?;
        Err(JobFailure { message: reason, retryable, put_off, only_waits: false })
    }

    /// Whether a webhook still subscribes to what a completion message tells; true of any other message.
    async fn is_subscribed(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<bool, JobFailure> {
        let event = message.message.body.get("type").and_then(Value::as_str).unwrap_or_default();
        let webhooks = self.kernel.store.webhooks(job.scope()).await?;
        Ok(webhooks.iter().any(|webhook| {
            let wants = webhook.events.is_empty() || webhook.events.iter().any(|wanted| wanted == event);
            webhook.active && wants && webhook.url == message.message.target
        }))
    }

    /// Ends a message that nobody wants any more.
    async fn withdraw(&self, job: &ClaimedJob, message: &OutboxMessage, why: &str) -> Result<(), JobFailure> {
        // A dispatch that surely has not arrived is `pending` again; everything else says only that it was tried.
        let may_have_arrived = match message.message.channel {
            OutboxChannel::Workflow => message.status == OutboxStatus::Sending,
            _ => message.attempts > 0,
        };
        let reason = if may_have_arrived {
            format!("withdrawn: {why}; an earlier try may have arrived")
        } else {
            format!("withdrawn: {why}")
        };
        self.move_status(job, message, message.status, OutboxStatus::Failed, Some(&reason)).await
    }

    /// Whether a message may leave; it is `sending` then. What a task has handed to a workflow leaves only as long as its
    /// step waits for it: neither after it was cancelled, nor after its time was up. That is looked at with the task's
    /// row held, so only what was `sending` by then can still arrive.
    async fn start_sending(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<bool, JobFailure> {
        if message.message.channel != OutboxChannel::Workflow {
            if message.status == OutboxStatus::Pending {
                self.move_status(job, message, OutboxStatus::Pending, OutboxStatus::Sending, None).await?;
            }
            return Ok(true);
        }
        let (store, now) = (&self.kernel.store, self.kernel.clock.now());
        // Its deadline is the task's.
        let at = self.kernel.time.now();
        match until_available(|| store.begin_dispatch(job.scope(), message.message.id, at)).await? {
            Dispatch::Goes => Ok(true),
            Dispatch::Rests => Err(JobFailure::put_off("its task rests", now.plus(WHILE_ITS_TASK_RESTS))),
            Dispatch::Over => {
                // The step has its end: it is told nothing.
                self.withdraw(job, message, "its step waits for it no longer").await?;
                Ok(false)
            }
        }
    }

    /// A delegation that certainly never reached its engine will never be answered: the step is told so, instead of
    /// waiting for its deadline. Repeating that has no effect, even with a different reason.
    pub(super) async fn dispatch_failed(
        &self,
        job: &ClaimedJob,
        message: &OutboxMessage,
        reason: &str,
    ) -> Result<(), JobFailure> {
        let text = |name: &str| message.message.body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(task) = message.task_id else { return Ok(()) };
        let step = StepId::trusted(&text("stepId"));
        let signal = Signal::Callback {
            step: step.clone(),
            workflow_id: message.message.key.clone(),
            success: false,
            data: Value::Null,
            error: Some(format!("the workflow could not be started: {reason}")),
        };
        let hash = blake3::hash(b"the workflow could not be started").to_hex().to_string();
        let now = self.kernel.clock.now();
        self.kernel.store.callback(job.scope(), task, &step, signal, &hash, now).await?;
        self.kernel.active.poke(task);
        Ok(())
    }

    /// The request that carries a message.
    fn request(&self, job: &ClaimedJob, message: &OutboxMessage) -> Result<HttpRequest, String> {
        let new = &message.message;
        let mut body = new.body.clone();
        let mut headers = vec![("Idempotency-Key".to_owned(), new.key.clone())];
        let mut secret = self.keys.webhook_secret(job.scope().tenant(), "outbound");
        let (url, trusted_endpoint) = match new.channel {
            OutboxChannel::Workflow => {
                let endpoint = self.kernel.settings.workflows.get(&new.target);
                let endpoint = endpoint.ok_or_else(|| format!("workflow {:?} is not configured", new.target))?;
                // The secret is derived, so it is in no table; it leaves the house only to the engine it is for.
                if let Value::Object(members) = &mut body {
                    let answer = self.keys.callback_secret(&new.key);
                    members.insert("callbackSecret".to_owned(), answer.into());
                }
                if let Some(own) = &endpoint.secret {
                    secret.clone_from(own);
                }
                (endpoint.url.clone(), true)
            }
            OutboxChannel::Webhook | OutboxChannel::Completion | OutboxChannel::Email => (new.target.clone(), false),
        };
        let trace = message.trace_id.as_deref();
        let trace = trace.map_or_else(|| traceparent_of(new.id.as_uuid()), |trace| traceparent(trace, &new.key));
        headers.extend(trace.map(|trace| ("traceparent".to_owned(), trace)));
        let raw = body.to_string();
        let signed = sign::headers(&secret, &new.id.to_string(), self.kernel.clock.now(), raw.as_bytes());
        headers.extend(signed.map_err(|fault| fault.to_string())?);
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        Ok(HttpRequest {
            method: "POST".to_owned(),
            url,
            headers,
            // As text, so that the bytes on the wire are the bytes that were signed.
            body: HttpBody::Text(raw),
            timeout: RECEIVER_TIMEOUT,
            max_bytes: MAX_ANSWER,
            only_hosts: None,
            trusted_endpoint,
        })
    }

    /// Moves a message on, as soon as the store is available: what became of a message that has left is not forgotten.
    /// What went wrong is kept without secrets and personal data. When the message has another status by then, the next try
    /// reads it.
    pub(super) async fn move_status(
        &self,
        job: &ClaimedJob,
        message: &OutboxMessage,
        from: OutboxStatus,
        to: OutboxStatus,
        error: Option<&str>,
    ) -> Result<(), JobFailure> {
        let (id, now) = (message.message.id, self.kernel.clock.now());
        let error = error.map(redact_text);
        let audit = audit_event(message, to, job.attempt);
        let store = &self.kernel.store;
        let mut asked = 0;
        let moved = until_available(|| {
            asked += 1;
            store.move_outbox(job.scope(), id, (from, to), error.as_deref(), audit.as_ref(), now)
        });
        if moved.await? {
            return Ok(());
        }
        // Of several tries of the write an earlier one may have moved it.
        if asked > 1
            && let Some(known) = until_available(|| store.outbox_message(job.scope(), id)).await?
            && known.status == to
        {
            return Ok(());
        }
        Err(JobFailure::transient("somebody else moved the message"))
    }
}

/// The mails of the thread that a mail goes on with, as its body lists them: the last ones, as many as we read of others.
fn references(body: &Value) -> Vec<String> {
    let listed = body.get("references").and_then(Value::as_array).into_iter().flatten();
    let mut ids: Vec<String> = listed.filter_map(Value::as_str).map(str::to_owned).collect();
    ids.drain(..ids.len().saturating_sub(MAX_REFERENCES));
    ids
}

/// What is kept of a message that has come to its end: by which way, to which host, for which task. Of the receiver itself
/// only a hash: an address is somebody's, and the trail is kept for years.
fn audit_event(message: &OutboxMessage, to: OutboxStatus, attempt: u32) -> Option<AuditEvent> {
    let act = match to {
        OutboxStatus::Sent => "outbox.sent",
        OutboxStatus::Failed => "outbox.failed",
        OutboxStatus::Uncertain => "outbox.uncertain",
        OutboxStatus::Pending | OutboxStatus::Sending | OutboxStatus::Kept => return None,
    };
    let NewOutbox { id, channel, target, .. } = &message.message;
    let host = match channel {
        OutboxChannel::Email => target.rsplit_once('@').map(|(_, domain)| domain.to_owned()),
        OutboxChannel::Webhook | OutboxChannel::Completion => Receiver::host_of(target),
        // The name of an engine of the settings.
        OutboxChannel::Workflow => Some(target.clone()),
    };
    let detail = json!({
        "channel": channel.as_str(),
        "host": host,
        "targetHash": blake3::hash(target.as_bytes()).to_hex().to_string(),
        "taskId": message.task_id,
        "attempt": attempt,
    });
    Some(AuditEvent::by_executor(act, format!("outbox:{id}"), detail))
}

/// Since when a message waits that somebody has sent once more.
fn since(job: &ClaimedJob) -> Option<Timestamp> {
    serde_json::from_value(job.payload.get("since")?.clone()).ok()
}

/// The message that a job is to send.
pub(super) fn outbox_id(job: &ClaimedJob) -> Option<OutboxId> {
    job.payload.get("outboxId").and_then(Value::as_str).and_then(|id| id.parse().ok())
}
