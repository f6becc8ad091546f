//! Plans: what is to be done, in steps with stable ids.
//!
//! A plan is written once (by a pack, a user, or later a planner), checked once, and frozen into the task that walks
//! it. `parse` reads the wire form and lists every fault; `graph` checks order; neither touches a registry, which
//! the engine's own check does.

pub mod fault;
pub mod frozen;
pub mod graph;
pub mod parse;
mod parse_step;
pub mod patch;
pub mod step;
pub mod stored;

pub use fault::PlanFault;
pub use frozen::{FrozenPlan, PlanHash};
pub use patch::{PatchMode, PlanPatch};
pub use step::{RetryPolicy, StepId, StepKind, StepSpec, TaskTarget, When};
pub use stored::{Plan, PlanOrigin, PlanPlace, no_room};

/// Limits of a plan. A plan over one of them is faulty.
pub mod limits {
    /// Steps in a plan, all levels together.
    pub const MAX_STEPS: usize = 500;
    /// How deep steps may be nested.
    pub const MAX_DEPTH: usize = 8;
    /// Characters of a step id as written; derived ids grow beyond it.
    pub const MAX_STEP_ID: usize = 64;
    /// Characters of an id as it is derived by injection, branches and loops.
    pub const MAX_DERIVED_ID: usize = 512;
    /// Iterations of a loop when it names none.
    pub const DEFAULT_ITERATIONS: u32 = 100;
    /// Iterations that a loop may name.
    pub const MAX_ITERATIONS: u32 = 10_000;
    /// Characters of the name of a tool, an agent, a plan, a capability or a workflow.
    pub const MAX_NAMED: usize = 200;
    /// Characters of a plan's domain.
    pub const MAX_DOMAIN: usize = 100;
    /// Characters of what a plan says that it does.
    pub const MAX_DESCRIPTION: usize = 2_000;
    /// Bytes of one expression.
    pub const MAX_EXPRESSION: usize = 2_000;
    /// Bytes of a plan as JSON.
    pub const MAX_BYTES: usize = 512 * 1024;
    /// Faults of form that are listed of one plan, about: more help nobody.
    pub const MAX_FAULTS: usize = 500;
    /// Plans of a tenant that may be in use.
    pub const MAX_IN_USE: u64 = 1_000;
    /// Bytes as JSON of all plans of a tenant that are in use. Whoever chooses among them holds them all in memory.
    pub const MAX_BYTES_IN_USE: u64 = 4 * 1024 * 1024;
}
