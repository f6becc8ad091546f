//! A turn as a stream of server-sent events: `event:` its name, `data: {"type","data"}`, and an `id:` from which a reader
//! that was cut off goes on.
//!
//! The reader sets the pace: the next events are looked for when the ones before have been taken, so a slow reader holds
//! no more than one look of them. A stream ends with `done`; it ends without it when the server shuts down, so that the
//! reader comes back.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;
use kybern_core::chat::TurnEvent;
use kybern_engine::chat::Following;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::envelope;
use crate::state::AppState;
use crate::streams::Place;

/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

struct Reader {
    state: AppState,
    following: Following,
    _place: Place,
}

/// Answers with the events of a turn.
pub(crate) fn events(state: &AppState, following: Following, place: Place) -> Response {
    let heard = following.heard();
    let reader = Reader { state: state.clone(), following, _place: place };
    let body = Body::from_stream(stream::unfold(Some(Box::new(reader)), next));
    let mut headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // A proxy that buffers would hold events back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    if let Ok(task) = HeaderValue::try_from(heard.task.to_string()) {
        headers.push((HeaderName::from_static("x-kybern-task"), task));
    }
    (axum::response::AppendHeaders(headers), body).into_response()
}

type Step = Option<(Result<Bytes, Infallible>, Option<Box<Reader>>)>;

async fn next(reader: Option<Box<Reader>>) -> Step {
    let mut reader = reader?;
    let looked = tokio::select! {
        biased;
        () = reader.state.shutdown.cancelled() => return None,
        looked = tokio::time::timeout(KEEP_ALIVE, reader.following.next()) => looked,
    };
    match looked {
        Err(_elapsed) => Some((Ok(Bytes::from_static(b": keep-alive\n\n")), Some(reader))),
        Ok(Ok(events)) if events.is_empty() => None,
        Ok(Ok(events)) => {
            let mut out = BytesMut::with_capacity(events.len() * 192);
            events.iter().for_each(|event| frame(event, &mut out));
            Some((Ok(out.freeze()), Some(reader)))
        }
        Ok(Err(error)) => {
            crate::error::log(&error);
            let shown = envelope(&error, "");
            let data = json!({"code": shown["error"]["code"], "message": shown["error"]["message"]});
            let mut out = BytesMut::new();
            // Without an id: whoever comes back goes on behind what it has.
            written(None, "error", &data, &mut out);
            Some((Ok(out.freeze()), None))
        }
    }
}

fn frame(event: &TurnEvent, out: &mut BytesMut) {
    written(Some(event.id.to_string()), event.name, &event.data, out);
}

fn written(id: Option<String>, name: &str, data: &Value, out: &mut BytesMut) {
    #[derive(Serialize)]
    struct Told<'a> {
        r#type: &'a str,
        data: &'a Value,
    }
    if let Some(id) = id {
        out.extend_from_slice(b"id: ");
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(b"\n");
    }
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    // JSON has no line feed of its own, so a frame is one line of data; writing into memory does not fail.
    let wrote = serde_json::to_writer(out.writer(), &Told { r#type: name, data });
    debug_assert!(wrote.is_ok(), "JSON into memory");
    out.extend_from_slice(b"\n\n");
}
