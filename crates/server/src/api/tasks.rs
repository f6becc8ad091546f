//! Tasks: submitting one, looking at it, and following its log.

use axum::Json;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use kybern_core::id::TaskId;
use kybern_core::ports::TaskFilter;
use kybern_core::task::{Channel, TaskStatus, limits};
use kybern_core::time::Millis;
use kybern_engine::task::TaskView;
use serde_json::Value;

use super::task_request::{self, SubmitBody, SubmitForm};
use crate::error::ApiResult;
use crate::extract::{CallerRequest, QueryArgs};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::event::{LogPage, StreamEventSchema};
use crate::schema::task::{TaskPage, TaskSchema};
use crate::sse;

/// Submit a task
///
/// As JSON, or as `multipart/form-data` with the same names as fields (`payload` as JSON) and any number of files.
/// Without `planKey` the intent is detected. With `waitMs` the answer comes as soon as the task ends or waits for a
/// person.
#[utoipa::path(post, path = "/api/tasks", operation_id = "submit_task",
    params(("waitMs" = Option<u64>, Query, maximum = 60000, description = "How long to wait at most until it ends or waits for a person")),
    request_body(content(
        (SubmitBody = "application/json"),
        (SubmitForm = "multipart/form-data"),
    )),
    responses((status = 202, description = "The task", body = TaskSchema)))]
pub(crate) async fn submit(attempt: KeyedRequest, query: QueryArgs, request: Request) -> ApiResult {
    let wait = wait(&query.only(&["waitMs"])?)?;
    let (mut task, said) = task_request::read(&attempt.state, request).await?;
    task.trace_id.clone_from(&attempt.asked.trace_id);
    // Should the process die between the work and the kept answer, the engine still knows the key.
    task.idempotency_key = task.idempotency_key.or_else(|| attempt.key.clone());
    attempt
        // Boxed, because what a request carries along is moved several times before it runs.
        .once(said, move |engine, actor| {
            Box::pin(async move {
                let task = engine.tasks().submit(&actor, task, wait).await?;
                SuccessAnswer::accepted("/api/tasks", &task.id, &task)
            })
        })
        .await
}

/// List tasks
///
/// Newest first. An item is a summary: `input` is cut after 2,000 characters; `payload` has of a mail `from` and
/// `subject` (nothing of one longer than 65,536 characters), and of anything else nothing; `result`, `state`,
/// `frozenPlan` and the lists of steps are empty, and so are `waits` that are long. Ask for the single task.
#[utoipa::path(get, path = "/api/tasks", operation_id = "list_tasks",
    params(
        ("status" = Option<TaskStatus>, Query, description = "Only of that status"),
        ("intent" = Option<String>, Query, description = "Only of that intent"),
        ("channel" = Option<Channel>, Query, description = "Only of that channel"),
        PageParams,
    ),
    responses((status = 200, description = "A page of tasks", body = TaskPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["status", "intent", "channel"])?;
    let query = &paging.query;
    let filter = TaskFilter {
        status: query.word("status", TaskStatus::parse, &TaskStatus::ALL.map(TaskStatus::as_str))?,
        intent: query.get("intent").map(str::to_owned),
        channel: query.word("channel", Channel::parse, &Channel::ALL.map(Channel::as_str))?,
        talks_of: None,
        before: paging.after::<TaskId>()?,
        limit: paging.limit,
    };
    let list = state.engine.tasks().list(&actor, filter).await?;
    paging.answer(&list.items, list.next_cursor.as_deref())
}

/// Show a task
#[utoipa::path(get, path = "/api/tasks/{id}", operation_id = "show_task",
    params(
        ("id" = String, Path, format = "uuid", description = "The task"),
        ("waitMs" = Option<u64>, Query, maximum = 60000, description = "How long to wait at most until it ends or waits for a person"),
    ),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<TaskView>> {
    let (id, wait) = (path.parse("id")?, wait(&query.only(&["waitMs"])?)?);
    let Some(wait) = wait else { return Ok(Json(state.engine.tasks().get(&actor, id).await?)) };
    let task = tokio::select! {
        task = state.engine.tasks().wait_for(&actor, id, wait) => task?,
        () = state.shutdown.cancelled() => state.engine.tasks().get(&actor, id).await?,
    };
    Ok(Json(task))
}

/// Read a task's log
///
/// Oldest first. Of data it holds the names and not the values; a reason, a title or an error may quote some.
#[utoipa::path(get, path = "/api/tasks/{id}/log", operation_id = "read_task_log",
    params(
        ("id" = String, Path, format = "uuid", description = "The task"),
        PageParams,
    ),
    responses((status = 200, description = "A page of the log", body = LogPage)))]
pub(crate) async fn log(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let id: TaskId = path.parse("id")?;
    let paging = Paging::read(query, &[])?;
    let after = paging.after::<i64>()?.unwrap_or(-1);
    let (entries, next) = state.engine.tasks().log(&actor, id, after, paging.limit).await?;
    paging.answer(&entries, next.map(|next| next.to_string()).as_deref())
}

/// Follow a task's log
///
/// Server-sent events: `id` is the entry's `seq`, `event` its type, `data` is `{"type","data"}` with the entry; of a
/// turn of a conversation its messages stand between them, under ids `{seq}.{n}`. After
/// a lost connection send the last id as `Last-Event-ID`. Ends with `done` when the task has ended.
#[utoipa::path(get, path = "/api/tasks/{id}/events", operation_id = "follow_task",
    params(
        ("id" = String, Path, format = "uuid", description = "The task"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last event that was received"),
    ),
    responses((status = 200, description = "The events, each so", body = StreamEventSchema,
        content_type = "text/event-stream")))]
pub(crate) async fn events(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (id, after) = (path.parse("id")?, sse::last_event_id(&headers, sse::START)?);
    // A task that is not there is said before the stream begins.
    state.engine.tasks().get(&actor, id).await?;
    sse::log(&state, actor, id, after.unwrap_or(sse::START))
}

/// `waitMs`: how long a caller wants to wait.
pub(super) fn wait(query: &QueryArgs) -> ApiResult<Option<Millis>> {
    let wait = query.number("waitMs", 0..=limits::MAX_WAIT.0)?;
    Ok(wait.filter(|wait| *wait > 0).map(Millis))
}
