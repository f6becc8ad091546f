//! Lessons: what the tenant has learned from answers, and what its admins write down.

use axum::Json;
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::id::LessonId;
use kybern_core::lesson::{
    LessonAct, LessonFilter, LessonKind, LessonStatus, MAX_ADDRESS, MAX_EXAMPLE, MAX_KEY, MAX_LABEL, Teaching,
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, plain};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::lesson::{LessonPage, LessonPreviewSchema, LessonSchema};

/// A new lesson. Which members it has follows from its kind.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schema(as = NewLesson, example = json!({"kind": "trusted_sender", "address": "ada@example.com"}))]
pub(crate) struct NewLessonBody {
    /// What it teaches.
    #[schema(value_type = LessonKind)]
    kind: String,
    /// Of an example: the intent's key.
    #[schema(max_length = 200)]
    intent: Option<String>,
    /// Of an example: a message that asks for it.
    #[schema(max_length = 1_500)]
    text: Option<String>,
    /// Of a label or a spelling: the extraction schema.
    #[schema(max_length = 200)]
    schema: Option<String>,
    /// Of a label or a spelling: the field, as `buyer.name`, or `orders/number` in a list.
    #[schema(max_length = 200)]
    field: Option<String>,
    /// Of a label or a spelling: at most six plain words.
    #[schema(max_length = 60)]
    label: Option<String>,
    /// Of a label: the value of the field's closed list that the words stand for; of a spelling: the value that they mean.
    #[schema(max_length = 200)]
    value: Option<String>,
    /// Of a trusted sender or a speaker: the e-mail address.
    #[schema(max_length = 254)]
    address: Option<String>,
    /// Of a speaker: the company that they answer for.
    #[schema(max_length = 200)]
    company: Option<String>,
}

impl NewLessonBody {
    fn teaching(self) -> ApiResult<Teaching> {
        let unknown = || {
            let known = LessonKind::ALL.map(LessonKind::as_str);
            Problem::invalid("/kind", format!("there is no kind {:?}, use one of {}", self.kind, known.join(", ")))
        };
        let kind = LessonKind::parse(&self.kind).ok_or_else(unknown)?;
        let belongs: &[&str] = match kind {
            LessonKind::IntentExample => &["intent", "text"],
            LessonKind::Label | LessonKind::Spelling => &["schema", "field", "label", "value"],
            LessonKind::TrustedSender => &["address"],
            LessonKind::Speaker => &["address", "company"],
        };
        let members = [
            ("intent", &self.intent, MAX_KEY),
            ("text", &self.text, MAX_EXAMPLE),
            ("schema", &self.schema, MAX_KEY),
            ("field", &self.field, MAX_KEY),
            ("label", &self.label, MAX_LABEL),
            ("value", &self.value, MAX_KEY),
            ("address", &self.address, MAX_ADDRESS),
            ("company", &self.company, MAX_KEY),
        ];
        let mut faults = Vec::new();
        for (name, said, most) in members {
            let path = format!("/{name}");
            match said {
                Some(said) if belongs.contains(&name) => plain(&path, said, most)?,
                Some(_) => faults.push(Detail::new(path, format!("a lesson of kind {} has no {name}", kind.as_str()))),
                None if belongs.contains(&name) && (name, kind) != ("value", LessonKind::Label) => {
                    faults.push(Detail::new(path, format!("a lesson of kind {} needs {name}", kind.as_str())));
                }
                None => {}
            }
        }
        if let Some(first) = faults.first() {
            return Err(Error::new(ErrorCode::Validation, first.message.clone()).with_details(faults).into());
        }
        let Self { intent, text, schema, field, label, value, address, company, .. } = self;
        Ok(match kind {
            LessonKind::IntentExample => {
                Teaching::IntentExample { intent: intent.unwrap_or_default(), text: text.unwrap_or_default() }
            }
            LessonKind::Label => Teaching::Label {
                schema: schema.unwrap_or_default(),
                field: field.unwrap_or_default(),
                label: label.unwrap_or_default(),
                value,
            },
            LessonKind::Spelling => Teaching::Spelling {
                schema: schema.unwrap_or_default(),
                field: field.unwrap_or_default(),
                label: label.unwrap_or_default(),
                value: value.unwrap_or_default(),
            },
            LessonKind::TrustedSender => Teaching::TrustedSender { address: address.unwrap_or_default() },
            LessonKind::Speaker => {
                Teaching::Speaker { address: address.unwrap_or_default(), company: company.unwrap_or_default() }
            }
        })
    }
}

/// Write down a lesson
///
/// A suggestion like those that answers make. It is used once it is accepted.
#[utoipa::path(post, path = "/api/lessons", operation_id = "create_lesson",
    request_body = NewLessonBody,
    responses((status = 201, description = "The lesson", body = LessonSchema)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewLessonBody>) -> ApiResult {
    let teaching = body.value.teaching()?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let lesson = engine.lessons().add(&actor, teaching).await?;
            SuccessAnswer::created("/api/lessons", &lesson.id, &shown(&lesson)?)
        })
        .await
}

/// List lessons
#[utoipa::path(get, path = "/api/lessons", operation_id = "list_lessons",
    params(
        ("status" = Option<LessonStatus>, Query, description = "Only of that status"),
        ("kind" = Option<LessonKind>, Query, description = "Only of that kind"),
        PageParams,
    ),
    responses((status = 200, description = "A page of lessons, newest first", body = LessonPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &["status", "kind"])?;
    let filter = LessonFilter {
        status: paging.query.word("status", LessonStatus::parse, &LessonStatus::ALL.map(LessonStatus::as_str))?,
        kind: paging.query.word("kind", LessonKind::parse, &LessonKind::ALL.map(LessonKind::as_str))?,
    };
    let page = state.engine.lessons().list(actor.scope(), filter, paging.after()?, paging.limit).await?;
    let items = page.items.iter().map(shown).collect::<ApiResult<Vec<Value>>>()?;
    paging.answer(&items, page.next.as_deref())
}

/// Show a lesson
#[utoipa::path(get, path = "/api/lessons/{id}", operation_id = "show_lesson",
    params(("id" = String, Path, format = "uuid", description = "The lesson")),
    responses((status = 200, description = "The lesson", body = LessonSchema)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&state.engine.lessons().get(actor.scope(), path.parse("id")?).await?).map(Json)
}

/// Preview a lesson
///
/// What it changes on the last hundred mails: the rules are asked again, without it and with it. Nothing is stored, and
/// no language model is asked. One preview of a tenant runs at a time, for at most 20 seconds.
#[utoipa::path(get, path = "/api/lessons/{id}/preview", operation_id = "preview_lesson",
    params(("id" = String, Path, format = "uuid", description = "The lesson")),
    responses((status = 200, description = "What it changes", body = LessonPreviewSchema)))]
pub(crate) async fn preview(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    shown(&state.engine.lessons().preview(&actor, path.parse("id")?).await?).map(Json)
}

/// Accept a lesson
///
/// Every message that is read from then on is read with it.
#[utoipa::path(post, path = "/api/lessons/{id}/accept", operation_id = "accept_lesson",
    params(("id" = String, Path, format = "uuid", description = "The lesson")),
    responses((status = 200, description = "The lesson", body = LessonSchema)))]
pub(crate) async fn accept(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, LessonAct::Accept).await
}

/// Withdraw a lesson
///
/// A suggestion is not made again; an accepted lesson is used no more by messages that come in later.
#[utoipa::path(post, path = "/api/lessons/{id}/withdraw", operation_id = "withdraw_lesson",
    params(("id" = String, Path, format = "uuid", description = "The lesson")),
    responses((status = 200, description = "The lesson", body = LessonSchema)))]
pub(crate) async fn withdraw(call: CallerRequest) -> ApiResult<Json<Value>> {
    act(call, LessonAct::Withdraw).await
}

async fn act(CallerRequest { state, actor, path, .. }: CallerRequest, act: LessonAct) -> ApiResult<Json<Value>> {
    let id: LessonId = path.parse("id")?;
    shown(&state.engine.lessons().act(&actor, id, act).await?).map(Json)
}
