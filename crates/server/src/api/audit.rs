//! The audit: what was done, by whom, and whether somebody has edited it since.

use axum::Json;
use axum::extract::State;
use serde_json::Value;

use super::shown;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::QueryArgs;
use crate::page::Paging;
use crate::schema::audit::{AuditPage, AuditReportSchema};
use crate::state::AppState;

/// List audit events
///
/// Oldest first, each with its place in the chain.
#[utoipa::path(get, path = "/api/audit", operation_id = "list_audit_events",
    tag = "audit",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200, description = "Items, 50 when not given"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
    ),
    responses((status = 200, description = "A page of events", body = AuditPage)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    query: QueryArgs,
) -> ApiResult<Json<Value>> {
    let paging = Paging::read(&query.only(&["limit", "cursor"])?, "audit")?;
    let after = paging.after::<i64>()?.unwrap_or(0);
    // One more than asked for tells whether there is a next page.
    let mut events = state.engine.audit_events(actor.scope(), after, paging.limit + 1).await?;
    let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
    let more = events.len() > limit;
    events.truncate(limit);
    let next = events.last().filter(|_| more).map(|event| event.seq.to_string());
    Ok(Json(paging.answer(&events, next.as_deref())))
}

/// Verify the audit
///
/// Walks the tenant's whole chain and says what was edited, removed, reordered or cut.
#[utoipa::path(get, path = "/api/audit/verify", operation_id = "verify_audit",
    tag = "audit",
    responses((status = 200, description = "What was found", body = AuditReportSchema)))]
pub(crate) async fn verify(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<Value>> {
    Ok(Json(shown(&state.engine.verify_audit(actor.scope()).await?)?))
}
