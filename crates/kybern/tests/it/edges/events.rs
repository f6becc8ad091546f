//! The log of a task as a stream, and the wall between two tenants.

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::{plan, submit};
use crate::samples;
use crate::server::client::{Ask, text, until};
use crate::server::{Client, PATIENCE, Site};

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: String,
    name: String,
    data: Value,
}

/// Reads a stream up to `last`, or to its end.
async fn events(client: &Client, task: &str, after: Option<&str>, last: &str) -> Vec<Event> {
    let mut ask = Ask::get(&format!("/api/tasks/{task}/events")).header("accept", "text/event-stream");
    if let Some(after) = after {
        ask = ask.header("last-event-id", after);
    }
    let response = client.raw(&ask).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let reading = async {
        let (mut stream, mut text, mut events) = (response.bytes_stream(), String::new(), Vec::new());
        while let Some(chunk) = stream.next().await {
            text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
            while let Some((block, rest)) = text.split_once("\n\n") {
                events.extend(event(block));
                text = rest.to_owned();
                if events.last().is_some_and(|event: &Event| event.name == last) {
                    return events;
                }
            }
        }
        events
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap()
}

fn event(block: &str) -> Option<Event> {
    let field =
        |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let data = field("data:")?;
    Some(Event { id: field("id:")?, name: field("event:")?, data: serde_json::from_str(&data).unwrap() })
}

#[tokio::test]
async fn a_lost_stream_is_taken_up_where_it_broke() {
    let site = Site::sqlite();
    let mut server = site.start();
    let client = server.client();
    let steps = json!([
        {"id": "first", "tool": "core.noop"},
        {"id": "ask", "kind": "input", "title": "Go on?", "fields": {"yes": {"type": "boolean"}}},
        {"id": "last", "tool": "core.noop"}
    ]);
    plan(&client, "test.ask", steps).await;
    let id = submit(&client, "test.ask").await;
    let before = events(&client, &id, None, "needs_review").await;
    assert_eq!(before[0].name, "task_created");
    // The server dies; the next one goes on behind the event that was seen last.
    server.kill();
    let server = site.start();
    let client = server.client();
    let seen = &before[1].id;
    let (after, ()) = tokio::join!(events(&client, &id, Some(seen), "done"), async {
        let path = format!("/api/tasks/{id}/review");
        client.post(&path, &json!({"corrections": {"yes": true}})).await;
    });
    assert_eq!(after.last().unwrap().name, "done");
    let mut joined = before[..2].to_vec();
    joined.extend(after);
    assert_eq!(joined, events(&client, &id, None, "done").await);
    let log = client.get(&format!("/api/tasks/{id}/log?limit=200")).await;
    let entries: Vec<&Value> = log["items"].as_array().unwrap().iter().collect();
    let streamed: Vec<&Value> = joined[..joined.len() - 1].iter().map(|event| &event.data["data"]).collect();
    assert_eq!(streamed, entries);
    let (status, _) = client.send(&Ask::get(&format!("/api/tasks/{id}/events")).header("last-event-id", "x")).await;
    assert_eq!(status.as_u16(), 400);
}

async fn two_tenants_see_nothing_of_each_other(site: Site) {
    let server = site.start();
    let admin = server.client();
    let mut tenants = Vec::new();
    for name in ["North", "South"] {
        let tenant = admin.post("/api/admin/tenants", &json!({ "name": name })).await;
        tenants.push(admin.with_key(tenant["adminKey"].as_str().unwrap()));
    }
    let sample = samples::all().swap_remove(0);
    let mut tasks = Vec::new();
    // The same message in both is two tasks, with records of their own.
    for tenant in &tenants {
        let received = tenant.ok(&sample.ask).await;
        assert_eq!(received["duplicate"], false);
        tasks.push(tenant.rest(&text(&received["taskId"])).await);
        assert_eq!(tasks.last().unwrap()["status"], "completed");
    }
    for (n, tenant) in tenants.iter().enumerate() {
        let other = &tasks[1 - n];
        let theirs = text(&other["id"]);
        assert_eq!(tenant.list("/api/tasks").await.len(), 1);
        assert_eq!(tenant.list("/api/records/network.entity").await.len(), 1);
        assert!(!tenant.get("/api/audit").await.to_string().contains(&theirs));
        let entity = text(&other["result"]["entity_id"]);
        let reads = ["", "/log", "/events", "/artifacts", "/attachments", "/attachments/1"]
            .map(|end| Ask::get(&format!("/api/tasks/{theirs}{end}")));
        let acts = ["cancel", "pause", "resume", "retry", "replay", "review", "fork"].map(|act| {
            let body = if act == "review" { json!({"corrections": {}}) } else { json!({}) };
            Ask::json(&format!("/api/tasks/{theirs}/{act}"), &body)
        });
        let record = Ask::get(&format!("/api/records/network.entity/{entity}"));
        for ask in reads.iter().chain(&acts).chain([&record]) {
            let (status, answer) = tenant.send(ask).await;
            assert_eq!((status.as_u16(), &answer["error"]["code"]), (404, &json!("NOT_FOUND")), "{ask:?}: {answer}");
        }
        let (status, _) = tenant.send(&Ask::get("/api/admin/tenants")).await;
        assert_eq!(status.as_u16(), 403);
    }
    // The platform's admin, who works in `default`, sees neither.
    assert!(admin.list("/api/tasks").await.is_empty());
    until("both are left as they were", || async {
        let after = tenants[0].rest(&text(&tasks[0]["id"])).await;
        (after == tasks[0]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn two_tenants_see_nothing_of_each_other_on_sqlite() {
    two_tenants_see_nothing_of_each_other(Site::sqlite()).await;
}

#[tokio::test]
async fn two_tenants_see_nothing_of_each_other_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    two_tenants_see_nothing_of_each_other(site).await;
}
