//! A receiver of effects: a real HTTP server on a free port of this machine, which remembers what came and misbehaves
//! when a test wants it to.
//!
//! It keeps one truth that no sender can change: the list of requests it took in, in order. With a log file, each line
//! is on the disk before the answer goes out, so that the list outlives a killed test process.

mod http;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use kybern_core::time::Millis;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

/// The longest that [`EffectSink::until`] waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request as it came in.
#[derive(Clone, PartialEq, Debug)]
pub struct ReceivedRequest {
    /// Its number, from 1.
    pub n: usize,
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// Whether it had its effect: `false` for a key that came before, where the sink deduplicates.
    pub took_effect: bool,
}

impl ReceivedRequest {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The `Idempotency-Key`.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.header("idempotency-key")
    }

    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What the sink does with a request after it was taken in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// Answers with this status and JSON body.
    Status(u16, String),
    /// Answers with this status, after a while.
    Late(Millis, u16),
    /// Never answers, and keeps the connection.
    Hang,
    /// Closes the connection without an answer: the sender cannot know that it was taken in.
    Close,
    /// Closes the connection and forgets the request: it was not taken in, and has no effect.
    Refuse,
}

impl Reply {
    /// `200 {}`.
    #[must_use]
    pub fn ok() -> Self {
        Self::Status(200, "{}".to_owned())
    }
}

type SinkScript = Box<dyn Fn(&ReceivedRequest) -> Reply + Send + Sync>;

struct SinkInner {
    deduplicates: bool,
    script: SinkScript,
    log: Option<Mutex<std::fs::File>>,
    taken: Mutex<Vec<ReceivedRequest>>,
    arrived: Notify,
}

/// How a sink is to behave, before it runs.
pub struct SinkBuilder {
    deduplicates: bool,
    script: SinkScript,
    log: Option<std::fs::File>,
}

/// A running receiver; it stops when it is dropped.
pub struct EffectSink {
    address: SocketAddr,
    inner: Arc<SinkInner>,
    server: JoinHandle<()>,
}

impl std::fmt::Debug for SinkBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkBuilder").field("deduplicates", &self.deduplicates).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for EffectSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EffectSink").field("address", &self.address).finish_non_exhaustive()
    }
}

impl SinkBuilder {
    /// A key that came before has no effect again; it is answered as the script says all the same.
    #[must_use]
    pub fn deduplicating(mut self) -> Self {
        self.deduplicates = true;
        self
    }

    /// Answers each request as `script` says; it sees the number of the request.
    #[must_use]
    pub fn answering(mut self, script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        self.script = Box::new(script);
        self
    }

    /// Answers these requests, by their number from 1, in these ways, and all others with `200 {}`.
    #[must_use]
    pub fn on<const N: usize>(self, replies: [(usize, Reply); N]) -> Self {
        self.answering(move |request| {
            let found = replies.iter().find(|(n, _)| *n == request.n);
            found.map_or_else(Reply::ok, |(_, reply)| reply.clone())
        })
    }

    /// Appends a line of JSON per request to that file, synced before the answer.
    ///
    /// # Panics
    /// When the file cannot be opened.
    #[must_use]
    pub fn logging_to(mut self, path: &Path) -> Self {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        self.log = Some(file.expect("the log file can be opened"));
        self
    }

    /// Starts it on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub async fn start(self) -> EffectSink {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port of this machine is free");
        let address = listener.local_addr().expect("a listener has an address");
        let inner = Arc::new(SinkInner {
            deduplicates: self.deduplicates,
            script: self.script,
            log: self.log.map(Mutex::new),
            taken: Mutex::default(),
            arrived: Notify::new(),
        });
        let server = spawn(serve(listener, inner.clone()));
        EffectSink { address, inner, server }
    }
}

impl EffectSink {
    /// A sink that answers `200 {}` and counts every request as an effect, unless it is told otherwise.
    #[must_use]
    pub fn builder() -> SinkBuilder {
        SinkBuilder { deduplicates: false, script: Box::new(|_| Reply::ok()), log: None }
    }

    /// A sink that answers `200 {}` and deduplicates by key.
    pub async fn start() -> Self {
        Self::builder().deduplicating().start().await
    }

    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// `host:port`, as an egress policy opens it.
    #[must_use]
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Every request that was taken in, in order.
    ///
    /// # Panics
    /// When the sink itself has panicked.
    #[must_use]
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.inner.taken.lock().expect("the sink does not panic").clone()
    }

    /// The requests that had an effect.
    #[must_use]
    pub fn effects(&self) -> Vec<ReceivedRequest> {
        self.received().into_iter().filter(|request| request.took_effect).collect()
    }

    /// Waits until so many requests were taken in.
    ///
    /// # Panics
    /// When they do not come within half a minute.
    pub async fn until(&self, count: usize) -> Vec<ReceivedRequest> {
        let arrived = async {
            loop {
                let next = self.inner.arrived.notified();
                tokio::pin!(next);
                next.as_mut().enable();
                let received = self.received();
                if received.len() >= count {
                    return received;
                }
                next.await;
            }
        };
        tokio::time::timeout(PATIENCE, arrived).await.expect("the requests come in time")
    }
}

impl Drop for EffectSink {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl SinkInner {
    /// Takes a request in: decides, remembers and logs, all before the answer.
    fn take(&self, mut request: ReceivedRequest) -> Reply {
        let mut taken = self.taken.lock().expect("the sink does not panic");
        request.n = taken.len() + 1;
        let known: BTreeSet<&str> = taken.iter().filter_map(ReceivedRequest::key).collect();
        request.took_effect = !(self.deduplicates && request.key().is_some_and(|key| known.contains(key)));
        let reply = (self.script)(&request);
        if reply == Reply::Refuse {
            return reply;
        }
        if let Some(log) = &self.log {
            let line = json!({
                "n": request.n,
                "method": request.method,
                "path": request.path,
                "key": request.key(),
                "tookEffect": request.took_effect,
                "body": String::from_utf8_lossy(&request.body),
            });
            let mut file = log.lock().expect("the sink does not panic");
            writeln!(file, "{line}").and_then(|()| file.sync_data()).expect("the log can be written");
        }
        taken.push(request);
        drop(taken);
        self.arrived.notify_waiters();
        reply
    }
}

/// Accepts until it is aborted; its connections end with it.
async fn serve(listener: TcpListener, inner: Arc<SinkInner>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, inner.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one connection until one side has had enough.
async fn connection(mut stream: TcpStream, inner: Arc<SinkInner>) {
    let mut rest = Vec::new();
    while let Some(request) = http::read(&mut stream, &mut rest).await {
        let answered = match inner.take(request) {
            Reply::Status(status, body) => http::answer(&mut stream, status, &body).await,
            Reply::Late(span, status) => {
                pause(span).await;
                http::answer(&mut stream, status, "{}").await
            }
            Reply::Hang => std::future::pending().await,
            Reply::Close | Reply::Refuse => return,
        };
        if answered.is_err() {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the sink owns its server and aborts it when it is dropped")]
fn spawn(server: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(server)
}

#[expect(clippy::disallowed_methods, reason = "a slow receiver is slow in the sender's real time")]
async fn pause(span: Millis) {
    tokio::time::sleep(span.as_duration()).await;
}
