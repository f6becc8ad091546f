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

crate::named! {
    /// What a task is, as whoever submits it says.
    #[derive(Default)]
    pub enum TaskKind {
        /// A plan that is walked, or is still to be found.
        #[default]
        Plan = "plan",
        /// One call of a tool that somebody makes by hand.
        Call = "call",
        /// A turn of a conversation.
        Turn = "turn",
    }
}

words! {
    /// By which way a task came in.
    pub enum Channel {
        Email = "email",
        Web = "web",
        Api = "api",
        Webhook = "webhook",
        Sms = "sms",
        Whatsapp = "whatsapp",
        Chat = "chat",
        Mcp = "mcp",
        Trigger = "trigger",
        System = "system",
    }
}

impl Channel {
    /// Whether what comes in this way is written by strangers, and so untrusted.
    #[must_use]
    pub const fn is_untrusted(self) -> bool {
        match self {
            Self::Web | Self::Email | Self::Webhook | Self::Sms | Self::Whatsapp => true,
            Self::Api | Self::Chat | Self::Mcp | Self::Trigger | Self::System => false,
        }
    }
}

words! {
    /// Where a task stands.
    pub enum TaskStatus {
        Pending = "pending",
        Extracting = "extracting",
        DetectingIntent = "detecting_intent",
        Planning = "planning",
        Executing = "executing",
        NeedsReview = "needs_review",
        Delegated = "delegated",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
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
