//! What leaves the house by HTTP: completion webhooks, delegations, traces.

use kybern_core::policy::webhook::{WebhookHeaders, verify};
use kybern_core::time::Timestamp;
use serde_json::json;

use super::{plan, submit};
use crate::server::Site;
use crate::server::client::{Ask, text, until};
use crate::server::receiver::{Receiver, Seen};

/// Checks a signature as a receiver would, at the time that it states.
fn is_signed(request: &Seen, secret: &str) -> bool {
    let timestamp = request.header("webhook-timestamp");
    let signature = request.header("webhook-signature");
    let headers = WebhookHeaders { id: request.header("webhook-id"), timestamp, signature };
    let at = Timestamp::from_millis(timestamp.parse::<i64>().unwrap() * 1000);
    verify(secret, headers, &request.body, at).is_ok()
}

#[tokio::test]
async fn a_completion_is_announced_and_signed() {
    let receiver = Receiver::answering(|_, before| Some((if before == 0 { 503 } else { 200 }, json!(null))));
    let site = Site::sqlite().with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    let server = site.start();
    let client = server.client();
    let new = json!({"url": receiver.url("/done"), "events": ["task.completed"]});
    let webhook = client.post("/api/webhooks/outbound", &new).await;
    plan(&client, "test.noop", json!([{"id": "a", "tool": "core.set", "args": {"sum": 3}}])).await;
    let id = submit(&client, "test.noop").await;
    let seen = receiver.wait(2).await;
    for request in &seen {
        assert!(is_signed(request, webhook["secret"].as_str().unwrap()), "{request:?}");
        let body = request.json();
        assert_eq!((&body["type"], &body["data"]["taskId"]), (&json!("task.completed"), &json!(id)));
    }
    let forged = Seen { body: b"{}".to_vec(), ..seen[0].clone() };
    assert!(!is_signed(&forged, webhook["secret"].as_str().unwrap()));
    assert_eq!(seen[0].header("webhook-id"), seen[1].header("webhook-id"), "a repeat is the same message");
    assert_eq!(seen[0].body, seen[1].body);
    let listed = client.get("/api/webhooks/outbound").await;
    assert!(listed["items"][0]["id"] == webhook["id"] && listed["items"][0].get("secret").is_none());
    until("the message counts as sent", || async {
        let outbox = client.list("/api/outbox").await;
        (outbox.len() == 1 && outbox[0]["status"] == "sent").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_private_receiver_that_nobody_opened_is_not_reached() {
    let receiver = Receiver::start();
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let new = Ask::json("/api/webhooks/outbound", &json!({"url": receiver.url("/done"), "events": []}));
    let (status, _) = client.send(&new).await;
    let args = json!({"method": "GET", "url": receiver.url("/inside")});
    plan(&client, "test.read", json!([{"id": "read", "tool": "core.http_request", "args": args}])).await;
    let id = submit(&client, "test.read").await;
    let task = client.rest(&id).await;
    assert_eq!(task["status"], "failed");
    assert!(text(&task["errorMessage"]).contains(&receiver.address()), "{}", task["errorMessage"]);
    if status.is_success() {
        until("the message is given up", || async {
            let outbox = client.list("/api/outbox").await;
            (outbox.iter().any(|message| message["status"] == "failed")).then_some(())
        })
        .await;
    }
    assert!(receiver.seen().is_empty(), "{:?}", receiver.seen());
}

async fn a_workflow_is_handed_over_and_called_back(site: Site) {
    let receiver = Receiver::start();
    let site = site.with("KYBERN_WORKFLOWS__QUOTE__URL", &receiver.url("/quote"));
    let mut server = site.start();
    let steps = json!([
        {"id": "quote", "kind": "workflow", "workflow": "quote", "args": {"dot": "9104417"}},
        {"id": "keep", "tool": "core.set", "args": {"best": "{{ steps.quote.result.best }}"}}
    ]);
    plan(&server.client(), "test.quote", steps).await;
    let id = submit(&server.client(), "test.quote").await;
    let handed = receiver.wait(1).await.remove(0).json();
    assert_eq!((&handed["taskId"], &handed["args"]), (&json!(id), &json!({"dot": "9104417"})));
    let callback = text(&handed["callbackUrl"]);
    assert_eq!(callback, format!("{}/api/internal/brain/callback/{id}", server.url()));
    let task = until("it is delegated", || async {
        let task = server.client().get(&format!("/api/tasks/{id}")).await;
        (task["status"] == "delegated").then_some(task)
    })
    .await;
    assert_eq!(task["delegatedWorkflowId"], handed["workflowId"]);
    // The engine takes its time; meanwhile the server dies.
    server.kill();
    let server = site.start();
    let client = server.client();
    let answer = json!({"workflowId": handed["workflowId"], "success": true, "data": {"best": 41_200}});
    let path = format!("/api/internal/brain/callback/{id}");
    let signed = Ask::json(&path, &answer).header("x-callback-secret", handed["callbackSecret"].as_str().unwrap());
    let forged = Ask::json(&path, &answer).header("x-callback-secret", "guessed");
    assert_eq!(client.send(&forged).await.0.as_u16(), 401);
    for _delivery in 0..2 {
        assert_eq!(client.send(&signed).await.0.as_u16(), 200);
    }
    let task = client.rest(&id).await;
    assert_eq!((&task["status"], &task["result"]), (&json!("completed"), &json!({"best": 41_200})));
    let other = json!({"workflowId": handed["workflowId"], "success": false, "error": "no"});
    let late = Ask::json(&path, &other).header("x-callback-secret", handed["callbackSecret"].as_str().unwrap());
    assert!(matches!(client.send(&late).await.0.as_u16(), 200 | 409));
    assert_eq!(client.rest(&id).await["status"], "completed");
    let log = client.get(&format!("/api/tasks/{id}/log?limit=200")).await;
    let count = |kind: &str| log["items"].as_array().unwrap().iter().filter(|one| one["eventType"] == kind).count();
    assert_eq!((count("delegated"), count("workflow_callback")), (1, 1), "{log}");
    client.replays(&id).await;
}

#[tokio::test]
async fn a_workflow_is_handed_over_and_called_back_on_sqlite() {
    a_workflow_is_handed_over_and_called_back(Site::sqlite()).await;
}

#[tokio::test]
async fn a_workflow_is_handed_over_and_called_back_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_workflow_is_handed_over_and_called_back(site).await;
}

#[tokio::test]
async fn traces_are_exported() {
    let receiver = Receiver::start();
    let site = Site::sqlite().with("KYBERN_TELEMETRY__OTLP_ENDPOINT", &receiver.url(""));
    let mut server = site.start();
    plan(&server.client(), "test.noop", json!([{"id": "a", "tool": "core.noop"}])).await;
    let id = submit(&server.client(), "test.noop").await;
    server.client().rest(&id).await;
    server.terminate();
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.said());
    let seen = receiver.seen();
    assert!(!seen.is_empty(), "nothing was exported:\n{}", server.said());
    for request in &seen {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/traces"));
        assert_eq!(request.header("content-type"), "application/x-protobuf");
    }
    let spans: Vec<u8> = seen.into_iter().flat_map(|request| request.body).collect();
    let has = |text: &str| spans.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("service.name") && has("kybern") && has("/api/tasks/{id}"), "the spans do not speak of the requests");
}
