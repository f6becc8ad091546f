//! Plans.

use serde_json::Value;
use utoipa::ToSchema;

/// A plan to be stored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", example = json!({"key": "demo.greet", "intentKey": "demo.greet",
    "keywords": ["greet"], "steps": [{"id": "greet", "tool": "core.set", "args": {"greeting": "Hello"}}],
    "output": "{{ state.greeting }}"}))]
pub struct NewPlan {
    /// Its key, `domain.name`.
    #[schema(pattern = "^[a-z][a-z0-9_.-]{0,99}$")]
    pub key: String,
    /// The intent it serves; its key when not given.
    pub intent_key: Option<String>,
    /// Its domain; the part of the key before the first dot when not given.
    pub domain: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Words that speak for its intent.
    pub keywords: Option<Vec<String>>,
    /// Messages that ask for its intent.
    pub examples: Option<Vec<String>>,
    /// Among plans for one intent the highest wins.
    pub priority: Option<i64>,
    /// The version; the next free one when not given.
    #[schema(minimum = 1)]
    pub version: Option<u32>,
    /// The expression that makes the result.
    pub output: Option<String>,
    /// The steps.
    #[schema(min_items = 1)]
    pub steps: Vec<StepSchema>,
}

/// A step. What else it holds depends on its kind: `tool` and `args`; `title` and `fields`; `if`, `then` and `else`;
/// `branches`; `over` or `while`, `maxIterations` and `steps`; `workflow` and `args`; `planKey` and `input`.
#[derive(ToSchema)]
#[schema(as = Step, rename_all = "camelCase")]
pub struct StepSchema {
    /// Its id, unique in the plan.
    #[schema(pattern = "^[a-z][a-z0-9_]*$")]
    pub id: String,
    /// `tool` when not given; `agent`, `decision`, `input`, `condition`, `parallel`, `loop`, `workflow`, `task`.
    pub kind: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The arguments: literals, or `{{ expressions }}`.
    #[schema(value_type = Option<Object>)]
    pub args: Option<Value>,
    /// Skipped unless this expression holds.
    pub condition: Option<String>,
    /// `success`, or `always` for a step that runs although another failed.
    pub when: Option<String>,
    /// Steps that have to end before it; the one before it when not given.
    pub depends_on: Option<Vec<String>>,
    /// Under which name its data enters the state; flat when not given.
    pub save_as: Option<String>,
    /// Whether its failure stops the task.
    pub stop_on_failure: Option<bool>,
    /// How it is tried again.
    pub retry: Option<RetrySchema>,
    /// How long one try may take.
    pub timeout_ms: Option<u64>,
}

/// How a step is tried again.
#[derive(ToSchema)]
#[schema(as = Retry, rename_all = "camelCase")]
pub struct RetrySchema {
    /// Tries in all.
    #[schema(minimum = 1, maximum = 20)]
    pub max_attempts: Option<u32>,
    /// The pause before the second try.
    pub initial_delay_ms: Option<u64>,
    /// The longest pause.
    pub max_delay_ms: Option<u64>,
    /// By how much each pause is longer than the one before.
    #[schema(minimum = 1, maximum = 10)]
    pub backoff_multiplier: Option<f64>,
}

/// A plan.
#[derive(ToSchema)]
#[schema(as = Plan, rename_all = "camelCase")]
pub struct PlanSchema {
    /// The stored version's id; null for a bundled plan.
    #[schema(format = "uuid", required)]
    pub id: Option<String>,
    /// Its key.
    pub key: String,
    /// The intent it serves.
    pub intent_key: String,
    /// Its domain.
    pub domain: String,
    /// What it does.
    pub description: String,
    /// Words that speak for its intent.
    pub keywords: Vec<String>,
    /// Messages that ask for its intent.
    pub examples: Vec<String>,
    /// Among plans for one intent the highest wins.
    pub priority: i64,
    /// Grows with each edit.
    pub version: u32,
    /// The expression that makes the result.
    #[schema(required)]
    pub output: Option<String>,
    /// The steps.
    pub steps: Vec<StepSchema>,
    /// `bundled` or `tenant`.
    pub origin: String,
    /// Whether it is in use.
    pub active: bool,
    /// When this version was written.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// Why this server cannot use it; empty when it can.
    pub quarantine: Vec<PlanFaultSchema>,
}

/// One fault of a plan.
#[derive(ToSchema)]
#[schema(as = PlanFault, rename_all = "camelCase")]
pub struct PlanFaultSchema {
    /// JSON pointer into the plan.
    pub path: String,
    /// The step.
    #[schema(required)]
    pub step_id: Option<String>,
    /// What is wrong, and the remedy.
    pub message: String,
}

/// What a check found.
#[derive(ToSchema)]
#[schema(as = PlanCheck)]
pub struct PlanCheckSchema {
    /// Whether there are no faults.
    pub valid: bool,
    /// Every fault.
    pub faults: Vec<PlanFaultSchema>,
}

/// A page of plans.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PlanPage {
    /// The plans.
    pub items: Vec<PlanSchema>,
    /// Where the next page begins.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
