//! How much memory the bodies of many callers may take together, on real connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kybern_core::id::TenantId;
use kybern_core::policy::webhook::{seconds, sign};
use kybern_core::ports::Keys;
use kybern_server::Limits;
use kybern_testkit::TestKeys;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::fixture::Fixture;
use crate::harness::{App, Ask, SOURCE_SECRET};
use crate::outside::NoNetwork;
use crate::serving::{PATIENCE, answer, served};

const KIB: usize = 1024;

/// 512 KiB for all bodies: 384 KiB for those with a key, of which one tenant gets 192, and 128 KiB for the others, of
/// which one address gets 64.
async fn narrow() -> App {
    let limits = Limits {
        max_body: 48 * KIB,
        max_mail: 64 * KIB,
        max_unproven: 16 * KIB,
        max_bodies: 512 * KIB,
        ..Limits::default()
    };
    App::limited(Arc::new(NoNetwork), BTreeMap::new(), limits).await
}

/// Sends the head of a request and a part of its body.
async fn begun(address: &str, path: &str, headers: &str, length: usize, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; sent]).await.unwrap();
    stream
}

/// Of many requests that stop in the middle of their bodies: how many are refused, which ends when only `held` are left.
async fn refused(streams: &mut [TcpStream], held: usize) {
    let wanted = streams.len() - held;
    let mut answers: FuturesUnordered<_> = streams.iter_mut().map(answer).collect();
    for n in 0..wanted {
        let told = tokio::time::timeout(PATIENCE, answers.next()).await;
        let text = told.unwrap_or_else(|_| panic!("only {n} of {wanted} were refused")).unwrap();
        assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("\"UNAVAILABLE\""), "{text}");
        assert!(text.to_lowercase().contains("\r\nretry-after: 2\r\n"), "{text}");
    }
}

#[tokio::test]
async fn strangers_bodies_take_a_bounded_part_and_leave_room_for_customers() {
    let app = narrow().await;
    let (address, _server) = served(&app).await;
    let headers = "webhook-id: a\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,AAAA\r\n";
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(begun(&address, "/api/inbound/webhook/forms", headers, 16 * KIB, 15 * KIB).await);
    }
    refused(&mut streams, 4).await;
    let body = json!({"input": "x".repeat(40 * KIB), "planKey": "test.none"});
    let known = app.send(Ask::post("/api/tasks").key(&app.ours.operator).json(&body)).await;
    assert_eq!(known.status, 404, "who has a key is heard: {}", known.text());
    drop(streams);
    let (now, body) = (app.engine.clock().now(), json!({"event": "e".repeat(15 * KIB)}).to_string());
    let signed = || {
        Ask::post("/api/inbound/webhook/forms")
            .header("webhook-id", "m")
            .header("webhook-timestamp", &seconds(now).to_string())
            .header("webhook-signature", &sign(SOURCE_SECRET, "m", now, body.as_bytes()).unwrap())
            .body("application/json", body.clone())
    };
    let room = async { while app.send(signed()).await.status != 202 {} };
    tokio::time::timeout(PATIENCE, room).await.expect("what was held is given back when its sender leaves");
}

#[tokio::test]
async fn one_tenants_bodies_leave_room_for_another_tenants() {
    let app = narrow().await;
    let (address, _server) = served(&app).await;
    let headers = format!("Authorization: Bearer {}\r\n", app.ours.operator);
    let mut streams = Vec::new();
    for _ in 0..12 {
        streams.push(begun(&address, "/api/tasks", &headers, 48 * KIB, 47 * KIB).await);
    }
    refused(&mut streams, 4).await;
    let body = json!({"input": "x".repeat(40 * KIB), "planKey": "test.none"});
    let ours = app.send(Ask::post("/api/tasks").key(&app.ours.operator).json(&body)).await;
    ours.refused(503, "UNAVAILABLE", "the tenant's own");
    let theirs = app.send(Ask::post("/api/tasks").key(&app.theirs.operator).json(&body)).await;
    assert_eq!(theirs.status, 404, "{}", theirs.text());
}

#[tokio::test]
async fn what_cannot_be_proven_is_refused_before_its_body_comes() {
    let app = narrow().await;
    let (address, _server) = served(&app).await;
    let signed = "webhook-id: a\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,AAAA\r\n";
    let guessed = "X-Callback-Secret: guessed\r\nX-Workflow-Id: v1:00000000-0000-0000-0000-000000000001:a:b:1\r\n";
    let callback = "/api/internal/brain/callback/0198c1d2-7a3b-7c4d-8e5f-001122334455";
    for (path, headers, status) in [
        ("/api/inbound/webhook/unknown", signed, 401),
        ("/api/inbound/webhook/open", signed, 401),
        ("/api/inbound/webhook/forms", "webhook-signature: v1,AAAA\r\n", 401),
        ("/api/inbound/webhook/forms", "", 401),
        (callback, "", 401),
        (callback, guessed, 401),
    ] {
        let mut stream = begun(&address, path, headers, 10 * KIB, 0).await;
        let text = tokio::time::timeout(PATIENCE, answer(&mut stream)).await.unwrap();
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{path} {headers}: {text}");
    }
    for (path, headers) in [("/api/inbound/webhook/forms", signed), (callback, "X-Callback-Secret: guessed\r\n")] {
        let mut stream = begun(&address, path, headers, 16 * KIB + 1, 0).await;
        let text = tokio::time::timeout(PATIENCE, answer(&mut stream)).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 413 "), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_callback_that_is_proven_beforehand_may_be_as_large_as_any_body() {
    let app = narrow().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let workflow = format!("v1:{}:{}:put:1", TenantId::DEFAULT, fixture.ended);
    let secret = TestKeys::new().callback_secret(&workflow);
    let body = json!({"workflowId": workflow, "success": true, "data": {"quotes": "q".repeat(40 * KIB)}});
    let path = format!("/api/internal/brain/callback/{}", fixture.ended);
    let ask = || Ask::post(&path).header("x-callback-secret", &secret).json(&body);
    app.send(ask()).await.refused(413, "PAYLOAD_TOO_LARGE", "without the delegation's name");
    let answer = app.send(ask().header("x-workflow-id", &workflow)).await;
    assert_eq!((answer.status, &answer.json()["outcome"]), (200, &json!("late")), "{}", answer.text());
}

#[tokio::test]
async fn a_body_of_too_many_values_is_refused_wherever_it_comes_in() {
    let limits = Limits { max_unproven: 2_048 * KIB, max_body: 2_048 * KIB, ..Limits::default() };
    let app = App::limited(Arc::new(NoNetwork), BTreeMap::new(), limits).await;
    let many = format!("[{}]", vec!["{\"\":0}"; 100_001].join(","));
    let object = format!("{{\"input\":\"x\",\"payload\":{{\"a\":{many}}}}}");
    let now = app.engine.clock().now();
    let signature = sign(SOURCE_SECRET, "m", now, many.as_bytes()).unwrap();
    let signed = Ask::post("/api/inbound/webhook/forms")
        .header("webhook-id", "m")
        .header("webhook-timestamp", &seconds(now).to_string())
        .header("webhook-signature", &signature);
    let task = "0198c1d2-7a3b-7c4d-8e5f-001122334455";
    let workflow = format!("v1:{}:{task}:put:1", TenantId::DEFAULT);
    let secret = TestKeys::new().callback_secret(&workflow);
    let callback = Ask::post(&format!("/api/internal/brain/callback/{task}")).header("x-callback-secret", &secret);
    let told = format!("{{\"workflowId\":\"{workflow}\",\"success\":true,\"data\":{many}}}");
    for (what, ask) in [
        ("a submission", Ask::post("/api/tasks").key(&app.ours.operator).body("application/json", object.clone())),
        ("a webhook", signed.body("application/json", many.clone())),
        ("a callback", callback.body("application/json", told)),
        ("a model call", Ask::post("/v1/chat/completions").key(&app.ours.operator).body("application/json", object)),
    ] {
        let answer = app.send(ask).await;
        assert_eq!(answer.status, 400, "{what}: {}", answer.text());
        assert!(answer.text().contains("there are more than 200000 values"), "{what}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_payload_has_a_limit_of_its_own() {
    let app = App::limited(Arc::new(NoNetwork), BTreeMap::new(), Limits::default()).await;
    let submit = async |bytes: usize| {
        let body = json!({"input": "x", "payload": {"a": "p".repeat(bytes)}});
        app.send(Ask::post("/api/tasks").key(&app.ours.operator).json(&body)).await
    };
    submit(4_096 * KIB).await.refused(413, "PAYLOAD_TOO_LARGE", "4 MiB and its member");
    assert_eq!(submit(4_095 * KIB).await.status, 202);
}

#[tokio::test]
async fn answers_that_nobody_takes_are_bounded_by_tenant() {
    let limits = Limits { max_answers: 512 * KIB, ..Limits::default() };
    let app = App::limited(Arc::new(NoNetwork), BTreeMap::new(), limits).await;
    let (ours, theirs) = (Fixture::of(&app, &app.ours).await, Fixture::of(&app, &app.theirs).await);
    let large = json!({"input": "x".repeat(100 * KIB), "planKey": ours.plan});
    let task = app.submit(&app.ours.operator, large).await["id"].as_str().unwrap().to_owned();
    let show = || app.open(Ask::get(&format!("/api/tasks/{task}")).key(&app.ours.viewer));
    let mut held = vec![show().await, show().await];
    assert!(held.iter().all(|answer| answer.status() == 200));
    let refused = app.send(Ask::get(&format!("/api/tasks/{task}")).key(&app.ours.viewer)).await;
    refused.refused(503, "UNAVAILABLE", "a third answer");
    assert_eq!(refused.header("retry-after"), "2");
    // What is small needs no room, and other tenants have theirs.
    assert_eq!(app.send(Ask::get("/api/chats").key(&app.ours.viewer)).await.status, 200);
    assert_eq!(app.send(Ask::get(&format!("/api/tasks/{}", theirs.ended)).key(&app.theirs.viewer)).await.status, 200);
    held.pop();
    let answer = app.send(Ask::get(&format!("/api/tasks/{task}")).key(&app.ours.viewer)).await;
    assert_eq!((answer.status, answer.json()["input"].as_str().map(str::len)), (200, Some(100 * KIB)));
}
