//! Messages to the outside: sent, waiting, or given up.

use axum::Json;
use kybern_core::id::OutboxId;
use kybern_core::outbox::OutboxMessage;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::extract::{CallerRequest, OptionalBody};
use crate::page::{PageParams, Paging};
use crate::schema::record::OutboxPage;

/// List outgoing messages
///
/// Newest first: mail, webhooks, delegations and completion webhooks, each with how far it has got.
#[utoipa::path(get, path = "/api/outbox", operation_id = "list_outbox",
    params(PageParams),
    responses((status = 200, description = "A page of messages", body = OutboxPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let page = state.engine.outbox().list(&actor, paging.after::<OutboxId>()?, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// What is known of a message that is to leave once more.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "an object")]
#[schema(as = RetryOutbox, example = json!({"evenIfSent": true}))]
pub(crate) struct RetryBody {
    /// Let it leave although it may have arrived already, as one that is `uncertain` may have.
    #[serde(alias = "even_if_sent")]
    even_if_sent: bool,
}

/// Send a message once more
///
/// One that was given up (`failed`) or kept leaves again, under the same key. One that is `uncertain` may have arrived: it
/// leaves only with `evenIfSent`.
#[utoipa::path(post, path = "/api/outbox/{id}/retry", operation_id = "retry_outbox",
    params(("id" = String, Path, format = "uuid", description = "The message")),
    request_body(content = Option<RetryBody>, content_type = "application/json"),
    responses((status = 200, description = "The message, which waits for its job", body = OutboxMessage)))]
pub(crate) async fn retry(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: OptionalBody<RetryBody>,
) -> ApiResult<Json<Value>> {
    let message = state.engine.outbox().retry(&actor, path.parse("id")?, body.value.even_if_sent).await?;
    Ok(Json(json!(message)))
}
