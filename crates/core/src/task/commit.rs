//! One commit: everything that a step changes, in one short transaction under the lease's fence.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::input::NewTask;
use super::journal::{JournalRow, StepError};
use super::noun_effect::NounEffect;
use super::status::TaskStatus;
use super::wait::Wait;
use crate::approval::{ApprovalStatus, NewApproval};
use crate::audit::AuditEvent;
use crate::chat::{Attached, Message};
use crate::id::TaskId;
use crate::job::NewJob;
use crate::money::Usage;
use crate::outbox::NewOutbox;
use crate::plan::{FrozenPlan, StepId};
use crate::record::{ArtifactLink, PutRecord};
use crate::time::Timestamp;

/// Something that is written with the step.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// A record is created or merged.
    Put(Box<PutRecord>),
    /// The task is linked to a record.
    Link {
        link: ArtifactLink,
        /// The step that makes it.
        step: StepId,
        /// The tool that makes it.
        tool: Option<String>,
    },
    /// A message leaves the house afterwards.
    Send(Box<NewOutbox>),
    /// A job is queued.
    Enqueue(Box<NewJob>),
    /// A child task is submitted.
    Spawn(Box<NewChild>),
    /// A child that the task waits for once more is tried again when it has failed; when it has ended otherwise
    /// meanwhile, its end is told once more. One that still runs is left alone.
    Reopen(TaskId),
    /// A child that the task waits for no more is cancelled; nothing happens when it has ended.
    Cancel(TaskId),
    /// A step is handed to an outside engine.
    Delegate(Box<Delegation>),
    /// A turn of a conversation is answered, and the next one that waits can be taken. Nothing happens when the chat is
    /// not there any more.
    Answer(Box<Message>),
    /// The files of a message are kept for later turns of its conversation.
    Attach(Box<Attached>),
    /// A memory, a plan or another task becomes something else.
    Noun(Box<NounEffect>),
    /// A person is asked.
    Ask(Box<NewApproval>),
    /// What was asked, and has not been answered, is not asked any more.
    Close {
        /// The wait; every wait of the task when `None`.
        wait_seq: Option<i64>,
        /// `expired` or `withdrawn`.
        status: ApprovalStatus,
    },
}

impl Effect {
    /// Whether it may be refused with [`CommitRefused::Changed`]. Of any other the store says no only when it fails.
    #[must_use]
    pub const fn may_be_refused(&self) -> bool {
        match self {
            Self::Put(_) | Self::Noun(_) => true,
            Self::Link { .. }
            | Self::Send(_)
            | Self::Enqueue(_)
            | Self::Spawn(_)
            | Self::Reopen(_)
            | Self::Cancel(_)
            | Self::Delegate(_)
            | Self::Answer(_)
            | Self::Attach(_)
            | Self::Ask(_)
            | Self::Close { .. } => false,
        }
    }
}

/// A child task.
#[derive(Clone, PartialEq, Debug)]
pub struct NewChild {
    /// The child.
    pub task: NewTask,
}

/// A step in the hands of an outside engine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delegation {
    pub step: StepId,
    /// The workflow's name.
    pub workflow: String,
    /// The id under which the engine knows it, and answers: the attempt key.
    pub workflow_id: String,
    /// When it is given up.
    pub deadline: Timestamp,
}

/// What becomes of the task's row.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum TaskChange {
    /// Nothing: most steps.
    #[default]
    Keep,
    /// A phase ended. The lease is kept.
    Progress {
        /// The phase it is in now.
        status: TaskStatus,
        /// What is wanted, when that has just been found out.
        intent: Option<(String, f64)>,
        /// The plan it walks, when that has just been chosen.
        plan: Option<Arc<FrozenPlan>>,
    },
    /// Nothing can go on now: the lease is given back.
    Release {
        /// `executing` (the clock, a child), `needs_review`, `delegated`, or the phase it is in.
        status: TaskStatus,
        /// When it goes on by itself; `None` when only a signal helps.
        due: Option<Timestamp>,
        /// For what persons it waits.
        waits: Vec<Wait>,
        /// The step that it waits in.
        current_step: Option<String>,
        /// The outside engine's id while it is delegated.
        workflow_id: Option<String>,
    },
    /// It has ended: the lease is gone.
    End(Box<TaskEnding>),
}

/// How a task ends.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskEnding {
    /// `completed`, `failed` or `cancelled`.
    pub status: TaskStatus,
    pub result: Value,
    /// Why it failed, or why a person said no.
    pub error: Option<StepError>,
    /// The step it ended in.
    pub current_step: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Commit {
    /// Rows for the journal, in order.
    pub rows: Vec<JournalRow>,
    /// What is written with them.
    pub effects: Vec<Effect>,
    /// What becomes of the task's row.
    pub change: TaskChange,
    /// What is added to the task's usage; the row is only touched when it is not zero or the row changes anyway.
    pub usage: Usage,
    /// Decisions and acts to be explained later.
    pub audit: Vec<AuditEvent>,
    /// The number of the last signal that has been taken in. A release with more signals waiting makes the task due
    /// at once.
    pub signals_seen: i64,
    /// The moment of the commit.
    pub at: Timestamp,
}

/// What the holder of the lease learns from its commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Committed {
    /// How many signals have been left for the task.
    pub signals: i64,
    /// Somebody wants it cancelled.
    pub cancel_requested: bool,
    /// Somebody paused it.
    pub paused: bool,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitRefused {
    /// The lease is somebody else's by now. Whatever was computed is discarded.
    #[error("the lease on the task has been taken over")]
    Fenced,
    /// Something is not what the tool believed when it decided. It decides again.
    #[error("{what} has changed since the tool read it")]
    Changed {
        /// What, for people: `record note "n"`, `plan demo.greet`.
        what: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] crate::error::Error),
}
