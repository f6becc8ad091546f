//! Memories: what is remembered of users and entities.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::context::Importance;
use kybern_core::error::Detail;
use kybern_core::id::{MemoryId, UserId};
use kybern_core::memory::{
    Confidence, MAX_CONTENT, Memory, MemoryCategory, MemoryChange, MemoryStatus, NewMemory, Provenance, Subject,
};
use kybern_core::ports::MemoryFilter;
use kybern_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, QueryArgs, check_text, or_fault, said};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::request::RequestInfo;
use crate::schema::memory::{MemoryAnswer, MemoryExport, MemoryPage};
use crate::schema::words::SubjectKindSchema;

/// The most characters of a name in a body.
const MAX_NAME: usize = 100;

/// Of what something is remembered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = MemorySubject)]
pub(crate) struct SubjectBody {
    /// Whether of a user or of a record.
    #[serde(rename = "type")]
    #[schema(value_type = SubjectKindSchema)]
    kind: String,
    /// The user, or the record.
    #[schema(format = "uuid")]
    id: String,
}

/// A new memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewMemory, example = json!({"content": "Prefers trains to planes.", "category": "preference"}))]
pub(crate) struct NewMemoryBody {
    /// Of what; the caller when left out.
    subject: Option<SubjectBody>,
    /// What, and no secret.
    #[schema(max_length = 2_000, pattern = "\\S")]
    content: String,
    /// What kind of knowledge it is; a fact when left out.
    #[schema(value_type = Option<MemoryCategory>)]
    category: Option<String>,
    /// How much it matters, from 1 to 10; 5 when left out.
    #[schema(minimum = 1, maximum = 10)]
    importance: Option<u32>,
    /// How sure it is, from 0 to 1; null when you do not say.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// When it holds no more.
    #[serde(alias = "expires_at")]
    #[schema(value_type = Option<String>, format = "date-time")]
    expires_at: Option<Timestamp>,
    /// `true`: it waits until somebody accepts it.
    #[serde(default)]
    pending: bool,
}

/// What changes in a memory. What is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangeMemory, example = json!({"importance": 8}))]
pub(crate) struct ChangeMemoryBody {
    /// What it says.
    #[schema(max_length = 2_000, pattern = "\\S")]
    content: Option<String>,
    /// What kind of knowledge it is.
    #[schema(value_type = Option<MemoryCategory>)]
    category: Option<String>,
    /// How much it matters, from 1 to 10.
    #[schema(minimum = 1, maximum = 10)]
    importance: Option<u32>,
    /// How sure it is, from 0 to 1. That of the words before does not go over to new ones.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// When it holds no more; null for never.
    #[serde(default, alias = "expires_at", deserialize_with = "said")]
    #[schema(value_type = Option<String>, format = "date-time")]
    expires_at: Option<Option<Timestamp>>,
}

fn category(name: &str, faults: &mut Vec<Detail>) -> Option<MemoryCategory> {
    let unknown = || Detail::new("/category", "use insight, event, preference or fact");
    or_fault(MemoryCategory::parse(name).ok_or_else(unknown), faults)
}

fn importance(number: u32, faults: &mut Vec<Detail>) -> Option<Importance> {
    let known = u8::try_from(number).ok().and_then(|number| Importance::try_from(number).ok());
    or_fault(known.ok_or_else(|| Detail::new("/importance", "importance is a number from 1 to 10")), faults)
}

fn confidence(share: f64, faults: &mut Vec<Detail>) -> Option<Confidence> {
    or_fault(Confidence::try_from(share).map_err(|problem| Detail::new("/confidence", problem)), faults)
}

fn subject(kind: &str, id: &str, paths: (&str, &str)) -> Result<Subject, Detail> {
    let id = id.parse::<UserId>().map_err(|_| Detail::new(paths.1, format!("{id:.64?} is not a valid id")))?;
    Subject::of(kind, id.as_uuid()).ok_or_else(|| Detail::new(paths.0, "use user or entity"))
}

/// Remember something
///
/// What a user says is remembered at once, unless it is `pending`. What is remembered in exactly these words already is
/// answered as it stands, and accepted where it waited. Users say it of themselves, operators of entities,
/// administrators of all.
#[utoipa::path(post, path = "/api/memories", operation_id = "create_memory",
    request_body = NewMemoryBody,
    responses((status = 201, description = "The memory", body = MemoryAnswer)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewMemoryBody>) -> ApiResult {
    let (new, mut faults) = (body.value, Vec::new());
    let subject = match &new.subject {
        Some(of) => or_fault(subject(&of.kind, &of.id, ("/subject/type", "/subject/id")), &mut faults),
        None => attempt.actor.user().map(Subject::User),
    };
    faults.extend(check_text("/content", &new.content, MAX_CONTENT));
    let category = new.category.as_deref().and_then(|name| category(name, &mut faults)).unwrap_or_default();
    let importance = new.importance.and_then(|number| importance(number, &mut faults)).unwrap_or_default();
    let confidence = new.confidence.and_then(|share| confidence(share, &mut faults));
    Problem::refuse(faults)?;
    let subject = subject.ok_or_else(|| Problem::invalid("/subject", "name a subject: this key is no user's"))?;
    let (content, expires_at, pending) = (new.content, new.expires_at, new.pending);
    let provenance = Provenance::default();
    let new = NewMemory { subject, content, category, importance, confidence, provenance, expires_at, pending };
    attempt
        .once(body.raw, move |engine, actor| async move {
            let memory = engine.memories().remember(&actor, new).await?;
            SuccessAnswer::created("/api/memories", &memory.id, &memory)
        })
        .await
}

/// The subject that a query names, and its kind.
fn named(query: &QueryArgs) -> ApiResult<(Option<Subject>, Option<&'static str>)> {
    let kind = match query.get("subjectType") {
        None => None,
        Some("user") => Some("user"),
        Some("entity") => Some("entity"),
        Some(_) => return Err(Problem::invalid("/subjectType", "use user or entity")),
    };
    let Some(id) = query.get("subjectId") else { return Ok((None, kind)) };
    let found = subject(kind.unwrap_or("user"), id, ("/subjectType", "/subjectId"));
    found.map(|subject| (Some(subject), kind)).map_err(|fault| Problem::invalid(fault.path, fault.message))
}

/// Refuses entities without saying which one: they are asked for one by one.
fn of_one(subject: Option<Subject>, kind: Option<&str>) -> ApiResult<()> {
    match (subject, kind) {
        (None, Some("entity")) => Err(Problem::invalid("/subjectId", "name the entity: this is about one of them")),
        _ => Ok(()),
    }
}

/// List memories, or search them
///
/// The caller's own where no subject is named; all of the tenant for an administrator, and those of all entities with
/// `subjectType=entity`. With `query` only those of one subject that say something about it, the nearest and
/// weightiest first, each with its `similarity` up to 1,000: active ones that have not expired; it goes with neither
/// `status` nor `cursor`.
#[utoipa::path(get, path = "/api/memories", operation_id = "list_memories",
    params(
        ("subjectType" = Option<SubjectKindSchema>, Query, description = "Only of users, or of entities; `user` when `subjectId` stands alone"),
        ("subjectId" = Option<String>, Query, format = "uuid", description = "The user, or the record"),
        ("query" = Option<String>, Query, description = "What is looked for"),
        ("status" = Option<MemoryStatus>, Query, description = "Only of that status"),
        PageParams,
    ),
    responses((status = 200, description = "A page of memories, newest first", body = MemoryPage)))]
pub(crate) async fn list(
    CallerRequest { state, actor, query, .. }: CallerRequest,
    asked: RequestInfo,
) -> ApiResult<Json<Value>> {
    let searches = query.get("query").is_some();
    if let Some(other) = ["status", "cursor"].into_iter().find(|name| searches && query.get(name).is_some()) {
        let message = format!("{other} does not go with query: a search finds the nearest of those that are active");
        return Err(Problem::invalid(format!("/{other}"), message));
    }
    let paging = Paging::read(query, &["subjectType", "subjectId", "query", "status"])?;
    let (subject, kind) = named(&paging.query)?;
    let known = MemoryStatus::ALL.map(MemoryStatus::as_str);
    let status = paging.query.word("status", MemoryStatus::parse, &known)?;
    if let Some(question) = paging.query.get("query") {
        of_one(subject, kind)?;
        let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
        let of = state.engine.memories().visible_subject(&actor, subject)?;
        let caller = asked.asks_models(&actor);
        let found = state.engine.memories().near(&caller, of, question, limit).await?;
        let items: Vec<MemoryAnswer> = found
            .into_iter()
            .map(|(found, memory)| MemoryAnswer { memory, similarity: Some(found.similarity) })
            .collect();
        return Ok(Json(json!({"items": items, "nextCursor": null})));
    }
    let filter = MemoryFilter { subject, kind, status };
    let page = state.engine.memories().list(&actor, filter, paging.after()?, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Export memories
///
/// Everything that is remembered of a subject, however it stands, the oldest first; of the caller where none is named.
#[utoipa::path(get, path = "/api/memories/export", operation_id = "export_memories",
    params(
        ("subjectType" = Option<SubjectKindSchema>, Query, description = "`user` when not given"),
        ("subjectId" = Option<String>, Query, format = "uuid", description = "The user, or the record"),
    ),
    responses((status = 200, description = "The memories", body = MemoryExport)))]
pub(crate) async fn export(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let query = query.only(&["subjectType", "subjectId"])?;
    let (subject, kind) = named(&query)?;
    of_one(subject, kind)?;
    let all: Vec<Memory> = state.engine.memories().export(&actor, subject).await?;
    Ok(Json(json!({"items": all})))
}

/// Show a memory
#[utoipa::path(get, path = "/api/memories/{id}", operation_id = "show_memory",
    params(("id" = String, Path, format = "uuid", description = "The memory")),
    responses((status = 200, description = "The memory", body = MemoryAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let id: MemoryId = path.parse("id")?;
    shown(&state.engine.memories().get(&actor, id).await?).map(Json)
}

/// Change a memory
///
/// New words are the caller's.
#[utoipa::path(patch, path = "/api/memories/{id}", operation_id = "change_memory",
    params(("id" = String, Path, format = "uuid", description = "The memory")),
    request_body = ChangeMemoryBody,
    responses((status = 200, description = "The memory", body = MemoryAnswer)))]
pub(crate) async fn change(
    CallerRequest { state, actor, path, .. }: CallerRequest,
    body: JsonBody<ChangeMemoryBody>,
) -> ApiResult<Json<Value>> {
    let id: MemoryId = path.parse("id")?;
    let (said, mut faults) = (body.value, Vec::new());
    faults.extend(said.content.as_ref().and_then(|content| check_text("/content", content, MAX_CONTENT)));
    faults.extend(said.category.as_ref().and_then(|name| check_text("/category", name, MAX_NAME)));
    let category = said.category.as_deref().and_then(|name| category(name, &mut faults));
    let importance = said.importance.and_then(|number| importance(number, &mut faults));
    let confidence = said.confidence.and_then(|share| confidence(share, &mut faults));
    Problem::refuse(faults)?;
    let change = MemoryChange { content: said.content, category, importance, confidence, expires_at: said.expires_at };
    shown(&state.engine.memories().change(&actor, id, change).await?).map(Json)
}

/// Forget a memory
#[utoipa::path(delete, path = "/api/memories/{id}", operation_id = "remove_memory",
    params(("id" = String, Path, format = "uuid", description = "The memory")),
    responses((status = 204, description = "Forgotten")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.memories().forget(&actor, path.parse("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Accept a memory that waits
#[utoipa::path(post, path = "/api/memories/{id}/accept", operation_id = "accept_memory",
    params(("id" = String, Path, format = "uuid", description = "The memory")),
    responses((status = 200, description = "The memory", body = MemoryAnswer)))]
pub(crate) async fn accept(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&state.engine.memories().judge(&actor, path.parse("id")?, true).await?).map(Json)
}

/// Reject a memory that waits
#[utoipa::path(post, path = "/api/memories/{id}/reject", operation_id = "reject_memory",
    params(("id" = String, Path, format = "uuid", description = "The memory")),
    responses((status = 200, description = "The memory", body = MemoryAnswer)))]
pub(crate) async fn reject(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&state.engine.memories().judge(&actor, path.parse("id")?, false).await?).map(Json)
}
