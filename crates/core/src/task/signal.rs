//! What others leave for a task. The holder of its lease takes signals in and journals them; nobody else writes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::journal::StepError;
use super::status::TaskStatus;
use super::wait::{Wait, WaitKind};
use crate::plan::StepId;

/// A person's answer to an outside effect of which nobody knows whether it happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It happened; go on.
    Done,
    /// Do it again, at the risk of doing it twice.
    Retry,
    /// Let the step fail.
    Fail,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// A person answered a wait.
    #[serde(rename_all = "camelCase")]
    Review {
        /// The step that waited.
        step: StepId,
        /// The wait's row.
        wait_seq: i64,
        /// What the person put right.
        corrections: Map<String, Value>,
        /// What the person decided, where a decision was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolution: Option<Resolution>,
        /// Whether the corrections are the whole arguments of a call that was asked about, rather than changes of them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaces: bool,
        /// What the person said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        by: String,
    },
    /// An outside engine answered a delegation.
    #[serde(rename_all = "camelCase")]
    Callback {
        /// The step that delegated.
        step: StepId,
        /// The delegation.
        workflow_id: String,
        /// Whether the workflow succeeded.
        success: bool,
        /// Its result.
        data: Value,
        /// Why it failed.
        error: Option<String>,
    },
    /// A child task ended.
    #[serde(rename_all = "camelCase")]
    ChildEnded {
        /// The step that waits for it.
        step: StepId,
        child: crate::id::TaskId,
        status: TaskStatus,
        result: Value,
        /// Why it failed.
        error: Option<StepError>,
        /// What it used.
        usage: crate::money::Usage,
    },
    /// A person wants a failed task tried again.
    #[serde(rename_all = "camelCase")]
    Retry { by: String },
    /// It is there and this program cannot read it. A store says so in its place; it is never left.
    Unreadable {
        /// Why.
        problem: String,
    },
}

/// What a signal is, without its content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalKind {
    Review,
    Callback,
    ChildEnded,
    Retry,
    Unreadable,
}

impl Signal {
    /// Whether a person has changed what was proposed to them: the arguments of the call that they were asked about. An
    /// answer to any other question changes nothing, and neither do the same arguments said again.
    #[must_use]
    pub fn edits(&self, wait: &Wait) -> bool {
        let Self::Review { corrections, resolution, replaces, .. } = self else { return false };
        if wait.kind != WaitKind::Confirmation || *resolution == Some(Resolution::Fail) {
            return false;
        }
        let shown = wait.details.get("args").and_then(Value::as_object);
        let is_as_shown = |(name, value): (&String, &Value)| shown.and_then(|shown| shown.get(name)) == Some(value);
        let leaves_out = *replaces && shown.is_some_and(|shown| shown.len() != corrections.len());
        leaves_out || !corrections.iter().all(is_as_shown)
    }

    #[must_use]
    pub const fn kind(&self) -> SignalKind {
        match self {
            Self::Review { .. } => SignalKind::Review,
            Self::Callback { .. } => SignalKind::Callback,
            Self::ChildEnded { .. } => SignalKind::ChildEnded,
            Self::Retry { .. } => SignalKind::Retry,
            Self::Unreadable { .. } => SignalKind::Unreadable,
        }
    }
}
