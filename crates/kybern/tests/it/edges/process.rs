//! Start, stop and death of the process.

use std::os::unix::process::ExitStatusExt as _;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{plan, submit};
use crate::server::client::Ask;
use crate::server::receiver::Receiver;
use crate::server::{KEY, Site};

/// A place from which tools reach the receiver.
fn open_to(site: Site, receiver: &Receiver) -> Site {
    site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()))
}

fn call(receiver: &Receiver) -> Value {
    let args = json!({"method": "POST", "url": receiver.url("/order"), "json": {"n": 1}});
    json!([{"id": "order", "tool": "core.http_request", "args": args}])
}

#[tokio::test]
async fn sigterm_lets_a_running_step_finish() {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let receiver = Receiver::answering(move |_, _| {
        held.lock().unwrap().recv().unwrap();
        Some((200, json!({"ok": true})))
    });
    let site = open_to(Site::sqlite(), &receiver).with("KYBERN_SERVER__SHUTDOWN_GRACE_MS", "30000");
    let mut server = site.start();
    plan(&server.client(), "test.order", call(&receiver)).await;
    let id = submit(&server.client(), "test.order").await;
    receiver.wait(1).await;
    server.terminate();
    crate::server::client::until("it says that it stops", || {
        std::future::ready(server.said().contains("no new work is taken").then_some(()))
    })
    .await;
    release.send(()).unwrap();
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.said());
    assert!(server.said().contains("stopped; nothing is lost"), "{}", server.said());
    let server = site.start();
    let task = server.client().rest(&id).await;
    assert_eq!((&task["status"], &task["result"]["json"]["ok"]), (&json!("completed"), &json!(true)));
    assert_eq!(receiver.seen().len(), 1, "the step was done before the end, and is not done again");
    server.client().replays(&id).await;
}

#[tokio::test]
async fn a_step_that_outlasts_the_grace_is_done_again_with_the_same_key() {
    let receiver = Receiver::answering(|_, before| (before > 0).then(|| (200, json!({"before": before}))));
    let site = open_to(Site::sqlite(), &receiver).with("KYBERN_SERVER__SHUTDOWN_GRACE_MS", "300");
    let mut server = site.start();
    plan(&server.client(), "test.order", call(&receiver)).await;
    let id = submit(&server.client(), "test.order").await;
    receiver.wait(1).await;
    server.terminate();
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.said());
    let server = site.start();
    assert_eq!(server.client().rest(&id).await["status"], "completed");
    same_key_twice(&receiver);
}

async fn keyed_requests_survive_kills(site: Site) {
    let receiver = Receiver::answering(|_, before| (before > 0).then(|| (200, json!({"before": before}))));
    let site = open_to(site, &receiver);
    let mut server = site.start();
    plan(&server.client(), "test.order", call(&receiver)).await;
    let id = submit(&server.client(), "test.order").await;
    receiver.wait(1).await;
    server.kill();
    assert_eq!(server.ended().await.signal(), Some(9));
    let server = site.start();
    let task = server.client().rest(&id).await;
    assert_eq!((&task["status"], &task["result"]["json"]["before"]), (&json!("completed"), &json!(1)));
    same_key_twice(&receiver);
    server.client().replays(&id).await;
}

fn same_key_twice(receiver: &Receiver) {
    let seen = receiver.seen();
    let keys: Vec<&str> = seen.iter().map(|request| request.header("idempotency-key")).collect();
    assert!(keys.len() == 2 && keys[0] == keys[1] && !keys[0].is_empty(), "{keys:?}");
    assert!(seen.iter().all(|request| request.json() == json!({"n": 1})));
}

#[tokio::test]
async fn a_keyed_request_is_repeated_with_its_key_after_a_kill_on_sqlite() {
    keyed_requests_survive_kills(Site::sqlite()).await;
}

#[tokio::test]
async fn a_keyed_request_is_repeated_with_its_key_after_a_kill_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    keyed_requests_survive_kills(site).await;
}

#[tokio::test]
async fn an_unkeyed_request_asks_a_person_after_a_kill() {
    let receiver = Receiver::answering(|_, _| None);
    let site = open_to(Site::sqlite(), &receiver);
    let mut server = site.start();
    let mut steps = call(&receiver);
    steps[0]["args"]["effect"] = json!("unkeyed");
    plan(&server.client(), "test.once", steps).await;
    let id = submit(&server.client(), "test.once").await;
    receiver.wait(1).await;
    server.kill();
    let server = site.start();
    let client = server.client();
    let task = client.rest(&id).await;
    assert_eq!((&task["status"], &task["waits"][0]["kind"]), (&json!("needs_review"), &json!("ambiguous")));
    assert_eq!(client.review(&task, &json!({"resolution": "done"})).await["status"], "completed");
    assert_eq!(receiver.seen().len(), 1);
    client.replays(&id).await;
}

#[tokio::test]
async fn a_second_process_on_the_same_file_is_told_who_has_it() {
    let site = Site::sqlite();
    let server = site.start();
    let database = site.database();
    for args in [vec!["serve", "--listen", "127.0.0.1:0"], vec!["key", "recover"]] {
        let output = site.command(&args).args(["--database", &database]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(&format!("in use by process {}", server.pid())), "{args:?}: {said}");
    }
    // A verb that works through the API asks the one that has the file, wherever that listens.
    let mut verb = site.command(&["tool", "list", "--database", &database]);
    let asked = verb.env("KYBERN_API_KEY", KEY).output().unwrap();
    let (out, said) = (String::from_utf8(asked.stdout).unwrap(), String::from_utf8(asked.stderr).unwrap());
    assert!(asked.status.success() && out.contains("core.noop"), "{said}");
    assert_eq!(server.client().get("/healthz").await["status"], "ok");
}

#[tokio::test]
async fn a_database_is_made_only_where_somebody_names_it() {
    let site = Site::sqlite();
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = site.command(args).current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["task", "submit", "hello"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there is no database kybern.db in this folder") && said.contains("kybern serve"), "{said}");
    for args in [&["key", "recover"][..], &["backup", "kept"]] {
        let (code, said) = run(args);
        assert!(code == Some(2) && said.contains("there is no database"), "{args:?}: {code:?} {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
    let (code, said) = run(&["task", "submit", "hello", "--database", "sqlite:mine.db"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(folder.path().join("mine.db").exists(), "{said}");
}

#[tokio::test]
async fn a_log_in_json_is_json_and_tells_each_request_and_each_end() {
    let site = Site::sqlite().with("KYBERN_TELEMETRY__FORMAT", "json");
    let mut server = site.start();
    let client = server.client();
    plan(&client, "fine", json!([{"id": "a", "tool": "core.noop"}])).await;
    plan(&client, "fails", json!([{"id": "a", "tool": "core.fail", "args": {"message": "hunter2"}}])).await;
    for key in ["fine", "fails"] {
        client.rest(&submit(&client, key).await).await;
    }
    client.get("/healthz").await;
    server.terminate();
    server.ended().await;
    let said = server.said();
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let told =
        |message: &str| -> Vec<&Value> { lines.iter().filter(|line| line["fields"]["message"] == message).collect() };
    let routes: Vec<&str> = told("answered").iter().filter_map(|line| line["span"]["http.route"].as_str()).collect();
    assert!(routes.contains(&"/api/plans") && !routes.contains(&"/healthz"), "{routes:?}");
    let (ended, failed) = (told("the task ended"), told("the task failed"));
    assert_eq!((ended.len(), failed.len()), (1, 1), "{said}");
    assert_eq!(failed[0]["fields"]["step"], "a");
    assert!(!failed[0].to_string().contains("hunter2"), "no word of a failure");
    assert!(lines.last().unwrap()["fields"]["message"].as_str().unwrap().starts_with("stopped"), "{said}");
}

#[tokio::test]
async fn a_misspelt_setting_stops_the_start() {
    let site = Site::sqlite();
    site.file("kybern.toml", "[server]\nlisen = \"127.0.0.1:0\"\n");
    let output = site.command(&["serve"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    // A database that does not answer is another matter: it may be there in a minute.
    let away = ["serve", "--listen", "127.0.0.1:0", "--database", "postgres://nobody@127.0.0.1:1/none"];
    let output = Site::sqlite().command(&away).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["server.lisen", "kybern.toml", "did you mean server.listen?"] {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
    let site = Site::sqlite().with("KYBERN_WORKER__SLOTS", "many");
    let said = site.try_start().map(|_| ()).unwrap_err();
    assert!(said.contains("worker.slots") && said.contains("many"), "{said}");
}

/// An address that another program has is said plainly, and the database is not touched.
#[tokio::test]
async fn a_taken_address_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let site = Site::sqlite();
    let output = site.command(&["serve", "--listen", &address]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains(&address) && said.contains("--listen"), "{said}");
    assert!(!site.folder().join("kybern.db").exists());
}

#[tokio::test]
async fn the_probes_answer_without_a_key() {
    let site = Site::sqlite();
    let server = site.start();
    let anybody = server.client().with_key("none");
    for path in ["/healthz", "/readyz", "/openapi.json", "/metrics", "/"] {
        let response = reqwest::Client::new().get(format!("{}{path}", server.url())).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{path}");
    }
    let (status, answer) = anybody.send(&Ask::get("/api/tasks")).await;
    assert_eq!((status.as_u16(), answer["error"]["code"].as_str()), (401, Some("UNAUTHENTICATED")));
}

/// The stop does not wait for streams that somebody left open.
#[tokio::test]
async fn open_streams_do_not_hold_up_the_end() {
    let site = Site::sqlite().with("KYBERN_SERVER__SHUTDOWN_GRACE_MS", "20000");
    let mut server = site.start();
    let client = server.client();
    plan(&client, "test.ask", json!([{"id": "ask", "kind": "input", "title": "Go on?", "fields": {}}])).await;
    let id = submit(&client, "test.ask").await;
    client.rest(&id).await;
    let stream = client.raw(&Ask::get(&format!("/api/tasks/{id}/events"))).await.unwrap();
    server.terminate();
    let ended = tokio::time::timeout(Duration::from_secs(10), server.ended()).await;
    assert_eq!(ended.unwrap().code(), Some(0), "{}", server.said());
    drop(stream);
}
