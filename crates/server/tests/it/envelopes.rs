//! Error bodies, headers and request ids, byte by byte.

use serde_json::json;

use crate::harness::{App, Ask};

const ID: &str = "0198c1d2-7a3b-7000-8000-000000000001";

#[tokio::test]
async fn error_bodies_look_like_this() {
    let app = App::start().await;
    let keys = &app.ours;
    let asks = [
        Ask::get("/api/tasks"),
        Ask::get("/api/nothing"),
        Ask::new("DELETE", "/api/tasks"),
        Ask::get("/api/audit").key(&keys.viewer),
        Ask::get("/api/tasks/7").key(&keys.viewer),
        Ask::get(&format!("/api/tasks/{ID}")).key(&keys.viewer),
        Ask::get("/api/tasks?status=done").key(&keys.viewer),
        Ask::post("/api/tasks").key(&keys.operator).json(&json!({"input": 5})),
        Ask::post("/api/tasks").key(&keys.operator).json(&json!({"maxSteps": 0, "budgetNanos": -1})),
        Ask::post("/api/tasks").key(&keys.operator).body("application/json", "{\"input\": "),
        Ask::post("/api/tasks").key(&keys.operator).body("application/json", vec![b' '; 70_000]),
        Ask::post("/api/plans").key(&keys.admin).json(&json!({"key": "a", "steps": [{"id": "x", "tool": "no.such"}]})),
        Ask::post("/api/inbound/sms").key(&keys.operator).body("application/x-www-form-urlencoded", "From=1"),
    ];
    let mut shown = String::new();
    for ask in asks {
        let answer = app.send(ask.header("x-request-id", ID)).await;
        let body = serde_json::to_string_pretty(&answer.json()).unwrap();
        shown.push_str(&format!("{}\n{body}\n\n", answer.status));
    }
    insta::assert_snapshot!("error_bodies", shown);
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let app = App::start().await;
    let echoed = async |id: &str| {
        let answer = app.send(Ask::get("/healthz").header("x-request-id", id)).await;
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(echoed(ID).await, ID);
    assert_eq!(echoed("job-42.a").await, "job-42.a");
    for bad in ["has space", "quote\"", &"x".repeat(65)] {
        let made = echoed(bad).await;
        assert_ne!(made, bad);
        assert_eq!(made.len(), 36, "{made}");
    }
    assert_eq!(app.send(Ask::get("/healthz")).await.header("x-request-id").len(), 36);
}

#[tokio::test]
async fn every_answer_closes_what_a_browser_leaves_open() {
    let app = App::start().await;
    for path in ["/healthz", "/api/tasks", "/nothing", "/"] {
        let answer = app.send(Ask::get(path)).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
    }
}

#[tokio::test]
async fn a_traceparent_is_the_trace_of_the_task() {
    let app = App::start().await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let ask = Ask::post("/api/tasks").key(&app.ours.operator).json(&json!({"input": "hi"}));
    let answer = app.send(ask.header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"))).await;
    assert_eq!(answer.json()["traceId"], trace);
}

#[tokio::test]
async fn a_model_that_is_asked_at_once_is_told_the_traceparent_of_the_request() {
    let app = App::start().await;
    let question = json!({"model": "scripted/echo", "messages": [{"role": "user", "content": "trace"}]});
    let ask = || Ask::post("/v1/chat/completions").key(&app.ours.operator).json(&question);
    let told = async |ask| app.send(ask).await.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(told(ask().header("traceparent", given)).await, given);
    let (one, other) = (told(ask()).await, told(ask()).await);
    assert_eq!((one.len(), one == other), (given.len(), false), "a request without one begins its own");
}

#[tokio::test]
async fn a_traceparent_is_the_trace_of_what_is_delivered() {
    let app = App::start().await;
    let operator = &app.ours.operator;
    let mail = "From: a@example.com\r\nMessage-ID: <1@x>\r\n\r\nhi\r\n";
    let sms = "From=%2B1&To=%2B2&Body=hi&MessageSid=S1";
    let deliveries = [
        Ask::post("/api/inbound/email").key(operator).body("message/rfc822", mail),
        Ask::post("/api/inbound/sms").key(operator).body("application/x-www-form-urlencoded", sms),
        Ask::post("/api/inbound/webhook/crm").key(operator).body("application/json", "{}"),
    ];
    for (n, delivery) in (1..).zip(deliveries) {
        let trace = format!("4bf92f3577b34da6a3ce929d0e0e473{n}");
        let answer = app.send(delivery.header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"))).await;
        let task = answer.json()["taskId"].as_str().unwrap().to_owned();
        let task = app.send(Ask::get(&format!("/api/tasks/{task}")).key(operator)).await;
        assert_eq!(task.json()["traceId"], trace, "delivery {n}");
    }
}

#[tokio::test]
async fn a_taken_address_is_refused_in_words_that_hide_nothing() {
    let app = App::start().await;
    let user = json!({"name": "Bo Reed", "email": "bo@example.com", "roles": ["operator"]});
    let make = async || app.send(Ask::post("/api/users").key(&app.ours.admin).json(&user)).await;
    assert_eq!(make().await.status, 201);
    let again = make().await;
    again.refused(409, "CONFLICT", "the same address");
    assert_eq!(again.json()["error"]["message"], "that address is taken");
}
