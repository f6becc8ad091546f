//! Tools and calls.

use serde_json::Value;
use utoipa::ToSchema;

use super::plan::RetrySchema;

/// A tool.
#[derive(ToSchema)]
#[schema(as = Tool, rename_all = "camelCase")]
pub struct ToolSchema {
    /// Its key.
    pub key: String,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// What it does.
    pub description: String,
    /// Its domain.
    pub domain: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// What happens if the process dies during a call: `read`, `local`, `keyed`, `queryable` or `unkeyed`.
    pub effect: String,
    /// How much harm a call can do, `R0` to `R3`.
    pub risk: String,
    /// What the caller must hold.
    pub right: String,
    /// How long one try may take.
    pub timeout_ms: u64,
    /// Whether its failure stops a task when the step does not say.
    pub stop_on_failure: bool,
    /// How it is tried again when the step does not say.
    pub retry: RetrySchema,
    /// Arguments that name a receiver or a place on the network.
    pub destinations: Vec<String>,
    /// What it is given to work with.
    #[schema(value_type = Object)]
    pub needs: Value,
}

/// A page of tools.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ToolPage {
    /// The tools.
    pub items: Vec<ToolSchema>,
    /// Where the next page begins.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// How a call ended.
#[derive(ToSchema)]
#[schema(as = Invocation, rename_all = "camelCase")]
pub struct InvocationSchema {
    /// The call; also the id of the task that records it.
    #[schema(format = "uuid")]
    pub invocation_id: String,
    /// `success`, `failure`, `timeout` or `waiting`.
    pub status: String,
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
    /// The task that waits for a person, when one is asked.
    #[schema(format = "uuid", nullable = false)]
    pub approval_id: Option<String>,
}

/// Why a call failed.
#[derive(ToSchema)]
#[schema(as = InvocationError, rename_all = "camelCase")]
pub struct InvocationErrorSchema {
    /// The code.
    pub code: String,
    /// What failed.
    pub message: String,
    /// Whether another try may help.
    pub retryable: bool,
}
