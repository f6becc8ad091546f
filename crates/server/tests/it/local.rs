//! The key by which the process itself asks: it opens everything, and stands in no database.

use std::collections::BTreeMap;

use kybern_server::{AppState, Limits};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;
use crate::harness::{App, Ask, PLATFORM};

const OWN: &str = "kyb_the_key_of_the_process_itself_0001";

#[tokio::test]
async fn the_processs_own_key_is_stored_nowhere() {
    let mut app = App::start().await;
    let state =
        AppState::new(app.engine.clone(), Limits::default(), BTreeMap::new(), CancellationToken::new(), Some(OWN));
    let stranger = app.send(Ask::get("/api/tasks").key(OWN)).await;
    assert_eq!(stranger.status, 401, "{}", stranger.text());
    let keys = async |app: &App| app.send(Ask::get("/api/keys?limit=200").key(PLATFORM)).await.json();
    let before = keys(&app).await;
    app.router = kybern_server::router(state);
    for path in ["/api/tasks", "/api/audit", "/api/admin/tenants"] {
        let answer = app.send(Ask::get(path).key(OWN)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    assert_eq!(app.send(Ask::post("/api/keys").key(OWN).json(&json!({"name": "ci"}))).await.status, 201);
    assert_eq!(app.send(Ask::get("/api/tasks").key("kyb_another_key_of_nobody_000000000001")).await.status, 401);
    // It is nobody's key, so it crosses into no other tenant.
    let crossing = Ask::get("/api/tasks").key(OWN).header("x-tenant-id", &app.their_id.to_string());
    assert_eq!(app.send(crossing.header("x-sudo-reason", "a look")).await.status, 401);
    let after = keys(&app).await;
    let count = |keys: &serde_json::Value| keys["items"].as_array().unwrap().len();
    assert_eq!(count(&after), count(&before) + 1, "only the key that was asked for: {after}");
}

#[tokio::test]
async fn a_resolution_that_is_no_answer_is_refused() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let path = format!("/api/tasks/{}/review", fixture.waiting);
    for resolution in ["done", "retry"] {
        let ask = Ask::post(&path).key(&app.ours.reviewer).json(&json!({"resolution": resolution}));
        let answer = app.send(ask).await;
        assert_eq!(answer.status, 400, "{resolution}: {}", answer.text());
        assert!(answer.text().contains("VALIDATION_ERROR"), "{}", answer.text());
    }
    let answer = app.send(Ask::post(&path).key(&app.ours.reviewer).json(&json!({"resolution": "done"}))).await;
    assert_eq!(answer.json()["error"]["details"][0]["path"], "/resolution", "{}", answer.text());
}

#[tokio::test]
async fn a_number_in_the_path_is_named() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    for wrong in ["x", "-1", "99999999999"] {
        let ask = Ask::get(&format!("/api/tasks/{}/attachments/{wrong}", fixture.ended)).key(&app.ours.viewer);
        let answer = app.send(ask).await;
        assert_eq!(answer.status, 400);
        let said = answer.json()["error"]["message"].to_string();
        assert!(said.contains(wrong) && said.contains("not a whole number"), "{said}");
    }
}

#[tokio::test]
async fn a_step_that_needs_a_model_says_so() {
    let app = App::start().await;
    for (step, fault) in [
        (json!({"id": "a", "kind": "agent", "agent": "nobody", "task": "x"}), "agent \\\"nobody\\\" is not known"),
        (json!({"id": "a", "kind": "decision", "prompt": "x", "schema": {"type": 5}}), "not a usable JSON Schema"),
    ] {
        let ask =
            Ask::post("/api/plans/check").key(&app.ours.admin).json(&json!({"key": "test.model", "steps": [step]}));
        let answer = app.send(ask).await;
        assert!(answer.text().contains(fault), "{}", answer.text());
    }
}
