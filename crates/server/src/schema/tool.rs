//! Tools and calls.

use kybern_core::error::ErrorCode;
use std::sync::Arc;

use kybern_core::actor::Right;
use kybern_core::plan::RetryPolicy;
use kybern_core::policy::{PermissionLevel, ToolCategory};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::{Risk, ToolNeeds, ToolPrice, ToolRateLimits};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::plan::RetrySchema;
use super::words::{InvocationStatusSchema, ToolSourceSchema};

/// A tool.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tool)]
pub struct ToolAnswer {
    /// Its key.
    pub key: String,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// What it does.
    pub description: String,
    /// Its domain.
    pub domain: String,
    /// Words by which it is found beside those of its description.
    pub tags: Vec<String>,
    /// Arguments with which it can be called, each a whole call.
    #[schema(value_type = Vec<Object>)]
    pub examples: Vec<Value>,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// JSON Schema of what a call returns; null for anything.
    #[schema(required, value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    /// A hash over what the tool says of itself; what the tenant sets (risk, limits, price, confirmation) is not in
    /// it. A step journals the one that it called.
    #[schema(value_type = String, min_length = 32, max_length = 64)]
    pub hash: Arc<str>,
    /// Where it comes from.
    #[schema(value_type = ToolSourceSchema)]
    pub source: &'static str,
    /// What happens if the process dies during a call.
    pub effect: EffectClass,
    /// How much harm a call can do.
    pub risk: Risk,
    /// What a user must be allowed. Some tools ask for less for some calls.
    pub level: PermissionLevel,
    /// What it works on.
    pub category: ToolCategory,
    /// Whether it may be called.
    pub enabled: bool,
    /// Whether every call asks a person first.
    pub confirm: bool,
    /// Whether every call asks a second person first.
    pub four_eyes: bool,
    /// How often each user may call it.
    pub limits: ToolRateLimits,
    /// What a call costs; null for nothing.
    #[schema(required)]
    pub price: Option<ToolPrice>,
    /// The right that the caller needs.
    pub right: Right,
    /// How long one try may take.
    pub timeout_ms: Millis,
    /// Whether its failure stops a task when the step does not say.
    pub stop_on_failure: bool,
    /// How it is tried again when the step does not say.
    #[schema(value_type = RetrySchema)]
    pub retry: RetryPolicy,
    /// Arguments that name a receiver or a place on the network.
    pub destinations: Vec<String>,
    /// Arguments that are paths of files or folders.
    pub paths: Vec<String>,
    /// What it is given to work with.
    #[schema(value_type = Object)]
    pub needs: ToolNeeds,
}

/// How a call ended.
#[derive(ToSchema)]
#[schema(as = Invocation, rename_all = "camelCase")]
pub struct InvocationSchema {
    /// The call; also the id of the task that records it.
    #[schema(format = "uuid")]
    pub invocation_id: String,
    /// How it ended.
    pub status: InvocationStatusSchema,
    /// The tool's data.
    #[schema(required)]
    pub output: Option<Value>,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<InvocationErrorSchema>,
    /// How long it took.
    pub duration_ms: u64,
    /// Nano-dollars.
    pub cost_nanos: i64,
    /// The question, when a person is asked: answered at `/api/approvals/{id}`.
    #[schema(format = "uuid", nullable = false)]
    pub approval_id: Option<String>,
}

/// Why a call failed.
#[derive(ToSchema)]
#[schema(as = InvocationError, rename_all = "camelCase")]
pub struct InvocationErrorSchema {
    /// The code.
    pub code: ErrorCode,
    /// What failed.
    pub message: String,
    /// Whether another try may help.
    pub retryable: bool,
}

page! {
    /// A page of tools.
    pub ToolPage of ToolAnswer: "The tools."
}
