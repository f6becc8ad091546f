//! Plans.

use std::borrow::Cow;

use kybern_core::plan::{PlanFault, PlanOrigin, When};
use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::words::StepKindSchema;

/// A plan to be stored: at most 512 KiB as JSON.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", example = json!({"key": "demo.greet", "intentKey": "demo.greet",
    "keywords": ["greet"], "steps": [{"id": "greet", "tool": "core.set", "args": {"greeting": "Hello"}}],
    "output": "{{ state.greeting }}"}))]
pub struct NewPlan {
    /// Its key, such as `billing.refund`.
    #[schema(pattern = "^[a-z][a-z0-9_.-]{0,99}$")]
    pub key: String,
    /// The intent it serves; its key when not given.
    #[schema(max_length = 200)]
    pub intent_key: Option<String>,
    /// Its domain; the part of the key before the first dot when not given.
    #[schema(max_length = 100)]
    pub domain: Option<String>,
    /// What it does.
    #[schema(max_length = 2_000)]
    pub description: Option<String>,
    /// Words that speak for its intent.
    pub keywords: Option<Vec<String>>,
    /// Messages that ask for its intent.
    pub examples: Option<Vec<String>>,
    /// Among the tenant's own plans for one intent the highest wins, and among the bundled ones where it has none.
    pub priority: Option<i64>,
    /// The version; the next free one when not given.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub version: Option<u32>,
    /// The expression that makes the result.
    pub output: Option<String>,
    /// The steps.
    #[schema(max_items = 500)]
    pub steps: Vec<StepSchema>,
}

/// A step. Which members it has follows from its kind: `tool` and `args`; `agent` and `task`; `prompt` and `schema`;
/// `title` and `fields`; `if`, `then` and `else`; `branches`; `over` or `while`, `maxIterations` and `steps`;
/// `workflow` and `args`; `planKey` and `input`. One of another kind is a fault, and so is `capability`.
#[derive(ToSchema)]
#[schema(as = Step, rename_all = "camelCase")]
pub struct StepSchema {
    /// Its id, unique in the plan: at most 64 characters, or 512 of one that is derived and has `__` in it.
    #[schema(pattern = "^[a-z][a-z0-9_]*$", max_length = 512)]
    pub id: String,
    /// Its kind; `tool` when not given.
    pub kind: Option<StepKindSchema>,
    /// The tool.
    #[schema(max_length = 200)]
    pub tool: Option<String>,
    /// The arguments: literals, or `{{ expressions }}`.
    #[schema(value_type = Option<Object>)]
    pub args: Option<Value>,
    /// The agent.
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// What the agent is to do.
    pub task: Option<Value>,
    /// What a decision asks.
    pub prompt: Option<Value>,
    /// JSON Schema of the decision.
    pub schema: Option<Value>,
    /// The title of a form.
    pub title: Option<Value>,
    /// JSON Schema of a form.
    #[schema(value_type = Option<Object>)]
    pub fields: Option<Value>,
    /// The expression that decides.
    #[schema(max_length = 2_000)]
    pub r#if: Option<String>,
    /// Steps where it holds.
    #[schema(no_recursion)]
    pub then: Option<Vec<StepSchema>>,
    /// Steps where it does not.
    #[schema(no_recursion)]
    pub r#else: Option<Vec<StepSchema>>,
    /// Lists of steps that run side by side.
    #[schema(no_recursion)]
    pub branches: Option<Vec<Vec<StepSchema>>>,
    /// The list that a loop goes through, or an expression that makes it.
    pub over: Option<Value>,
    /// The expression for as long as which a loop goes on.
    #[schema(max_length = 2_000)]
    pub r#while: Option<String>,
    /// The most rounds of a loop; 100 when not given.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_iterations: Option<u32>,
    /// The steps of a loop.
    #[schema(no_recursion)]
    pub steps: Option<Vec<StepSchema>>,
    /// The workflow.
    #[schema(max_length = 200)]
    pub workflow: Option<String>,
    /// The plan of a child task.
    #[schema(max_length = 200)]
    pub plan_key: Option<String>,
    /// In place of `planKey`, a capability of a marketplace. There is no marketplace yet, so a plan that names one is
    /// refused.
    #[schema(max_length = 200)]
    pub capability: Option<String>,
    /// The input of a child task.
    pub input: Option<Value>,
    /// Skipped unless this expression holds.
    #[schema(value_type = Option<ConditionSchema>)]
    pub condition: Option<Value>,
    /// Whether it also runs after another has failed.
    pub when: Option<When>,
    /// Steps that have to end before it; the one before it when not given.
    pub depends_on: Option<Vec<String>>,
    /// Under which name its data enters the state; flat when not given.
    #[schema(max_length = 100, pattern = "^[^_]")]
    pub save_as: Option<String>,
    /// Whether its failure stops the task.
    pub stop_on_failure: Option<bool>,
    /// How it is tried again.
    pub retry: Option<RetrySchema>,
    /// How long one try may take, or what the step waits for (an answer, a callback, a child): up to a day.
    #[schema(minimum = 1, maximum = 86_400_000)]
    pub timeout_ms: Option<u64>,
}

/// An expression, or a truth value.
pub struct ConditionSchema;

impl PartialSchema for ConditionSchema {
    fn schema() -> RefOr<Schema> {
        let one = |kind| ObjectBuilder::new().schema_type(kind);
        OneOfBuilder::new().item(one(Type::String)).item(one(Type::Boolean)).into()
    }
}

impl ToSchema for ConditionSchema {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("StepCondition")
    }
}

/// How a step is tried again.
#[derive(ToSchema)]
#[schema(as = Retry, rename_all = "camelCase")]
pub struct RetrySchema {
    /// Tries in all.
    #[schema(minimum = 1, maximum = 20)]
    pub max_attempts: Option<u32>,
    /// The pause before the second try, of which at least half is waited.
    #[schema(maximum = 86_400_000)]
    pub initial_delay_ms: Option<u64>,
    /// The longest pause.
    #[schema(maximum = 86_400_000)]
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
    /// Among the tenant's own plans for one intent the highest wins, and among the bundled ones where it has none.
    pub priority: i64,
    /// Grows with each edit, unless the edit names one. The versions of a tenant count from 1, also where they take the place of a bundled plan.
    pub version: u32,
    /// The expression that makes the result.
    #[schema(required)]
    pub output: Option<String>,
    /// The steps.
    pub steps: Vec<StepSchema>,
    /// Where it comes from.
    pub origin: PlanOrigin,
    /// Whether it is in use.
    pub active: bool,
    /// When this version was written.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// Why this server cannot use it; empty when it can.
    pub quarantine: Vec<PlanFault>,
}

/// What a check found.
#[derive(ToSchema)]
#[schema(as = PlanCheck)]
pub struct PlanCheckSchema {
    /// Whether there are no faults.
    pub valid: bool,
    /// The faults, up to some 500.
    pub faults: Vec<PlanFault>,
}

page! {
    /// A page of plans.
    pub PlanPage of PlanSchema: "The plans."
}
