//! A task as it is shown: its row, and what its journal says about steps and state.

use std::sync::Arc;

use kybern_core::chat::TURN_STEP;
use kybern_core::id::{TaskId, UserId};
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::plan::StepId;
use kybern_core::retention::TaskHold;
use kybern_core::task::{Channel, StepError, Task, TaskStatus, Wait};
use kybern_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::walk::Walk;
use super::walk_view::EffectivePlan;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub id: TaskId,
    pub status: TaskStatus,
    pub channel: Channel,
    pub input: String,
    pub payload: Value,
    pub created_by: String,
    pub user_id: Option<UserId>,
    pub detected_intent: Option<String>,
    pub confidence_score: Option<f64>,
    pub confidence_threshold: f64,
    pub selected_plan: Option<String>,
    pub selected_plan_version: Option<u32>,
    /// The plan as it is walked: the frozen steps with the injected ones in their places.
    pub frozen_plan: EffectivePlan,
    pub completed_step_ids: Vec<String>,
    pub failed_steps: Vec<String>,
    pub skipped_step_ids: Vec<String>,
    pub current_step_id: Option<String>,
    pub state: Arc<Map<String, Value>>,
    pub waits: Vec<Wait>,
    pub result: Option<Value>,
    pub error_message: Option<String>,
    pub error: Option<StepError>,
    pub delegated_workflow_id: Option<String>,
    pub max_steps: u32,
    pub budget_nanos: Option<NanoUsd>,
    pub usage: Usage,
    pub trace_id: String,
    pub parent_task_id: Option<TaskId>,
    pub parent_step_id: Option<String>,
    pub forked_from_task_id: Option<TaskId>,
    pub depth: u32,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub paused_at: Option<Timestamp>,
    pub cancel_requested: bool,
    pub recoveries: u32,
    /// What of the row this program cannot read, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// Why the task is kept, however old it becomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<TaskHold>,
    /// How the turn of a conversation ended, however its task did.
    #[serde(skip)]
    pub end_of_turn: Option<Value>,
}

impl TaskView {
    /// A task with what its walk says.
    #[must_use]
    pub fn new(task: Task, walk: Option<&Walk>) -> Self {
        let (selected_plan, selected_plan_version) = task.plan.clone().unzip();
        let (parent_task_id, parent_step_id) = task.parent.clone().unzip();
        // State, result and waits are what is worked on and decided about; an error only says why, in foreign words too.
        let end_of_turn = walk.filter(|_| task.channel == Channel::Chat).and_then(|walk| {
            let index = walk.find(&StepId::trusted(TURN_STEP))?;
            walk.node(index).outcome().map(|outcome| outcome.data.clone())
        });
        let error = task.error.map(StepError::redacted);
        Self {
            id: task.id,
            status: task.status,
            channel: task.channel,
            input: task.input,
            payload: task.payload,
            created_by: task.created_by,
            user_id: task.user,
            detected_intent: task.intent,
            confidence_score: task.confidence,
            confidence_threshold: task.confidence_threshold,
            selected_plan,
            selected_plan_version,
            frozen_plan: walk.map(Walk::effective_plan).unwrap_or_default(),
            completed_step_ids: walk.map(Walk::completed).unwrap_or_default(),
            failed_steps: walk.map(Walk::failed).unwrap_or_default(),
            skipped_step_ids: walk.map(Walk::skipped).unwrap_or_default(),
            current_step_id: task.current_step,
            state: walk.map(|walk| Arc::clone(walk.state())).unwrap_or_default(),
            waits: task.waits,
            result: task.result,
            error_message: error.as_ref().map(|error| error.message.clone()),
            error,
            delegated_workflow_id: task.delegated_workflow_id,
            max_steps: task.max_steps,
            budget_nanos: task.budget,
            usage: task.usage,
            trace_id: task.trace_id,
            parent_task_id,
            parent_step_id,
            forked_from_task_id: task.forked_from,
            depth: task.depth,
            created_at: task.created_at,
            started_at: task.started_at,
            completed_at: task.completed_at,
            paused_at: task.paused_at,
            cancel_requested: task.cancel_requested,
            recoveries: task.recoveries,
            unreadable: task.unreadable,
            hold: None,
            end_of_turn,
        }
    }

    /// Whether nothing more happens without a person.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.status.is_terminal() || self.status == TaskStatus::NeedsReview || self.paused_at.is_some()
    }
}

/// A line of a list of tasks: the row, without state and plan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    /// The tasks, newest first: summaries without payload, result, state and plan.
    pub items: Vec<TaskView>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}
