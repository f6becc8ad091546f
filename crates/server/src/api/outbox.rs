//! Messages that left the house, or wait to.

use axum::Json;
use axum::extract::State;
use kybern_core::id::OutboxId;
use serde_json::Value;

use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::QueryArgs;
use crate::page::Paging;
use crate::schema::record::OutboxPage;
use crate::state::AppState;

/// List outgoing messages
///
/// Newest first: mail, webhooks, delegations and completion webhooks, each with how far it has got.
#[utoipa::path(get, path = "/api/outbox", operation_id = "list_outbox",
    tag = "records",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200, description = "Items, 50 when not given"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
    ),
    responses((status = 200, description = "A page of messages", body = OutboxPage)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    query: QueryArgs,
) -> ApiResult<Json<Value>> {
    let paging = Paging::read(&query.only(&["limit", "cursor"])?, "outbox")?;
    let page = state.engine.outbox(&actor, paging.after::<OutboxId>()?, paging.limit).await?;
    Ok(Json(paging.answer(&page.items, page.next.as_deref())))
}
