//! Crossing into another tenant: only platform admins, only with a reason, always audited there.

use kybern_core::id::TenantId;
use serde_json::{Value, json};

use crate::harness::{App, Ask, PLATFORM};

fn crossing(app: &App, key: &str) -> Ask {
    Ask::get("/api/users").key(key).header("x-tenant-id", &app.their_id.to_string())
}

#[tokio::test]
async fn a_platform_admin_crosses_with_a_reason_and_leaves_a_trace() {
    let app = App::start().await;
    let ask = crossing(&app, PLATFORM).header("x-sudo-reason", "support case 4711");
    let users = app.send(ask).await;
    assert_eq!(users.status, 200, "{}", users.text());
    let their_users = app.send(Ask::get("/api/users").key(&app.theirs.admin)).await.json();
    assert_eq!(users.json(), their_users);
    let audit = app.send(Ask::get("/api/audit?limit=200").key(&app.theirs.admin)).await.json();
    let trace: Vec<&Value> =
        audit["items"].as_array().unwrap().iter().filter(|event| event["action"] == "tenant.sudo").collect();
    assert_eq!(trace.len(), 1);
    assert_eq!(trace[0]["detail"]["reason"], "support case 4711");
    assert_eq!(trace[0]["requestId"], users.header("x-request-id"));
}

#[tokio::test]
async fn the_head_of_a_purge_is_read_like_any_other_input() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let head = app.send(Ask::get("/api/audit/head").key(admin)).await.json();
    let purge = async |head: &Value| {
        let body = json!({"olderThanDays": 400, "from": 1, "head": head, "dryRun": true});
        app.send(Ask::post("/api/audit/purge").key(admin).json(&body)).await
    };
    assert_eq!(purge(&head).await.status, 200);
    let mut snake = head.clone();
    snake["tenant_id"] = snake.as_object_mut().unwrap().remove("tenantId").unwrap();
    assert_eq!(purge(&snake).await.status, 200);
    let mut more = head.clone();
    more["note"] = json!("seen");
    purge(&more).await.refused(400, "VALIDATION_ERROR", "an unknown field");
}

#[tokio::test]
async fn a_crossing_without_right_or_reason_is_refused() {
    let app = App::start().await;
    let bare = app.send(crossing(&app, PLATFORM)).await;
    assert_eq!(bare.refused(400, "VALIDATION_ERROR", "no reason"), [""]);
    assert!(bare.text().contains("X-Sudo-Reason"), "{}", bare.text());
    for reason in ["ok", " a  "] {
        let short = app.send(crossing(&app, PLATFORM).header("x-sudo-reason", reason)).await;
        assert_eq!(short.refused(400, "VALIDATION_ERROR", "no words"), [""]);
        assert_eq!(short.json()["error"]["message"], bare.json()["error"]["message"], "{reason:?}");
    }
    app.send(crossing(&app, &app.ours.admin)).await.refused(403, "PERMISSION_DENIED", "no reason, no right");
    let ask = crossing(&app, &app.ours.admin).header("x-sudo-reason", "curiosity");
    app.send(ask).await.refused(403, "PERMISSION_DENIED", "an admin of another tenant");
    let ask = Ask::get("/api/users").key(PLATFORM).header("x-tenant-id", "acme").header("x-sudo-reason", "a reason");
    app.send(ask).await.refused(400, "VALIDATION_ERROR", "no id");
    let nobody = "01980000-0000-7000-8000-00000000dead";
    let ask = Ask::get("/api/users").key(PLATFORM).header("x-tenant-id", nobody).header("x-sudo-reason", "a reason");
    app.send(ask).await.refused(404, "NOT_FOUND", "an unknown tenant");
}

#[tokio::test]
async fn naming_ones_own_tenant_is_no_crossing() {
    let app = App::start().await;
    let ask = Ask::get("/api/tasks").key(&app.ours.viewer).header("x-tenant-id", &TenantId::DEFAULT.to_string());
    assert_eq!(app.send(ask).await.status, 200);
}

#[tokio::test]
async fn nobody_gives_a_role_that_they_do_not_have() {
    let app = App::start().await;
    let user = json!({"name": "Mallory", "email": "m@example.com", "roles": ["platform_admin"]});
    app.send(Ask::post("/api/users").key(&app.ours.admin).json(&user)).await.refused(
        403,
        "PERMISSION_DENIED",
        "a user above oneself",
    );
    let key = json!({"name": "k", "roles": ["platform_admin"]});
    app.send(Ask::post("/api/keys").key(&app.ours.admin).json(&key)).await.refused(
        403,
        "PERMISSION_DENIED",
        "a key above oneself",
    );
}
