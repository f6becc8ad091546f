//! What has been used, added up by day.

use super::SpendKind;
use crate::id::UserId;
use crate::money::NanoUsd;

words! {
    /// By what usage is added up.
    pub enum UsageBy {
        /// By day.
        Day = "day",
        /// By model, embeddings included.
        Model = "model",
        /// By tool.
        Tool = "tool",
        /// By user.
        User = "user",
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsageFilter {
    /// The first day, counted from 1970-01-01 UTC.
    pub from: i64,
    /// The last day.
    pub to: i64,
    /// Of one user only.
    pub user: Option<UserId>,
}

/// What one user used of one model or tool on one day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageLine {
    /// The day, counted from 1970-01-01 UTC.
    pub day: i64,
    /// The kind of call.
    pub kind: SpendKind,
    /// The model or tool.
    pub name: String,
    /// The provider; empty for tools.
    pub provider: String,
    /// The user; `None` for what nobody in particular asked for.
    pub user: Option<UserId>,
    /// How many calls.
    pub calls: u64,
    pub failed: u64,
    /// Of them, counted at our own estimate.
    pub estimated: u64,
    /// Tokens read.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    pub cost: NanoUsd,
}

impl UsageLine {
    /// Whether it is of the same day, model or tool, and user.
    #[must_use]
    pub fn is_with(&self, other: &Self) -> bool {
        self.day == other.day
            && self.kind == other.kind
            && self.user == other.user
            && self.name == other.name
            && self.provider == other.provider
    }

    /// Adds what another line counts; stays at the largest number instead of overflowing.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failed = self.failed.saturating_add(other.failed);
        self.estimated = self.estimated.saturating_add(other.estimated);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost.0 = self.cost.0.saturating_add(other.cost.0);
    }
}
