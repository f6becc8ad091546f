//! Changing a plan that is being walked: append to it, or replace what has not started.

use serde::{Deserialize, Serialize};

use super::step::StepSpec;

/// Where the new steps go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchMode {
    /// After the last step.
    Append,
    /// In place of every top-level step that has not started.
    Replace,
}

/// A change of the remaining plan, with its reason. Ids are derived from the step that made it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanPatch {
    /// Where the steps go.
    pub mode: PatchMode,
    pub steps: Vec<StepSpec>,
    /// Why; shown to people.
    pub reason: String,
}
