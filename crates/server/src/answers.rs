//! Answers that their callers have not taken yet.
//!
//! One answer may have many megabytes, and whoever asked need not read it: so the bytes of answers that are held at a
//! time have a budget, like those of bodies, of which no tenant has more than its share. An answer that finds no room
//! is dropped, and its caller told when to come back. What a request has changed cannot be undone for want of room: such
//! a request is refused before it begins, and its answer counts in any case.
//!
//! Small answers are not counted: a full budget keeps nobody from revoking a key. Streams hold a piece at a time and
//! have places of their own. A caller who takes nothing at all loses the connection (`crate::serve`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use kybern_core::error::Error;
use kybern_core::id::TenantId;

use crate::body::{BookedBytes, ByteReservation, Holder};
use crate::error::Problem;
use crate::state::AppState;

/// Up to this size an answer is not counted: ten thousand connections hold a few hundred megabytes of them.
const SMALL: u64 = 32 * 1024;
/// What is handed to the connection at a time.
const PIECE: usize = 64 * 1024;

/// The room for the answer to one request.
pub(crate) struct AnswerBudget {
    booking: ByteReservation,
    /// Whether the request only reads, so that its answer can be refused after all.
    reads: bool,
}

impl AnswerBudget {
    /// Room for the answer to a request of that tenant.
    ///
    /// # Errors
    /// `UNAVAILABLE` when it would change something and there is none. Removing is never refused: it answers little.
    pub(crate) fn of(state: &AppState, tenant: TenantId, method: &Method) -> Result<Self, Error> {
        let booking = state.answers.open(Holder::Tenant(tenant));
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if !reads && *method != Method::DELETE {
            booking.has_room()?;
        }
        Ok(Self { booking, reads })
    }

    /// The answer, counted until its last byte has been handed over; or that there is no room for it.
    pub(crate) fn hold(mut self, response: Response) -> Response {
        let size = response.body().size_hint().exact().filter(|size| *size > SMALL);
        let Some(size) = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)) else { return response };
        if !self.reads {
            self.booking.must_add(size);
        } else if let Err(error) = self.booking.add(size) {
            return Problem::from(error).into_response();
        }
        let booking = Arc::new(self.booking);
        response.map(|body| Body::new(CountedBody { body, rest: Bytes::new(), booking }))
    }
}

/// The body of an answer that is counted.
struct CountedBody {
    body: Body,
    /// What was taken out of the body and not handed over yet.
    rest: Bytes,
    booking: Arc<ByteReservation>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = Bytes::from_owner(BookedBytes(bytes, Arc::clone(&self.booking))),
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let piece = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        match self.body.size_hint().exact() {
            Some(exact) => SizeHint::with_exact(exact.saturating_add(rest)),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use uuid::Uuid;

    use super::*;
    use crate::body::Budget;

    const LARGE: usize = 100 * 1024;

    /// What becomes of an answer of so many bytes.
    fn answered(budget: &Budget, tenant: u128, reads: bool, bytes: usize) -> Response {
        let holder = Holder::Tenant(TenantId::from_uuid(Uuid::from_u128(tenant)));
        AnswerBudget { booking: budget.open(holder), reads }.hold(Bytes::from(vec![b'x'; bytes]).into_response())
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_gone() {
        let budget = Budget::of_answers(2 * LARGE);
        let held = answered(&budget, 1, true, LARGE);
        assert_eq!((held.status().as_u16(), held.body().size_hint().exact()), (200, Some(LARGE as u64)));
        let refused = answered(&budget, 1, true, LARGE);
        assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].as_bytes()), (503, &b"2"[..]));
        assert_eq!(answered(&budget, 1, true, 1_000).status(), 200, "a small one needs no room");
        assert_eq!(answered(&budget, 2, true, LARGE / 2).status(), 200, "another tenant has some");
        let mut pieces = held.into_body().into_data_stream();
        let piece = pieces.next().await.unwrap().unwrap();
        assert_eq!((piece.len(), pieces.size_hint().exact()), (PIECE, Some((LARGE - PIECE) as u64)));
        drop(pieces);
        assert_eq!(answered(&budget, 1, true, LARGE).status(), 503, "the connection still has a piece of it");
        drop(piece);
        let whole = axum::body::to_bytes(answered(&budget, 1, true, LARGE).into_body(), LARGE).await.unwrap();
        assert_eq!(whole.len(), LARGE);
        drop(whole);
        assert_eq!(answered(&budget, 1, true, LARGE).status(), 200);
    }

    #[test]
    fn what_was_done_is_answered_and_the_next_is_refused_before_it_begins() {
        let budget = Budget::of_answers(2 * LARGE);
        let done = answered(&budget, 1, false, 3 * LARGE);
        assert_eq!(done.status(), 200);
        let holder = Holder::Tenant(TenantId::from_uuid(Uuid::from_u128(1)));
        assert!(budget.open(holder).has_room().is_err());
        drop(done);
        assert!(budget.open(holder).has_room().is_ok());
    }
}
