//! What a connection is doing, and until when it may.
//!
//! ```text
//! Silent ──bytes──► Head ──request──► Busy ──answered──► Idle ──bytes──► Head …
//! ```
//!
//! `Silent` and `Head` end with the head's deadline, `Idle` with its own. A connection that is `Busy` may take as long
//! as its request does: long polls and event streams live on. Whatever it is doing, it has to take what it is sent.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// How long a client may take nothing of an answer that waits for it.
const WRITE_STALL: Duration = Duration::from_secs(120);
/// With what a connection over HTTP/2 begins.
const HTTP2: &[u8] = b"PRI";

/// How long connections may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionDeadlines {
    /// For the head of a request, from the connection or its first byte on.
    pub(super) head: Duration,
    /// Between two requests.
    pub(super) idle: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Silent,
    Head,
    Busy(usize),
    Idle,
}

#[derive(Debug)]
struct ConnectionState {
    phase: Phase,
    since: Instant,
    /// Over HTTP/2 bytes between requests are no head that has begun.
    http2: bool,
    /// Since when what is to be sent is not taken.
    blocked: Option<Instant>,
}

/// What one connection is doing.
#[derive(Clone, Debug)]
pub(super) struct ConnectionWatch {
    doing: Arc<Mutex<ConnectionState>>,
    deadlines: ConnectionDeadlines,
}

impl ConnectionWatch {
    pub(super) fn new(deadlines: ConnectionDeadlines) -> Self {
        let doing = ConnectionState { phase: Phase::Silent, since: Instant::now(), http2: false, blocked: None };
        Self { doing: Arc::new(Mutex::new(doing)), deadlines }
    }

    /// Notes a request; it is answered when what is returned has been dropped.
    pub(super) fn busy(&self) -> BusyGuard {
        let mut doing = self.doing();
        let others = if let Phase::Busy(others) = doing.phase { others } else { 0 };
        doing.phase = Phase::Busy(others + 1);
        BusyGuard(self.clone())
    }

    /// Returns once the connection has taken longer than it may.
    pub(super) async fn overdue(&self) {
        loop {
            let (now, until) = (Instant::now(), self.until());
            if until.is_some_and(|until| until <= now) {
                return;
            }
            // What it is doing changes without telling: it is looked at again in time for the next deadline.
            let look = now + self.deadlines.head.min(self.deadlines.idle);
            let pause =
                tokio::time::timeout_at(until.map_or(look, |until| until.min(look)), std::future::pending::<()>());
            // The time being up is what is waited for.
            drop(pause.await);
        }
    }

    fn until(&self) -> Option<Instant> {
        let doing = self.doing();
        let phase = match doing.phase {
            Phase::Silent | Phase::Head => Some(doing.since + self.deadlines.head),
            Phase::Idle => Some(doing.since + self.deadlines.idle),
            Phase::Busy(_) => None,
        };
        let blocked = doing.blocked.map(|since| since + WRITE_STALL);
        match (phase, blocked) {
            (Some(phase), Some(blocked)) => Some(phase.min(blocked)),
            (phase, blocked) => phase.or(blocked),
        }
    }

    fn came(&self, bytes: &[u8]) {
        let mut doing = self.doing();
        match doing.phase {
            Phase::Silent if bytes.starts_with(HTTP2) => {
                (doing.phase, doing.since, doing.http2) = (Phase::Idle, Instant::now(), true);
            }
            // The time of the first head runs from the connection on.
            Phase::Silent => doing.phase = Phase::Head,
            Phase::Idle if !doing.http2 => (doing.phase, doing.since) = (Phase::Head, Instant::now()),
            Phase::Idle | Phase::Head | Phase::Busy(_) => {}
        }
    }

    fn sent(&self, taken: bool) {
        let mut doing = self.doing();
        match (taken, doing.blocked) {
            (true, Some(_)) => doing.blocked = None,
            (false, None) => doing.blocked = Some(Instant::now()),
            (true, None) | (false, Some(_)) => {}
        }
    }

    fn doing(&self) -> MutexGuard<'_, ConnectionState> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct BusyGuard(ConnectionWatch);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        let mut doing = self.0.doing();
        if let Phase::Busy(requests) = doing.phase {
            match requests.saturating_sub(1) {
                0 => (doing.phase, doing.since) = (Phase::Idle, Instant::now()),
                others => doing.phase = Phase::Busy(others),
            }
        }
    }
}

/// A connection's bytes, with somebody who looks on.
pub(super) struct WatchedStream<T> {
    inner: T,
    watch: ConnectionWatch,
}

impl<T> WatchedStream<T> {
    pub(super) fn new(inner: T, watch: ConnectionWatch) -> Self {
        Self { inner, watch }
    }

    fn note<R>(&self, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        self.watch.sent(written.is_ready());
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WatchedStream<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if let Some(bytes) = buf.filled().get(before..).filter(|bytes| !bytes.is_empty()) {
            self.watch.came(bytes);
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WatchedStream<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Duration = Duration::from_secs(15);
    const IDLE: Duration = Duration::from_secs(75);

    fn watch() -> ConnectionWatch {
        ConnectionWatch::new(ConnectionDeadlines { head: HEAD, idle: IDLE })
    }

    /// How long from now on the connection lives.
    async fn lives(watch: &ConnectionWatch) -> Option<Duration> {
        let began = Instant::now();
        let overdue = tokio::time::timeout(Duration::from_secs(3_600), watch.overdue()).await;
        overdue.ok().map(|()| began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn silence_and_half_a_head_end_at_the_heads_deadline() {
        assert_eq!(lives(&watch()).await, Some(HEAD));
        let dribbling = watch();
        tokio::time::advance(HEAD / 2).await;
        dribbling.came(b"GET / HT");
        tokio::time::advance(HEAD / 4).await;
        dribbling.came(b"TP");
        assert_eq!(lives(&dribbling).await, Some(HEAD / 4), "each byte does not begin it anew");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_may_take_as_long_as_it_does_and_idleness_may_not() {
        let watch = watch();
        watch.came(b"GET");
        let (one, other) = (watch.busy(), watch.busy());
        assert_eq!(lives(&watch).await, None);
        drop(one);
        assert_eq!(lives(&watch).await, None, "the other one is still answered");
        drop(other);
        assert_eq!(lives(&watch).await, Some(IDLE));
        let again = watch.busy();
        drop(again);
        watch.came(b"GE");
        assert_eq!(lives(&watch).await, Some(HEAD), "the next head has its deadline too");
    }

    #[tokio::test(start_paused = true)]
    async fn pings_between_requests_are_no_head() {
        let watch = watch();
        watch.came(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        tokio::time::advance(IDLE / 2).await;
        watch.came(b"ping");
        assert_eq!(lives(&watch).await, Some(IDLE / 2));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_of_its_answer_is_left() {
        let watch = watch();
        let _busy = watch.busy();
        watch.sent(false);
        tokio::time::advance(WRITE_STALL / 2).await;
        watch.sent(true);
        assert_eq!(lives(&watch).await, None, "it took something in time");
        watch.sent(false);
        watch.sent(false);
        let lived = lives(&watch).await.unwrap();
        assert_eq!(lived, WRITE_STALL);
    }
}
