//! Streams of server-sent events: what all of them have in common, the log of a task, and a turn of a conversation.
//!
//! Of a log and a turn `event:` is the event's name, `data:` is `{"type","data"}`, and `id:` is its place, which a reader
//! that was cut off sends back as `Last-Event-ID`, and misses nothing. The place of an entry of a log is its `seq`; the
//! messages of a turn stand between them under `{seq}.{n}`. A stream ends with `done`; it ends without it when the server
//! shuts down, so that the reader comes back.
//!
//! The reader sets the pace: the next events are looked for when the ones before have been taken, so a slow reader holds
//! no more than one look of them.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;
use kybern_core::actor::Actor;
use kybern_core::chat::EventId;
use kybern_core::error::Error;
use kybern_core::id::TaskId;
use kybern_core::time::Millis;
use kybern_engine::chat::TurnReader;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::error::{ApiResult, Problem, envelope};
use crate::state::AppState;
use crate::streams::StreamPlace;

/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What it shows.
pub(crate) const ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");
/// How long one look at the log waits for news.
const LOOK: Millis = Millis::from_secs(20);

/// The next piece of a stream, with what goes on behind it; behind the last one nothing does.
pub(crate) type Step<S> = Option<(Bytes, Option<S>)>;

/// Answers with the pieces that `next` makes, and with a header of the stream's own.
pub(crate) fn answer<S, F>(
    state: S,
    next: impl Fn(S) -> F + Copy + Send + 'static,
    own: Option<(&'static str, String)>,
) -> Response
where
    S: Send + 'static,
    F: Future<Output = Step<S>> + Send,
{
    let pieces = stream::unfold(Some(state), move |state| async move {
        let (piece, rest) = next(state?).await?;
        Some((Ok::<_, Infallible>(piece), rest))
    });
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // A proxy that buffers would hold events back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ]);
    headers.extend(
        own.and_then(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))),
    );
    (headers, Body::from_stream(pieces)).into_response()
}

/// What the next look at a source of events has brought.
pub(crate) enum PolledSource<T> {
    /// Nothing yet: the stream shows that it is alive.
    Silent,
    Found(T),
    Failed(Error),
    /// The server shuts down.
    Over,
}

/// Looks at a source for as long as a stream may be silent.
pub(crate) async fn look<T>(next: impl Future<Output = Result<T, Error>>) -> PolledSource<T> {
    match tokio::time::timeout(KEEP_ALIVE, next).await {
        Err(_elapsed) => PolledSource::Silent,
        Ok(Ok(found)) => PolledSource::Found(found),
        Ok(Err(error)) => PolledSource::Failed(error),
    }
}

/// The same, until the server shuts down.
pub(crate) async fn look_until<T>(
    shutdown: &CancellationToken,
    next: impl Future<Output = Result<T, Error>>,
) -> PolledSource<T> {
    tokio::select! {
        biased;
        () = shutdown.cancelled() => PolledSource::Over,
        looked = look(next) => looked,
    }
}

/// Behind what a reader wants to go on: the id in `Last-Event-ID`, `{seq}` or `{seq}.{n}`, from `first` on.
pub(crate) fn last_event_id(headers: &HeaderMap, first: EventId) -> ApiResult<Option<EventId>> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(None);
    }
    let id = text.parse().ok().filter(|id| *id >= first);
    id.map(Some).ok_or_else(|| Problem::invalid("", format!("header Last-Event-ID: {text:?} is no id of this stream")))
}

/// Before the first entry of a log.
pub(crate) const START: EventId = EventId::at(-1);

/// A log that is read.
struct Log {
    state: AppState,
    actor: Actor,
    task: TaskId,
    after: EventId,
    _place: StreamPlace,
}

/// Streams a task's log from behind that place.
pub(crate) fn log(state: &AppState, actor: Actor, task: TaskId, after: EventId) -> ApiResult {
    let place = state.streams.take(&actor)?;
    let log = Log { state: state.clone(), actor, task, after, _place: place };
    Ok(answer(Box::new(log), next_of_log, None))
}

async fn next_of_log(mut log: Box<Log>) -> Step<Box<Log>> {
    let tasks = log.state.engine.tasks();
    let news = tasks.follow(&log.actor, log.task, log.after, LOOK);
    let followed = match look_until(&log.state.shutdown, news).await {
        PolledSource::Silent => return Some((ALIVE, Some(log))),
        PolledSource::Over => return None,
        PolledSource::Failed(error) => return Some((failed(&error), None)),
        PolledSource::Found(followed) => followed,
    };
    let entries =
        followed.entries.iter().map(|entry| (EventId::at(entry.seq), entry.event_type.as_str(), json!(entry)));
    let messages = followed.messages.into_iter().map(|(place, told)| (place, told.name, told.data));
    let mut events: Vec<(EventId, &str, Value)> = entries.chain(messages).collect();
    events.sort_by_key(|(place, ..)| *place);
    let mut out = BytesMut::new();
    for (place, name, data) in &events {
        log.after = *place;
        frame(Some(*place), name, data, &mut out);
    }
    if followed.ended {
        frame(Some(log.after), "done", &json!({}), &mut out);
        return Some((out.freeze(), None));
    }
    Some((if out.is_empty() { ALIVE } else { out.freeze() }, Some(log)))
}

/// A turn that is read.
struct StreamedTurn {
    state: AppState,
    following: TurnReader,
    _place: StreamPlace,
}

/// Streams the events of a turn.
pub(crate) fn turn(state: &AppState, following: TurnReader, place: StreamPlace) -> Response {
    let task = following.heard().task.to_string();
    let turn = StreamedTurn { state: state.clone(), following, _place: place };
    answer(Box::new(turn), next_of_turn, Some(("x-kybern-task", task)))
}

async fn next_of_turn(mut turn: Box<StreamedTurn>) -> Step<Box<StreamedTurn>> {
    match look_until(&turn.state.shutdown, turn.following.next()).await {
        PolledSource::Silent => Some((ALIVE, Some(turn))),
        PolledSource::Over => None,
        PolledSource::Failed(error) => Some((failed(&error), None)),
        PolledSource::Found(events) if events.is_empty() => None,
        PolledSource::Found(events) => {
            let mut out = BytesMut::with_capacity(events.len() * 192);
            events.iter().for_each(|event| frame(Some(event.id), event.name, &event.data, &mut out));
            Some((out.freeze(), Some(turn)))
        }
    }
}

fn failed(error: &Error) -> Bytes {
    crate::error::log(error);
    told(error)
}

/// The last event of a stream that fails, without an id: whoever comes back goes on behind what it has.
pub(crate) fn told(error: &Error) -> Bytes {
    let shown = envelope(error, "");
    let data = json!({"code": shown["error"]["code"], "message": shown["error"]["message"]});
    let mut out = BytesMut::new();
    frame(None, "error", &data, &mut out);
    out.freeze()
}

fn frame(id: Option<EventId>, name: &str, data: &Value, out: &mut BytesMut) {
    #[derive(Serialize)]
    struct Told<'a> {
        r#type: &'a str,
        data: &'a Value,
    }
    if let Some(id) = id {
        out.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    out.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    // JSON has no line feed of its own, so a frame is one line of data; writing into memory does not fail.
    let wrote = serde_json::to_writer(out.writer(), &Told { r#type: name, data });
    debug_assert!(wrote.is_ok(), "JSON into memory");
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_behind_the_last_event() {
        let read = |text: &str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("last-event-id"),
                HeaderValue::from_str(text).unwrap(),
            )]);
            last_event_id(&headers, START).map_err(drop)
        };
        assert_eq!(last_event_id(&HeaderMap::new(), START).ok(), Some(None));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("17"), Ok(Some(EventId::at(17))));
        assert_eq!(read("17.4"), Ok(Some(EventId { row: 17, n: 4 })));
        assert_eq!(read("x"), Err(()));
        assert_eq!(read("-2"), Err(()));
    }
}
