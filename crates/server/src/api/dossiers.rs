//! Dossiers: what is known of an entity, and which entity somebody means.

use axum::Json;
use kybern_core::dossier::{Dossier, FoundEntities};
use kybern_core::id::RecordId;
use serde_json::{Value, json};

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, check_text};
use crate::request::RequestInfo;
use crate::schema::record::EntityList;

/// The most characters of a name, and of a question.
const MAX_NAME: usize = 300;
const MAX_QUERY: usize = 500;

/// Find entities by what people call them
///
/// By name, by an identifier that its record is found under, by the key of the record or by its id. Names are compared without
/// legal forms and marks. The oldest first, at most 50, or 4 MiB: where there are more, `more` is true. A record that
/// cannot be read is among them, and says so.
#[utoipa::path(get, path = "/api/entities", operation_id = "find_entities",
    params(("name" = Option<String>, Query, max_length = 300, description = "What people call it; nothing is found without it")),
    responses((status = 200, description = "The records that may be meant", body = EntityList)))]
pub(crate) async fn find(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let query = query.only(&["name"])?;
    let name = query.get("name").unwrap_or_default();
    Problem::refuse(check_text("/name", name, MAX_NAME).into_iter().collect())?;
    let FoundEntities { records, more } = state.engine.dossiers().find(actor.scope(), name).await?;
    Ok(Json(json!({"items": records, "more": more, "nextCursor": null})))
}

/// Show the dossier of an entity
///
/// Its record, what the records of each domain say about it, and what is remembered of it, all as of one moment. What
/// is remembered is there for those who may see it (`operate`); for others `memoriesWithheld` is true. With `query`
/// what has to do with it comes first.
#[utoipa::path(get, path = "/api/entities/{id}/dossier", operation_id = "show_dossier",
    params(
        ("id" = String, Path, format = "uuid", description = "The entity's record"),
        ("query" = Option<String>, Query, max_length = 500, description = "What it is looked at for"),
    ),
    responses((status = 200, description = "The dossier", body = Dossier)))]
pub(crate) async fn show(
    CallerRequest { state, actor, path, query }: CallerRequest,
    asked: RequestInfo,
) -> ApiResult<Json<Dossier>> {
    let id: RecordId = path.parse("id")?;
    let query = query.only(&["query"])?;
    let question = query.get("query").map(str::trim).filter(|question| !question.is_empty());
    Problem::refuse(question.and_then(|question| check_text("/query", question, MAX_QUERY)).into_iter().collect())?;
    Ok(Json(state.engine.dossiers().get(&actor, &asked.asks_models(&actor), id, question).await?))
}
