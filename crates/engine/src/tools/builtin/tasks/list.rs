//! `tasks.list`: the newest tasks.

use kybern_core::actor::Right;
use kybern_core::count::count;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, TaskFilter, ToolContext};
use kybern_core::task::{Channel, Task, TaskStatus};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{beginning, limit, maybe, maybe_id, refused};

/// Characters of a task's input that are shown.
const SHOWN: usize = 200;

pub(super) fn tool() -> StatelessTool {
    let statuses: Vec<&str> = TaskStatus::ALL.into_iter().map(TaskStatus::as_str).collect();
    let channels: Vec<&str> = Channel::ALL.into_iter().map(Channel::as_str).collect();
    let properties = json!({
        "status": {"type": "string", "enum": statuses, "description": "Only of that status."},
        "channel": {"type": "string", "enum": channels, "description": "Only those that came in so."},
        "intent": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Only of that intent."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Tasks, 20 when left out."},
        "after": {"type": "string", "maxLength": 36, "description": "next of the answer before."},
    });
    let description = "Lists tasks that the user may see, the newest first: task_id, status, intent, plan and the \
                       beginning of what was asked.";
    // What came in as a mail or over the web stands in them.
    let spec = ToolSpec {
        needs: ToolNeeds { tasks: true, ..ToolNeeds::default() },
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("tasks.list", description, object(properties, []))
    }
    .shown(&["work", "queue", "status", "progress"], json!({"limit": 5}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

fn shown(task: &Task) -> Value {
    json!({
        "task_id": task.id,
        "status": task.status,
        "paused": task.paused_at.is_some(),
        "channel": task.channel,
        "intent": task.intent,
        "plan": task.plan.as_ref().map(|(key, _)| key),
        "input": beginning(&task.input, SHOWN),
        "created_at": task.created_at,
        "completed_at": task.completed_at,
    })
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let filter = TaskFilter {
        status: maybe(&args, "status").and_then(TaskStatus::parse),
        channel: maybe(&args, "channel").and_then(Channel::parse),
        intent: maybe(&args, "intent").map(str::to_owned),
        before: maybe_id(&args, "after")?,
        limit: limit(&args, 20),
        ..TaskFilter::default()
    };
    let page = context.nouns.tasks()?.list(filter).await.map_err(refused)?;
    let data = [("tasks", page.items.iter().map(shown).collect()), ("next", json!(page.next))];
    Ok(ToolOutcome::new(data, format!("listed {}", count(page.items.len(), "task"))))
}
