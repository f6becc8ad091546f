//! What is kept however old it becomes, and what is removed now.

use axum::Json;
use kybern_core::error::Detail;
use kybern_core::retention::{MAX_REASON, RetentionKind};
use kybern_core::time::Millis;
use kybern_engine::task::TaskView;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, plain};
use crate::schema::retention::PurgedSchema;
use crate::schema::task::TaskSchema;

/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Why a task is kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = HoldTask, example = json!({"reason": "claim 4711 is before the court"}))]
pub(crate) struct HoldBody {
    /// Why.
    #[schema(max_length = 2_000, pattern = "\\S")]
    reason: String,
}

/// Keep a task
///
/// Nothing of its tree is removed, however old it becomes, until it is released.
#[utoipa::path(post, path = "/api/tasks/{id}/hold", operation_id = "hold_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    request_body = HoldBody,
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn hold(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<HoldBody>,
) -> ApiResult<Json<TaskView>> {
    let id = path.parse("id")?;
    plain("/reason", &body.value.reason, MAX_REASON)?;
    Ok(Json(state.engine.tasks().hold(&actor, id, &body.value.reason).await?))
}

/// Release a task from its hold
#[utoipa::path(post, path = "/api/tasks/{id}/release", operation_id = "release_task",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The task", body = TaskSchema)))]
pub(crate) async fn release(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<TaskView>> {
    Ok(Json(state.engine.tasks().release(&actor, path.parse("id")?).await?))
}

/// What is to be removed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = Purge, example = json!({"olderThanDays": 400, "kinds": ["tasks"], "dryRun": true}))]
pub(crate) struct PurgeBody {
    /// Only what was over before so many days.
    #[serde(alias = "older_than_days")]
    #[schema(minimum = 7, maximum = 36500)]
    older_than_days: u32,
    /// Only these kinds; all when not given.
    #[schema(value_type = Option<Vec<RetentionKind>>)]
    kinds: Option<Vec<String>>,
    /// Only count it.
    #[serde(default, alias = "dry_run")]
    dry_run: bool,
}

/// Remove what is over and old
///
/// Of the caller's tenant, without waiting for the times of `[retention]`. What is open, on hold, shown by a
/// conversation or billed this month stays.
#[utoipa::path(post, path = "/api/purge", operation_id = "purge",
    request_body = PurgeBody,
    responses((status = 200, description = "What was removed", body = PurgedSchema)))]
pub(crate) async fn purge(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<PurgeBody>,
) -> ApiResult<Json<Value>> {
    let PurgeBody { older_than_days, kinds, dry_run } = body.value;
    let kinds = match kinds {
        None => RetentionKind::ALL.to_vec(),
        Some(names) => of_names(&names)?,
    };
    let removed = state.engine.removal().purge(&actor, &kinds, days(older_than_days), dry_run).await?;
    let items: Vec<Value> =
        removed.into_iter().map(|(kept, count)| json!({"kind": kept.as_str(), "count": count})).collect();
    Ok(Json(json!({"dryRun": dry_run, "items": items})))
}

/// So many days.
pub(crate) fn days(number: u32) -> Millis {
    Millis(u64::from(number) * DAY)
}

fn of_names(names: &[String]) -> ApiResult<Vec<RetentionKind>> {
    let known = RetentionKind::ALL.map(RetentionKind::as_str).join(", ");
    let (mut kinds, mut faults) = (Vec::new(), Vec::new());
    for (n, name) in names.iter().enumerate() {
        match RetentionKind::parse(name) {
            Some(kind) => kinds.push(kind),
            None => faults.push(Detail::new(format!("/kinds/{n}"), format!("is no kind, take one of {known}"))),
        }
    }
    Problem::refuse(faults)?;
    Ok(kinds)
}
