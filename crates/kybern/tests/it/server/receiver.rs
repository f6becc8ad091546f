//! A small HTTP server that remembers what it is sent, for webhooks, workflows and traces.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use serde_json::Value;

use super::client::until;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

type Answer = Arc<dyn Fn(&Seen, usize) -> Option<(u16, Value)> + Send + Sync>;

/// A running receiver; it ends with the test's process.
pub(crate) struct Receiver {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Receiver {
    /// Takes everything and answers 200.
    pub(crate) fn start() -> Self {
        Self::answering(|_, _| Some((200, Value::Null)))
    }

    /// Answers as `answer` says, which also gets how many came before; `None` never answers.
    pub(crate) fn answering(answer: impl Fn(&Seen, usize) -> Option<(u16, Value)> + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (log, answer): (_, Answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let app = Router::new().fallback(move |request: Request<Body>| {
                    let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                    async move { respond(request, &log, &answer).await }
                });
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), app).await.unwrap();
            });
        });
        Self { address, seen }
    }

    /// `host:port`, as `[egress] allow` takes it.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything that came.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The first `count` requests, once they have come.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Seen> {
        until(&format!("{count} requests come"), || {
            let seen = self.seen();
            std::future::ready((seen.len() >= count).then_some(seen))
        })
        .await
    }
}

async fn respond(request: Request<Body>, log: &Mutex<Vec<Seen>>, answer: &Answer) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let seen = Seen {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        headers: headers.collect(),
        body: body.to_vec(),
    };
    let before = {
        let mut log = log.lock().unwrap();
        log.push(seen.clone());
        log.len() - 1
    };
    let Some((status, value)) = answer(&seen, before) else { return std::future::pending().await };
    let status = StatusCode::from_u16(status).unwrap();
    let (kind, body) = match value {
        // What is sent as events comes written out.
        Value::String(events) if events.contains("data: ") && events.ends_with('\n') => ("text/event-stream", events),
        value => ("application/json", value.to_string()),
    };
    Response::builder().status(status).header("content-type", kind).body(Body::from(body)).unwrap()
}

/// A receiver that leads every request on, and the heads that it got.
pub(crate) fn redirecting(location: &str) -> (String, Arc<Mutex<Vec<String>>>) {
    let (heads, location) = (Arc::new(Mutex::new(Vec::new())), location.to_owned());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let log = Arc::clone(&heads);
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let mut tcp = tcp.unwrap();
            let mut lines = BufReader::new(tcp.try_clone().unwrap()).lines();
            let head: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            log.lock().unwrap().push(head.join("\n"));
            let answer =
                format!("HTTP/1.1 302 X\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            tcp.write_all(answer.as_bytes()).unwrap();
        }
    });
    (address, heads)
}
