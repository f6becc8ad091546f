//! Records: what tasks have made, to read.

use axum::Json;
use kybern_core::error::Error;
use kybern_core::id::RecordId;
use kybern_core::record::Record;
use serde_json::{Value, json};

use crate::error::ApiResult;
use crate::extract::CallerRequest;
use crate::page::{PageParams, Paging};
use crate::schema::record::{RecordKindPage, RecordPage};

/// List the kinds of records
#[utoipa::path(get, path = "/api/records", operation_id = "list_record_kinds",
    responses((status = 200, description = "The kinds of which there are records", body = RecordKindPage)))]
pub(crate) async fn kinds(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let kinds = state.engine.records().kinds(actor.scope()).await?;
    let items: Vec<Value> = kinds.iter().map(|(kind, count)| json!({"kind": kind, "count": count})).collect();
    Ok(Json(json!({"items": items, "nextCursor": null})))
}

/// List records
///
/// Oldest first. A kind of which there are none is an empty list.
#[utoipa::path(get, path = "/api/records/{kind}", operation_id = "list_records",
    params(
        ("kind" = String, Path, description = "The kind, for instance `crm.contact`"),
        ("key" = Option<String>, Query, description = "Only the record with that key"),
        PageParams,
    ),
    responses((status = 200, description = "A page of records", body = RecordPage)))]
pub(crate) async fn list(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let (kind, paging) = (path.text("kind")?, Paging::read(query, &["key"])?);
    if let Some(key) = paging.query.get("key") {
        let found: Vec<Record> = state.engine.store().record(actor.scope(), kind, key).await?.into_iter().collect();
        return paging.answer(&found, None);
    }
    let after = paging.after::<RecordId>()?;
    let page = state.engine.records().list(actor.scope(), kind, after, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Show a record
#[utoipa::path(get, path = "/api/records/{kind}/{id}", operation_id = "show_record",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("id" = String, Path, format = "uuid", description = "The record"),
    ),
    responses((status = 200, description = "The record", body = Record)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Record>> {
    let (kind, id): (&str, RecordId) = (path.text("kind")?, path.parse("id")?);
    let record = state.engine.records().get(actor.scope(), id).await?;
    if record.kind == kind { Ok(Json(record)) } else { Err(Error::not_found("record", id).into()) }
}
