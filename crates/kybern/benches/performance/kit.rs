//! The processes that are measured, and the driver that measures them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a process may take to answer.
const START: Duration = Duration::from_secs(30);
/// How often it is asked.
const POLL: Duration = Duration::from_millis(2);

/// A process that is taken down when this goes.
pub(crate) struct Process {
    child: Child,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its resident memory in megabytes; `peak` since its start.
    pub(crate) fn memory(&self, peak: bool) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let name = if peak { "VmHWM:" } else { "VmRSS:" };
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes / 1024.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The folder with the built programs of `bench/`.
pub(crate) fn kit() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/target/release");
    assert!(folder.join("floor_server").exists(), "build bench/ first: `cargo xtask perf` does");
    folder
}

/// The floor server on that port.
pub(crate) fn floor(folder: &Path, port: u16) -> Process {
    let database = folder.join("floor.db");
    let mut command = Command::new(kit().join("floor_server"));
    command.args(["--port", &port.to_string(), "--db"]).arg(database);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    Process { child }
}

/// A running server under measurement.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) url: String,
    pub(crate) key: String,
    /// From the start of the process to its first answer that it is ready.
    pub(crate) started_in: Duration,
}

/// A key of the right form that nobody else has.
fn key() -> String {
    format!("kyb_{}{}", uuid::Uuid::now_v7().simple(), uuid::Uuid::now_v7().simple())
}

impl Server {
    /// Starts the server on that database, in that folder.
    pub(crate) fn start(folder: &Path, database: &str, port: u16) -> Self {
        let (key, listen) = (key(), format!("127.0.0.1:{port}"));
        let log = std::fs::File::create(folder.join("server.log")).unwrap();
        let begun = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_kybern"))
            .args(["serve", "--listen", &listen, "--database", database])
            .current_dir(folder)
            .env("KYBERN_ADMIN_KEY", &key)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let url = format!("http://{listen}");
        let process = Process { child };
        until(|| get(&url, "/readyz", &key).is_some_and(|(status, _)| status == 200));
        Self { process, url, key, started_in: begun.elapsed() }
    }

    /// Posts JSON and expects success.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = request(&self.url, "POST", path, &self.key, Some(body)).unwrap();
        assert!(status < 300, "{status}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Stores the plan of five steps that do nothing.
    pub(crate) fn put_five(&self) {
        let steps: Vec<Value> = ["a", "b", "c", "d", "e"].map(|id| json!({"id": id, "tool": "core.noop"})).to_vec();
        self.post("/api/plans", &json!({"key": "bench.five", "steps": steps}));
    }
}

fn until(ready: impl Fn() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < START, "it did not answer");
        std::thread::sleep(POLL);
    }
}

fn get(url: &str, path: &str, key: &str) -> Option<(u16, String)> {
    request(url, "GET", path, key, None)
}

/// A request by hand: the driver of the load is another process, and this needs no client.
fn request(url: &str, method: &str, path: &str, key: &str, body: Option<&Value>) -> Option<(u16, String)> {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(url.strip_prefix("http://")?).ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split_whitespace().nth(1)?.parse().ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some((status, body.to_owned()))
}

/// What the driver saw.
pub(crate) struct Load {
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_mb: f64,
    pub(crate) written: f64,
    pub(crate) errors: f64,
}

/// Runs the load driver: `clients` at a time for `seconds`, each asking again when it is answered.
pub(crate) fn drive(url: &str, key: Option<&str>, body: &str, clients: usize, seconds: u64, pid: u32) -> Load {
    let mut command = Command::new(kit().join("bench"));
    command.args(["http", "--url", url, "--body", body, "--expect", "completed", "--warmup", "200"]);
    command.args(["--c", &clients.to_string(), "--secs", &seconds.to_string(), "--watch", &format!("sut={pid}")]);
    command.args(["--header", "Content-Type: application/json"]);
    if let Some(key) = key {
        command.args(["--header", &format!("Authorization: Bearer {key}")]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let seen: Value = serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("the driver failed: {output:?}"));
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let watched = &seen["watch"]["sut"];
    Load {
        per_second: number(&seen["per_s"]),
        p50: number(&seen["ms"]["p50"]),
        p99: number(&seen["ms"]["p99"]),
        cpu_ms: number(&watched["cpu_ms_per_req"]),
        peak_mb: number(&watched["peak_rss_mb"]),
        written: number(&watched["write_bytes_per_req"]),
        errors: number(&seen["errors"]),
    }
}

/// Runs `limits task`, the floor of five dependent durable steps in one process, and answers its median in
/// milliseconds.
pub(crate) fn floor_of_one_client(folder: &Path, seconds: u64) -> f64 {
    let mut command = Command::new(kit().join("limits"));
    command.args(["task", "--steps", "5", "--engine", "sqlite", "--sync", "FULL", "--c", "1", "--dir"]).arg(folder);
    let output = command.args(["--secs", &seconds.to_string()]).output().unwrap();
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("limits failed: {output:?}"));
    seen["ms"]["p50"].as_f64().unwrap_or_else(|| panic!("limits prints no median: {seen}"))
}
