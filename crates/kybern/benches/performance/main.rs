//! The server against its goals, each figure beside the floor that was measured in the same run:
//! `cargo xtask perf`, or `cargo bench -p kybern --bench performance -- [--seconds S] [--postgres URL]`.
//!
//! `bench/` holds the floor: the least that any server must do which makes five steps durable, one after the other.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "it stops at the first fault")]
#![expect(clippy::indexing_slicing, clippy::print_stdout, reason = "a measuring program")]

mod in_process;
mod kit;

use std::path::Path;
use std::time::Duration;

use kit::{Load, Server};
use serde_json::json;

/// Clients at a time.
const CLIENTS: usize = 32;
/// Tasks that wait while memory is looked at.
const WAITING: usize = 10_000;

struct Asked {
    seconds: u64,
    postgres: Option<String>,
}

fn asked() -> Asked {
    let mut asked = Asked { seconds: 5, postgres: None };
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match arg.as_str() {
            "--seconds" => asked.seconds = value.parse().unwrap(),
            "--postgres" => asked.postgres = Some(value),
            other => panic!("unknown option {other}"),
        }
    }
    asked
}

fn line(what: &str, measured: &str, goal: &str, met: Option<bool>) {
    let verdict = met.map_or("", |met| if met { "met" } else { "MISSED" });
    println!("| {what} | {measured} | {goal} | {verdict} |");
}

fn at_most(what: &str, measured: f64, unit: &str, goal: f64) {
    line(what, &format!("{measured:.2} {unit}"), &format!("at most {goal} {unit}"), Some(measured <= goal));
}

/// Tasks over HTTP, the answer when they end.
fn tasks(server: &Server, clients: usize, seconds: u64) -> Load {
    let url = format!("{}/api/tasks?waitMs=10000", server.url);
    let body = json!({"input": "", "planKey": "bench.five"}).to_string();
    kit::drive(&url, Some(&server.key), &body, clients, seconds, server.process.id())
}

/// The server on SQLite beside the floor server, one after the other, twice, in one run.
fn sqlite(folder: &Path, seconds: u64) {
    let server = Server::start(folder, "sqlite:perf.db", 7391);
    let idle = server.process.memory(false);
    at_most("SQLite: resident memory, idle", idle, "MB", 30.0);
    server.put_five();
    let floor = kit::floor(folder, 9391);
    for clients in [1, CLIENTS] {
        let least = kit::drive("http://127.0.0.1:9391/task", None, "{}", clients, seconds, floor.id());
        let ours = tasks(&server, clients, seconds);
        assert!(ours.errors == 0.0 && least.errors == 0.0, "the driver saw errors");
        let measured = format!(
            "{:.0} of {:.0} tasks/s; p50 {:.2} of {:.2} ms; CPU {:.3} of {:.3} ms a task",
            ours.per_second, least.per_second, ours.p50, least.p50, ours.cpu_ms, least.cpu_ms
        );
        line(&format!("SQLite over HTTP, {clients} clients: ours of the floor's"), &measured, "", None);
        if clients == CLIENTS {
            let share = ours.per_second / least.per_second;
            let goal = "at least 40 %";
            line(
                "SQLite: share of the floor server's rate",
                &format!("{:.0} %", share * 100.0),
                goal,
                Some(share >= 0.4),
            );
            at_most("SQLite: p99", ours.p99, "ms", 20.0);
            at_most("SQLite: CPU a task", ours.cpu_ms, "ms", 0.2);
            at_most("SQLite: written a step", ours.written / 5.0 / 1_024.0, "KB", 4.0);
            at_most("SQLite: peak resident memory under this load", ours.peak_mb, "MB", 60.0);
        }
    }
}

/// What waiting tasks cost in memory.
fn waiting(folder: &Path) {
    let server = Server::start(folder, "sqlite:waiting.db", 7392);
    let step = json!({"id": "rest", "tool": "core.wait", "args": {"ms": 86_400_000}});
    server.post("/api/plans", &json!({"key": "bench.rest", "steps": [step]}));
    let before = server.process.memory(false);
    for _ in 0..WAITING {
        server.post("/api/tasks", &json!({"input": "", "planKey": "bench.rest"}));
    }
    std::thread::sleep(Duration::from_secs(1));
    let added = server.process.memory(false) - before;
    at_most(&format!("SQLite: memory that {WAITING} waiting tasks add"), added, "MB", 30.0);
}

fn postgres(folder: &Path, url: &str, seconds: u64) {
    let server = Server::start(folder, url, 7393);
    server.put_five();
    let load = tasks(&server, CLIENTS, seconds);
    let measured = format!("{:.0} tasks/s, p99 {:.1} ms, CPU {:.3} ms a task", load.per_second, load.p99, load.cpu_ms);
    line(&format!("PostgreSQL over HTTP, {CLIENTS} clients"), &measured, "", None);
}

fn main() {
    let asked = asked();
    let folder = tempfile::tempdir_in(".").unwrap();
    println!("| measured | figure | goal | |\n|---|---|---|---|");
    let floor = kit::floor_of_one_client(folder.path(), asked.seconds);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ours = runtime.block_on(in_process::median(folder.path(), asked.seconds));
    drop(runtime);
    let goal = floor.mul_add(1.5, 0.2);
    let goal_text = format!("at most {goal:.2} ms: 1.5 × the floor's {floor:.2} ms + 0.2 ms");
    line("one client in process: p50 of a task", &format!("{ours:.2} ms"), &goal_text, Some(ours <= goal));
    sqlite(folder.path(), asked.seconds);
    waiting(folder.path());
    let again = Server::start(folder.path(), "sqlite:waiting.db", 7394);
    line("start to ready, with 10,000 waiting tasks", &format!("{:.2?}", again.started_in), "", None);
    drop(again);
    match &asked.postgres {
        Some(url) => postgres(folder.path(), url, asked.seconds),
        None => println!("\nPostgreSQL was not measured: name an empty database with --postgres URL"),
    }
}
