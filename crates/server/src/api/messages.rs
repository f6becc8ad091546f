//! Messages of chats: saying something, reading along, looking back, and taking back.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kybern_core::actor::Actor;
use kybern_core::chat::{EventId, MAX_CONTENT};
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::id::{ChatId, MessageId};
use kybern_core::money::NanoUsd;
use kybern_core::time::Millis;
use kybern_engine::chat::{SayRequest, TurnView};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::task_request::{AttachmentBody, attached};
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, PathArgs, check_text};
use crate::idempotency::{KeyedRequest, replayed};
use crate::page::{PageParams, Paging};
use crate::schema::chat::{MessagePage, MessageSchema, TurnSchema};
use crate::schema::event::StreamEventSchema;
use crate::sse;
use crate::state::AppState;

/// How long a request waits for its turn: as long as a turn may work, and half a minute. Then the turn goes on without
/// it.
const WAIT: Millis = Millis::from_secs(150);

/// What is said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewMessage, example = json!({"content": "Which contracts end this month?"}))]
pub(crate) struct SayBody {
    /// The words.
    #[schema(max_length = 262_144, pattern = "\\S")]
    content: String,
    /// Files. Their text is shown to the model as data, and pictures as pictures.
    #[serde(default)]
    #[schema(max_items = 100)]
    attachments: Vec<AttachmentBody>,
    /// The most that the turn may cost, in nano-dollars.
    #[serde(alias = "budget_nanos")]
    #[schema(minimum = 0)]
    budget_nanos: Option<i64>,
}

/// What is wrong with the words of a message as such.
pub(super) fn check_content(path: &str, content: &str) -> Option<Detail> {
    let length = content.len();
    let too_long = || Detail::new(path, format!("a message has at most {MAX_CONTENT} bytes, this one has {length}"));
    check_text(path, content, usize::MAX).or_else(|| (length > MAX_CONTENT).then(too_long))
}

impl SayBody {
    fn request(self, key: Option<String>, trace: Option<String>) -> ApiResult<SayRequest> {
        let mut faults = Vec::new();
        faults.extend(check_content("/content", &self.content));
        if self.budget_nanos.is_some_and(|budget| budget < 0) {
            faults.push(Detail::new("/budgetNanos", "budgetNanos must not be negative"));
        }
        let attachments = attached(&self.attachments, &mut faults);
        Problem::refuse(faults)?;
        Ok(SayRequest {
            content: self.content,
            attachments,
            idempotency_key: key,
            budget: self.budget_nanos.map(NanoUsd),
            trace_id: trace,
        })
    }
}

/// Say something
///
/// The answer comes when the turn has ended. When a person is asked first it is 202 with `approvalId`: answer that at
/// `/api/approvals/{id}` and read on at the stream. With `Accept: text/event-stream` the turn is read along: events
/// `message.start`, `message.delta`, `tool.start`, `tool.complete`, `approval.required`, `message.reset`,
/// `message.complete`, `error` and `done`, each with `data: {"type","data"}` and an id to go on from. A chat takes one
/// turn at a time; ten wait. The turn goes on when the connection is lost: read on at the stream of its message.
#[utoipa::path(post, path = "/api/chats/{id}/messages", operation_id = "send_message",
    params(("id" = String, Path, format = "uuid", description = "The chat")),
    request_body = SayBody,
    responses(
        (status = 200, description = "The answer, or the events of the turn, each so",
            content((TurnSchema = "application/json"), (StreamEventSchema = "text/event-stream"))),
        (status = 202, description = "The turn waits for a person, or goes on", body = TurnSchema),
    ))]
pub(crate) async fn send(
    KeyedRequest { state, actor, asked, key }: KeyedRequest,
    path: PathArgs,
    headers: HeaderMap,
    body: JsonBody<SayBody>,
) -> ApiResult {
    let chat: ChatId = path.parse("id")?;
    if sse::last_event_id(&headers, EventId::at(0))?.is_some() {
        // Whoever comes back wants to read on, and not to say it again.
        let message = "header Last-Event-ID: read on with GET /api/chats/{id}/stream?message=";
        return Err(Problem::invalid("", message));
    }
    let request = body.value.request(key, asked.trace_id.clone())?;
    if wants_events(&headers) {
        let place = state.streams.take(&actor)?;
        let following = state.engine.chats().say_aloud(&actor, chat, request).await?;
        return Ok(sse::turn(&state, following, place));
    }
    Ok(answered(&say(&state, &actor, chat, request).await?))
}

/// Says something and waits for the answer, as long as the server goes on.
pub(super) async fn say(state: &AppState, actor: &Actor, chat: ChatId, request: SayRequest) -> ApiResult<TurnView> {
    tokio::select! {
        turned = state.engine.chats().say(actor, chat, request, Some(WAIT)) => Ok(turned?),
        () = state.shutdown.cancelled() => {
            let message = "the server stops; the turn goes on when it is back, read it at the chat";
            Err(Error::new(ErrorCode::Unavailable, message).into())
        }
    }
}

fn answered(turned: &TurnView) -> Response {
    let status = if turned.status.is_terminal() { StatusCode::OK } else { StatusCode::ACCEPTED };
    let response = (status, Json(json!(turned))).into_response();
    if turned.repeated { replayed(response) } else { response }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|one| one.trim().split(';').next() == Some("text/event-stream"))
}

/// Read a turn along
///
/// The same events for the turn of a message, by the id of the user's message or of the answer. A reader that was cut off
/// names the message, sends `Last-Event-ID` and goes on where it was; nothing is said again.
#[utoipa::path(get, path = "/api/chats/{id}/stream", operation_id = "stream_turn",
    params(
        ("id" = String, Path, format = "uuid", description = "The chat"),
        ("message" = Option<String>, Query, format = "uuid", description = "The message; the last turn's when not given"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last event that was received"),
    ),
    responses((status = 200, description = "The events, each so", body = StreamEventSchema,
        content_type = "text/event-stream")))]
pub(crate) async fn stream(
    CallerRequest { state, actor, path, query }: CallerRequest,
    headers: HeaderMap,
) -> ApiResult {
    let chat: ChatId = path.parse("id")?;
    let named = query.only(&["message"])?.id("message")?;
    let after = sse::last_event_id(&headers, EventId::at(0))?;
    if after.is_some() && named.is_none() {
        // Meanwhile another turn may be the last one, and its events are others.
        let message = "the events of which turn? Say ?message= with the messageId of message.start, as you go on \
                       behind one of them";
        return Err(Problem::invalid("/message", message));
    }
    let place = state.streams.take(&actor)?;
    let following = state.engine.chats().follow_turn(&actor, chat, named, after).await?;
    Ok(sse::turn(&state, following, place))
}

/// List messages
///
/// The oldest first. What was taken back is there without its words.
#[utoipa::path(get, path = "/api/chats/{id}/messages", operation_id = "list_messages",
    params(
        ("id" = String, Path, format = "uuid", description = "The chat"),
        PageParams,
    ),
    responses((status = 200, description = "A page of messages", body = MessagePage)))]
pub(crate) async fn list(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Json<Value>> {
    let chat: ChatId = path.parse("id")?;
    let paging = Paging::read(query, &[])?;
    let page = state.engine.chats().messages(&actor, chat, paging.after::<MessageId>()?, paging.limit).await?;
    paging.answer(&page.items, page.next.as_deref())
}

/// Take a message back
///
/// Its words are gone from the chat, and no model is shown it there again. The task of its turn keeps its input and
/// its journal, and a fork of the chat its copy.
#[utoipa::path(post, path = "/api/chats/{id}/messages/{message}/redact", operation_id = "redact_message",
    params(
        ("id" = String, Path, format = "uuid", description = "The chat"),
        ("message" = String, Path, format = "uuid", description = "The message"),
    ),
    responses((status = 200, description = "The message", body = MessageSchema)))]
pub(crate) async fn redact(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let message = state.engine.chats().redact(&actor, path.parse("id")?, path.parse("message")?).await?;
    super::shown(&message).map(Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_wanted_when_they_are_accepted() {
        let wants = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            wants_events(&headers)
        };
        assert!(wants("text/event-stream") && wants("application/json, text/event-stream;q=0.5"));
        assert!(!wants("application/json") && !wants("*/*") && !wants_events(&HeaderMap::new()));
    }

    #[test]
    fn a_reader_goes_on_behind_an_event() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("last-event-id", text.parse().unwrap());
            sse::last_event_id(&headers, EventId::at(0)).ok()
        };
        assert_eq!(read("7.12"), Some(Some(EventId { row: 7, n: 12 })));
        assert_eq!((read("0"), read("")), (Some(Some(EventId::default())), Some(None)));
        assert_eq!((read("x"), read("-1")), (None, None));
    }
}
