//! The message that the end of a turn leaves in its conversation.

use kybern_core::agent::TurnFinish;
use kybern_core::chat::{Message, Speaker, TURN_STEP, TurnRef};
use kybern_core::id::TaskId;
use kybern_core::model::ModelMessage;
use kybern_core::money::Usage;
use kybern_core::plan::StepId;
use kybern_core::task::{Task, TaskStatus};
use kybern_core::time::Timestamp;
use serde_json::Value;

use crate::executor::walk::Walk;

/// The answer of a turn that cannot be read: there is none. `None` for what is no turn.
pub(crate) fn no_answer(task: &Task, at: Timestamp) -> Option<Box<Message>> {
    let turn = task.turn()?;
    let walk = Walk::new(None);
    Some(Box::new(answer(&walk, (turn, task.id), (TaskStatus::Failed, task.usage), Vec::new(), at)))
}

/// The answer of a turn as its walk stands at its end. `said` are the replies with calls, and their results.
pub(crate) fn answer(
    walk: &Walk,
    (turn, task): (TurnRef, TaskId),
    (status, usage): (TaskStatus, Usage),
    said: Vec<ModelMessage>,
    at: Timestamp,
) -> Message {
    let outcome = walk.find(&StepId::trusted(TURN_STEP)).and_then(|index| walk.node(index).outcome().cloned());
    let of = |name: &str| outcome.as_ref().and_then(|outcome| outcome.data.get(name)).cloned().unwrap_or_default();
    let finish = serde_json::from_value(of("finishReason")).unwrap_or(match status {
        TaskStatus::Cancelled => TurnFinish::Cancelled,
        _ => TurnFinish::Error,
    });
    Message {
        id: turn.answer_id,
        chat_id: turn.chat_id,
        role: Speaker::Assistant,
        content: of("content").as_str().unwrap_or_default().to_owned(),
        task_id: Some(task),
        tool_calls: match of("toolCalls") {
            Value::Array(calls) if calls.is_empty() => Value::Null,
            calls => calls,
        },
        finish_reason: Some(finish),
        usage,
        transcript: said,
        tainted: outcome.is_some_and(|outcome| outcome.tainted),
        redacted_at: None,
        created_at: at,
    }
}
