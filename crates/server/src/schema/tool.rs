//! Tools and calls.

use serde_json::Value;
use utoipa::ToSchema;

use super::plan::RetrySchema;
use super::words::{
    CategorySchema, EffectSchema, ErrorCodeSchema, InvocationStatusSchema, LevelSchema, PriceUnitSchema, RightSchema,
    RiskSchema, ToolSourceSchema,
};

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
    /// A hash over everything that a model or a checker sees of it. A step journals the one that it called.
    #[schema(min_length = 64, max_length = 64)]
    pub hash: String,
    /// Where it comes from.
    pub source: ToolSourceSchema,
    /// What happens if the process dies during a call.
    pub effect: EffectSchema,
    /// How much harm a call can do.
    pub risk: RiskSchema,
    /// What a user must be allowed. Some tools ask for less for some calls.
    pub level: LevelSchema,
    /// What it works on.
    pub category: CategorySchema,
    /// Whether it may be called.
    pub enabled: bool,
    /// Whether every call asks a person first.
    pub confirm: bool,
    /// Whether every call asks a second person first.
    pub four_eyes: bool,
    /// How often each user may call it.
    pub limits: ToolLimitsSchema,
    /// What a call costs; null for nothing.
    #[schema(required)]
    pub price: Option<ToolPriceSchema>,
    /// What the caller must hold.
    pub right: RightSchema,
    /// How long one try may take.
    pub timeout_ms: u64,
    /// Whether its failure stops a task when the step does not say.
    pub stop_on_failure: bool,
    /// How it is tried again when the step does not say.
    pub retry: RetrySchema,
    /// Arguments that name a receiver or a place on the network.
    pub destinations: Vec<String>,
    /// Arguments that are paths of files or folders.
    pub paths: Vec<String>,
    /// What it is given to work with.
    #[schema(value_type = Object)]
    pub needs: Value,
}

/// How often each user may call a tool; what is missing is not limited.
#[derive(ToSchema)]
#[schema(as = ToolLimits, rename_all = "camelCase")]
pub struct ToolLimitsSchema {
    /// Within any minute.
    #[schema(nullable = false)]
    pub per_minute: Option<u32>,
    /// Within any hour.
    #[schema(nullable = false)]
    pub per_hour: Option<u32>,
    /// Within any 24 hours.
    #[schema(nullable = false)]
    pub per_day: Option<u32>,
}

/// What a call costs.
#[derive(ToSchema)]
#[schema(as = ToolPrice, rename_all = "camelCase")]
pub struct ToolPriceSchema {
    /// Nano-dollars for each call; 0 when left out.
    #[schema(required = false)]
    pub fixed_nanos: i64,
    /// For each unit besides.
    pub per_unit: Option<UnitPriceSchema>,
}

/// A price for each unit.
#[derive(ToSchema)]
#[schema(as = UnitPrice, rename_all = "camelCase")]
pub struct UnitPriceSchema {
    /// The unit.
    pub unit: PriceUnitSchema,
    /// Nano-dollars for one of them.
    pub nanos: i64,
    /// The argument that is measured.
    pub argument: Option<String>,
}

/// A page of tools.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ToolPage {
    /// The tools.
    pub items: Vec<ToolSchema>,
    /// The `cursor` of the next page; null on the last one.
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
    pub code: ErrorCodeSchema,
    /// What failed.
    pub message: String,
    /// Whether another try may help.
    pub retryable: bool,
}
