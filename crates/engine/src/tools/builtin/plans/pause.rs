//! `plans.pause` and `plans.resume`: let a task that walks a plan rest, and go on.

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::task::SteerAction;
use kybern_core::tool::{Needs, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::id_schema;
use super::super::tasks::steered;

pub(super) struct Pause {
    spec: ToolSpec,
    wish: SteerAction,
    /// The name of what is answered, and what is said of it.
    said: (&'static str, &'static str),
}

impl Pause {
    pub(super) fn pausing() -> Self {
        let description = "Pauses a task that walks a plan: what it is doing is ended, and no other step begins until \
                           plans.resume.";
        let said = ("task_paused", "paused the task");
        Self { spec: spec("plans.pause", description, &["hold", "stop", "wait"]), wish: SteerAction::Pause, said }
    }

    pub(super) fn resuming() -> Self {
        let description = "Lets a task go on that was paused.";
        let said = ("task_resumed", "resumed the task");
        Self { spec: spec("plans.resume", description, &["continue", "go on"]), wish: SteerAction::Resume, said }
    }
}

fn spec(key: &str, description: &str, tags: &[&str]) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"task_id": id_schema("The task that walks the plan.")},
        "required": ["task_id"],
        "additionalProperties": false,
    });
    let needs = Needs { tasks: true, ..Needs::default() };
    let example = json!({"task_id": "0198c1de-7c00-7000-8000-000000000001"});
    ToolSpec { needs, ..ToolSpec::local(key, description, schema) }.shown(tags, example)
}

#[async_trait]
impl Tool for Pause {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        steered(context, &args, self.wish, self.said).await
    }
}
