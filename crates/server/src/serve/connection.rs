//! One connection: HTTP/1 or HTTP/2, answered by the router for as long as it may last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::Connections;
use super::places::{ConnectionPlace, Places};
use super::watch::{BusyGuard, ConnectionDeadlines, ConnectionWatch, WatchedStream};
use crate::peer::Peer;

/// What of a request is held at most before it is read: a larger head is refused.
const MAX_BUFFER: usize = 64 * 1024;
/// The same over HTTP/2, of all requests of a connection.
const MAX_WINDOW: u32 = 128 * 1024;
/// Requests at the same time on one connection over HTTP/2.
const MAX_STREAMS: u32 = 128;
/// How often an HTTP/2 connection is asked whether it is still there, and how long it may take to say so.
const PING: Duration = Duration::from_secs(30);
/// How long a connection whose time is up has to end in an orderly way.
const GOODBYE: Duration = Duration::from_secs(1);
/// How many are told at the same time that there is no place for them.
const MAX_TOLD: usize = 64;
/// Seconds after which they may come back; the answer below says the same.
const COME_BACK: &str = "5";
/// What is read of whoever gets no place. A connection that is closed before its request was read is reset, and the
/// caller never reads why.
const MAX_UNHEARD: usize = 64 * 1024;

/// What all connections share.
pub(super) struct EdgeState {
    pub(super) places: Places,
    pub(super) told: Arc<Semaphore>,
    /// Cancelled when the grace time of the shutdown is over.
    pub(super) abandon: CancellationToken,
    router: Router,
    deadlines: ConnectionDeadlines,
    shutdown: CancellationToken,
    http: Builder<TokioExecutor>,
}

impl EdgeState {
    pub(super) fn new(router: Router, connections: &Connections, shutdown: CancellationToken) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1().max_buf_size(MAX_BUFFER);
        http.http2().timer(TokioTimer::new()).max_concurrent_streams(MAX_STREAMS).keep_alive_interval(PING);
        // What a caller may send before anybody reads it.
        http.http2().initial_connection_window_size(MAX_WINDOW).initial_stream_window_size(MAX_WINDOW);
        Self {
            places: Places::new(connections.max, connections.max_by_address, connections.proxies.clone()),
            told: Arc::new(Semaphore::new(MAX_TOLD)),
            abandon: CancellationToken::new(),
            // Made into routes once: a router that has no state yet copies its table for each request, some 70 KB.
            router: router.with_state(()),
            deadlines: ConnectionDeadlines { head: connections.header_timeout, idle: connections.idle_timeout },
            shutdown,
            http,
        }
    }
}

/// Answers the requests of a connection until it ends, its time is up, or the server goes down.
pub(super) async fn answer(edge: Arc<EdgeState>, stream: TcpStream, peer: SocketAddr, _place: ConnectionPlace) {
    let watch = ConnectionWatch::new(edge.deadlines);
    let service = Service { router: edge.router.clone(), peer: Peer(peer.ip()), watch: watch.clone() };
    let io = TokioIo::new(WatchedStream::new(stream, watch.clone()));
    let mut connection = pin!(edge.http.serve_connection(io, service));
    tokio::select! {
        biased;
        ended = connection.as_mut() => return over(ended),
        () = watch.overdue() => {
            connection.as_mut().graceful_shutdown();
            // One that does not go is dropped, and so closed.
            return drop(tokio::time::timeout(GOODBYE, connection).await);
        }
        () = edge.shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        ended = connection.as_mut() => over(ended),
        () = watch.overdue() => {}
        () = edge.abandon.cancelled() => {}
    }
}

fn over(ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = ended {
        tracing::trace!(%error, "a connection broke off");
    }
}

/// Says that there is no place, and closes.
pub(super) async fn turn_away(mut stream: TcpStream) {
    let body = r#"{"error":{"code":"UNAVAILABLE","message":"every connection that this server or this address may have is taken, come back in a few seconds","requestId":"","details":[]}}"#;
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: {COME_BACK}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let telling = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let (mut left, mut buffer) = (MAX_UNHEARD, [0; 4096]);
        while left > 0 {
            match stream.read(&mut buffer).await? {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        Ok::<(), std::io::Error>(())
    };
    // Whoever does not listen was told all the same.
    drop(tokio::time::timeout(GOODBYE, telling).await);
}

/// The router, as a connection asks it.
struct Service {
    router: Router,
    peer: Peer,
    watch: ConnectionWatch,
}

type AnswerFuture = Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, Infallible>> + Send>>;

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<Incoming>) -> AnswerFuture {
        let busy = self.watch.busy();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.peer);
        let answering = self.router.clone().oneshot(request);
        Box::pin(async move { Ok(answering.await?.map(|body| AnswerBody { body, _busy: busy })) })
    }
}

/// The body of an answer; the connection is busy until it has been sent.
struct AnswerBody {
    body: Body,
    _busy: BusyGuard,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
