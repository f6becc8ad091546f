//! Somebody's conversation is nobody else's, by whatever route it is asked for. Every route of the table is walked with
//! the ids of a private turn, so a new one that forgets whose task it is fails here.

use serde_json::{Value, json};

use kybern_core::actor::Right;
use kybern_server::router::Access;

use crate::cases::Case;
use crate::fixture::Fixture;
use crate::harness::{App, Ask};
use crate::routes::routed;

/// What the user has said, and nobody else may read.
const SAID: &str = "My SECRETDIAGNOSIS";

/// A chat of the operator's in which a message waits for a person, because its file cannot be read.
struct Private {
    chat: String,
    message: String,
    task: String,
    approval: String,
}

impl Private {
    async fn of(app: &App, key: &str) -> Self {
        let post = async |path: String, body: Value| app.send(Ask::post(&path).key(key).json(&body)).await.json();
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no text in {value}")).to_owned();
        let chat = text(&post("/api/chats".to_owned(), json!({"title": SAID})).await["id"]);
        let file = json!({"filename": "SECRETDIAGNOSIS.scan", "contentType": "text/plain", "dataBase64": "eA=="});
        let said = json!({"content": SAID, "attachments": [file]});
        let turn = post(format!("/api/chats/{chat}/messages"), said).await;
        let inbox = app.send(Ask::get("/api/approvals").key(key)).await.json();
        let asked = inbox["items"].as_array().unwrap().iter().find(|item| item["kind"] == "document").unwrap();
        let (task, approval) = (text(&asked["taskId"]), text(&asked["id"]));
        assert_eq!(turn["taskId"], task.as_str(), "{turn}");
        let messages = app.send(Ask::get(&format!("/api/chats/{chat}/messages")).key(key)).await.json();
        Self { message: text(&messages["items"][0]["id"]), chat, task, approval }
    }

    fn ids(&self) -> [&str; 4] {
        [&self.task, &self.chat, &self.message, &self.approval]
    }

    /// Whether an answer gives something of it away.
    fn leaks_in(&self, text: &str) -> bool {
        text.contains("SECRETDIAGNOSIS") || [&self.task, &self.chat, &self.approval].iter().any(|id| text.contains(*id))
    }
}

/// Everybody of the tenant but the user and the admins.
async fn strangers(app: &App) -> Vec<(&'static str, String, Vec<Right>)> {
    let admin = &app.ours.admin;
    let user = json!({"name": "Both", "email": "both@example.com", "roles": ["operator", "reviewer"]});
    let user = app.send(Ask::post("/api/users").key(admin).json(&user)).await.json();
    let key = app.send(Ask::post("/api/keys").key(admin).json(&json!({"name": "both", "userId": user["id"]}))).await;
    let narrow = json!({"name": "narrow", "scopes": ["read", "operate", "review"]});
    let narrow = app.send(Ask::post("/api/keys").key(admin).json(&narrow)).await;
    let made = |answer: &Value| answer["key"].as_str().unwrap().to_owned();
    let all = [Right::Read, Right::Operate, Right::Review];
    vec![
        ("a viewer", app.ours.viewer.clone(), vec![Right::Read]),
        ("a reviewer", app.ours.reviewer.clone(), vec![Right::Read, Right::Review]),
        ("another operator", made(&key.json()), all.to_vec()),
        ("an admin's key without administer", made(&narrow.json()), all.to_vec()),
    ]
}

/// The ways in which a route is asked about the turn: each varying part by each id, and each list.
fn asks(case: &Case, private: &Private) -> Vec<(String, bool)> {
    let path = case.route.1;
    let numbered = |path: &str| path.replace("{n}", "0").replace("{message}", &private.message);
    if !path.contains("{id}") && !path.contains("{key}") && !path.contains("{name}") && !path.contains("{source}") {
        let path = path.replace("{kind}", "note");
        let mut asks = vec![(path.clone(), false)];
        if case.route == ("GET", "/api/approvals") {
            asks.push((format!("{path}?taskId={}&status=all", private.task), false));
            asks.push((format!("{path}?status=all"), false));
        }
        if case.route == ("GET", "/api/tasks") {
            asks.extend(["channel=chat", "status=needs_review"].map(|query| (format!("{path}?{query}"), false)));
        }
        return asks;
    }
    let fill = |id: &str| {
        let parts =
            ["{id}", "{key}", "{name}", "{source}"].iter().fold(numbered(path), |all, part| all.replace(part, id));
        (parts.replace("{kind}", "note"), true)
    };
    private.ids().iter().map(|id| fill(id)).collect()
}

#[tokio::test]
async fn no_route_shows_or_steers_somebody_elses_conversation() {
    let app = App::start().await;
    // What else the tenant has, so that no list is empty.
    Fixture::of(&app, &app.ours).await;
    let private = Private::of(&app, &app.ours.operator).await;
    let look = async || {
        let path = format!("/api/tasks/{}", private.task);
        app.send(Ask::get(&path).key(&app.ours.operator)).await.json()
    };
    let before = look().await;
    assert_eq!(before["status"], "needs_review", "{before}");
    let mut refused = 0;
    for (name, key, rights) in strangers(&app).await {
        for (route, case) in routed() {
            let (Access::Needs(right) | Access::SignedOr(right)) = route.access else { continue };
            // A source of webhooks and an agent have names; what is called like a private id is made here, not shown.
            if !rights.contains(&right) || route.path.contains("{source}") {
                continue;
            }
            for (path, names_it) in asks(&case, &private) {
                let about = format!("{name}: {} {path}", route.method);
                let answer = app.send(case.good(&path).key(&key)).await;
                if names_it {
                    answer.refused(404, "NOT_FOUND", &about);
                    refused += 1;
                } else {
                    assert!(answer.status < 300 || answer.status == 422, "{about}: {}", answer.text());
                    assert!(!private.leaks_in(&answer.text()), "{about}: {}", answer.text());
                }
            }
        }
    }
    assert!(refused > 200, "the table was walked: {refused}");
    assert_eq!(look().await, before, "nobody has steered it");
}

#[tokio::test]
async fn its_user_and_the_admins_see_and_answer_a_conversation() {
    let app = App::start().await;
    let private = Private::of(&app, &app.ours.operator).await;
    for key in [&app.ours.operator, &app.ours.admin] {
        for path in ["", "/log", "/artifacts", "/attachments", "/attachments/1"] {
            let answer = app.send(Ask::get(&format!("/api/tasks/{}{path}", private.task)).key(key)).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        }
        let inbox = app.send(Ask::get("/api/approvals").key(key)).await.text();
        assert!(inbox.contains(&private.approval), "{inbox}");
        let answer = app.send(Ask::get(&format!("/api/approvals/{}", private.approval)).key(key)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let path = format!("/api/internal/brain/review/{}", private.task);
    let answer = json!({"corrections": {"documents": {"1": {"ignore": true}}}});
    let answer = app.send(Ask::post(&path).key(&app.ours.admin).json(&answer)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}
