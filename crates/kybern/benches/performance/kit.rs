//! The processes that are measured, and the programs that help to measure them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::cores;

/// How long anything may take before the run is given up.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a new process is asked whether it is ready.
const POLL: Duration = Duration::from_millis(2);
/// What the system counts a process's time in: a hundredth of a second, on every Linux of today.
const TICK_MS: f64 = 10.0;
/// Variables that `cargo bench` sets for this process; handed on, they would make cargo build crates again.
const OWN_VARIABLES: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// A process that is taken down when this goes.
pub(crate) struct Process {
    child: Child,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its resident memory in megabytes.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes / 1024.0
    }

    /// The processor time that it has taken, in milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        // The name and the number before it are cut off: user and system time are the 14th and 15th field of all.
        let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).map(|field| field.parse().unwrap()).collect();
        (ticks[0] + ticks[1]) * TICK_MS
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn terminate(&mut self) {
        let id = nix::unistd::Pid::from_raw(self.id().cast_signed());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nothing listens on.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// The folder with the built programs of `bench/`.
fn kit() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/target/release");
    assert!(folder.join("floor_server").exists(), "build bench/ first: `cargo xtask perf` does");
    folder
}

/// The floor server, and its URL. What it is asked of models it asks at `llm`.
pub(crate) fn floor(folder: &Path, llm: Option<&str>) -> (Process, String) {
    let mut command = Command::new(kit().join("floor_server"));
    command.arg("--db").arg(folder.join("floor.db"));
    command.args(llm.into_iter().flat_map(|url| ["--llm", url]));
    listening(command, "the floor server answers")
}

/// A model server that answers at once, and its URL.
pub(crate) fn model() -> (Process, String) {
    listening(Command::new(kit().join("mock_llm")), "the model server answers")
}

/// Starts a program of `bench/` on a free port, and waits until it listens.
fn listening(mut command: Command, what: &str) -> (Process, String) {
    let port = free_port();
    command.args(["--port", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    until(what, POLL, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    (Process { child }, format!("http://127.0.0.1:{port}"))
}

/// A place for servers: a folder, a database, settings. It outlives the processes that are started on it.
pub(crate) struct Site {
    folder: PathBuf,
    database: String,
    key: String,
    settings: Vec<(String, String)>,
    pinned: bool,
}

/// A running server under measurement.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) url: String,
    pub(crate) key: String,
    /// From the start of the process to its first answer that it is ready.
    pub(crate) started_in: Duration,
}

impl Site {
    /// That database, from that folder, with an admin key that nobody else has.
    pub(crate) fn new(folder: &Path, database: &str) -> Self {
        let key = format!("kyb_{}{}", uuid::Uuid::now_v7().simple(), uuid::Uuid::now_v7().simple());
        Self { folder: folder.to_owned(), database: database.to_owned(), key, settings: Vec::new(), pinned: false }
    }

    /// The same place, where that key is the admin's.
    pub(crate) fn under(mut self, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self
    }

    /// The same place with one more setting, by the name of its variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same place, whose processes have the first core only, where the system can hold them there.
    pub(crate) fn on_one_core(mut self) -> Self {
        self.pinned = cores::can_pin();
        self
    }

    /// Starts a server and waits until it is ready.
    pub(crate) fn start(&self) -> Server {
        let port = free_port();
        let (listen, program) = (format!("127.0.0.1:{port}"), env!("CARGO_BIN_EXE_kybern"));
        let path = self.folder.join(format!("server-{port}.log"));
        let log = std::fs::File::create(&path).unwrap();
        let mut command = if self.pinned { cores::on_the_first(program) } else { Command::new(program) };
        command.args(["serve", "--listen", &listen, "--database", &self.database]).current_dir(&self.folder);
        command.env("KYBERN_ADMIN_KEY", &self.key).envs(self.settings.iter().map(|(name, value)| (name, value)));
        let begun = Instant::now();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let (url, mut process) = (format!("http://{listen}"), Process { child });
        let is_ready = || {
            let mut client = Client::open(&url, &self.key)?;
            let answer = client.ask("GET", "/readyz", "application/json", b"")?;
            (answer.status == 200).then_some(())
        };
        until("the server is ready", POLL, || {
            let ended = process.child.try_wait().unwrap();
            assert!(ended.is_none(), "the server has ended:\n{}", std::fs::read_to_string(&path).unwrap());
            is_ready().is_some()
        });
        Server { process, url, key: self.key.clone(), started_in: begun.elapsed() }
    }
}

impl Server {
    /// A connection with the admin key.
    pub(crate) fn client(&self) -> Client {
        Client::open(&self.url, &self.key).unwrap()
    }

    /// Stores a plan of those steps.
    pub(crate) fn put_plan(&self, key: &str, steps: &[Value]) {
        self.client().post("/api/plans", &json!({"key": key, "steps": steps}));
    }
}

/// The plan that most is measured with: five steps that do nothing.
pub(crate) fn five_steps() -> Vec<Value> {
    ["a", "b", "c", "d", "e"].map(|id| json!({"id": id, "tool": "core.noop"})).to_vec()
}

/// Asks until it is so, and stops the program when that takes far too long.
pub(crate) fn until(what: &str, pause: Duration, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "in vain: until {what}");
        std::thread::sleep(pause);
    }
}

/// What the driver saw.
pub(crate) struct Load {
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// The median until the first piece of a stream; no number where nothing streams.
    pub(crate) first: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_mb: f64,
    pub(crate) written: f64,
}

/// What the driver asks, and of whom.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) url: &'a str,
    /// A file with what stands for `{each}` in the URL: a line for each client. Empty for none.
    pub(crate) each: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) body: &'a str,
    /// What has to stand in every answer.
    pub(crate) expect: &'a str,
    /// Whether the answer comes in pieces.
    pub(crate) streams: bool,
    /// The process whose time and memory are watched.
    pub(crate) pid: u32,
}

/// Runs the load driver: `clients` at a time for `seconds`, each asking again when it is answered.
pub(crate) fn drive(target: &Target<'_>, clients: usize, seconds: u64) -> Load {
    let mut command = Command::new(kit().join("bench"));
    command.args(["http", "--url", target.url, "--body", target.body, "--expect", target.expect, "--warmup", "200"]);
    command.args(["--c", &clients.to_string(), "--secs", &seconds.to_string()]);
    command.args(["--watch", &format!("sut={}", target.pid), "--header", "Content-Type: application/json"]);
    if !target.each.is_empty() {
        command.args(["--each", target.each]);
    }
    if target.streams {
        command.arg("--stream");
    }
    if let Some(key) = target.key {
        command.args(["--header", &format!("Authorization: Bearer {key}")]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let seen: Value = serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("the driver failed: {output:?}"));
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let watched = &seen["watch"]["sut"];
    let load = Load {
        per_second: number(&seen["per_s"]),
        p50: number(&seen["ms"]["p50"]),
        p99: number(&seen["ms"]["p99"]),
        first: number(&seen["ttft_ms"]["p50"]),
        cpu_ms: number(&watched["cpu_ms_per_req"]),
        peak_mb: number(&watched["peak_rss_mb"]),
        written: number(&watched["write_bytes_per_req"]),
    };
    assert!(seen["errors"] == 0, "the driver saw errors: {seen}");
    load
}

/// The median of each figure, and the highest of the memory.
pub(crate) fn median<const N: usize>(rounds: &[[Load; N]], which: usize) -> Load {
    let of = |figure: fn(&Load) -> f64| {
        let mut figures: Vec<f64> = rounds.iter().map(|round| figure(&round[which])).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Load {
        per_second: of(|load| load.per_second),
        p50: of(|load| load.p50),
        p99: of(|load| load.p99),
        first: of(|load| load.first),
        cpu_ms: of(|load| load.cpu_ms),
        peak_mb: rounds.iter().map(|round| round[which].peak_mb).fold(0.0, f64::max),
        written: of(|load| load.written),
    }
}

/// Runs `limits task`, the floor of so many dependent durable steps in one process, and answers its median in
/// milliseconds.
pub(crate) fn floor_of_one_client(folder: &Path, steps: u32, seconds: u64) -> f64 {
    let mut command = Command::new(kit().join("limits"));
    command.args(["task", "--steps", &steps.to_string(), "--engine", "sqlite", "--sync", "FULL", "--c", "1", "--dir"]);
    let output = command.arg(folder).args(["--secs", &seconds.to_string()]).output().unwrap();
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("limits failed: {output:?}"));
    seen["ms"]["p50"].as_f64().unwrap_or_else(|| panic!("limits prints no median: {seen}"))
}

/// Runs the bench of the store, which has what needs SQL, and answers what it printed. It is built when it is not.
pub(crate) fn store_bench(args: &[&str]) -> String {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--quiet", "-p", "kybern-store", "--bench", "store", "--"]).args(args);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for (name, _) in std::env::vars() {
        if OWN_VARIABLES.iter().any(|own| name.starts_with(own)) {
            command.env_remove(name);
        }
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the bench of the store failed");
    String::from_utf8(output.stdout).unwrap()
}
