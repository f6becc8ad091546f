//! A reply in pieces, as it comes.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::stream;
use kybern_engine::models::Streaming;
use tokio::sync::OwnedSemaphorePermit;

use super::chunk::Frames;

/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Room for the frames that are written together.
const ROOM: usize = 4_096;

struct Follow {
    streaming: Streaming,
    frames: Frames,
    tells_usage: bool,
    _permit: OwnedSemaphorePermit,
}

/// Answers with the pieces. Frames of pieces that are ready together leave together.
pub(crate) fn events(
    streaming: Streaming,
    (request, created): (&str, i64),
    tells_usage: bool,
    permit: OwnedSemaphorePermit,
) -> Response {
    let model = streaming.model();
    let frames = Frames::new(request, created, &model);
    let follow = Follow { streaming, frames, tells_usage, _permit: permit };
    let body = Body::from_stream(stream::unfold(Some(follow), next));
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

async fn next(follow: Option<Follow>) -> Step {
    let mut follow = follow?;
    let mut out = BytesMut::with_capacity(ROOM);
    let Ok(next) = tokio::time::timeout(KEEP_ALIVE, follow.streaming.next()).await else {
        return Some((Ok(Bytes::from_static(b": keep-alive\n\n")), Some(follow)));
    };
    match next {
        Ok(events) if events.is_empty() => {
            if let Some(usage) = follow.streaming.usage().filter(|_| follow.tells_usage) {
                follow.frames.usage(&usage, &mut out);
            }
            Frames::done(&mut out);
            Some((Ok(out.freeze()), None))
        }
        Ok(events) => {
            for event in &events {
                follow.frames.piece(event, &mut out);
            }
            Some((Ok(out.freeze()), Some(follow)))
        }
        Err(error) => {
            follow.frames.error(&error, &mut out);
            Some((Ok(out.freeze()), None))
        }
    }
}
