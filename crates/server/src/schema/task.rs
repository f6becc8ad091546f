//! Tasks, their artifacts and attachments.

use kybern_core::money::Usage;
use kybern_core::record::StoredLink;
use kybern_core::retention::TaskHold;
use kybern_core::task::{Attachment, Channel, EffectClass, StepError, TaskStatus, Wait};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::words::{CallbackWordSchema, RepeatKindSchema};

/// A task.
#[derive(ToSchema)]
#[schema(as = Task, rename_all = "camelCase")]
pub struct TaskSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// By which way it came in.
    pub channel: Channel,
    /// The instruction, or the text that came in.
    pub input: String,
    /// What else came in. A list shows of a mail `from` and `subject` (nothing of one longer than 65,536
    /// characters), and of anything else nothing.
    #[schema(required)]
    pub payload: Option<Value>,
    /// Who submitted it.
    pub created_by: String,
    /// The user it acts for.
    #[schema(format = "uuid", required)]
    pub user_id: Option<String>,
    /// What is wanted.
    #[schema(required)]
    pub detected_intent: Option<String>,
    /// How sure that is, from 0 to 1.
    #[schema(required)]
    pub confidence_score: Option<f64>,
    /// Below this confidence a person is asked.
    pub confidence_threshold: f64,
    /// The key of the plan it walks.
    #[schema(required)]
    pub selected_plan: Option<String>,
    /// The version of that plan.
    #[schema(required)]
    pub selected_plan_version: Option<u32>,
    /// The steps as they are walked, with the added ones in their places.
    pub frozen_plan: Vec<Value>,
    /// Steps that succeeded.
    pub completed_step_ids: Vec<String>,
    /// Steps that failed, also those whose failure was tolerated.
    pub failed_steps: Vec<String>,
    /// Steps that were skipped.
    pub skipped_step_ids: Vec<String>,
    /// The step it waits in, or that stopped it; null otherwise.
    #[schema(required)]
    pub current_step_id: Option<String>,
    /// What the steps have found so far.
    pub state: Map<String, Value>,
    /// For what it waits.
    pub waits: Vec<Wait>,
    /// How it ended.
    #[schema(required)]
    pub result: Option<Value>,
    /// Why it failed, or was cancelled by a no.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Why it failed, or was cancelled by a no, for programs.
    #[schema(required)]
    pub error: Option<StepError>,
    /// The delegation it waits for.
    #[schema(required)]
    pub delegated_workflow_id: Option<String>,
    /// The most steps it may schedule.
    pub max_steps: u32,
    /// The most it may cost, in nano-dollars.
    #[schema(required)]
    pub budget_nanos: Option<i64>,
    /// What it has used.
    pub usage: Usage,
    /// The trace, 32 hex digits.
    pub trace_id: String,
    /// The task that started it.
    #[schema(format = "uuid", required)]
    pub parent_task_id: Option<String>,
    /// The step that started it.
    #[schema(required)]
    pub parent_step_id: Option<String>,
    /// The task it was forked from.
    #[schema(format = "uuid", required)]
    pub forked_from_task_id: Option<String>,
    /// How deep it lies below the first of its line.
    pub depth: u32,
    /// When it was submitted.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was first worked on.
    #[schema(format = "date-time", required)]
    pub started_at: Option<String>,
    /// When it ended.
    #[schema(format = "date-time", required)]
    pub completed_at: Option<String>,
    /// Since when it is paused.
    #[schema(format = "date-time", required)]
    pub paused_at: Option<String>,
    /// Whether somebody wants it cancelled.
    pub cancel_requested: bool,
    /// How often it was taken over from a worker that went away.
    pub recoveries: u32,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    pub unreadable: Option<String>,
    /// Why it is kept, however old it becomes. Only there when it is on hold, where one task is shown.
    pub hold: Option<TaskHold>,
}

/// A person's decision.
#[derive(ToSchema)]
#[schema(as = Resolution, rename_all = "snake_case")]
pub enum ResolutionSchema {
    /// It happened; go on.
    Done,
    /// Do it again.
    Retry,
    /// No: what it stops is cancelled. An outside effect counts as failed.
    Fail,
}

/// What became of a callback.
#[derive(ToSchema)]
#[schema(as = CallbackOutcome, rename_all = "camelCase")]
pub struct CallbackSchema {
    /// The task.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// What became of it.
    pub outcome: CallbackWordSchema,
}

/// What a fork would make again outside.
#[derive(ToSchema)]
#[schema(as = ForkPreview, rename_all = "camelCase")]
pub struct ForkPreviewSchema {
    /// True: nothing was forked.
    pub dry_run: bool,
    /// The outside writes, in the order in which they were made.
    pub repeats: Vec<RepeatSchema>,
}

/// An outside write that a fork would make again.
#[derive(ToSchema)]
#[schema(as = Repeat, rename_all = "camelCase")]
pub struct RepeatSchema {
    /// The step; `confirm` names it.
    pub step_id: String,
    /// What would be done again.
    pub kind: RepeatKindSchema,
    /// The tool that it calls.
    pub tool: Option<String>,
    /// The effect class of a call.
    pub effect: Option<EffectClass>,
    /// What the log said of it the first time.
    pub summary: String,
}

/// What a replay found.
#[derive(ToSchema)]
#[schema(as = ReplayReport, rename_all = "camelCase")]
pub struct ReplaySchema {
    /// The task.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// Whether the replay arrived at the same end.
    pub matches: bool,
    /// Where it did not: of rows the first 50.
    pub differences: Vec<String>,
    /// How many differences there are beyond those.
    pub more_differences: u64,
    /// Rows of the journal that were walked.
    pub rows: u64,
    /// Steps that ended.
    pub steps: u64,
    /// The status it arrived at.
    pub status: TaskStatus,
    /// The result it arrived at.
    #[schema(required)]
    pub result: Option<Value>,
}

page! {
    /// A page of tasks.
    pub TaskPage of TaskSchema: "The tasks."
}

page! {
    /// A task's artifacts.
    pub ArtifactPage of StoredLink: "The links.", "Always null: the list is whole."
}

page! {
    /// A task's attachments.
    pub AttachmentPage of Attachment: "The attachments.", "Always null: the list is whole."
}
