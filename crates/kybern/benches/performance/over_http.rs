//! One server over HTTP: its rate beside its floor's, and what it costs.

use std::time::Duration;

use kybern_core::count::count;
use serde_json::json;

use crate::Bench;
use crate::kit::{self, Load, Server, Site, Target};
use crate::table::{at_most, line};

/// Clients at a time.
const CLIENTS: usize = 32;
/// Tasks that wait while memory is looked at.
const WAITING: usize = 10_000;
/// Rows that five steps need at least.
const ROWS: f64 = 5.0;

/// How the figures are called of which each step has a commit of its own.
pub(crate) const ALONE: &str = "no two steps in one commit";

/// Tasks over HTTP, the answer when they end.
fn tasks(server: &Server, clients: usize, seconds: u64) -> Load {
    let url = format!("{}/api/tasks?waitMs=10000", server.url);
    let body = json!({"input": "", "planKey": "bench.five"}).to_string();
    let key = Some(server.key.as_str());
    let (expect, pid) = ("completed", server.process.id());
    kit::drive(&Target { url: &url, each: "", key, body: &body, expect, streams: false, pid }, clients, seconds)
}

/// The server on SQLite beside the floor server, one after the other, twice, in one run.
pub(crate) fn sqlite(bench: &Bench) {
    let server = Site::new(&bench.folder, "sqlite:perf.db").start();
    server.put_plan("bench.five", &kit::five_steps());
    let (floor, floor_url) = kit::floor(&bench.folder, None);
    let floor_url = format!("{floor_url}/task");
    let (expect, pid) = ("completed", floor.id());
    let least = Target { url: &floor_url, each: "", key: None, body: "{}", expect, streams: false, pid };
    for clients in [1, CLIENTS] {
        let least = kit::drive(&least, clients, bench.seconds);
        let ours = tasks(&server, clients, bench.seconds);
        let measured = format!(
            "{:.0} of {:.0} tasks/s; p50 {:.2} of {:.2} ms; CPU {:.3} of {:.3} ms a task",
            ours.per_second, least.per_second, ours.p50, least.p50, ours.cpu_ms, least.cpu_ms
        );
        let clients_named = count(clients, "client");
        line(&format!("SQLite over HTTP, {clients_named}: ours of the floor's"), &measured, "", None);
        if clients == CLIENTS {
            let share = ours.per_second / least.per_second;
            let measured = format!("{:.0} %", share * 100.0);
            line("SQLite: share of the floor server's rate", &measured, "at least 40 %", Some(share >= 0.4));
            at_most("SQLite: p99", ours.p99, "ms", 20.0);
            at_most("SQLite: CPU a task", ours.cpu_ms, "ms", 0.2);
            at_most("SQLite: written a step", ours.written / 5.0 / 1_024.0, "KB", 4.0);
            at_most("SQLite: peak resident memory under this load", ours.peak_mb, "MB", 60.0);
            alone(bench, "SQLite", "sqlite:alone.db", least.per_second, "of the floor's");
        }
    }
}

/// The same load where no two steps share a commit: what steps cost that do not end at once.
fn alone(bench: &Bench, what: &str, database: &str, least: f64, of: &str) {
    let server = Site::new(&bench.folder, database).with("KYBERN_WORKER__STEPS_PER_COMMIT", "1").start();
    server.put_plan("bench.five", &kit::five_steps());
    let load = tasks(&server, CLIENTS, bench.seconds);
    // What PostgreSQL writes is not ours to see.
    let written = (load.written > 0.0).then(|| format!(", {:.2} KB written a step", load.written / 5.0 / 1_024.0));
    let measured = format!(
        "{:.0} tasks/s, {:.0} % {of}; p99 {:.1} ms, CPU {:.3} ms a task{}",
        load.per_second,
        load.per_second / least * 100.0,
        load.p99,
        load.cpu_ms,
        written.unwrap_or_default()
    );
    line(&format!("{what} over HTTP, {CLIENTS} clients, {ALONE}"), &measured, "", None);
}

/// What an idle server takes, what waiting tasks add, and whether they delay a start.
pub(crate) fn memory(bench: &Bench) {
    let site = Site::new(&bench.folder, "sqlite:waiting.db");
    let server = site.start();
    at_most("SQLite: resident memory, idle", server.process.memory(), "MB", 30.0);
    server.put_plan("bench.rest", &[json!({"id": "rest", "tool": "core.wait", "args": {"ms": 86_400_000}})]);
    let before = server.process.memory();
    let mut client = server.client();
    for _ in 0..WAITING {
        client.post("/api/tasks", &json!({"input": "", "planKey": "bench.rest"}));
    }
    std::thread::sleep(Duration::from_secs(1));
    let added = server.process.memory() - before;
    at_most(&format!("SQLite: memory that {WAITING} waiting tasks add"), added, "MB", 30.0);
    drop(server);
    let measured = format!("{:.2?}", site.start().started_in);
    line(&format!("SQLite: start to ready, with {WAITING} waiting tasks"), &measured, "", None);
}

/// The server on PostgreSQL beside what the same PostgreSQL makes of rows that nobody batches.
pub(crate) fn postgres(bench: &Bench) {
    let (Some(database), Some(postgres)) = (bench.database(), &bench.postgres) else { return };
    let seconds = bench.seconds.to_string();
    let printed = kit::store_bench(&["--one-row-rate", postgres.as_str(), "--seconds", &seconds]);
    let rows: f64 = printed.trim().parse().unwrap();
    let server = Site::new(&bench.folder, &database.url()).start();
    server.put_plan("bench.five", &kit::five_steps());
    let load = tasks(&server, CLIENTS, bench.seconds);
    let share = load.per_second / (rows / ROWS);
    let measured = format!("{:.0} tasks/s, p99 {:.1} ms, CPU {:.3} ms a task", load.per_second, load.p99, load.cpu_ms);
    line(&format!("PostgreSQL over HTTP, {CLIENTS} clients"), &measured, "", None);
    let measured = format!("{:.0} % of {rows:.0} rows/s / 5", share * 100.0);
    let what = "PostgreSQL over HTTP: of its unbatched one-row rate divided by five";
    line(what, &measured, "at least 75 %", Some(share >= 0.75));
    drop(server);
    let Some(database) = bench.database() else { return };
    alone(bench, "PostgreSQL", &database.url(), rows / ROWS, "of that rate");
}
