//! `tasks.show`: how a task stands, and what came of it.

use kybern_core::actor::Right;
use kybern_core::json::bytes_of;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::task::{StepError, Task};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{beginning, id_schema};
use super::named;

/// Characters of a task's input that are shown.
const SHOWN: usize = 4_000;
/// Bytes of a result that are shown; of a larger one only its size.
const MOST_BYTES: usize = 32 * 1024;

pub(super) fn tool() -> StatelessTool {
    let schema = object(json!({"task_id": id_schema("The task.")}), ["task_id"]);
    let description = "Shows how a task stands, what it waits for, and its result or why it failed.";
    let spec = ToolSpec {
        needs: ToolNeeds { tasks: true, ..ToolNeeds::default() },
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("tasks.show", description, schema)
    }
    .shown(&["status", "progress", "result"], json!({"task_id": "0198c1de-7c00-7000-8000-000000000001"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

fn shown(task: &Task) -> Value {
    let waits: Vec<Value> =
        task.waits.iter().map(|wait| json!({"step": wait.step_id, "kind": wait.kind, "reason": wait.reason})).collect();
    let bytes = task.result.as_ref().map(bytes_of);
    let fits = bytes.is_some_and(|bytes| bytes <= MOST_BYTES);
    json!({
        "task_id": task.id,
        "status": task.status,
        "paused": task.paused_at.is_some(),
        "cancel_requested": task.cancel_requested,
        "channel": task.channel,
        "intent": task.intent,
        "plan": task.plan.as_ref().map(|(key, version)| json!({"key": key, "version": version})),
        "input": beginning(&task.input, SHOWN),
        "step": task.current_step,
        "waits": waits,
        "result": task.result.as_ref().filter(|_| fits),
        "result_bytes": bytes,
        "error": task.error.clone().map(StepError::redacted),
        "created_at": task.created_at,
        "completed_at": task.completed_at,
    })
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let task = named(context, &args).await?;
    let data = [("task", shown(&task))];
    Ok(ToolOutcome::new(data, format!("the task is {}", task.status)))
}
