//! The journal: one inserted row per thing that happened, carrying what replay needs and what the log shows.
//!
//! A task's whole life can be read from its frozen plan and its rows in order; that is what a resume and a replay do.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::attempt::RenderedArgs;
use super::signal::Signal;
use super::status::TaskStatus;
use super::wait::Wait;
use crate::agent::{ReplyRecord, TurnFinish, TurnStart};
use crate::error::ErrorCode;
use crate::money::Usage;
use crate::plan::{PlanPatch, StepId, StepSpec};
use crate::policy::redact;
use crate::record::ArtifactLink;
use crate::time::{Millis, Timestamp};

words! {
    /// What happens when the process dies between an effect's start and its end.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schema(as = Effect))]
    pub enum EffectClass {
        /// Nothing outside changes: try again.
        Read = "read",
        /// Only our own database changes, in the commit of the step: exactly once.
        Local = "local",
        /// The receiver deduplicates by our key: try again with the same key.
        Keyed = "keyed",
        /// The receiver can be asked whether it happened: look, then try again.
        Queryable = "queryable",
        /// Nobody can know: stop for a person.
        #[default]
        Unkeyed = "unkeyed",
    }
}

impl EffectClass {
    /// Whether a try must be recorded before it begins.
    #[must_use]
    pub const fn needs_attempt_row(self) -> bool {
        match self {
            Self::Read | Self::Local => false,
            Self::Keyed | Self::Queryable | Self::Unkeyed => true,
        }
    }
}

words! {
    /// How a step ended.
    pub enum StepStatus {
        /// It did what it was to do.
        Completed = "completed",
        /// It did not.
        Failed = "failed",
        /// Its condition was false, or a failure came before it.
        Skipped = "skipped",
    }
}

/// Why a step failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepError {
    /// The code.
    pub code: ErrorCode,
    /// What failed.
    pub message: String,
    /// Whether another try may help.
    pub retryable: bool,
}

impl StepError {
    /// The error as it leaves the server: without secrets and personal data.
    #[must_use]
    pub fn redacted(self) -> Self {
        Self { message: redact::redacted(self.message), ..self }
    }
}

/// A step's terminal outcome.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOutcome {
    /// How it ended.
    pub status: StepStatus,
    /// Its data: what `steps.ID.result` is.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// Whether its failure was tolerated, so that the task went on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tolerated: bool,
    /// Whether it failed because a person said no, or what failed inside it did: then nothing broke, and a task that it
    /// stops is cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// Whether its data, or a part, comes from mail, documents or the web.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// Whether an earlier row says already that it had begun: it was opened, or it waited for the clock or a child.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun_earlier: bool,
    /// The effect class of what it called; `None` when it called nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectClass>,
    /// The hash of the definition of the tool that it called; `None` when it called none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_hash: Option<Arc<str>>,
    /// How many messages its commit has put into the outbox.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sent: u32,
    /// Whether a person let it be tried again although it may have happened before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub possible_duplicate: bool,
    /// Steps that run after it, with derived ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub injected: Vec<StepSpec>,
    /// What the model replied; of a question only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<ReplyRecord>>,
    /// A change of the remaining plan, with derived ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PlanPatch>,
    /// The records it touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactLink>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// The last row that it had seen when it began, where others were written while it ran: it read nothing behind that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<i64>,
    /// The hash of the arguments that were made for its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_hash: Option<String>,
    /// The steps that ran when its patch replaced what had not begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran_meanwhile: Vec<StepId>,
    /// How many steps its task may schedule, where it was refused for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_cap: Option<u32>,
    /// How its turn ended, of a question that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_end: Option<TurnFinish>,
    /// Whether a person said how its call had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_by_person: bool,
    /// Whether it was taken over from the task that its own was forked from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_over: bool,
}

impl StepOutcome {
    /// An outcome with that status and nothing else.
    #[must_use]
    pub fn bare(status: StepStatus) -> Self {
        Self {
            status,
            data: Value::Null,
            error: None,
            tolerated: false,
            refused: false,
            tainted: false,
            begun_earlier: false,
            effect: None,
            tool_hash: None,
            sent: 0,
            possible_duplicate: false,
            injected: Vec::new(),
            reply: None,
            patch: None,
            artifacts: Vec::new(),
            usage: Usage::default(),
            saw: None,
            args_hash: None,
            ran_meanwhile: Vec::new(),
            over_cap: None,
            turn_end: None,
            told_by_person: false,
            taken_over: false,
        }
    }

    /// A completed outcome with data.
    #[must_use]
    pub fn completed(data: Value) -> Self {
        Self { data, ..Self::bare(StepStatus::Completed) }
    }

    /// A failed outcome. `tainted` says whether the error may repeat what mail, documents or the web say: later steps
    /// can read its text, so whoever makes one has to say whose words it holds.
    #[must_use]
    pub fn failed(error: StepError, tainted: bool) -> Self {
        Self { error: Some(error), tainted, ..Self::bare(StepStatus::Failed) }
    }
}

/// What was decided when a step that holds steps was opened, so that a resume decides the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "opening", rename_all = "snake_case")]
pub enum ContainerOpening {
    /// A condition took this way.
    Branch {
        /// Whether it was true.
        taken: bool,
    },
    /// All branches of a parallel step began.
    Branches,
    /// A loop over these items began.
    Items {
        items: Vec<Value>,
        /// Whether they come from untrusted sources.
        tainted: bool,
    },
    /// An agent began to work.
    Turn(Box<TurnStart>),
    /// A while loop begins another round.
    Round {
        /// Which, from 0.
        n: u32,
    },
}

/// What happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum JournalEntry {
    /// A step, or a phase of the kernel, ended.
    Finished(Arc<StepOutcome>),
    /// A try failed and another will follow.
    Retrying {
        /// Why it failed.
        error: StepError,
        /// When the next try is due.
        due: Timestamp,
        /// What every try of this generation is called with, unless the plan or an earlier row says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rendered: Option<Arc<RenderedArgs>>,
    },
    /// A step that holds steps was opened.
    Opened(ContainerOpening),
    /// A step waits.
    Waiting(Box<Wait>),
    /// A signal was taken in.
    Answered {
        /// Its number in its task.
        number: i64,
        /// What it said.
        signal: Box<Signal>,
    },
    /// The task was taken over from a worker that let its lease expire, or that worker stopped before what it had begun
    /// came to an end.
    Recovered {
        /// That worker.
        from: String,
        /// The row's count of recoveries at this time.
        recoveries: u32,
        /// Steps whose turn it was, and whose calls no row tells of before they end: nobody knows whether that worker
        /// had begun them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        may_have_begun: Vec<StepId>,
        /// Whether it stopped in good order, and wrote this itself: that is no recovery, and is not counted as one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// The task ended.
    Ended {
        status: TaskStatus,
        /// Why, when it failed or was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<StepError>,
        /// Steps that never ran.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// Steps that have no end, and may have run: a worker died, or gave them up, when it was their turn. What they
        /// call changes nothing outside.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        may_have_run: Vec<String>,
    },
    /// The row is there and this program cannot read it. A store says so in its place; it is never written.
    #[serde(skip)]
    Unreadable {
        /// Why.
        problem: String,
    },
}

impl JournalEntry {
    /// The entry's kind in the database.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Finished(_) => "finished",
            Self::Retrying { .. } => "retrying",
            Self::Opened(_) => "opened",
            Self::Waiting(_) => "waiting",
            Self::Answered { .. } => "answered",
            Self::Recovered { .. } => "recovered",
            Self::Ended { .. } => "ended",
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// How a step or a phase ended, to be changed before the row is written.
    pub fn outcome_mut(&mut self) -> Option<&mut StepOutcome> {
        let Self::Finished(outcome) = self else { return None };
        Some(Arc::make_mut(outcome))
    }

    /// The step's status in the database, where the entry ends a step.
    #[must_use]
    pub fn status(&self) -> Option<&'static str> {
        match self {
            Self::Finished(outcome) => Some(outcome.status.as_str()),
            Self::Ended { status, .. } => Some(status.as_str()),
            Self::Retrying { .. }
            | Self::Opened(_)
            | Self::Waiting(_)
            | Self::Answered { .. }
            | Self::Recovered { .. }
            | Self::Unreadable { .. } => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRow {
    /// Its place in its task, from 1, without gaps.
    pub seq: i64,
    /// The step it is about; `None` when it is about the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Which try, from 1; 0 where there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// The step's generation: 0, and one more with each redo by a person.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u32,
    /// When it was written.
    pub at: Timestamp,
    /// How long the try took.
    #[serde(default, skip_serializing_if = "Millis::is_zero")]
    pub duration: Millis,
    /// One sentence for people. No values of documents or messages.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What happened.
    pub entry: JournalEntry,
}
