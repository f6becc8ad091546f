//! Reading bodies: never more than the limit, and never leaving a caller with a broken connection instead of an
//! answer. What is held of all bodies together has a limit too: [`budget`].

mod budget;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use kybern_core::error::{Error, ErrorCode};
use tokio_util::task::TaskTracker;

pub(crate) use self::budget::{Budget, ByteReservation, Holder};

use crate::error::{ApiResult, Problem};
use crate::state::AppState;

/// How long a body may stand still.
const STALL: Duration = Duration::from_secs(30);
/// What has to arrive of it in that time, or the rest: a byte now and then would hold a connection for ever.
const PROGRESS: usize = 16 * 1024;
/// How much of a refused body is still taken off the wire and thrown away. A connection that is closed while the
/// caller still writes is reset, and the caller never reads why.
const DRAIN_BYTES: usize = 64 * 1024 * 1024;
/// For how long.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Reads a body of at most `limit` bytes. It counts against the budget of all bodies until its last copy is dropped.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`; `UNAVAILABLE` when too much is held of other bodies; `VALIDATION_ERROR` for one that breaks off.
pub(crate) async fn read(state: &AppState, request: Request, limit: usize) -> ApiResult<(Parts, Bytes)> {
    let booking = state.bodies.open(Holder::of(state, &request));
    read_booked(booking, request, limit).await
}

async fn read_booked(booking: ByteReservation, request: Request, limit: usize) -> ApiResult<(Parts, Bytes)> {
    let (parts, body) = request.into_parts();
    let declared = declared_length(&parts.headers);
    if declared.is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    let declared = declared.and_then(|length| usize::try_from(length).ok());
    let mut arriving =
        ArrivingBody { stream: body.into_data_stream(), read: BytesMut::new(), booking, declared, limit };
    loop {
        match tokio::time::timeout(STALL, arriving.read_on()).await {
            Ok(Ok(true)) => return Ok((parts, arriving.whole())),
            Ok(Ok(false)) => {}
            Ok(Err(problem)) => return Err(problem),
            Err(_) => return Err(Problem::invalid("", "the body stopped arriving, or came too slowly: send it again")),
        }
    }
}

/// A body on its way.
struct ArrivingBody {
    stream: BodyDataStream,
    read: BytesMut,
    booking: ByteReservation,
    declared: Option<usize>,
    limit: usize,
}

impl ArrivingBody {
    /// Reads on by [`PROGRESS`] bytes; whether that was the whole body.
    async fn read_on(&mut self) -> ApiResult<bool> {
        let wanted = self.read.len() + PROGRESS;
        while self.read.len() < wanted {
            match self.stream.next().await {
                Some(Ok(chunk)) if self.read.len() + chunk.len() > self.limit => return Err(too_large(self.limit)),
                Some(Ok(chunk)) => {
                    self.booking.add(chunk.len())?;
                    // Room that is asked for and not written to takes no memory; growing bit by bit would take twice.
                    let rest = self.declared.unwrap_or(0).saturating_sub(self.read.len());
                    self.read.reserve(rest.max(chunk.len()));
                    self.read.extend_from_slice(&chunk);
                }
                Some(Err(_)) => return Err(Problem::invalid("", "the body broke off before its end, send it again")),
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The bytes, which keep their booking for as long as anybody has them.
    fn whole(self) -> Bytes {
        if self.read.is_empty() { Bytes::new() } else { Bytes::from_owner(BookedBytes(self.read, self.booking)) }
    }
}

/// Bytes with what is booked for them, which is given back when it is dropped.
pub(crate) struct BookedBytes<B, K>(pub(crate) B, pub(crate) K);

impl<B: AsRef<[u8]>, K> AsRef<[u8]> for BookedBytes<B, K> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(limit: usize) -> Problem {
    let message = format!("the body is larger than {limit} bytes, the limit of this route");
    Error::new(ErrorCode::PayloadTooLarge, message).into()
}

/// The request, with a body of which what nobody wants to read is read after the answer has been sent.
pub(crate) fn drained(state: &AppState, request: Request) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    // Who asks before sending has not sent anything yet: there is nothing to drain.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let (parts, body) = request.into_parts();
    let body = DrainingBody {
        body: Some(body.into_data_stream()),
        touched: !asks_first,
        background: state.background.clone(),
    };
    Request::from_parts(parts, Body::from_stream(body))
}

/// A body whose unread rest is drained in the background when it is dropped.
struct DrainingBody {
    body: Option<BodyDataStream>,
    touched: bool,
    background: TaskTracker,
}

impl Stream for DrainingBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.touched = true;
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let polled = body.poll_next_unpin(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }
}

impl Drop for DrainingBody {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|_| self.touched) else { return };
        // Outside a runtime there is no connection either.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.background.spawn(drain(body));
        }
    }
}

async fn drain(mut body: BodyDataStream) {
    let all = async {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(chunk)) = body.next().await {
            match left.checked_sub(chunk.len()) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    };
    // Whether it ended or was cut off, the connection is the caller's problem from here on.
    drop(tokio::time::timeout(DRAIN_TIME, all).await);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    async fn read_all(request: Request, limit: usize) -> ApiResult<(Parts, Bytes)> {
        read_booked(Budget::new(64 * 1024 * 1024).open(Holder::Address(None)), request, limit).await
    }

    fn counted(chunks: usize, seen: &Arc<AtomicUsize>) -> Body {
        let seen = Arc::clone(seen);
        Body::from_stream(futures::stream::iter(0..chunks).map(move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
            Ok::<_, axum::Error>(Bytes::from_static(&[b'x'; 10]))
        }))
    }

    #[tokio::test]
    async fn a_declared_length_over_the_limit_is_refused_before_anything_is_read() {
        let seen = Arc::default();
        let request = Request::builder().header(header::CONTENT_LENGTH, 101).body(counted(20, &seen)).unwrap();
        assert_eq!(read_all(request, 100).await.unwrap_err().0.code(), ErrorCode::PayloadTooLarge);
        assert_eq!(seen.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn an_undeclared_length_is_refused_at_the_limit() {
        let seen = Arc::default();
        let request = Request::new(counted(1000, &seen));
        assert_eq!(read_all(request, 100).await.unwrap_err().0.code(), ErrorCode::PayloadTooLarge);
        assert!(seen.load(Ordering::SeqCst) <= 12);
    }

    #[tokio::test]
    async fn a_body_of_exactly_the_limit_is_read_whole() {
        let (_, bytes) = read_all(Request::new(counted(10, &Arc::default())), 100).await.unwrap();
        assert_eq!(bytes.len(), 100);
        let (_, bytes) = read_all(Request::new(Body::from("abc")), 3).await.unwrap();
        assert_eq!(bytes, "abc");
    }

    #[tokio::test]
    async fn a_body_is_booked_as_it_arrives_and_for_as_long_as_anybody_has_it() {
        // 16,000 bytes for callers who have proven nothing, of which one address may take half.
        let budget = Budget::new(64_000);
        let read = async |chunks| {
            let request = Request::new(counted(chunks, &Arc::default()));
            read_booked(budget.open(Holder::Address(None)), request, 64_000).await
        };
        let (_, bytes) = read(800).await.unwrap();
        let copy = bytes.slice(10..20);
        assert_eq!(read(1).await.unwrap_err().0.code(), ErrorCode::Unavailable);
        drop(bytes);
        assert_eq!(read(1).await.unwrap_err().0.code(), ErrorCode::Unavailable, "a part of it is still held");
        drop(copy);
        assert_eq!(read(801).await.unwrap_err().0.code(), ErrorCode::Unavailable, "what was read of it is given back");
        assert_eq!(read(800).await.unwrap().1.len(), 8_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_is_given_up() {
        let still = Body::from_stream(futures::stream::pending::<Result<Bytes, axum::Error>>());
        let reading = tokio::time::timeout(STALL * 2, read_all(Request::new(still), 100)).await;
        let problem = reading.expect("it is not waited for without end").unwrap_err();
        assert_eq!((problem.0.code(), problem.0.to_string().contains("stopped")), (ErrorCode::Validation, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_given_up_and_a_slow_one_is_not() {
        let dripping = |bytes: usize| {
            Body::from_stream(futures::stream::unfold((), move |()| async move {
                // The time being up is what is waited for.
                drop(tokio::time::timeout(STALL / 2, std::future::pending::<()>()).await);
                Some((Ok::<_, axum::Error>(Bytes::from(vec![b'x'; bytes])), ()))
            }))
        };
        let problem = read_all(Request::new(dripping(1)), 1024 * 1024).await.unwrap_err();
        assert_eq!((problem.0.code(), problem.0.to_string().contains("too slowly")), (ErrorCode::Validation, true));
        let slow = read_all(Request::new(dripping(PROGRESS)), 10 * PROGRESS).await.unwrap_err();
        assert_eq!(slow.0.code(), ErrorCode::PayloadTooLarge, "it was read up to the limit");
    }

    /// What becomes of a body that nobody reads to its end.
    async fn dropped(body: Body, touched: bool) {
        let background = TaskTracker::new();
        drop(DrainingBody { body: Some(body.into_data_stream()), touched, background: background.clone() });
        background.close();
        let drained = tokio::time::timeout(DRAIN_TIME * 2, background.wait()).await;
        drained.expect("it is not drained without end");
    }

    #[tokio::test]
    async fn what_nobody_reads_is_drained_up_to_a_limit() {
        const CHUNK: usize = 1024 * 1024;
        let seen: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&seen);
        let chunk = Bytes::from(vec![b'x'; CHUNK]);
        let much = futures::stream::iter(0..1000).map(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, axum::Error>(chunk.clone())
        });
        dropped(Body::from_stream(much), true).await;
        assert_eq!(seen.load(Ordering::SeqCst), DRAIN_BYTES / CHUNK + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_reads_and_nobody_sends_is_drained_for_a_while() {
        dropped(Body::from_stream(futures::stream::pending::<Result<Bytes, axum::Error>>()), true).await;
    }

    #[tokio::test]
    async fn what_is_not_sent_before_it_is_asked_for_is_not_drained() {
        let seen: Arc<AtomicUsize> = Arc::default();
        dropped(counted(50, &seen), false).await;
        assert_eq!(seen.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn what_nobody_reads_is_drained() {
        let seen: Arc<AtomicUsize> = Arc::default();
        dropped(counted(50, &seen), true).await;
        assert_eq!(seen.load(Ordering::SeqCst), 50);
    }
}
