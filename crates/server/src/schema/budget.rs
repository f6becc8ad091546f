//! Budgets and usage.

use kybern_core::budget::{Period, UsageBy};
use kybern_core::money::NanoUsd;
use serde::Serialize;
use utoipa::ToSchema;

use super::words::BudgetOwnerKindSchema;
/// Money, tokens and calls.
#[derive(ToSchema)]
#[schema(as = Amount, rename_all = "camelCase")]
pub struct AmountSchema {
    /// Nano-dollars.
    pub cost_nanos: i64,
    /// Tokens.
    pub tokens: u64,
    /// Calls.
    pub calls: u64,
}

/// Whose budget.
#[derive(ToSchema)]
#[schema(as = BudgetOwner)]
pub struct SubjectSchema {
    /// Whose it is.
    pub r#type: BudgetOwnerKindSchema,
    /// The user, for `user`.
    #[schema(required, format = "uuid")]
    pub id: Option<String>,
}

/// A budget.
#[derive(ToSchema)]
#[schema(as = Budget, rename_all = "camelCase")]
pub struct BudgetSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Whose.
    pub subject: SubjectSchema,
    /// Its window.
    pub period: Period,
    /// The limit in nano-dollars.
    #[schema(required)]
    pub cost_nanos: Option<i64>,
    /// The limit in tokens.
    #[schema(required)]
    pub tokens: Option<u64>,
    /// The limit in calls.
    #[schema(required)]
    pub calls: Option<u64>,
    /// What is used in the present window; null for budgets of each user or task.
    #[schema(required)]
    pub used: Option<AmountSchema>,
    /// What is reserved for calls that run.
    #[schema(required)]
    pub reserved: Option<AmountSchema>,
    /// When the window ends.
    #[schema(required, format = "date-time")]
    pub resets_at: Option<String>,
    /// When it was made.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was changed last.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// What was used under one name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageItem {
    /// The day, the model, the tool or the user.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Of them, failed.
    pub failed_calls: u64,
    /// Of them, counted at an estimate, because nobody said what they took.
    pub estimated_calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Of them, out of a provider's cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Nano-dollars.
    pub cost_nanos: NanoUsd,
}

/// A report of usage.
#[derive(Serialize, ToSchema)]
pub struct UsageReport {
    /// By what it is added up.
    pub by: UsageBy,
    /// The dearest first; days in their order.
    pub items: Vec<UsageItem>,
}

page! {
    /// A page of budgets.
    pub BudgetPage of BudgetSchema: "The budgets."
}
