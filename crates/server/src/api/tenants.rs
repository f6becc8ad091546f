//! Tenants, for platform admins.

use axum::Json;
use kybern_core::error::Detail;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::identity::{NewTenantAnswer, TenantPage};

/// A new tenant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewTenantRequest, example = json!({"name": "Pinewood"}))]
pub(crate) struct NewTenantBody {
    /// Its name, with at least one ASCII letter or digit; neither it nor the slug that is made of it may be taken.
    #[schema(max_length = 100, pattern = "\\S")]
    name: String,
}

/// Create a tenant
///
/// With its first admin, whose key is shown in this answer only.
#[utoipa::path(post, path = "/api/admin/tenants", operation_id = "create_tenant",
    request_body = NewTenantBody,
    responses((status = 201, description = "The tenant", body = NewTenantAnswer)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewTenantBody>) -> ApiResult {
    let mut faults: Vec<Detail> = check_text("/name", &body.value.name, 100).into_iter().collect();
    if body.value.name.trim().is_empty() {
        faults.push(Detail::new("/name", "name is empty"));
    }
    Problem::refuse(faults)?;
    let name = body.value.name;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let (tenant, admin_key) = engine.identity().create_tenant(&actor, &name).await?;
            let id = tenant.id;
            SuccessAnswer::created("/api/admin/tenants", &id, &NewTenantAnswer { admin_key, tenant })
        })
        .await
}

/// List tenants
#[utoipa::path(get, path = "/api/admin/tenants", operation_id = "list_tenants",
    params(PageParams),
    responses((status = 200, description = "A page of tenants, oldest first", body = TenantPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let tenants = state.engine.identity().tenants(&actor).await?;
    paging.cut(tenants, |tenant| tenant.id.to_string(), |tenant| tenant)
}
