//! `plans.pause` and `plans.resume`: let a task that walks a plan rest, and go on.

use kybern_core::json_schema::object;
use kybern_core::ports::StatelessTool;
use kybern_core::task::SteerAction;
use kybern_core::tool::{ToolNeeds, ToolSpec};
use serde_json::json;

use super::super::given::id_schema;
use super::super::tasks::steered;

pub(super) fn pausing() -> StatelessTool {
    let description = "Pauses a task that walks a plan: what it is doing is ended, and no other step begins until \
                       plans.resume.";
    StatelessTool::new(spec("plans.pause", description, &["hold", "stop", "wait"]), |context, args| {
        let said = ("task_paused", "paused the task");
        Box::pin(async move { steered(context, &args, SteerAction::Pause, said).await })
    })
}

pub(super) fn resuming() -> StatelessTool {
    let description = "Lets a task go on that was paused.";
    StatelessTool::new(spec("plans.resume", description, &["continue", "go on"]), |context, args| {
        let said = ("task_resumed", "resumed the task");
        Box::pin(async move { steered(context, &args, SteerAction::Resume, said).await })
    })
}

fn spec(key: &str, description: &str, tags: &[&str]) -> ToolSpec {
    let schema = object(json!({"task_id": id_schema("The task that walks the plan.")}), ["task_id"]);
    let needs = ToolNeeds { tasks: true, ..ToolNeeds::default() };
    let example = json!({"task_id": "0198c1de-7c00-7000-8000-000000000001"});
    ToolSpec { needs, ..ToolSpec::local(key, description, schema) }.shown(tags, example)
}
