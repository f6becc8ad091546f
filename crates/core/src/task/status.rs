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
//!
//! A status changes in the store only, in the statement that also proves the right to change it: the holder of a lease by
//! its fence, a person's retry by the status `failed`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a task is, as whoever submits it says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TaskKind {
    /// A plan that is walked, or is still to be found.
    #[default]
    Plan,
    /// One call of a tool that somebody makes by hand.
    Call,
    /// A turn of a conversation.
    Turn,
}

impl TaskKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Plan, Self::Call, Self::Turn];

    /// Its name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Call => "call",
            Self::Turn => "turn",
        }
    }

    /// The kind with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// By which way a task came in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
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
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
