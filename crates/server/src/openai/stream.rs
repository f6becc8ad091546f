//! A reply in pieces, as it comes.
//!
//! The reader sets the pace: a piece is asked for when the one before has been taken, so a stream holds no more than the
//! frames of one piece. Each stream has a guard. It ends the stream when nobody reads it, and soon after the server
//! begins to shut down; what the stream has spent is settled then, and its reader is told why.

mod guard;

use axum::response::Response;
use bytes::BytesMut;
use kybern_engine::models::Streaming;

use self::guard::GuardedWork;
use super::chunk::Frames;
use crate::sse::{self, PolledSource, Step};
use crate::state::AppState;
use crate::streams::StreamPlace;

/// Room for the frames that are written together.
const ROOM: usize = 4_096;

/// What a stream holds of others.
struct StreamWork {
    streaming: Streaming,
    _place: StreamPlace,
}

struct CompletionEvents {
    work: GuardedWork<StreamWork>,
    frames: Frames,
    tells_usage: bool,
}

/// Answers with the pieces. Frames of pieces that are ready together leave together.
pub(crate) fn events(
    state: &AppState,
    streaming: Streaming,
    (request, created): (&str, i64),
    tells_usage: bool,
    place: StreamPlace,
) -> Response {
    let model = streaming.model();
    let frames = Frames::new(request, created, &model);
    let work = GuardedWork::new(state, StreamWork { streaming, _place: place });
    sse::answer(CompletionEvents { work, frames, tells_usage }, next, Some(("x-kybern-model", model)))
}

async fn next(follow: CompletionEvents) -> Step<CompletionEvents> {
    let mut out = BytesMut::with_capacity(ROOM);
    let looked = follow.work.with(async |work: &mut StreamWork| sse::look(work.streaming.next()).await).await;
    match looked.unwrap_or_else(|why| PolledSource::Failed(why.into())) {
        PolledSource::Silent => return Some((sse::ALIVE, Some(follow))),
        PolledSource::Found(events) if !events.is_empty() => {
            for event in &events {
                follow.frames.piece(event, &mut out);
            }
            return Some((out.freeze(), Some(follow)));
        }
        PolledSource::Found(_) | PolledSource::Over => {
            let usage = follow.work.end().and_then(|work| work.streaming.usage());
            if let Some(usage) = usage.filter(|_| follow.tells_usage) {
                follow.frames.usage(&usage, &mut out);
            }
            Frames::done(&mut out);
        }
        PolledSource::Failed(error) => follow.frames.error(&error, &mut out),
    }
    Some((out.freeze(), None))
}
