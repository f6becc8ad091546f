//! What is said about a way out that is closed or leads nowhere: whoever may name a host does not learn the address
//! behind it.

use serde_json::{Value, json};

use super::{plan, submit};
use crate::server::client::{Ask, text, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, Site};

/// What the name `localhost` hides.
const INSIDE: [&str; 2] = ["127.0.0.1", "::1"];

/// What a message of that channel says once it could not be sent.
async fn unsent(client: &Client, channel: &str) -> String {
    until(&format!("a {channel} cannot be sent"), || async {
        let outbox = client.list("/api/outbox").await;
        let found = outbox.iter().find(|message| message["channel"] == channel && message["error"].is_string());
        found.map(|message| text(&message["error"]))
    })
    .await
}

#[tokio::test]
async fn a_refused_or_dead_address_is_told_nobody() {
    let inner = Receiver::start();
    let port = inner.address().rsplit(':').next().unwrap().to_owned();
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let site = Site::sqlite();
    // An engine of the settings may lie inside; this one is not there.
    site.file("kybern.toml", format!("[workflows.flow]\nurl = \"http://localhost:{dead}/start\"\n"));
    let server = site.start();
    let client = server.client();
    let closed = format!("http://localhost:{port}/inner");
    let get = json!({"method": "GET", "url": closed});
    let mut told: Vec<(&str, String)> = Vec::new();

    let call = client.post("/api/tools/core.http_request/invoke", &json!({"input": get})).await;
    assert_eq!(call["status"], "failure", "{call}");
    told.push(("a call", call["error"].to_string()));
    plan(&client, "reach", json!([{"id": "a", "tool": "core.http_request", "args": get}])).await;
    let id = submit(&client, "reach").await;
    let task = client.rest(&id).await;
    assert_eq!(task["status"], "failed", "{task}");
    told.push(("a task", task["error"].to_string()));
    let log: Vec<Value> = client.list(&format!("/api/tasks/{id}/log")).await;
    told.push(("its log", json!(log).to_string()));

    // Otherwise each task that ends would leave a delivery behind that can never be made.
    let logged = || server.said().matches("a closed address was refused").count();
    let before = logged();
    for url in [closed.clone(), format!("http://127.0.0.1:{port}/inner"), "http://10.1.2.3/".to_owned()] {
        let webhook = Ask::json("/api/webhooks/outbound", &json!({"url": url, "events": ["task.completed"]}));
        let refused = client.raw(&webhook).await.unwrap();
        assert_eq!(refused.status(), 400, "{url}");
        let words = refused.text().await.unwrap();
        assert!(words.contains("[egress] allow"), "{words}");
        if url == closed {
            until("the log says which address was refused", || async { (logged() > before).then_some(()) }).await;
            told.push(("a webhook", words));
        }
    }
    let hook = json!({"to": closed, "subject": "s", "body": "b", "channel": "webhook"});
    client.ok(&Ask::json("/api/tools/core.notify/invoke", &json!({"input": hook}))).await;
    told.push(("a message", unsent(&client, "webhook").await));
    for (_, words) in told.iter().filter(|(what, _)| *what != "its log") {
        assert!(words.contains("does not lead to a public address"), "{words}");
    }

    plan(&client, "delegate", json!([{"id": "a", "kind": "workflow", "workflow": "flow", "args": {}}])).await;
    let delegated = submit(&client, "delegate").await;
    let dispatch = unsent(&client, "workflow").await;
    assert!(dispatch.contains("cannot connect"), "{dispatch}");
    told.push(("a dispatch", dispatch));
    told.push(("its log", json!(client.list(&format!("/api/tasks/{delegated}/log")).await).to_string()));

    for (what, words) in told {
        assert!(INSIDE.iter().all(|address| !words.contains(address)), "{what}: {words}");
    }
    assert_eq!(inner.seen().len(), 0, "and nobody came in");
}
