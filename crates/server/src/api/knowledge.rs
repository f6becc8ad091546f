//! Knowledge: documents that agents may quote.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use bytes::Bytes;
use kybern_core::knowledge::{KnowledgeAct, KnowledgeDocument, KnowledgeStatus, MAX_TITLE};
use kybern_core::ports::KnowledgeFilter;
use kybern_engine::knowledge::NewDocument;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::shown;
use super::task_request::{AttachmentBody, check_file, decoded, form};
use crate::body;
use crate::error::{ApiResult, Problem};
use crate::extract::{self, CallerRequest, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::request::RequestInfo;
use crate::schema::knowledge::{KnowledgePage, KnowledgeSearch};
use crate::state::AppState;

/// The most pieces that a search answers.
const MAX_FOUND: u64 = 50;

/// A document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewKnowledge, example = json!({"title": "Terms of carriage", "filename": "terms.txt",
    "contentType": "text/plain", "dataBase64": "V2UgY2Fycnkgd2hhdCBmaXRzLg=="}))]
pub(crate) struct NewKnowledgeBody {
    /// What people call it; the name of the file when left out.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// The name of the file.
    #[schema(max_length = 255, pattern = "\\S")]
    filename: String,
    /// Its type; the content decides in the end.
    #[serde(alias = "content_type")]
    #[schema(max_length = 255)]
    content_type: Option<String>,
    /// Its bytes in base64: at most 20 MiB, and no more than the server's limit of bodies lets through. White space
    /// between the characters is passed over.
    #[serde(alias = "data_base64")]
    #[schema(content_encoding = "base64", pattern = r"^[A-Za-z0-9+/\s]*(=\s*){0,2}$")]
    data_base64: String,
}

/// A document as a form: one file, and its title.
#[derive(ToSchema)]
#[schema(as = NewKnowledgeForm, example = json!({"title": "Terms of carriage", "file": "We carry what fits."}))]
#[expect(dead_code, reason = "describes the form for the OpenAPI document; parts are read one by one")]
pub(crate) struct NewKnowledgeForm {
    /// What people call it.
    #[schema(max_length = 200, nullable = false)]
    title: Option<String>,
    /// The file.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Reads an upload, and what it says as one text.
async fn read(state: &AppState, request: Request) -> ApiResult<(NewDocument, Bytes)> {
    let (parts, raw) = body::read(state, request, state.limits.max_body).await?;
    let mut faults = Vec::new();
    let (title, file, said) = if extract::content_type(&parts.headers).as_deref() == Some("multipart/form-data") {
        let (fields, files) = form(parts, raw).await?;
        let mut said = serde_json::to_vec(&fields).unwrap_or_default();
        if let Some(other) = fields.keys().find(|name| *name != "title") {
            return Err(Problem::invalid(
                format!("/{other}"),
                format!("unknown field `{other}`, expected `title` and a file"),
            ));
        }
        let Ok([file]) = <[_; 1]>::try_from(files) else {
            return Err(Problem::invalid("/file", "send one file"));
        };
        said.extend(file.filename.as_bytes());
        said.extend(blake3::hash(&file.bytes).as_bytes());
        check_file("", &file, &mut faults);
        (fields.get("title").and_then(Value::as_str).map(str::to_owned), file, said.into())
    } else {
        extract::expect_json(&parts.headers)?;
        let NewKnowledgeBody { title, filename, content_type, data_base64 } = extract::object(&raw)?;
        let file = decoded("", &AttachmentBody { filename, content_type, data_base64 }, &mut faults);
        (title, file, raw)
    };
    faults.extend(title.as_ref().and_then(|title| check_text("/title", title, MAX_TITLE)));
    Problem::refuse(faults)?;
    let document = NewDocument { title, filename: file.filename, content_type: file.content_type, bytes: file.bytes };
    Ok((document, said))
}

/// Upload a document
///
/// As JSON, or as `multipart/form-data` with one file. It is a draft, and `indexing` until it has been read and
/// embedded in the background; then it is `ready`, or `failed` with the reason.
#[utoipa::path(post, path = "/api/knowledge", operation_id = "create_knowledge",
    request_body(content((NewKnowledgeBody = "application/json"), (NewKnowledgeForm = "multipart/form-data"))),
    responses((status = 202, description = "The document", body = KnowledgeDocument)))]
pub(crate) async fn create(attempt: KeyedRequest, request: Request) -> ApiResult {
    let (new, said) = read(&attempt.state, request).await?;
    attempt
        .once(said, move |engine, actor| async move {
            let document = engine.knowledge().add(&actor, new).await?;
            SuccessAnswer::accepted("/api/knowledge", &document.id, &document)
        })
        .await
}

/// List documents
#[utoipa::path(get, path = "/api/knowledge", operation_id = "list_knowledge",
    params(
        ("status" = Option<KnowledgeStatus>, Query, description = "Only of that status"),
        ("published" = Option<bool>, Query, description = "Only those that may be found, or only the others"),
        PageParams,
    ),
    responses((status = 200, description = "A page of documents, newest first", body = KnowledgePage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["status", "published"])?;
    let filter = KnowledgeFilter {
        status: paging.query.word(
            "status",
            KnowledgeStatus::parse,
            &KnowledgeStatus::ALL.map(KnowledgeStatus::as_str),
        )?,
        published: paging.query.flag("published")?,
    };
    let page = state.engine.knowledge().list(actor.scope(), &filter, paging.after()?, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Search the published documents
///
/// The pieces that say something about the question, the nearest first. Those that another model has embedded are
/// found once their documents are indexed anew.
#[utoipa::path(get, path = "/api/knowledge/search", operation_id = "search_knowledge",
    params(
        ("query" = Option<String>, Query, description = "What is looked for"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 50, description = "Pieces, 10 when not given"),
    ),
    responses((status = 200, description = "The pieces", body = KnowledgeSearch)))]
pub(crate) async fn search(
    CallerRequest { state, actor, query, .. }: CallerRequest,
    asked: RequestInfo,
) -> ApiResult<Json<Value>> {
    let query = query.only(&["query", "limit"])?;
    let limit = query.number("limit", 1..=MAX_FOUND)?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(10);
    let question = query.get("query").unwrap_or_default();
    let found = state.engine.knowledge().search(&asked.asks_models(&actor), question, limit).await?;
    let item = |one: &kybern_core::context::SearchHit| json!({"id": one.id, "title": one.title, "text": one.text, "similarity": one.similarity});
    Ok(Json(json!({"items": found.iter().map(item).collect::<Vec<Value>>()})))
}

/// Show a document
#[utoipa::path(get, path = "/api/knowledge/{id}", operation_id = "show_knowledge",
    params(("id" = String, Path, format = "uuid", description = "The document")),
    responses((status = 200, description = "The document", body = KnowledgeDocument)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&state.engine.knowledge().get(actor.scope(), path.parse("id")?).await?).map(Json)
}

/// Remove a document
#[utoipa::path(delete, path = "/api/knowledge/{id}", operation_id = "remove_knowledge",
    params(("id" = String, Path, format = "uuid", description = "The document")),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.knowledge().delete(&actor, path.parse("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publish a document
///
/// It has to be `ready`. From the next turn on agents may quote it.
#[utoipa::path(post, path = "/api/knowledge/{id}/publish", operation_id = "publish_knowledge",
    params(("id" = String, Path, format = "uuid", description = "The document")),
    responses((status = 200, description = "The document", body = KnowledgeDocument)))]
pub(crate) async fn publish(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, KnowledgeAct::Publish).await
}

/// Take a document back
#[utoipa::path(post, path = "/api/knowledge/{id}/unpublish", operation_id = "unpublish_knowledge",
    params(("id" = String, Path, format = "uuid", description = "The document")),
    responses((status = 200, description = "The document", body = KnowledgeDocument)))]
pub(crate) async fn unpublish(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, KnowledgeAct::Unpublish).await
}

/// Index a document anew
///
/// What was found before is found until it is done.
#[utoipa::path(post, path = "/api/knowledge/{id}/reindex", operation_id = "reindex_knowledge",
    params(("id" = String, Path, format = "uuid", description = "The document")),
    responses((status = 200, description = "The document", body = KnowledgeDocument)))]
pub(crate) async fn reindex(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, KnowledgeAct::Reindex).await
}

async fn act(CallerRequest { state, actor, path, .. }: CallerRequest, act: KnowledgeAct) -> ApiResult<Json<Value>> {
    shown(&state.engine.knowledge().act(&actor, path.parse("id")?, act).await?).map(Json)
}
