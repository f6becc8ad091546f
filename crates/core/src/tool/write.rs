//! What a tool wants written of the engine's own nouns. It is data: whose word it is, and whether it may be written as
//! it stands, the executor decides, and commits it with the step.

use std::sync::Arc;

use serde_json::Value;

use crate::id::{MemoryId, PlanId, TaskId};
use crate::memory::{Memory, MemoryChange, NewMemory};
use crate::plan::Plan;
use crate::plan::parse::PlanDraft;
use crate::task::SteerAction;

/// A task that is to be submitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Submit {
    pub id: TaskId,
    /// What is wanted, as text.
    pub input: String,
    /// The rest of the input.
    pub payload: Value,
    /// The plan that it walks; `None` when the server is to find out what is wanted.
    pub plan: Option<Arc<Plan>>,
}

/// One write. The values that the tool has read go along: when they are not stored any more as they were read, nothing
/// is written, and the tool is called again.
#[derive(Clone, PartialEq, Debug)]
pub enum Write {
    /// Something is remembered, under that id.
    Remember(MemoryId, Box<NewMemory>),
    /// A memory says something else.
    Reword(Box<Memory>, Box<MemoryChange>),
    /// A memory that waits for a person holds: somebody who may say it has said the same.
    Accept(Box<Memory>),
    /// A memory is removed for good.
    Forget(Box<Memory>),
    /// A task is submitted.
    Submit(Box<Submit>),
    Steer(TaskId, SteerAction),
    /// A plan is stored under that id, as the version that it names.
    PutPlan(PlanId, Box<PlanDraft>),
    /// A plan of that key is taken out of use, whose version in use is this one.
    RetirePlan(String, u32),
}
