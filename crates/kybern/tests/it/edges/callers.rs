//! Callers who hang up: what the server has begun for them goes on at once.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::json;

use super::plan;
use crate::server::client::{pause, until};
use crate::server::{KEY, Site};

/// Callers. Each stays a little longer than the one before: some are gone before they were heard, some while their task
/// is written, some before they are answered.
const CALLERS: u64 = 80;

async fn what_they_submitted_is_run(site: Site) {
    // What nobody runs would be found again when its lease is over, which nobody here waits for.
    let site = site.with("KYBERN_WORKER__LEASE_MS", "600000").with("KYBERN_WORKER__HEARTBEAT_MS", "10000");
    let server = site.start();
    let client = server.client();
    plan(&client, "left", json!([{"id": "a", "tool": "core.noop"}, {"id": "b", "tool": "core.noop"}])).await;
    let body = json!({"input": "go", "planKey": "left"}).to_string();
    let request = format!(
        "POST /api/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let call = || {
        let mut caller = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
        caller.write_all(request.as_bytes()).unwrap();
        caller
    };
    for stays in 0..CALLERS {
        let caller = call();
        pause(Duration::from_millis(stays)).await;
        // Whoever was refused is gone already.
        drop(caller.shutdown(Shutdown::Both));
    }
    // However slow this machine is, somebody is heard.
    let last = call();
    until("a task is there", || async { (site.count("SELECT count(*) FROM task") > 0).then_some(()) }).await;
    drop(last);
    let ended = until("every task of theirs has ended", || async {
        let tasks = client.list("/api/tasks").await;
        tasks.iter().all(|task| task["status"] == "completed").then_some(tasks.len())
    })
    .await;
    println!("{ended} of {CALLERS} callers were heard");
    let odd = site.count("SELECT count(*) FROM task WHERE recoveries <> 0 OR lease_epoch <> 1");
    assert_eq!(odd, 0, "each was run by the one who took it first");
}

#[tokio::test]
async fn what_callers_submitted_who_hung_up_is_run_on_sqlite() {
    what_they_submitted_is_run(Site::sqlite()).await;
}

#[tokio::test]
async fn what_callers_submitted_who_hung_up_is_run_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    what_they_submitted_is_run(site).await;
}
