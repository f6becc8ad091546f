//! How soon work goes on after `kill -9`: at the next start on SQLite, in another process on PostgreSQL.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Bench;
use crate::client::Client;
use crate::kit::{self, Server, Site};
use crate::late::Service;
use crate::table::{at_most, line};

/// Tasks that are in the middle of a call when their process dies.
const TASKS: usize = 32;
/// The lease on PostgreSQL: shorter than the default of 30 s, so that nobody waits that long for a figure. Heartbeats
/// come as often in it as by default.
const LEASE_MS: u32 = 9_000;
/// How often it is looked who has ended.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) fn measure(bench: &Bench) {
    sqlite(bench);
    postgres(bench);
}

/// Since the restart: the process that dies is the only one that may have the file.
fn sqlite(bench: &Bench) {
    let service = Service::open();
    let site = Site::new(&bench.folder, "sqlite:recovery.db").with("KYBERN_EGRESS__ALLOW", &service.allowed());
    let mut server = site.start();
    into_the_middle(&server, &service);
    server.process.kill();
    service.release();
    let begun = Instant::now();
    let server = site.start();
    report("SQLite: from the restart", begun, &mut server.client(), 2.0);
}

/// Since the death: the second process is there, and has to notice.
fn postgres(bench: &Bench) {
    let Some(database) = bench.database() else {
        return println!("\nrecovery on PostgreSQL was not measured: name a server with --postgres URL");
    };
    let service = Service::open();
    let site = Site::new(&bench.folder, &database.url()).with("KYBERN_EGRESS__ALLOW", &service.allowed());
    let site = site.with("KYBERN_WORKER__LEASE_MS", &LEASE_MS.to_string());
    let site = site.with("KYBERN_WORKER__HEARTBEAT_MS", &(LEASE_MS / 3).to_string());
    let mut first = site.start();
    // Whoever takes a submission claims it; so all are the first one's.
    into_the_middle(&first, &service);
    let second = site.start();
    first.process.kill();
    service.release();
    let lease = f64::from(LEASE_MS) / 1_000.0;
    let what = format!("PostgreSQL: from the death, with a lease of {lease} s");
    report(&what, Instant::now(), &mut second.client(), lease + 5.0);
}

/// Brings tasks into the middle: one step done, one inside a call, one to come.
fn into_the_middle(server: &Server, service: &Service) {
    let noop = |id: &str| json!({"id": id, "tool": "core.noop"});
    server.put_plan("bench.middle", &[noop("a"), service.step("b", "/held"), noop("c")]);
    let mut client = server.client();
    for _ in 0..TASKS {
        client.post("/api/tasks", &json!({"input": "", "planKey": "bench.middle"}));
    }
    service.until_held(TASKS);
}

/// The first new step of a task is seen by its end, which follows it at once.
fn report(what: &str, begun: Instant, client: &mut Client, goal: f64) {
    let mut until = |count: usize| {
        kit::until("tasks have ended", LOOK, || ended(client) >= count);
        begun.elapsed().as_secs_f64()
    };
    at_most(&format!("{what}, to the first newly finished step"), until(1), "s", goal);
    line(&format!("{what}, to the end of all {TASKS} tasks"), &format!("{:.2} s", until(TASKS)), "", None);
}

fn ended(client: &mut Client) -> usize {
    client.get("/api/tasks?status=completed&limit=200")["items"].as_array().unwrap().len()
}
