//! Rows that were written by another hand: broken ones are named by the doctor and harm themselves only, and old ones
//! that are nested deeper than anything that is taken now are read like any other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{plan, submit};
use crate::server::client::{Ask, text, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, KEY, Server, Site};

/// Deeper than what is taken, and than what a reader of JSON goes by itself.
const DEEP: usize = 200;

/// The triggers that keep the audit trail as it is.
const SQLITE_KEEPS: &str = "DROP TRIGGER audit_event_keeps";
const POSTGRES_KEEPS: &str = "ALTER TABLE audit_event DISABLE TRIGGER USER";

fn asking() -> Value {
    json!([{"id": "ask", "tool": "core.ask", "args": {"title": "?", "fields": {"v": {}}}}])
}

/// A task that waits for a person.
async fn waiting(client: &Client) -> String {
    let id = submit(client, "ask").await;
    assert_eq!(client.rest(&id).await["status"], "needs_review");
    id
}

/// What the doctor says of rows: how that part is, and its details.
fn doctor(site: &Site, url: &str) -> (String, Vec<String>) {
    let mut doctor = site.command(&["doctor", "--json", "--url", url]);
    let output = doctor.env("KYBERN_DATABASE__URL", site.database()).env("KYBERN_API_KEY", KEY).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"));
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["part"] == "rows");
    let found = found.unwrap_or_else(|| panic!("{report}"));
    let details = found["details"].as_array().into_iter().flatten();
    (text(&found["state"]), details.map(text).collect())
}

async fn stopped(server: &mut Server) {
    server.terminate();
    server.ended().await;
}

async fn broken_rows_are_named_and_stop_nobody(site: Site, keeps: &str) {
    let receiver = Receiver::start();
    let site = site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    let mut server = site.start();
    let client = server.client();
    plan(&client, "ask", asking()).await;
    plan(&client, "fine", json!([{"id": "a", "tool": "core.noop"}])).await;
    let webhook = json!({"url": receiver.url("/done"), "events": ["task.completed"]});
    client.post("/api/webhooks/outbound", &webhook).await;
    client.rest(&submit(&client, "fine").await).await;
    until("it is announced", || async {
        let outbox = client.list("/api/outbox").await;
        outbox.iter().any(|message| message["status"] == "sent").then_some(())
    })
    .await;
    for key in ["first", "second"] {
        let put = json!({"input": {"kind": "note", "key": key, "props": {"a": 1}}});
        client.post("/api/tools/core.put_record/invoke", &put).await;
    }
    let [row, journal, signal, approval] =
        [waiting(&client).await, waiting(&client).await, waiting(&client).await, waiting(&client).await];
    client.ok(&Ask::json(&format!("/api/tasks/{signal}/pause"), &json!({}))).await;
    client.ok(&Ask::json(&format!("/api/tasks/{signal}/review"), &json!({"corrections": {"v": 1}}))).await;
    assert_eq!(doctor(&site, server.url()), ("ok".to_owned(), Vec::new()));

    let of = |id: &str| format!("task_id = {}", site.id(id));
    let broken = "'{\"broken\": '";
    let spoilt = [
        ("task", format!("payload = {broken}, waits = {broken}"), format!("id = {}", site.id(&row)), &row[..]),
        ("step_row", format!("body = {broken}"), format!("{} AND seq = 1", of(&journal)), &journal),
        ("signal", format!("body = {broken}"), of(&signal), &signal),
        ("approval", format!("input = {broken}"), of(&approval), ""),
        ("job", format!("payload = {broken}"), "status = 'done'".to_owned(), ""),
        ("outbox", format!("body = {broken}"), "status = 'sent'".to_owned(), ""),
        ("record", format!("props = {broken}"), "key = 'first'".to_owned(), ""),
        ("audit_event", format!("body = {broken}"), "seq = 2".to_owned(), ""),
    ];
    site.beneath(keeps);
    for (table, change, place, _) in &spoilt {
        site.beneath(&format!("UPDATE {table} SET {change} WHERE {place}"));
    }
    let named = |details: &[String]| {
        let mut tables: BTreeMap<String, usize> = BTreeMap::new();
        for detail in details {
            *tables.entry(detail.split(' ').next().unwrap().to_owned()).or_default() += 1;
        }
        for (table, _, _, id) in &spoilt {
            let begins = format!("{table} {id}");
            assert!(details.iter().any(|detail| detail.starts_with(&begins)), "{begins} is not in {details:?}");
        }
        assert_eq!(tables.len(), spoilt.len(), "{details:?}");
    };
    for (list, status) in [("outbox", "sent, unreadable"), ("approval", "pending, unreadable")] {
        let mut listed = site.command(&[list, "list", "--url", server.url()]);
        let listed = String::from_utf8(listed.env("KYBERN_API_KEY", KEY).output().unwrap().stdout).unwrap();
        assert!(listed.contains(status) && listed.contains("cannot be read"), "{listed}");
    }
    let (state, details) = doctor(&site, server.url());
    assert_eq!(state, "warning");
    named(&details);

    // Everything else is there and goes on.
    client.rest(&submit(&client, "fine").await).await;
    let lists = ["/api/tasks", "/api/approvals", "/api/outbox", "/api/records/note", "/api/audit"];
    for path in lists {
        assert!(client.list(path).await.len() > 1, "{path}");
    }
    let answered = waiting(&client).await;
    let task = client.get(&format!("/api/tasks/{answered}")).await;
    let task = client.review(&task, &json!({"corrections": {"v": 1}})).await;
    assert_eq!(task["status"], "completed", "{task}");

    let url = server.url().to_owned();
    stopped(&mut server).await;
    named(&doctor(&site, &url).1);
}

#[tokio::test]
async fn broken_rows_are_named_and_stop_nobody_on_sqlite() {
    broken_rows_are_named_and_stop_nobody(Site::sqlite(), SQLITE_KEEPS).await;
}

#[tokio::test]
async fn broken_rows_are_named_and_stop_nobody_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    broken_rows_are_named_and_stop_nobody(site, POSTGRES_KEEPS).await;
}

async fn a_key_that_cannot_be_read_does_nothing_and_stops_no_start(site: Site) {
    let mut server = site.start();
    plan(&server.client(), "fine", json!([{"id": "a", "tool": "core.noop"}])).await;
    for (table, column) in [("api_key", "scopes"), ("api_key", "roles"), ("app_user", "roles")] {
        stopped(&mut server).await;
        site.beneath(&format!("UPDATE {table} SET {column} = '[\"broken'"));
        server = site.start();
        let (status, answer) = server.client().send(&Ask::get("/api/tasks")).await;
        assert!(matches!(status.as_u16(), 401 | 403), "{status} {answer}");
        stopped(&mut server).await;
        site.beneath(&format!("UPDATE {table} SET {column} = '[]'"));
        server = site.start();
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_read_does_nothing_and_stops_no_start_on_sqlite() {
    a_key_that_cannot_be_read_does_nothing_and_stops_no_start(Site::sqlite()).await;
}

#[tokio::test]
async fn a_key_that_cannot_be_read_does_nothing_and_stops_no_start_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_key_that_cannot_be_read_does_nothing_and_stops_no_start(site).await;
}

/// Of a task whose row counts more signals than there are.
async fn a_lost_signal_keeps_no_worker_busy(site: Site) {
    let receiver = Receiver::start();
    let site = site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    let mut server = site.start();
    let client = server.client();
    plan(&client, "ask", asking()).await;
    let id = waiting(&client).await;
    let webhook = json!({"url": receiver.url("/waits"), "events": ["task.needs_review"]});
    client.post("/api/webhooks/outbound", &webhook).await;
    stopped(&mut server).await;
    site.beneath(&format!("UPDATE task SET signals = signals + 1, claimable_at = 1 WHERE id = {}", site.id(&id)));
    let mut server = site.start();
    let client = server.client();
    let told = async || client.list("/api/outbox").await.len();
    until("it is taken", || async { (told().await > 0).then_some(()) }).await;
    // Taken for ever, it would be told of once a second.
    crate::server::client::pause(std::time::Duration::from_secs(4)).await;
    assert_eq!(told().await, 1);
    let task = client.get(&format!("/api/tasks/{id}")).await;
    let task = client.review(&task, &json!({"corrections": {"v": 1}})).await;
    assert_eq!(task["status"], "completed", "{task}");
    stopped(&mut server).await;
}

#[tokio::test]
async fn a_lost_signal_keeps_no_worker_busy_on_sqlite() {
    a_lost_signal_keeps_no_worker_busy(Site::sqlite()).await;
}

#[tokio::test]
async fn a_lost_signal_keeps_no_worker_busy_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_lost_signal_keeps_no_worker_busy(site).await;
}

async fn old_rows_that_lie_deep_are_read(site: Site) {
    let mut server = site.start();
    let client = server.client();
    let set = json!({"id": "set", "tool": "core.set", "args": {"x": "MARK"}});
    let mut steps = asking();
    steps.as_array_mut().unwrap().insert(0, set);
    plan(&client, "deep", steps).await;
    let body = json!({"input": "go", "planKey": "deep", "payload": {"deep": "MARK"}});
    let id = text(&client.post("/api/tasks", &body).await["id"]);
    assert_eq!(client.rest(&id).await["status"], "needs_review");
    stopped(&mut server).await;

    let deep = format!("{}1{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let plant = |table: &str, column: &str, place: String| {
        site.beneath(&format!("UPDATE {table} SET {column} = replace({column}, '\"MARK\"', '{deep}') WHERE {place}"));
        let planted = format!("SELECT count(*) FROM {table} WHERE {place} AND {column} LIKE '%{deep}%'");
        assert!(site.count(&planted) > 0, "nothing was planted in {table}");
    };
    plant("task", "payload", format!("id = {}", site.id(&id)));
    plant("step_row", "body", format!("task_id = {}", site.id(&id)));

    let server = site.start();
    let client = server.client();
    assert_eq!(doctor(&site, server.url()).0, "ok");
    let listed = client.list("/api/tasks").await;
    assert!(listed.len() == 1 && listed[0]["unreadable"].is_null(), "{listed:?}");
    let log = client.list(&format!("/api/tasks/{id}/log")).await;
    assert!(log.iter().all(|entry| entry["eventType"] != "unreadable"), "{log:?}");
    // It is claimed, walks on behind its deep rows, and ends; another is not kept from it.
    let other = submit(&client, "deep").await;
    let rests = async |id: &str, status: &str| {
        until(&format!("{id} is {status}"), || async {
            let listed = client.list("/api/tasks").await;
            listed.iter().any(|task| task["id"] == id && task["status"] == status).then_some(())
        })
        .await;
    };
    for id in [&id, &other] {
        rests(id, "needs_review").await;
        client.ok(&Ask::json(&format!("/api/tasks/{id}/review"), &json!({"corrections": {"v": 1}}))).await;
        rests(id, "completed").await;
        client.replays(id).await;
    }
    // As it is: the reader of this test goes less deep, and leaves the text.
    let shown = client.get(&format!("/api/tasks/{id}")).await;
    assert!(text(&shown).contains(&deep), "{shown}");
}

#[tokio::test]
async fn old_rows_that_lie_deep_are_read_on_sqlite() {
    old_rows_that_lie_deep_are_read(Site::sqlite()).await;
}

#[tokio::test]
async fn old_rows_that_lie_deep_are_read_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    old_rows_that_lie_deep_are_read(site).await;
}
