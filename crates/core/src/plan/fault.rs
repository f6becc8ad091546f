//! What is wrong with a plan, one by one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One fault of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PlanFault {
    /// JSON pointer into the plan.
    pub path: String,
    /// The step.
    #[cfg_attr(feature = "schema", schema(required))]
    pub step_id: Option<String>,
    /// What is wrong, and the remedy.
    pub message: String,
}

impl PlanFault {
    /// A fault at `path`.
    pub fn new(path: impl Into<String>, step_id: Option<&str>, message: impl Into<String>) -> Self {
        Self { path: path.into(), step_id: step_id.map(str::to_owned), message: message.into() }
    }
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step_id {
            Some(step) => write!(f, "{} (step {step}): {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

impl From<PlanFault> for crate::error::Detail {
    fn from(fault: PlanFault) -> Self {
        let message = match fault.step_id {
            Some(step) => format!("step {step}: {}", fault.message),
            None => fault.message,
        };
        Self { path: fault.path, message }
    }
}
