//! A reply in pieces, as it comes.
//!
//! The reader sets the pace: a piece is asked for when the one before has been taken, so a stream holds no more than the
//! frames of one piece. Each stream has a guard. It ends the stream when nobody reads it, and soon after the server
//! begins to shut down; what the stream has spent is settled then, and its reader is told why.

mod guard;

use axum::response::Response;
use bytes::BytesMut;
use kybern_engine::models::Streaming;

use self::guard::Guarded;
use super::chunk::Frames;
use crate::sse::{self, Looked, Step};
use crate::state::AppState;
use crate::streams::Place;

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
    sse::answer(Follow { work, frames, tells_usage }, next, Some(("x-kybern-model", model)))
}

async fn next(follow: Follow) -> Step<Follow> {
    let mut out = BytesMut::with_capacity(ROOM);
    let looked = follow.work.with(async |work: &mut Work| sse::look(work.streaming.next()).await).await;
    match looked.unwrap_or_else(|why| Looked::Failed(why.into())) {
        Looked::Silent => return Some((sse::ALIVE, Some(follow))),
        Looked::Found(events) if !events.is_empty() => {
            for event in &events {
                follow.frames.piece(event, &mut out);
            }
            return Some((out.freeze(), Some(follow)));
        }
        Looked::Found(_) | Looked::Over => {
            let usage = follow.work.end().and_then(|work| work.streaming.usage());
            if let Some(usage) = usage.filter(|_| follow.tells_usage) {
                follow.frames.usage(&usage, &mut out);
            }
            Frames::done(&mut out);
        }
        Looked::Failed(error) => follow.frames.error(&error, &mut out),
    }
    Some((out.freeze(), None))
}
