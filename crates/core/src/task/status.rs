//! A task's status and how it changes.
//!
//! | from | by | to |
//! |---|---|---|
//! | pending | claim | extracting, detecting_intent, planning or executing: whatever comes first for this task |
//! | extracting | phase done | detecting_intent, planning, executing |
//! | detecting_intent | phase done | planning, executing |
//! | planning | phase done | executing |
//! | any of these four | wait for a person | needs_review |
//! | executing | hand over | delegated |
//! | needs_review, delegated | claim (after a signal or a deadline) | the phase it was in |
//! | every non-terminal | end | completed, failed, cancelled |
//! | failed | retry by a person | pending |

use std::fmt;

use serde::{Deserialize, Serialize};

/// By which way a task came in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Channel {
    Email,
    Web,
    Api,
    Webhook,
    Sms,
    Whatsapp,
    Chat,
    Mcp,
    Trigger,
    System,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 10] = [
        Self::Email,
        Self::Web,
        Self::Api,
        Self::Webhook,
        Self::Sms,
        Self::Whatsapp,
        Self::Chat,
        Self::Mcp,
        Self::Trigger,
        Self::System,
    ];

    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Web => "web",
            Self::Api => "api",
            Self::Webhook => "webhook",
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
            Self::Chat => "chat",
            Self::Mcp => "mcp",
            Self::Trigger => "trigger",
            Self::System => "system",
        }
    }

    /// The channel with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == name)
    }

    /// Whether what comes in this way is written by strangers, and so untrusted.
    #[must_use]
    pub const fn is_untrusted(self) -> bool {
        match self {
            Self::Web | Self::Email | Self::Webhook | Self::Sms | Self::Whatsapp => true,
            Self::Api | Self::Chat | Self::Mcp | Self::Trigger | Self::System => false,
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the table in the module's documentation says it")]
pub enum TaskStatus {
    Pending,
    Extracting,
    DetectingIntent,
    Planning,
    Executing,
    NeedsReview,
    Delegated,
    Completed,
    Failed,
    Cancelled,
}

/// What may happen to a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transition {
    /// The holder of the lease enters, or goes back to, a phase.
    Enter(TaskStatus),
    /// Nothing can go on without a person.
    AwaitPerson,
    /// Nothing can go on before an outside engine answers.
    AwaitWorkflow,
    /// The plan has been walked.
    Complete,
    /// It cannot be finished.
    Fail,
    /// A person wants no more of it.
    Cancel,
    /// A person wants it tried again.
    Retry,
}

/// A transition that the table does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a task that is {from} cannot {transition:?}")]
pub struct IllegalTransition {
    /// Where the task stands.
    pub from: TaskStatus,
    /// What was asked.
    pub transition: Transition,
}

impl TaskStatus {
    /// Every status.
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Extracting,
        Self::DetectingIntent,
        Self::Planning,
        Self::Executing,
        Self::NeedsReview,
        Self::Delegated,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Its name on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Extracting => "extracting",
            Self::DetectingIntent => "detecting_intent",
            Self::Planning => "planning",
            Self::Executing => "executing",
            Self::NeedsReview => "needs_review",
            Self::Delegated => "delegated",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Whether the task has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether the task rests until somebody outside answers.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::NeedsReview | Self::Delegated)
    }

    /// The phase's place in the order; `None` outside the phases.
    const fn phase(self) -> Option<u8> {
        match self {
            Self::Extracting => Some(1),
            Self::DetectingIntent => Some(2),
            Self::Planning => Some(3),
            Self::Executing => Some(4),
            Self::Pending | Self::NeedsReview | Self::Delegated | Self::Completed | Self::Failed | Self::Cancelled => {
                None
            }
        }
    }

    /// The next status.
    ///
    /// # Errors
    /// When the table in the module's documentation has no such line.
    pub fn next(self, transition: Transition) -> Result<Self, IllegalTransition> {
        let illegal = IllegalTransition { from: self, transition };
        let next = match transition {
            Transition::Enter(phase) => match (self.phase(), phase.phase()) {
                (None, Some(_)) if !self.is_terminal() => phase,
                (Some(now), Some(then)) if then >= now => phase,
                _ => return Err(illegal),
            },
            Transition::AwaitPerson if self.phase().is_some() => Self::NeedsReview,
            Transition::AwaitWorkflow if self == Self::Executing => Self::Delegated,
            Transition::Complete if self == Self::Executing => Self::Completed,
            Transition::Fail if !self.is_terminal() => Self::Failed,
            Transition::Cancel if !self.is_terminal() => Self::Cancelled,
            Transition::Retry if self == Self::Failed => Self::Pending,
            Transition::AwaitPerson
            | Transition::AwaitWorkflow
            | Transition::Complete
            | Transition::Fail
            | Transition::Cancel
            | Transition::Retry => return Err(illegal),
        };
        Ok(next)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_a_terminal_state_but_a_retry() {
        let all = [
            Transition::Enter(TaskStatus::Executing),
            Transition::AwaitPerson,
            Transition::AwaitWorkflow,
            Transition::Complete,
            Transition::Fail,
            Transition::Cancel,
        ];
        for status in TaskStatus::ALL.into_iter().filter(|status| status.is_terminal()) {
            assert!(all.into_iter().all(|transition| status.next(transition).is_err()));
        }
        assert_eq!(TaskStatus::Failed.next(Transition::Retry), Ok(TaskStatus::Pending));
        assert!(TaskStatus::Completed.next(Transition::Retry).is_err());
    }

    #[test]
    fn phases_only_go_forward() {
        assert!(TaskStatus::Executing.next(Transition::Enter(TaskStatus::Planning)).is_err());
        assert!(TaskStatus::Pending.next(Transition::Enter(TaskStatus::Executing)).is_ok());
        assert!(TaskStatus::NeedsReview.next(Transition::Enter(TaskStatus::DetectingIntent)).is_ok());
    }

    #[test]
    fn a_task_never_completes_out_of_a_wait() {
        assert!(TaskStatus::Delegated.next(Transition::Complete).is_err());
        assert!(TaskStatus::NeedsReview.next(Transition::Complete).is_err());
    }
}
