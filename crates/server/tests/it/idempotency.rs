//! `Idempotency-Key` on every route that creates.

use kybern_core::actor::Right;
use kybern_core::time::Millis;
use kybern_server::router::{Access, table};
use kybern_testkit::Fault;
use serde_json::{Value, json};

use crate::cases::{self, Input};
use crate::fixture::{Fixture, put_plan};
use crate::harness::{Answer, App, Ask, PLATFORM};

async fn post(app: &App, key: &str, path: &str, body: &Value, idempotency: &str) -> Answer {
    app.send(Ask::post(path).key(key).header("idempotency-key", idempotency).json(body)).await
}

fn own_tool() -> Value {
    json!({"key": "crm.lost", "kind": "http", "description": "Finds.", "effect": "read",
        "inputSchema": {"type": "object"}, "http": {"method": "GET", "url": "https://crm.example.com/"}})
}

/// What a second request says otherwise.
fn other(path: &str, body: &Value) -> Value {
    let mut other = body.clone();
    let (name, value) = match path {
        "/api/tasks" => ("input", json!("something else")),
        "/api/plans" | "/api/tools" | "/api/secrets" => ("description", json!("another")),
        "/api/webhooks/outbound" => ("url", json!("https://example.com/other")),
        "/api/tasks/{id}/fork" => ("fromStep", json!("other")),
        "/api/tools/{name}/invoke" => ("input", json!({"a": 2})),
        "/api/chats" | "/api/chats/import" | "/api/knowledge" => ("title", json!("Another")),
        "/api/chats/{id}/fork" => ("messageId", json!("0198c1d2-7a3b-7000-8000-000000000001")),
        "/api/chats/{id}/messages" | "/api/memories" => ("content", json!("Another.")),
        "/api/prompts" => ("text", json!("Another.")),
        "/api/budgets" => ("calls", json!(8)),
        "/api/lessons" => ("address", json!("another@example.com")),
        _named => ("name", json!("another")),
    };
    other[name] = value;
    other
}

#[tokio::test]
async fn the_same_key_and_body_give_the_first_answer_again_on_every_creating_route() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let cases = cases::all();
    let routes = table();
    for route in routes.iter().filter(|route| route.once) {
        let case = cases.iter().find(|case| case.route == (route.method, route.path)).unwrap();
        let Input::Json { good, .. } = &case.input else { panic!("{} takes no JSON", route.path) };
        let body = match route.path {
            "/api/plans" => put_plan("case.idempotent"),
            "/api/tasks/{id}/fork" => json!({"fromStep": "put"}),
            _other => good.clone(),
        };
        let key = match route.access {
            Access::Needs(Right::Platform) => PLATFORM,
            Access::Needs(Right::Operate) => app.ours.operator.as_str(),
            _ => app.ours.admin.as_str(),
        };
        let path = &case.path(&fixture);
        let first = post(&app, key, path, &body, "k1").await;
        assert!((200..300).contains(&first.status), "{path}: {}", first.text());
        assert_eq!(first.header("idempotency-replayed"), "", "{path}");
        let second = post(&app, key, path, &body, "k1").await;
        assert_eq!((second.status, &second.body), (first.status, &first.body), "{path}");
        assert_eq!(second.header("idempotency-replayed"), "true", "{path}");
        assert_eq!(second.header("location"), first.header("location"), "{path}");
        post(&app, key, path, &other(route.path, &body), "k1").await.refused(409, "CONFLICT", path);
    }
}

#[tokio::test]
async fn spaces_and_the_order_of_names_do_not_make_another_body() {
    let app = App::start().await;
    let send = async |body: &'static str| {
        let ask = Ask::post("/api/tasks").key(&app.ours.operator).header("idempotency-key", "k");
        app.send(ask.body("application/json", body)).await
    };
    let first = send(r#"{"input":"hi","payload":{"a":1,"b":2}}"#).await;
    let second = send("{ \"payload\": {\"b\": 2, \"a\": 1},\n \"input\": \"hi\" }").await;
    assert_eq!(first.json()["id"], second.json()["id"]);
}

#[tokio::test]
async fn a_key_belongs_to_one_caller_and_one_route() {
    let app = App::start().await;
    let body = json!({"input": "hi"});
    let ours = post(&app, &app.ours.operator, "/api/tasks", &body, "k").await.json();
    let other_user = post(&app, &app.ours.admin, "/api/tasks", &body, "k").await.json();
    let other_tenant = post(&app, &app.theirs.operator, "/api/tasks", &body, "k").await.json();
    assert_ne!(ours["id"], other_user["id"]);
    assert_ne!(ours["id"], other_tenant["id"]);
    let call = post(&app, &app.ours.operator, "/api/tools/core.set/invoke", &json!({"input": {"a": 1}}), "k").await;
    assert_eq!(call.status, 200, "{}", call.text());
}

#[tokio::test]
async fn a_failure_gives_the_key_free() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let faulty = json!({"key": "case.free", "steps": [{"id": "a", "tool": "no.such"}]});
    post(&app, admin, "/api/plans", &faulty, "k").await.refused(422, "UNPROCESSABLE", "a faulty plan");
    let answer = post(&app, admin, "/api/plans", &put_plan("case.free"), "k").await;
    assert_eq!(answer.status, 201, "{}", answer.text());
}

#[tokio::test]
async fn a_key_in_use_asks_to_come_back() {
    let app = App::start().await;
    let never = json!({"key": "fixture.never", "steps": [{"id": "only", "tool": "test.never", "args": {}}]});
    assert_eq!(post(&app, &app.ours.admin, "/api/plans", &never, "plan").await.status, 201);
    let body = json!({"input": "x", "planKey": "fixture.never"});
    let ask = || {
        let ask = Ask::post("/api/tasks?waitMs=30000").key(&app.ours.operator).header("idempotency-key", "slow");
        ask.json(&body)
    };
    let slow = app.send(ask());
    // The first is under way once its task is there.
    let second = async {
        let running = async || {
            let page = app.send(Ask::get("/api/tasks?limit=1").key(&app.ours.viewer)).await.json();
            page["items"][0]["selectedPlan"] == "fixture.never"
        };
        while !running().await {
            tokio::task::yield_now().await;
        }
        app.send(ask()).await
    };
    let refused = tokio::select! {
        answer = slow => panic!("ended early: {}", answer.text()),
        answer = second => answer,
    };
    refused.refused(409, "CONFLICT", "in progress");
    assert_eq!(refused.header("retry-after"), "1");
}

#[tokio::test]
async fn an_answer_is_kept_for_a_day() {
    let app = App::start().await;
    let body = json!({"name": "k"});
    let first = post(&app, &app.ours.admin, "/api/keys", &body, "day").await.json();
    app.clock.advance(Millis::from_secs(23 * 60 * 60));
    let second = post(&app, &app.ours.admin, "/api/keys", &body, "day").await.json();
    assert_eq!(first, second);
}

#[tokio::test]
async fn a_key_is_free_again_after_a_day() {
    let app = App::start().await;
    let key = &app.ours.operator;
    let first = post(&app, key, "/api/tasks", &json!({"input": "hi"}), "day").await.json();
    let in_body = json!({"input": "hi", "idempotencyKey": "in the body"});
    let other = app.submit(key, in_body.clone()).await;
    app.clock.advance(Millis::from_secs(25 * 60 * 60));
    for (what, input) in [("another body", "bye"), ("the body of the first", "hi")] {
        let answer = post(&app, key, "/api/tasks", &json!({"input": input}), "day").await;
        assert_eq!((answer.status, answer.header("idempotency-replayed")), (202, ""), "{what}: {}", answer.text());
        assert_ne!(answer.json()["id"], first["id"], "{what}");
        app.clock.advance(Millis::from_secs(25 * 60 * 60));
    }
    assert_ne!(app.submit(key, in_body).await["id"], other["id"]);
}

/// Every route that creates: who asks, what, and where that is listed.
fn creating(app: &App, ended: &str, chat: &str) -> Vec<(String, String, Value, String)> {
    let (operator, admin) = (&app.ours.operator, &app.ours.admin);
    let file =
        json!({"title": "Guide", "filename": "guide.txt", "contentType": "text/plain", "dataBase64": "aGVsbG8="});
    let said = json!([{"role": "user", "content": "hello"}]);
    let new_memory = json!({"content": "prefers short answers"});
    let routes: [(&str, &str, Value, &str); 17] = [
        (operator, "/api/tasks", json!({"input": "hi"}), "/api/tasks"),
        (operator, &format!("/api/tasks/{ended}/fork"), json!({"fromStep": "put"}), "/api/tasks"),
        (operator, "/api/tools/core.set/invoke", json!({"input": {"a": 1}}), "/api/tasks"),
        (admin, "/api/plans", put_plan("case.lost"), "/api/plans/case.lost/versions"),
        (admin, "/api/agents", json!({"name": "Lost", "systemPrompt": "You help."}), "/api/agents"),
        (admin, "/api/prompts", json!({"text": "You are brief."}), "/api/prompts"),
        (admin, "/api/tools", own_tool(), "/api/tools/crm.lost/versions"),
        (admin, "/api/users", json!({"name": "Bo", "email": "bo@example.com"}), "/api/users"),
        (admin, "/api/keys", json!({"name": "k"}), "/api/keys"),
        (admin, "/api/webhooks/outbound", json!({"url": "https://example.com/h"}), "/api/webhooks/outbound"),
        (admin, "/api/budgets", json!({"subject": {"type": "each_user"}, "period": "day", "calls": 9}), "/api/budgets"),
        (admin, "/api/memories", new_memory, "/api/memories"),
        (admin, "/api/knowledge", file, "/api/knowledge"),
        (operator, "/api/chats", json!({}), "/api/chats"),
        (operator, &format!("/api/chats/{chat}/fork"), json!({}), "/api/chats"),
        (operator, "/api/chats/import", json!({"messages": said}), "/api/chats"),
        (PLATFORM, "/api/admin/tenants", json!({"name": "Third"}), "/api/admin/tenants"),
    ];
    routes.into_iter().map(|(who, path, body, list)| (who.to_owned(), path.to_owned(), body, list.to_owned())).collect()
}

#[tokio::test]
async fn a_repeat_after_a_lost_answer_learns_at_once_what_was_made_and_makes_nothing() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let chat = post(&app, &app.ours.operator, "/api/chats", &json!({}), "a chat").await.json();
    let listed = async |who: &str, list: &str| {
        let page = app.send(Ask::get(&format!("{list}?limit=200")).key(who)).await.json();
        page["items"].as_array().map(Vec::len).unwrap_or_default()
    };
    for (who, path, body, list) in creating(&app, &fixture.ended, chat["id"].as_str().unwrap()) {
        let about = format!("{path} {body}");
        let before = listed(&who, &list).await;
        app.lose_answers(true);
        let first = post(&app, &who, &path, &body, "lost").await;
        assert!((200..300).contains(&first.status), "{about}: {}", first.text());
        let made = listed(&who, &list).await;
        assert_eq!(made, before + 1, "{about}");
        let second = post(&app, &who, &path, &body, "lost").await;
        app.lose_answers(false);
        let third = post(&app, &who, &path, &body, "lost").await;
        let kept = post(&app, &who, &path, &body, "lost").await;
        for answer in [&second, &third, &kept] {
            assert_eq!(answer.status, first.status, "{about}: {}", answer.text());
            for name in ["id", "taskId", "key", "secret", "adminKey", "version", "createdAt"] {
                assert_eq!(answer.json()[name], first.json()[name], "{about}: {name}");
            }
        }
        assert_eq!(kept.header("idempotency-replayed"), "true", "{about}");
        assert_eq!(listed(&who, &list).await, made, "{about}");
    }
}

#[tokio::test]
async fn a_secret_whose_answer_was_lost_is_written_once() {
    let app = App::start().await;
    let secret = |value: &str| json!({"name": "mail", "value": value, "hosts": ["api.example.com"]});
    app.lose_answers(true);
    for value in ["example-value-1", "example-value-1"] {
        let answer = post(&app, &app.ours.admin, "/api/secrets", &secret(value), "lost").await;
        assert_eq!((answer.status, &answer.json()["version"]), (201, &json!(1)), "{}", answer.text());
    }
    post(&app, &app.ours.admin, "/api/secrets", &secret("example-value-2"), "lost").await.refused(
        409,
        "CONFLICT",
        "another value",
    );
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_said_once() {
    let app = App::start().await;
    let operator = &app.ours.operator;
    let chat = post(&app, operator, "/api/chats", &json!({}), "a chat").await.json();
    let path = format!("/api/chats/{}/messages", chat["id"].as_str().unwrap());
    let first = post(&app, operator, &path, &json!({"content": "hello"}), "lost").await;
    let second = post(&app, operator, &path, &json!({"content": "hello"}), "lost").await;
    assert_eq!((first.status, first.json()), (200, second.json()), "{}", second.text());
    // The same by way of a client of OpenAI's.
    let body = json!({"model": "agent:assistant", "messages": [{"role": "user", "content": "hello"}]});
    app.lose_answers(true);
    let chats = async || app.send(Ask::get("/api/chats?limit=200").key(operator)).await.json();
    let first = post(&app, operator, "/v1/chat/completions", &body, "lost").await;
    let after = chats().await;
    let second = post(&app, operator, "/v1/chat/completions", &body, "lost").await;
    assert_eq!((first.status, &first.json()["choices"]), (200, &second.json()["choices"]), "{}", second.text());
    assert_eq!(chats().await, after);
}

#[tokio::test]
async fn a_failure_that_may_have_written_keeps_its_key() {
    let app = App::start().await;
    let (admin, body) = (&app.ours.admin, json!({"name": "k"}));
    app.fail(Some(("create_key", Fault::AnswerLost)));
    post(&app, admin, "/api/keys", &body, "k").await.refused(503, "UNAVAILABLE", "the answer is lost");
    app.fail(None);
    let keys = async || app.send(Ask::get("/api/keys?limit=200").key(admin)).await.json();
    let made = keys().await;
    post(&app, admin, "/api/keys", &json!({"name": "other"}), "k").await.refused(409, "CONFLICT", "another body");
    let answer = post(&app, admin, "/api/keys", &body, "k").await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(keys().await, made, "it was made already");
    let new = answer.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(app.send(Ask::get("/api/tasks").key(&new)).await.status, 200, "it is the key that was made");
}

#[tokio::test]
async fn a_malformed_key_is_refused() {
    let app = App::start().await;
    for bad in [" ", &"x".repeat(256)] {
        let answer = post(&app, &app.ours.operator, "/api/tasks", &json!({"input": "hi"}), bad).await;
        answer.refused(400, "VALIDATION_ERROR", bad);
    }
}

#[tokio::test]
async fn a_kept_answer_cannot_be_read_in_the_store() {
    let app = App::start().await;
    let made = post(&app, &app.ours.admin, "/api/keys", &json!({"name": "k"}), "sealed").await.json();
    let caller = app.engine.identity().authenticate(
        &app.ours.admin,
        kybern_core::id::RequestId::from_uuid(uuid::Uuid::nil()),
        None,
    );
    let caller = caller.await.unwrap();
    let (principal, hash) = (caller.principal().label(), "another body");
    let place = (principal.as_str(), "POST /api/keys", "sealed");
    let now = app.engine.clock().now();
    let known = app.engine.store().take_key(caller.scope(), place, hash, None, now).await.unwrap();
    assert_eq!(known, kybern_core::ports::Idempotent::OtherBody, "the key is where it is looked for");
    let text = format!("{known:?}");
    assert!(!text.contains(made["key"].as_str().unwrap()));
}
