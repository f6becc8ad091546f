//! Plans: what is walked for an intent, versioned.

use axum::Json;
use kybern_core::plan::Plan;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::extract::{CallerRequest, JsonBody};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::plan::{NewPlan, PlanCheckSchema, PlanPage, PlanSchema};

/// Store a plan
///
/// The next version of its key, or the version it names, becomes the one in use. A plan with faults is refused with
/// up to 100 of them listed (422), and nothing is stored.
#[utoipa::path(post, path = "/api/plans", operation_id = "store_plan",
    request_body = NewPlan,
    responses((status = 201, description = "The plan", body = PlanSchema)))]
pub(crate) async fn put(attempt: KeyedRequest, body: JsonBody<Map<String, Value>>) -> ApiResult {
    let plan = Value::Object(body.value);
    attempt
        .once(body.raw, move |engine, actor| async move {
            let plan = engine.plans().put(&actor, &plan).await?;
            SuccessAnswer::created("/api/plans", &plan.key, &plan.to_json())
        })
        .await
}

/// List plans
///
/// Every version of the tenant's own plans, and the bundled ones, by key. A page of large plans may end before its
/// limit.
#[utoipa::path(get, path = "/api/plans", operation_id = "list_plans",
    params(PageParams),
    responses((status = 200, description = "A page of plans", body = PlanPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let page = state.engine.plans().list(actor.scope(), paging.after()?, paging.limit).await?;
    let items: Vec<Value> = page.items.iter().map(Plan::to_json).collect();
    paging.answer(&items, page.next.as_deref())
}

/// Check a plan
///
/// Says every fault, up to some 500, without storing anything. An object that is no `NewPlan` has faults, and is no
/// error.
#[utoipa::path(post, path = "/api/plans/check", operation_id = "check_plan",
    request_body(content = Object, content_type = "application/json", description = "What is to be a plan",
        example = json!({"key": "demo.greet", "steps": [{"id": "greet", "tool": "core.set", "args": {"greeting": "Hello"}}]})),
    responses((status = 200, description = "The faults; none when the plan is good", body = PlanCheckSchema)))]
pub(crate) async fn check(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<Map<String, Value>>,
) -> ApiResult<Json<Value>> {
    let faults = state.engine.plans().check(actor.scope(), &Value::Object(body.value)).await?;
    Ok(Json(json!({"valid": faults.is_empty(), "faults": faults})))
}

/// Show the plan in use, or the newest where none is
#[utoipa::path(get, path = "/api/plans/{key}", operation_id = "show_plan",
    params(("key" = String, Path, description = "The plan's key")),
    responses((status = 200, description = "The plan", body = PlanSchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    Ok(Json(state.engine.plans().get(actor.scope(), path.text("key")?).await?.to_json()))
}

/// List a plan's versions
///
/// The tenant's own, newest first; then the bundled one.
#[utoipa::path(get, path = "/api/plans/{key}/versions", operation_id = "list_plan_versions",
    params(
        ("key" = String, Path, description = "The plan's key"),
        PageParams,
    ),
    responses((status = 200, description = "A page of the versions", body = PlanPage)))]
pub(crate) async fn versions(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let (key, after) = (path.text("key")?, paging.after()?);
    let page = state.engine.plans().versions(actor.scope(), key, after, paging.limit).await?;
    let items: Vec<Value> = page.items.iter().map(Plan::to_json).collect();
    paging.answer(&items, page.next.as_deref())
}

/// What changes in a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangePlan, example = json!({"active": false}))]
pub(crate) struct ChangePlanBody {
    /// `false` takes every version out of use, `true` brings the newest back.
    active: bool,
}

/// Take a plan out of use, or bring it back
///
/// Only a plan of the tenant's own; a bundled one is refused with 409, and overridden by storing a plan with its key.
#[utoipa::path(patch, path = "/api/plans/{key}", operation_id = "change_plan",
    params(("key" = String, Path, description = "The plan's key")),
    request_body = ChangePlanBody,
    responses((status = 200, description = "The plan", body = PlanSchema)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangePlanBody>,
) -> ApiResult<Json<Value>> {
    let key = path.text("key")?;
    state.engine.plans().set_active(&actor, key, body.value.active).await?;
    Ok(Json(state.engine.plans().newest(actor.scope(), key).await?.to_json()))
}
