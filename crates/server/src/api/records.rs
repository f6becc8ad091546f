//! Records: what tasks have made, to find, to read with its history, to take along, and to change by hand.

mod export;

use axum::Json;
use axum::response::Response;
use kybern_core::id::RecordId;
use kybern_core::record::version::MAX_REASON;
use kybern_core::record::{Record, RecordTaskPlace};
use kybern_engine::record::{RecordChanges, RecordFilter};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, QueryArgs, check_text, members};
use crate::page::{PageParams, Paging};
use crate::schema::record::{RecordKindPage, RecordPage, RecordTaskPage, RecordVersionPage};

/// The parameters that say which records of a kind.
const FILTER: [&str; 4] = ["key", "lookup", "field", "text"];

/// List the kinds of records
#[utoipa::path(get, path = "/api/records", operation_id = "list_record_kinds",
    responses((status = 200, description = "The kinds of which there are records", body = RecordKindPage)))]
pub(crate) async fn kinds(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let kinds = state.engine.records().kinds(actor.scope()).await?;
    let items: Vec<Value> = kinds.iter().map(|(kind, count)| json!({"kind": kind, "count": count})).collect();
    Ok(Json(json!({"items": items, "nextCursor": null})))
}

/// A name and a value with a colon between them.
fn pair(query: &QueryArgs, name: &str, example: &str) -> ApiResult<Option<(String, String)>> {
    let Some(given) = query.get(name) else { return Ok(None) };
    match given.split_once(':') {
        Some((of, value)) if !of.is_empty() && !value.is_empty() => Ok(Some((of.to_owned(), value.to_owned()))),
        _ => Err(Problem::invalid(format!("/{name}"), format!("{name} is a name and a value, such as {example}"))),
    }
}

fn filter(query: &QueryArgs) -> ApiResult<RecordFilter> {
    Ok(RecordFilter {
        lookup: pair(query, "lookup", "DOT:9104417")?,
        field: pair(query, "field", "status:requested")?,
        text: query.get("text").map(str::to_owned),
    })
}

/// List records
///
/// Oldest first. A kind of which there are none is an empty list. Several filters hold together. Of at most 2,000 records
/// `field` and `text` look through for a page, so that one may hold fewer than `limit`, or none, and still name another.
#[utoipa::path(get, path = "/api/records/{kind}", operation_id = "list_records",
    params(
        ("kind" = String, Path, description = "The kind, for instance `crm.contact`"),
        ("key" = Option<String>, Query, description = "Only the record with that key; it goes with no other filter"),
        ("lookup" = Option<String>, Query, description = "Only those found by that name and value, such as `DOT:9104417`"),
        ("field" = Option<String>, Query,
            description = "Only those whose prop is that value, or a list that holds it, such as `status:requested`"),
        ("text" = Option<String>, Query, description = "Only those with that text in their key or a prop, capitals or not"),
        PageParams,
    ),
    responses((status = 200, description = "A page of records", body = RecordPage)))]
pub(crate) async fn list(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let (kind, paging) = (path.text("kind")?, Paging::read(query, &FILTER)?);
    let filter = filter(&paging.query)?;
    if let Some(key) = paging.query.get("key") {
        if filter != RecordFilter::default() {
            return Err(Problem::invalid("/key", "key names one record: leave the other filters out"));
        }
        let found: Vec<Record> = state.engine.store().record(actor.scope(), kind, key).await?.into_iter().collect();
        return paging.answer(&found, None);
    }
    let after = paging.after::<RecordId>()?;
    let page = state.engine.records().list(actor.scope(), kind, &filter, after, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Export records as CSV
///
/// All records of a kind, or those that fit the filters, oldest first: id, key, version and times, then the props by
/// their names; lists and objects as JSON. `unreadable` says what of a record this program cannot read. A text that a spreadsheet would take for a formula has `'` before it. An export
/// that fails on its way breaks off, so that it is not taken for a whole one.
#[utoipa::path(get, path = "/api/records/{kind}/export", operation_id = "export_records",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("lookup" = Option<String>, Query, description = "As for the list"),
        ("field" = Option<String>, Query, description = "As for the list"),
        ("text" = Option<String>, Query, description = "As for the list"),
    ),
    responses((status = 200, description = "The records", body = String, content_type = "text/csv")))]
pub(crate) async fn export(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Response> {
    let query = query.only(&["lookup", "field", "text"])?;
    let (kind, filter) = (path.text("kind")?.to_owned(), filter(&query)?);
    export::answer(state.engine.records().clone(), actor.scope(), kind, filter).await
}

/// Show a record
#[utoipa::path(get, path = "/api/records/{kind}/{id}", operation_id = "show_record",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("id" = String, Path, format = "uuid", description = "The record"),
    ),
    responses((status = 200, description = "The record", body = Record)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Record>> {
    Ok(Json(state.engine.records().get(actor.scope(), path.text("kind")?, path.parse("id")?).await?))
}

/// A change of a record by hand.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangeRecord, example = json!({"version": 3, "props": {"status": "closed"}, "reason": "It came by post."}))]
pub(crate) struct ChangeRecordBody {
    /// The version that the caller saw.
    #[schema(minimum = 1)]
    version: i64,
    /// The props that change, with their new values; `null` takes one away. What is left out stays.
    #[serde(deserialize_with = "members")]
    props: Map<String, Value>,
    /// Why. It stands in the history.
    #[schema(max_length = 500, pattern = "\\S")]
    reason: String,
}

/// Change a record by hand
///
/// Of a kind that a pack declares only some props can be changed, and what comes of it has to fit the kind; the refusal
/// names them. A record that changed since the caller saw it is a conflict.
#[utoipa::path(patch, path = "/api/records/{kind}/{id}", operation_id = "change_record",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("id" = String, Path, format = "uuid", description = "The record"),
    ),
    request_body = ChangeRecordBody,
    responses((status = 200, description = "The record as it is now", body = Record)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangeRecordBody>,
) -> ApiResult<Json<Record>> {
    let (kind, id): (&str, RecordId) = (path.text("kind")?, path.parse("id")?);
    let ChangeRecordBody { version, props, reason } = body.value;
    Problem::refuse(check_text("/reason", &reason, MAX_REASON).into_iter().collect())?;
    let changes = RecordChanges { version, props, reason };
    Ok(Json(state.engine.records().change(&actor, kind, id, changes).await?))
}

/// List the versions of a record
///
/// Newest first: what changed, when, and by which step of a task or by which user and why. A record that is older than
/// the histories lacks its first versions.
#[utoipa::path(get, path = "/api/records/{kind}/{id}/history", operation_id = "list_record_versions",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("id" = String, Path, format = "uuid", description = "The record"),
        PageParams,
    ),
    responses((status = 200, description = "A page of versions", body = RecordVersionPage)))]
pub(crate) async fn history(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let (kind, id): (&str, RecordId) = (path.text("kind")?, path.parse("id")?);
    let paging = Paging::read(query, &[])?;
    let before = paging.after::<i64>()?;
    let page = state.engine.records().versions(actor.scope(), (kind, id), before, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// List the tasks that touched a record
///
/// Those of the newest task first, each touch one by one. Tasks that were removed are not among them.
#[utoipa::path(get, path = "/api/records/{kind}/{id}/tasks", operation_id = "list_record_tasks",
    params(
        ("kind" = String, Path, description = "The kind"),
        ("id" = String, Path, format = "uuid", description = "The record"),
        PageParams,
    ),
    responses((status = 200, description = "A page of the tasks' links", body = RecordTaskPage)))]
pub(crate) async fn tasks(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let (kind, id): (&str, RecordId) = (path.text("kind")?, path.parse("id")?);
    let paging = Paging::read(query, &[])?;
    let after = paging.after::<RecordTaskPlace>()?;
    let page = state.engine.records().tasks(actor.scope(), (kind, id), after, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}
