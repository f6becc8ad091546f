//! A reply in pieces, as it comes.
//!
//! The reader sets the pace: a piece is asked for when the one before has been taken, so a stream holds no more than the
//! frames of one piece. Each stream has a guard. It ends the stream when nobody reads it, and soon after the server
//! begins to shut down; what the stream has spent is settled then, and its reader is told why.

mod guard;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::stream;
use kybern_core::error::Error;
use kybern_core::model::ModelEvent;
use kybern_engine::models::Streaming;

use self::guard::Guarded;
use super::chunk::Frames;
use crate::state::AppState;
use crate::streams::Place;

/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Room for the frames that are written together.
const ROOM: usize = 4_096;

/// What a stream holds of others.
struct Work {
    streaming: Streaming,
    _place: Place,
}

struct Follow {
    work: Guarded<Work>,
    frames: Frames,
    tells_usage: bool,
}

/// Answers with the pieces. Frames of pieces that are ready together leave together.
pub(crate) fn events(
    state: &AppState,
    streaming: Streaming,
    (request, created): (&str, i64),
    tells_usage: bool,
    place: Place,
) -> Response {
    let model = streaming.model();
    let frames = Frames::new(request, created, &model);
    let work = Guarded::new(state, Work { streaming, _place: place });
    let body = Body::from_stream(stream::unfold(Some(Follow { work, frames, tells_usage }), next));
    let mut headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // A proxy that buffers would hold pieces back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    if let Ok(model) = HeaderValue::try_from(model) {
        headers.push((HeaderName::from_static("x-kybern-model"), model));
    }
    (axum::response::AppendHeaders(headers), body).into_response()
}

type Step = Option<(Result<Bytes, Infallible>, Option<Follow>)>;

/// What the next look at a stream has brought.
enum Looked {
    Silent,
    Pieces(Vec<ModelEvent>),
    Over,
    Failed(Error),
}

async fn look(follow: &Follow) -> Looked {
    let asked = follow.work.with(async |work: &mut Work| {
        let next = tokio::time::timeout(KEEP_ALIVE, work.streaming.next()).await;
        match next {
            Err(_elapsed) => Looked::Silent,
            Ok(Ok(events)) if events.is_empty() => Looked::Over,
            Ok(Ok(events)) => Looked::Pieces(events),
            Ok(Err(error)) => Looked::Failed(error),
        }
    });
    asked.await.unwrap_or_else(|why| Looked::Failed(why.into()))
}

async fn next(follow: Option<Follow>) -> Step {
    let follow = follow?;
    let mut out = BytesMut::with_capacity(ROOM);
    match look(&follow).await {
        Looked::Silent => return Some((Ok(Bytes::from_static(b": keep-alive\n\n")), Some(follow))),
        Looked::Pieces(events) => {
            for event in &events {
                follow.frames.piece(event, &mut out);
            }
            return Some((Ok(out.freeze()), Some(follow)));
        }
        Looked::Over => {
            let usage = follow.work.end().and_then(|work| work.streaming.usage());
            if let Some(usage) = usage.filter(|_| follow.tells_usage) {
                follow.frames.usage(&usage, &mut out);
            }
            Frames::done(&mut out);
        }
        Looked::Failed(error) => follow.frames.error(&error, &mut out),
    }
    Some((Ok(out.freeze()), None))
}
