//! The seam behind `agent` and `decision` steps: whoever can run them registers a handler.

use async_trait::async_trait;
use serde_json::Value;

use super::ToolContext;
use crate::plan::StepKind;
use crate::tool::{ToolFailure, ToolOutcome};

/// Runs one kind of step that asks a model.
#[async_trait]
pub trait StepHandler: Send + Sync {
    /// What is wrong with such a step (an unknown agent, a bad schema); empty when it can run.
    fn faults(&self, kind: &StepKind) -> Vec<String>;

    /// Runs it. `rendered` is the step's task, or its prompt, with its templates filled in. What the model decided is
    /// journaled with the outcome, so it is never asked again for a decision already taken.
    ///
    /// # Errors
    /// A failure that says whether another try may help.
    async fn run(&self, context: &ToolContext, kind: &StepKind, rendered: Value) -> Result<ToolOutcome, ToolFailure>;
}
