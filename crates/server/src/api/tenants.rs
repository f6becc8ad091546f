//! Tenants, for platform admins.

use axum::Json;
use axum::extract::State;
use kybern_core::error::Detail;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::error::{ApiResult, Problem};
use crate::extract::{JsonBody, QueryArgs, check_text};
use crate::idempotency::{Attempt, IdempotencyKey, Made};
use crate::page::Paging;
use crate::request::Asked;
use crate::schema::identity::{NewTenantAnswer, TenantPage};
use crate::state::AppState;

/// A new tenant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewTenantRequest, example = json!({"name": "Pinewood Insurance"}))]
pub(crate) struct NewTenantBody {
    /// Its name, with at least one ASCII letter or digit; neither it nor the slug that is made of it may be taken.
    #[schema(max_length = 100, pattern = "\\S")]
    name: String,
}

/// Create a tenant
///
/// With its first admin, whose key is shown in this answer only.
#[utoipa::path(post, path = "/api/admin/tenants", operation_id = "create_tenant",
    tag = "identity",
    request_body = NewTenantBody,
    responses((status = 201, description = "The tenant", body = NewTenantAnswer)))]
pub(crate) async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    asked: Asked,
    IdempotencyKey(key): IdempotencyKey,
    body: JsonBody<NewTenantBody>,
) -> ApiResult {
    let mut faults: Vec<Detail> = check_text("/name", &body.value.name, 100).into_iter().collect();
    if body.value.name.trim().is_empty() {
        faults.push(Detail::new("/name", "name is empty"));
    }
    if let Some(problem) = Problem::invalid_all(faults) {
        return Err(problem);
    }
    let attempt = Attempt { state: &state, actor: &actor, asked: &asked, key, said: body.raw.clone() };
    let (engine, name) = (state.engine.clone(), body.value.name);
    attempt
        .once(move |actor| async move {
            let (tenant, admin_key) = engine.identity().create_tenant(&actor, &name).await?;
            let id = tenant.id;
            Made::created("/api/admin/tenants", &id, &NewTenantAnswer { admin_key, tenant })
        })
        .await
}

/// List tenants
#[utoipa::path(get, path = "/api/admin/tenants", operation_id = "list_tenants",
    tag = "identity",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200, description = "Items, 50 when not given"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
    ),
    responses((status = 200, description = "A page of tenants, oldest first", body = TenantPage)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    query: QueryArgs,
) -> ApiResult<Json<Value>> {
    let paging = Paging::read(&query.only(&["limit", "cursor"])?)?;
    let tenants = state.engine.identity().tenants(&actor).await?;
    Ok(Json(paging.cut(tenants, |tenant| tenant.id.to_string(), |tenant| tenant)?))
}
