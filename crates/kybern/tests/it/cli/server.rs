//! A small server that answers as a script says, and remembers what it was asked.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, mpsc};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, StatusCode, header};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "kyb_0123456789abcdef0123456789abcdef";

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// How often this method and path were asked before.
    pub(crate) before: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) enum Answer {
    Json(u16, Value),
    /// Bytes as they are, of that type.
    Raw(u16, &'static str, String),
}

/// An error envelope.
pub(crate) fn envelope(status: u16, code: &str, message: &str, details: Value) -> Answer {
    let error = json!({"code": code, "message": message, "requestId": "req-1", "details": details});
    Answer::Json(status, json!({ "error": error }))
}

/// A running server.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    folder: tempfile::TempDir,
}

impl Server {
    /// Answers each request as `script` says; what it leaves open is not found.
    pub(crate) fn start(script: impl Fn(&Seen) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (ready, address) = mpsc::channel();
        let (script, log) = (Arc::new(script), Arc::clone(&seen));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                ready.send(listener.local_addr().unwrap()).unwrap();
                let app = Router::new().fallback(move |request: Request<Body>| {
                    let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                    async move {
                        let seen = remember(request, &log).await;
                        respond(script(&seen))
                    }
                });
                axum::serve(listener, app).await.unwrap();
            });
        });
        Self { address: address.recv().unwrap(), seen, folder: tempfile::tempdir().unwrap() }
    }

    /// Every request of that method and path.
    pub(crate) fn seen(&self, method: &str, path: &str) -> Vec<Seen> {
        let all = self.seen.lock().unwrap();
        all.iter().filter(|seen| seen.method == method && seen.path == path).cloned().collect()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The folder in which the command line runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the command line against this server.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        kybern(self.folder(), args, &[("KYBERN_URL", &format!("http://{}/", self.address)), ("KYBERN_API_KEY", KEY)])
    }
}

async fn remember(request: Request<Body>, log: &Mutex<Vec<Seen>>) -> Seen {
    let (parts, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let text = |value: &header::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
    let mut log = log.lock().unwrap();
    let before = log.iter().filter(|seen| seen.method == method && seen.path == path).count();
    let seen = Seen {
        method,
        path,
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: body.to_vec(),
        before,
    };
    log.push(seen.clone());
    seen
}

fn respond(answer: Option<Answer>) -> Response<Body> {
    let answer = answer.unwrap_or_else(|| envelope(404, "NOT_FOUND", "there is no such thing", json!([])));
    let (status, kind, text) = match answer {
        Answer::Json(status, value) => (status, "application/json", value.to_string()),
        Answer::Raw(status, kind, text) => (status, kind, text),
    };
    let status = StatusCode::from_u16(status).unwrap();
    Response::builder().status(status).header(header::CONTENT_TYPE, kind).body(Body::from(text)).unwrap()
}

/// How a run of the binary ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the binary in a folder, with nothing of this process's environment.
pub(crate) fn kybern(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kybern"));
    command.args(args).current_dir(folder).env_clear().stdin(std::process::Stdio::null());
    command.envs(env.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}
