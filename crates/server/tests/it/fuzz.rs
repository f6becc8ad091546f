//! Fuzz targets of what comes in over HTTP. The routes that read JSON are in `doors`, those that read forms and mail in
//! `forms`; here is what outside engines send back: whatever the body is, it is taken once and only with a proof, or
//! refused with a code, and the task goes on. `cargo xtask fuzz` plays it a million times.

mod doors;
mod forms;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::id::TenantId;
use kybern_core::policy::webhook;
use kybern_core::ports::{Clock as _, HttpClient, HttpFailure, HttpRequest, HttpResponse, Keys as _};
use kybern_core::time::Millis;
use kybern_engine::WorkflowEndpoint;
use kybern_testkit::TestKeys;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness::{Answer, App, Ask};

/// Stands in a body for the delegation's id.
const MARK: &str = "WORKFLOW";
/// Delegations that one application sees, so that its memory stays small.
const MOST: u32 = 200;
const NAMES: &[&str] = &["workflowId", "workflow_id", "success", "error", "data", "answer", "__proto__", "quotes"];
const TEXTS: &[&str] = &[MARK, "WORKFLOW:0", "v1:x", "{{ state.x }}", "it rained", "true"];

/// Takes every dispatch.
struct Takes;

#[async_trait]
impl HttpClient for Takes {
    async fn send(&self, _request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        Ok(HttpResponse { status: 202, headers: Vec::new(), body: Bytes::new() })
    }
}

/// An application with a task that waits for an outside engine.
struct Waiting {
    app: App,
    task: String,
    workflow: String,
    began: u32,
}

impl Waiting {
    async fn new() -> Self {
        let endpoint = WorkflowEndpoint { url: "https://flow.example/start".to_owned(), secret: None, deadline: None };
        let workflows = BTreeMap::from([("flow".to_owned(), endpoint)]);
        let app = App::start_with(Arc::new(Takes), workflows).await;
        let plan = json!({"key": "fuzz.delegate", "steps": [
            {"id": "out", "kind": "workflow", "workflow": "flow", "args": {}},
            {"id": "after", "tool": "test.echo", "args": {"got": "{{ steps.out.result }}"}},
        ]});
        let stored = app.send(Ask::post("/api/plans").key(&app.ours.admin).json(&plan)).await;
        assert_eq!(stored.status, 201, "{}", stored.text());
        let mut waiting = Self { app, task: String::new(), workflow: String::new(), began: 0 };
        waiting.delegate().await;
        waiting
    }

    async fn delegate(&mut self) {
        let body = json!({"input": "x", "planKey": "fuzz.delegate"});
        let answer = self.app.send(Ask::post("/api/tasks").key(&self.app.ours.operator).json(&body)).await;
        self.task = answer.json()["id"].as_str().unwrap().to_owned();
        while self.status().await != "delegated" {
            tokio::task::yield_now().await;
        }
        self.workflow = format!("v1:{}:{}:out:0", TenantId::DEFAULT, self.task);
        self.began += 1;
    }

    /// Calls back with a proof of that kind; the even kinds are right.
    async fn call(&self, kind: u8, body: &[u8]) -> Answer {
        let ask =
            Ask::post(&format!("/api/internal/brain/callback/{}", self.task)).body("application/json", body.to_vec());
        let secret = TestKeys::new().callback_secret(&self.workflow);
        // One moment for the header and the signature: between two of them a second may turn.
        let now = self.app.clock.now();
        let signed = |ask: Ask, signature: &str| {
            let at = webhook::seconds(now).to_string();
            ask.header("webhook-id", "msg_1").header("webhook-timestamp", &at).header("webhook-signature", signature)
        };
        let padded = format!("whsec_{}", secret.replace('-', "+").replace('_', "/"));
        let ask = match kind % 6 {
            0 | 4 => ask.header("x-callback-secret", &secret),
            1 => ask.header("x-callback-secret", &secret[1..]),
            2 => signed(ask, &webhook::sign(&padded, "msg_1", now, body).unwrap()),
            3 => signed(ask, &webhook::sign(&padded, "msg_2", now, body).unwrap()),
            _ => ask,
        };
        self.app.send(ask).await
    }

    async fn status(&self) -> Value {
        let path = format!("/api/tasks/{}", self.task);
        self.app.send(Ask::get(&path).key(&self.app.ours.viewer)).await.json()["status"].clone()
    }

    /// Sends one body and checks what comes of it.
    async fn check(&mut self, input: &[u8]) -> Result<(), String> {
        let (kind, rest) = input.split_first().map_or((0, input), |(kind, rest)| (*kind, rest));
        let body = String::from_utf8_lossy(rest).replace(MARK, &self.workflow).into_bytes();
        let answer = self.call(kind, &body).await;
        let told = serde_json::from_slice::<Value>(&answer.body).map_err(|_| format!("no JSON: {}", answer.text()))?;
        match (answer.status, told["outcome"].as_str()) {
            (200 | 202, _) if kind % 6 % 2 == 1 => Err(format!("taken without a proof: {told}")),
            (200, Some("accepted")) => self.accepted(kind, &body).await,
            (200 | 202, outcome) => Err(format!("another outcome of a first callback: {outcome:?}")),
            (400 | 401 | 404 | 413 | 422, _) if told["error"]["code"].is_string() => {
                let looks = blake3::hash(input).as_bytes()[0] < 16;
                if looks && self.status().await != "delegated" {
                    Err("what was refused had an effect".to_owned())
                } else {
                    Ok(())
                }
            }
            _ => Err(format!("status {}: {told}", answer.status)),
        }
    }

    /// It is taken once, and the task goes on.
    async fn accepted(&mut self, kind: u8, body: &[u8]) -> Result<(), String> {
        let again = self.call(kind, body).await;
        if (again.status, again.json()["outcome"].as_str()) != (200, Some("duplicate")) {
            return Err(format!("the same again: {}", again.text()));
        }
        let other = json!({"workflowId": self.workflow, "success": true, "data": "another"}).to_string();
        let other = self.call(0, other.as_bytes()).await;
        if other.status != 409 {
            return Err(format!("another body: {} {}", other.status, other.text()));
        }
        let path = format!("/api/tasks/{}?waitMs=20000", self.task);
        let ended = self.app.send(Ask::get(&path).key(&self.app.ours.viewer)).await.json()["status"].clone();
        if ended != "completed" && ended != "failed" {
            return Err(format!("the task is {ended} after its callback"));
        }
        self.delegate().await;
        Ok(())
    }
}

fn make(chance: &Chance) -> Vec<u8> {
    let mut body = json!({"workflowId": MARK, "success": chance.percent(60), "data": {"answer": [1, {"a": null}]}});
    if chance.percent(30) {
        body["error"] = json!("it rained");
    }
    let other = body.clone();
    for _ in 0..chance.below(4) {
        damage::mutate(&mut body, &other, NAMES, TEXTS, chance);
    }
    [vec![chance.byte()], body.to_string().into_bytes()].concat()
}

#[test]
fn callbacks() {
    let runtime = Runtime::new().unwrap();
    let waiting = Mutex::new(None::<Waiting>);
    let seeds = [
        json!({"workflowId": MARK, "success": true}).to_string(),
        json!({"workflow_id": MARK, "success": false, "error": "x\u{0}y"}).to_string(),
        format!(
            "{{\"workflowId\":\"{MARK}\",\"success\":true,\"data\":{}1{}}}",
            "[".repeat(20_000),
            "]".repeat(20_000)
        ),
        format!("{{\"workflowId\":\"{MARK}\",\"workflow_id\":\"x\",\"success\":true}}"),
    ];
    let seeds = seeds.into_iter().map(|seed| format!("\0{seed}").into_bytes());
    Target::new("callbacks", 2_000, move |input| {
        let mut held = waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        runtime.block_on(async {
            if let Some(worn) = held.take_if(|waiting| waiting.began > MOST) {
                // An engine that works keeps itself in memory.
                worn.app.engine.drain(Millis::from_secs(1)).await;
            }
            if held.is_none() {
                *held = Some(Waiting::new().await);
            }
            let outcome = held.as_mut().unwrap().check(input).await;
            if outcome.is_err() {
                *held = None;
            }
            outcome
        })
    })
    .seeds(seeds)
    .words(&[
        "WORKFLOW",
        "\"workflowId\":",
        "\"success\":",
        "true",
        "1",
        "null",
        "\\u0000",
        "\\ud800",
        "{",
        "}",
        "[",
        "]",
        ",",
        "1e999",
    ])
    .made_by(make)
    .play();
}
