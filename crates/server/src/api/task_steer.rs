//! Steering tasks: cancel, pause, resume, retry, fork, replay, review.

use axum::Json;
use axum::response::IntoResponse as _;
use kybern_core::approval::MAX_NOTE;
use kybern_core::id::{ApprovalId, TaskId};
use kybern_core::task::Resolution;
use kybern_engine::task::{Fork, ReviewRequest, TaskView};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, OptionalBody, PathArgs, plain};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::schema::task::{ForkPreviewSchema, ReplaySchema, ResolutionSchema, TaskSchema};

/// Cancel a task
///
/// What is in flight is recorded, nothing follows. A task that has ended answers 409.
#[utoipa::path(post, path = "/api/tasks/{id}/cancel", operation_id = "cancel_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn cancel(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<TaskView>> {
    Ok(Json(state.engine.tasks().cancel(&actor, path.parse("id")?).await?))
}

/// Pause a task
///
/// It keeps its status, gets `pausedAt`, and no further step begins.
#[utoipa::path(post, path = "/api/tasks/{id}/pause", operation_id = "pause_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn pause(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<TaskView>> {
    Ok(Json(state.engine.tasks().pause(&actor, path.parse("id")?).await?))
}

/// Resume a paused task
#[utoipa::path(post, path = "/api/tasks/{id}/resume", operation_id = "resume_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn resume(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<TaskView>> {
    Ok(Json(state.engine.tasks().resume(&actor, path.parse("id")?).await?))
}

/// Retry a failed task
///
/// The same task goes on: what failed begins anew, what succeeded is not repeated, but for a step with `when: always`
/// that ran behind the failure.
#[utoipa::path(post, path = "/api/tasks/{id}/retry", operation_id = "retry_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn retry(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<TaskView>> {
    Ok(Json(state.engine.tasks().retry(&actor, path.parse("id")?).await?))
}

/// From where to fork.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ForkTask, example = json!({}))]
pub(crate) struct ForkBody {
    /// The first step that is done anew; from the beginning when not given.
    #[serde(alias = "from_step")]
    #[schema(example = "resolve_buyer", max_length = 300)]
    from_step: Option<String>,
    /// The steps whose outside writes may be made again: all that `dryRun` lists. Otherwise the answer is 409, and
    /// lists them.
    #[serde(default)]
    #[schema(example = json!(["notify_buyer"]))]
    confirm: Vec<String>,
    /// Only says which outside writes the fork would make again: answers 200, and nothing is forked.
    #[serde(default, alias = "dry_run")]
    dry_run: bool,
}

/// Fork a task
///
/// A new task with the same input and plan, which begins with what the old one had done before `fromStep`. Outside writes
/// that it would make again need a yes each, in `confirm`.
#[utoipa::path(post, path = "/api/tasks/{id}/fork", operation_id = "fork_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    request_body(content = Option<ForkBody>, content_type = "application/json"),
    responses((status = 202, description = "The new task", body = TaskSchema),
        (status = 200, description = "What the fork would make again, where `dryRun` asks for it", body = ForkPreviewSchema)))]
pub(crate) async fn fork(attempt: KeyedRequest, path: PathArgs, body: OptionalBody<ForkBody>) -> ApiResult {
    let id: TaskId = path.parse("id")?;
    let ForkBody { from_step, confirm, dry_run } = body.value;
    plain("/fromStep", from_step.as_deref().unwrap_or_default(), 300)?;
    for (n, step) in confirm.iter().enumerate() {
        plain(&format!("/confirm/{n}"), step, 300)?;
    }
    if dry_run {
        let repeats = attempt.state.engine.tasks().repeats_of_fork(&attempt.actor, id, from_step.as_deref()).await?;
        return Ok(Json(json!({"dryRun": true, "repeats": shown(&repeats)?})).into_response());
    }
    attempt
        .once(body.raw, move |engine, actor| async move {
            let task = engine.tasks().fork(&actor, id, Fork { from_step, confirm }).await?;
            SuccessAnswer::accepted("/api/tasks", &task.id, &task)
        })
        .await
}

/// Replay a task
///
/// Walks a finished task from its journal, with no model and no effects, and says whether it arrives at the same
/// result. Changes nothing.
#[utoipa::path(post, path = "/api/tasks/{id}/replay", operation_id = "replay_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "What the replay found", body = ReplaySchema)))]
pub(crate) async fn replay(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let report = state.engine.tasks().replay(&actor, path.parse("id")?).await?;
    Ok(Json(shown(&report)?))
}

/// A person's answer.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = Review, example = json!({"corrections": {"contract_number": "C-20418"}}))]
pub(crate) struct ReviewBody {
    /// What is put right; it enters the task's state or, of a call that waits for a yes, its arguments. Has to fit
    /// the schema of what waits; with `done` only where the answer ends the step in any case.
    corrections: Option<Map<String, Value>>,
    /// Which step is answered; needed when several wait.
    #[serde(alias = "step_id")]
    #[schema(max_length = 300)]
    step_id: Option<String>,
    /// Which question is answered, as the `approvalId` of what waits says: 409 when it is not open any more, also when
    /// another question has taken its place.
    #[serde(alias = "approval_id")]
    #[schema(value_type = Option<String>, format = "uuid")]
    approval_id: Option<ApprovalId>,
    /// What is decided, where a decision is asked; `fail` says no to any question.
    #[schema(value_type = Option<ResolutionSchema>)]
    resolution: Option<Resolution>,
    /// What you say about it; with a no it is why the task ends.
    #[schema(max_length = 2_000)]
    note: Option<String>,
}

impl ReviewBody {
    pub(super) fn checked(self) -> ApiResult<ReviewRequest> {
        plain("/stepId", self.step_id.as_deref().unwrap_or_default(), 300)?;
        if self.corrections.is_none() && self.resolution.is_none() {
            let message = "say what is put right in corrections, or what is decided in resolution";
            return Err(Problem::invalid("/corrections", message));
        }
        let corrections = self.corrections.unwrap_or_default();
        let Self { step_id, approval_id: question, resolution, note, .. } = self;
        plain("/note", note.as_deref().unwrap_or_default(), MAX_NOTE)?;
        Ok(ReviewRequest { corrections, step_id, question, resolution, note, ..ReviewRequest::default() })
    }
}

/// Answer a task that waits for a person
///
/// The task goes on with the corrections in its state or, of a call that waits for a yes, in its arguments.
/// `resolution` answers an outside effect of which nobody knows whether it happened; of a review `done` makes the
/// corrections the step's data; to any other question `fail` is a no, which cancels what it stops. A task that does
/// not wait, or not with the question of `approvalId` or at `stepId`, answers 409.
#[utoipa::path(post, path = "/api/tasks/{id}/review", operation_id = "review_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    request_body = ReviewBody,
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn review(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ReviewBody>,
) -> ApiResult<Json<TaskView>> {
    let id = path.parse("id")?;
    Ok(Json(state.engine.tasks().review(&actor, id, body.value.checked()?).await?))
}
