//! What a task is made of: its row, what it came with, and how it is submitted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::journal::StepError;
use super::lease::{Claimed, Lease, WorkerId};
use super::limits;
use super::status::{Channel, TaskKind, TaskStatus};
use super::wait::Wait;
use crate::actor::{Actor, Rights};
use crate::chat::{NewTurn, TurnRef};
use crate::error::{Error, ErrorCode, Result};
use crate::id::{TaskId, TenantId, UserId};
use crate::money::{NanoUsd, Usage};
use crate::plan::{FrozenPlan, PlanHash};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// A task's row.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// Its id; its time part is when it was made.
    pub id: TaskId,
    pub tenant: TenantId,
    pub kind: TaskKind,
    /// By which way it came in.
    pub channel: Channel,
    /// Where it stands.
    pub status: TaskStatus,
    /// The input as text: a message, an instruction, a mail's body.
    pub input: String,
    /// The rest of the input: a webhook's body, a mail's headers, a caller's payload.
    pub payload: Value,
    /// Who submitted it ([`crate::actor::Principal::label`]).
    pub created_by: String,
    /// The user it acts for, when there is one.
    pub user: Option<UserId>,
    /// What whoever made it could do then. It may do no more, whatever its user may by now.
    pub rights: Rights,
    /// What is wanted, once it is known.
    pub intent: Option<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: Option<f64>,
    /// The plan it walks, by key and version.
    pub plan: Option<(String, u32)>,
    /// The frozen copy it walks.
    pub plan_hash: Option<PlanHash>,
    /// The most steps it may schedule.
    pub max_steps: u32,
    /// Below this confidence a person is asked.
    pub confidence_threshold: f64,
    /// The most it and its children may cost.
    pub budget: Option<NanoUsd>,
    /// What it has used so far.
    pub usage: Usage,
    /// The trace it belongs to, 32 hex digits.
    pub trace_id: String,
    /// The task and step that started it.
    pub parent: Option<(TaskId, String)>,
    /// How deep it lies below the first of its line; 0 for that one.
    pub depth: u32,
    /// For what persons it waits.
    pub waits: Vec<Wait>,
    /// The step that it waits in, or ended in.
    pub current_step: Option<String>,
    /// The outside engine's id while it is delegated.
    pub delegated_workflow_id: Option<String>,
    /// How it ended.
    pub result: Option<Value>,
    /// Why it failed, or was cancelled by a no.
    pub error: Option<StepError>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it was first claimed.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Since when it is paused.
    pub paused_at: Option<Timestamp>,
    /// Whether somebody wants it cancelled.
    pub cancel_requested: bool,
    /// How often it was claimed from a worker that let its lease expire.
    pub recoveries: u32,
    /// How many signals have been left for it.
    pub signals: i64,
    /// The fence of its present or last lease.
    pub epoch: i64,
    /// The task it was forked from.
    pub forked_from: Option<TaskId>,
    /// What of the row this program cannot read, and why; it is left empty here. `None` for every sound row.
    pub unreadable: Option<String>,
}

impl Task {
    /// Whether somebody may see it, and steer it as far as their rights go. A turn of a conversation is its user's and
    /// the administrators'; every other task belongs to the whole tenant.
    #[must_use]
    pub fn is_visible_to(&self, actor: &Actor) -> bool {
        actor.sees_talks_of().is_none_or(|user| !self.is_talk_of_another(user))
    }

    /// Whether it is a turn of a conversation that belongs to somebody else than this user.
    #[must_use]
    pub fn is_talk_of_another(&self, user: UserId) -> bool {
        self.channel == Channel::Chat && self.user.is_some_and(|owner| owner != user)
    }

    /// The turn of a conversation that it is; `None` for every other task. A fork of a turn is none, although it has
    /// its channel and its payload: it takes nothing out of a conversation and writes nothing into one.
    #[must_use]
    pub fn turn(&self) -> Option<TurnRef> {
        if self.kind == TaskKind::Turn { TurnRef::deserialize(&self.payload).ok() } else { None }
    }

    /// The task, where all of its row is needed.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when this program cannot read it.
    pub fn whole(self) -> Result<Self> {
        self.must_be_whole()?;
        Ok(self)
    }

    /// The subject of the mail that it is, shortened as a list shows it.
    #[must_use]
    pub fn subject(&self) -> Option<String> {
        listed_payload(self.channel, &self.payload)["subject"].as_str().map(str::to_owned)
    }

    /// The address that sent the mail that it is. Nobody has checked it.
    #[must_use]
    pub fn sender(&self) -> Option<String> {
        listed_payload(self.channel, &self.payload)["from"]["address"].as_str().map(str::to_owned)
    }

    /// Looks whether all of its row is there.
    ///
    /// # Errors
    /// As [`Task::whole`].
    pub fn must_be_whole(&self) -> Result<()> {
        let Some(problem) = &self.unreadable else { return Ok(()) };
        let message = format!("task {} cannot be read: {problem}; `kybern doctor` says what to do", self.id);
        Err(Error::new(ErrorCode::Unprocessable, message))
    }
}

/// What a list shows of a task's payload: of a mail who sent it and its subject, of anything else `null`.
#[must_use]
pub fn listed_payload(channel: Channel, payload: &Value) -> Value {
    if channel != Channel::Email {
        return Value::Null;
    }
    let text = |at: &str| payload.pointer(at).and_then(Value::as_str);
    let short = |text: &str| text.chars().take(limits::LISTED_SUBJECT).collect::<String>();
    let (name, address) = (text("/from/name").map(short), text("/from/address").map(short));
    json!({"from": {"name": name, "address": address}, "subject": text("/subject").map(short)})
}

/// What a task is that is to be submitted.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum NewKind {
    /// A plan, given or still to be found.
    #[default]
    Plan,
    /// One call of a tool that somebody makes by hand.
    Call,
    /// A turn of a conversation. Its message is stored with it; while another turn of the chat is taken, it waits.
    Turn(Box<NewTurn>),
}

/// A task to be submitted.
#[derive(Clone, PartialEq, Debug)]
pub struct NewTask {
    pub id: TaskId,
    pub kind: NewKind,
    /// By which way it comes in.
    pub channel: Channel,
    /// Where it comes from, for the dedupe key: `email`, `webhook/forms`, `sms`, `api/user:…`.
    pub source: String,
    /// At most one task per tenant, source and key, while the key lives ([`NewTask::outlives`]).
    pub dedupe_key: Option<String>,
    /// Hash of the body under that key. The same key with another body is a conflict where the source says so.
    pub body_hash: Option<String>,
    /// The input as text.
    pub input: String,
    /// The rest of the input.
    pub payload: Value,
    /// Who submits it.
    pub created_by: String,
    /// The user it acts for.
    pub user: Option<UserId>,
    /// What whoever makes it can do.
    pub rights: Rights,
    /// The plan it walks, when it is known already; then extraction and intent are not asked.
    pub plan: Option<Arc<FrozenPlan>>,
    /// What is wanted and how sure that is, when it is known already.
    pub intent: Option<(String, f64)>,
    /// What came with it.
    pub attachments: Vec<NewAttachment>,
    /// The most steps it may schedule.
    pub max_steps: u32,
    /// Below this confidence a person is asked.
    pub confidence_threshold: f64,
    /// The most it may cost.
    pub budget: Option<NanoUsd>,
    /// The trace it belongs to.
    pub trace_id: String,
    /// The task and step that start it.
    pub parent: Option<(TaskId, String)>,
    /// How deep it lies.
    pub depth: u32,
    /// The task it is forked from, with the journal rows it begins with.
    pub forked_from: Option<(TaskId, Vec<super::journal::JournalRow>)>,
    /// When it is submitted.
    pub at: Timestamp,
}

impl NewTask {
    #[must_use]
    pub const fn kind(&self) -> TaskKind {
        match self.kind {
            NewKind::Plan => TaskKind::Plan,
            NewKind::Call => TaskKind::Call,
            NewKind::Turn(_) => TaskKind::Turn,
        }
    }

    /// The turn of a conversation that it is.
    #[must_use]
    pub const fn turn(&self) -> Option<&NewTurn> {
        match &self.kind {
            NewKind::Turn(turn) => Some(turn),
            NewKind::Plan | NewKind::Call => None,
        }
    }

    /// Whether the key of an earlier task of its source, submitted at `earlier`, no longer stands for that task. A
    /// caller of the API has the key for a day; a message and a step have theirs as long as the task is there.
    #[must_use]
    pub fn outlives(&self, earlier: Timestamp) -> bool {
        self.source.starts_with("api/") && earlier.plus(limits::KEY_LIFE) <= self.at
    }

    /// What came with it, with its numbers: 0 is the message itself, where one was kept, and files begin at 1. Without
    /// a message they begin at 1 too, so that nothing takes the first file for what was written.
    pub fn numbered_attachments(&self) -> impl Iterator<Item = (u32, &NewAttachment)> {
        let first = self.attachments.first().map(|file| u32::from(file.source != AttachmentSource::Original));
        (first.unwrap_or_default()..).zip(&self.attachments)
    }

    /// The row that it makes in its tenant; claimed with its submission or not.
    #[must_use]
    pub fn row(&self, tenant: TenantId, claimed: bool) -> Task {
        Task {
            id: self.id,
            tenant,
            kind: self.kind(),
            channel: self.channel,
            status: if claimed && self.plan.is_some() { TaskStatus::Executing } else { TaskStatus::Pending },
            input: self.input.clone(),
            payload: self.payload.clone(),
            created_by: self.created_by.clone(),
            user: self.user,
            rights: self.rights,
            intent: self.intent.as_ref().map(|(intent, _)| intent.clone()),
            confidence: self.intent.as_ref().map(|(_, confidence)| *confidence),
            plan: self.plan.as_ref().map(|plan| (plan.key.clone(), plan.version)),
            plan_hash: self.plan.as_ref().map(|plan| plan.hash().clone()),
            max_steps: self.max_steps,
            confidence_threshold: self.confidence_threshold,
            budget: self.budget,
            usage: Usage::default(),
            trace_id: self.trace_id.clone(),
            parent: self.parent.clone(),
            depth: self.depth,
            waits: Vec::new(),
            current_step: None,
            delegated_workflow_id: None,
            result: None,
            error: None,
            created_at: self.at,
            started_at: claimed.then_some(self.at),
            completed_at: None,
            paused_at: None,
            cancel_requested: false,
            recoveries: 0,
            signals: 0,
            epoch: i64::from(claimed),
            forked_from: self.forked_from.as_ref().map(|(task, _)| *task),
            unreadable: None,
        }
    }

    /// What a worker has of it that claims it with its submission.
    #[must_use]
    pub fn claimed_by(&self, scope: TenantScope, worker: &WorkerId) -> Claimed {
        let task = self.row(scope.tenant(), true);
        let lease = Lease::granted(scope, task.id, task.epoch, worker.clone());
        Claimed { lease, task, recovered_from: None, at: self.at }
    }
}

/// How a submission ended.
#[derive(Clone, Debug)]
pub enum Submitted {
    /// It is a new task; claimed at once when the submitter asked for it.
    New(Box<Claimed>),
    /// It is a new task that waits for a worker.
    Queued(Box<Task>),
    /// The same key was submitted before; this is that task.
    Duplicate {
        /// The task of the first submission.
        task: Box<Task>,
        /// Whether this submission had the same body.
        same_body: bool,
    },
}

words! {
    /// Where an attachment comes from.
    pub enum AttachmentSource {
        /// The message itself, as it came in.
        Original = "original",
        /// A file that was attached.
        Attached = "attached",
        /// A picture shown inside the message; kept, and not read as a document.
        Inline = "inline",
    }
}

/// An attachment to be stored with its task. The bytes are in the blob store already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAttachment {
    /// Its name.
    pub filename: String,
    /// Its declared content type.
    pub content_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes in hex: its name in the blob store.
    pub hash: String,
    /// Where it comes from.
    pub source: AttachmentSource,
}

/// A file that came with a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its number: 0 is a mail itself, files begin at 1.
    pub n: u32,
    /// Its name.
    pub filename: String,
    /// Its declared type.
    pub content_type: String,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of its bytes in hex.
    pub hash: String,
    /// Where it comes from.
    pub source: AttachmentSource,
}
