//! Whoever asked for something that lasts has to keep the right to it: an event stream ends, and a long wait is
//! answered with `UNAUTHENTICATED`, once its key is revoked or expires, or its holder has lost a right.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use hyper::body::{Frame, SizeHint};
use kybern_core::actor::{Actor, Right};
use kybern_core::error::{Error, ErrorCode};
use serde_json::json;

use crate::auth;
use crate::error::{Problem, envelope};
use crate::sse;
use crate::state::AppState;

/// How often it is looked whether the key still stands. The store has the answer in memory.
const LOOK: Duration = Duration::from_secs(2);

/// A caller's key, with what it could do when it asked.
#[derive(Clone)]
pub(crate) struct KeyStanding {
    state: AppState,
    bearer: String,
    held: [bool; Right::ALL.len()],
}

impl KeyStanding {
    /// `None` for the process's own key, which ends with it.
    pub(crate) fn of(state: &AppState, headers: &HeaderMap, actor: &Actor) -> Option<Self> {
        let bearer = auth::bearer(headers).ok().filter(|bearer| !state.is_local(bearer))?.to_owned();
        Some(Self { state: state.clone(), bearer, held: Right::ALL.map(|right| actor.may(right)) })
    }

    /// Returns once the key does not stand any more.
    async fn lost(self) {
        loop {
            // The time being up is what is waited for.
            drop(tokio::time::timeout(LOOK, std::future::pending::<()>()).await);
            let held = Right::ALL.into_iter().zip(self.held).filter_map(|(right, held)| held.then_some(right));
            let held: Vec<Right> = held.collect();
            if !self.state.engine.identity().still_holds(&self.bearer, &held).await {
                return;
            }
        }
    }

    /// The answer of a route, or that the key has ended before it came.
    pub(crate) async fn keep(self, answering: impl Future<Output = Response>) -> Result<Response, Problem> {
        tokio::select! {
            biased;
            response = answering => Ok(response),
            () = self.lost() => Err(ended().into()),
        }
    }

    /// The answer with an end: when it is a stream of events, its last one says that the key has ended.
    pub(crate) fn bound(self, path: &str, response: Response) -> Response {
        if !is_stream(response.headers()) {
            return response;
        }
        let last = last_words(path);
        response.map(|body| Body::new(Bound { body, lost: Some(self.lost().boxed()), last }))
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn ended() -> Error {
    Error::new(ErrorCode::Unauthenticated, "the API key was revoked, has expired, or has lost a right that it had")
}

/// The event with which a stream ends, as its readers write events.
fn last_words(path: &str) -> Bytes {
    let ended = ended();
    if path.starts_with("/v1/") {
        let message = &envelope(&ended, "")["error"]["message"];
        let error = json!({"error": {"message": message, "type": "authentication_error", "code": "UNAUTHENTICATED"}});
        return Bytes::from(format!("data: {error}\n\n"));
    }
    sse::told(&ended)
}

/// A stream of events that ends with its key.
struct Bound {
    body: Body,
    /// `None` once it has ended.
    lost: Option<BoxFuture<'static, ()>>,
    last: Bytes,
}

impl HttpBody for Bound {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(lost) = self.lost.as_mut() else { return Poll::Ready(None) };
        if lost.poll_unpin(context).is_ready() {
            self.lost = None;
            // What the stream holds is let go at once.
            self.body = Body::empty();
            return Poll::Ready(Some(Ok(Frame::data(self.last.clone()))));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.lost = None;
        }
        polled
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
