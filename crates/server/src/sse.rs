//! A task's log as a stream of server-sent events.
//!
//! `id:` is the entry's `seq`, `event:` its type, `data:` is `{"type", "data": entry}`. A caller that lost the
//! connection sends the last id back as `Last-Event-ID` and misses nothing. The stream ends with `done` once the task
//! has ended and everything was delivered; it ends without it when the server shuts down, so that the caller comes
//! back. Of a turn of a conversation the log has the messages as well, under ids `{seq}.{n}`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream;
use kybern_core::actor::Actor;
use kybern_core::chat::EventId;
use kybern_core::event::LogEntry;
use kybern_core::id::TaskId;
use kybern_core::time::Millis;
use serde_json::{Value, json};

use crate::error::{ApiResult, Problem, envelope};
use crate::state::AppState;
use crate::streams::Place;

/// How often an idle stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long one look at the log waits for news.
const LOOK: Millis = Millis::from_secs(20);

/// Before the first entry of a log.
const START: EventId = EventId::at(-1);

/// Streams a task's log from behind the entry with that number.
pub(crate) fn stream(state: &AppState, actor: Actor, task: TaskId, after: EventId) -> ApiResult {
    let place = state.streams.take(&actor)?;
    let follow =
        Follow { state: state.clone(), actor, task, after, ready: VecDeque::new(), ended: false, _place: place };
    let events = stream::unfold(Some(follow), next);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // A proxy that buffers would hold events back.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// Behind what a caller wants to go on: the id in `Last-Event-ID`, `{seq}` or `{seq}.{n}`.
pub(crate) fn last_event_id(headers: &HeaderMap) -> ApiResult<EventId> {
    let Some(value) = headers.get("last-event-id") else { return Ok(START) };
    let text = value.to_str().unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(START);
    }
    let id = text.parse().ok().filter(|id| *id >= START);
    id.ok_or_else(|| Problem::invalid("", format!("header Last-Event-ID: {text:?} is no id of this stream")))
}

struct Follow {
    state: AppState,
    actor: Actor,
    task: TaskId,
    after: EventId,
    ready: VecDeque<(EventId, Event)>,
    ended: bool,
    _place: Place,
}

type Step = Option<(Result<Event, Infallible>, Option<Follow>)>;

async fn next(follow: Option<Follow>) -> Step {
    let mut follow = follow?;
    loop {
        if let Some((place, event)) = follow.ready.pop_front() {
            follow.after = place;
            return Some((Ok(event.id(place.to_string())), Some(follow)));
        }
        if follow.ended {
            let done = event("done", &json!({})).id(follow.after.to_string());
            return Some((Ok(done), None));
        }
        let look = follow.state.engine.tasks().follow(&follow.actor, follow.task, follow.after, LOOK);
        let looked = tokio::select! {
            biased;
            () = follow.state.shutdown.cancelled() => return None,
            looked = look => looked,
        };
        match looked {
            Ok(followed) => {
                let entries = followed.entries.iter().map(|entry| (EventId::at(entry.seq), entry_event(entry)));
                let messages = followed.messages.iter().map(|(place, told)| (*place, event(told.name, &told.data)));
                let mut ready: Vec<(EventId, Event)> = entries.chain(messages).collect();
                ready.sort_by_key(|(place, _)| *place);
                follow.ready.extend(ready);
                follow.ended = followed.ended;
            }
            Err(error) => {
                crate::error::log(&error);
                let shown = envelope(&error, "");
                let data = json!({"code": shown["error"]["code"], "message": shown["error"]["message"]});
                return Some((Ok(event("error", &data)), None));
            }
        }
    }
}

fn entry_event(entry: &LogEntry) -> Event {
    let data = serde_json::to_value(entry).unwrap_or_default();
    let name = data.get("eventType").and_then(Value::as_str).unwrap_or("message").to_owned();
    event(&name, &data)
}

fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(json!({"type": name, "data": data}).to_string())
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
            last_event_id(&headers).ok()
        };
        assert_eq!(last_event_id(&HeaderMap::new()).ok(), Some(START));
        assert_eq!(read(""), Some(START));
        assert_eq!(read("17"), Some(EventId::at(17)));
        assert_eq!(read("17.4"), Some(EventId { row: 17, n: 4 }));
        assert_eq!(read("x"), None);
        assert_eq!(read("-2"), None);
    }
}
