//! Approvals: what waits for a person, and what persons decided.
//!
//! A question is opened by the commit that makes a step wait, and closed once: by a person's decision, by the clock, or
//! because the task does not need it any more.
//!
//! | from | by | to |
//! |---|---|---|
//! | `pending` | approve | `approved` |
//! | `pending` | deny | `denied` |
//! | `pending` | its end of time | `expired` |
//! | `pending` | the task ended, or the step was answered by what it waited for otherwise | `withdrawn` |
//!
//! Nothing leads out of the others: a yes is used once, for exactly the arguments that were shown, or for those that
//! whoever said it put in their place.

use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::id::{ApprovalId, TaskId, UserId};
use crate::plan::StepId;
use crate::task::{Task, WaitKind};
use crate::time::{Millis, Timestamp};

/// How long a call waits for its yes when nobody says: seven days.
pub const TIME_TO_ANSWER: Millis = Millis::from_secs(7 * 86_400);
/// The most characters of a note.
pub const MAX_NOTE: usize = 2_000;

words! {
    /// How a question stands.
    #[derive(PartialOrd, Ord)]
    pub enum ApprovalStatus {
        /// Nobody has answered.
        Pending = "pending",
        /// Yes, perhaps with other arguments.
        Approved = "approved",
        /// No.
        Denied = "denied",
        /// Nobody answered in time.
        Expired = "expired",
        /// It is not asked any more.
        Withdrawn = "withdrawn",
    }
}

/// A question that a commit opens.
#[derive(Clone, PartialEq, Debug)]
pub struct NewApproval {
    pub id: ApprovalId,
    /// The step that waits.
    pub step: StepId,
    /// The journal row that began the wait: the answer binds to it.
    pub wait_seq: i64,
    /// What is asked.
    pub kind: WaitKind,
    /// The tool whose call is asked about.
    pub tool: Option<String>,
    /// For whom the task works.
    pub user: Option<UserId>,
    /// Why it is asked.
    pub reason: String,
    /// The arguments of the call, as they are shown and as they will be used; `null` where none are asked about.
    pub input: Value,
    /// BLAKE3 over the canonical form of the arguments.
    pub input_hash: Option<String>,
    /// When nobody can answer any more.
    pub expires_at: Option<Timestamp>,
}

/// A question as it is stored.
#[derive(Clone, PartialEq, Debug)]
pub struct Approval {
    /// What was asked.
    pub asked: NewApproval,
    pub task: TaskId,
    /// How it stands.
    pub status: ApprovalStatus,
    /// When it was asked.
    pub created_at: Timestamp,
    /// What was decided, when it was.
    pub decision: Option<DecidedApproval>,
    /// What of the row this program cannot read, and why; it is left empty here. `None` for every sound row.
    pub unreadable: Option<String>,
}

impl Approval {
    /// Whether somebody may see the question, and answer it as far as their rights go. `task` is the one that asked.
    #[must_use]
    pub fn is_visible_to(&self, actor: &Actor, task: &Task) -> bool {
        (self.asked.kind.is_about_a_call() && actor.answers_questions()) || task.is_visible_to(actor)
    }
}

/// How a question was closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidedApproval {
    /// Who closed it, as the audit names them.
    pub by: String,
    /// What they said about it.
    pub note: Option<String>,
    /// Whether they changed what was proposed: put other arguments in place of those that were asked about.
    pub edited: bool,
    pub at: Timestamp,
}

/// A person's word.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Yes, with these arguments in place of those that were asked about where some are given.
    Approve(Option<Map<String, Value>>),
    /// No.
    Deny,
}

/// Which questions are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ApprovalFilter {
    /// How they stand; all when `None`.
    pub status: Option<ApprovalStatus>,
    /// Of this task only.
    pub task: Option<TaskId>,
    /// Of conversations only this user's; of all conversations when `None`.
    pub talks_of: Option<UserId>,
    /// What is asked about calls in all the others, too.
    pub calls: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_it_is_written() {
        for status in ApprovalStatus::ALL {
            assert_eq!(ApprovalStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(ApprovalStatus::parse("perhaps"), None);
    }
}
