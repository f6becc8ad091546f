//! A task's status and how it changes.
//!
//! | from | by | to |
//! |---|---|---|
//! | pending, with a plan | claim | executing; on PostgreSQL with the first commit of the holder |
//! | any other that is not terminal | claim | stays |
//! | every non-terminal | commit of the holder | extracting, detecting_intent, planning or executing: what comes next |
//! | every non-terminal | release, and somebody is asked | needs_review |
//! | every non-terminal | release, and nobody but an outside engine is waited for | delegated |
//! | every non-terminal | release, until the clock or a child helps | what comes next, as above |
//! | every non-terminal | giving the lease back unfinished | stays |
//! | every non-terminal | end | completed, failed, cancelled |
//! | failed | retry by a person, or by the task that started it | pending |
//!
//! A task that is claimed as it is submitted begins as executing when it has a plan, and any other as pending. A status
//! changes in the store only, in the statement that also proves the right to change it: the holder of a lease by its
//! fence, a claim by the row that it finds due, a retry by the status `failed`.

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
