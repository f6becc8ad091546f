//! Things that are there in a tenant before a test begins.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Answer, App, Ask, TenantKeys};
use crate::nouns::NOUNS;

/// One thing of each kind.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    /// A task that has ended, with an attachment and a record.
    pub(crate) ended: String,
    /// A task that has failed.
    pub(crate) failed: String,
    /// A task that waits for a person, and is on hold.
    pub(crate) waiting: String,
    /// A task that is worked on and never ends by itself.
    pub(crate) running: String,
    pub(crate) user: String,
    pub(crate) key: String,
    pub(crate) webhook: String,
    pub(crate) budget: String,
    pub(crate) secret: String,
    pub(crate) record: String,
    pub(crate) approval: String,
    pub(crate) plan: String,
    /// The key of an agent of the tenant's own.
    pub(crate) agent: String,
    /// A draft for it.
    pub(crate) prompt: String,
    /// One of each noun, by its name.
    pub(crate) made: BTreeMap<&'static str, String>,
    /// A chat of the operator's with it, in which something was said.
    pub(crate) chat: String,
    /// Something that is remembered of the record, if somebody accepts it.
    pub(crate) memory: String,
    /// A document of its knowledge.
    pub(crate) document: String,
    /// A lesson about which nobody has decided.
    pub(crate) lesson: String,
    /// A mail that was sent.
    pub(crate) mail: String,
}

/// A plan that puts one record.
pub(crate) fn put_plan(key: &str) -> Value {
    json!({"key": key, "keywords": ["note"], "steps": [
        {"id": "put", "tool": "core.put_record",
         "args": {"kind": "note", "key": "{{ task.payload.name }}", "props": {"text": "hello"}}},
    ]})
}

fn one_step(key: &str, tool: &str, args: &Value) -> Value {
    json!({"key": key, "steps": [{"id": "only", "tool": tool, "args": args, "retry": {"maxAttempts": 1}}]})
}

impl Fixture {
    pub(crate) async fn of(app: &App, keys: &TenantKeys) -> Self {
        let plan = format!("note.{}", &keys.admin[keys.admin.len() - 6..]);
        let form = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
        for body in [
            put_plan(&plan),
            one_step("fixture.ask", "core.ask", &json!({"title": "Which insurer?", "fields": form})),
            one_step("fixture.fail", "core.fail", &json!({"message": "it will not do"})),
            one_step("fixture.never", "test.never", &json!({})),
        ] {
            made(&app.send(Ask::post("/api/plans").key(&keys.admin).json(&body)).await, 201);
        }
        let task = async |body: Value| app.submit(&keys.operator, body).await["id"].as_str().unwrap().to_owned();
        let file = json!({"filename": "note.txt", "contentType": "text/plain", "dataBase64": "aGVsbG8="});
        let ended =
            task(json!({"input": "x", "planKey": plan, "payload": {"name": "n1"}, "attachments": [file]})).await;
        let records = app.send(Ask::get("/api/records/note").key(&keys.viewer)).await.json();
        let user = json!({"name": "Ada Park", "email": "ada@example.com", "roles": ["viewer"]});
        let key = json!({"name": "import"});
        let webhook = json!({"url": "https://example.com/hook", "events": ["task.completed"]});
        let budget = json!({"subject": {"type": "tenant"}, "period": "day", "calls": 1000});
        let secret = format!("crm_{}", plan.trim_start_matches("note.").to_ascii_lowercase());
        let body = json!({"name": secret, "value": "example-value-0123", "hosts": ["api.example.com"]});
        made(&app.send(Ask::post("/api/secrets").key(&keys.admin).json(&body)).await, 201);
        let create_as = async |key: &str, path: &str, body: &Value| {
            let answer = app.send(Ask::post(path).key(key).json(body)).await;
            made(&answer, 201)["id"].as_str().unwrap().to_owned()
        };
        let create = async |path: &str, body: &Value| create_as(&keys.admin, path, body).await;
        let agent = format!("helper_{}", plan.trim_start_matches("note.").to_ascii_lowercase());
        let body = json!({"key": agent, "name": agent, "systemPrompt": "You help.", "tools": ["test.echo"]});
        create("/api/agents", &body).await;
        let mut things = BTreeMap::new();
        for noun in NOUNS {
            things.insert(noun.name, (noun.make)(app, keys, agent.trim_start_matches("helper_")).await);
        }
        let chat = create_as(&keys.operator, "/api/chats", &json!({"agent": agent})).await;
        let said = json!({"content": "Hello"});
        let answer = app.send(Ask::post(&format!("/api/chats/{chat}/messages")).key(&keys.operator).json(&said)).await;
        made(&answer, 200);
        let record = records["items"][0]["id"].as_str().unwrap().to_owned();
        let memory = json!({"subject": {"type": "entity", "id": record}, "content": "Pays late.", "pending": true});
        let terms =
            json!({"title": "Terms of carriage", "filename": "terms.txt", "dataBase64": "V2UgY2FycnkgZnJlaWdodC4="});
        let document = made(&app.send(Ask::post("/api/knowledge").key(&keys.admin).json(&terms)).await, 202);
        let document = document["id"].as_str().unwrap().to_owned();
        while app.send(Ask::get(&format!("/api/knowledge/{document}")).key(&keys.viewer)).await.json()["status"]
            != "ready"
        {
            tokio::task::yield_now().await;
        }
        let running = app
            .send(Ask::post("/api/tasks").key(&keys.operator).json(&json!({"input": "x", "planKey": "fixture.never"})));
        let mail = json!({"input": {"to": "a@example.com", "subject": "s", "body": "b"}});
        made(&app.send(Ask::post("/api/tools/core.notify/invoke").key(&keys.admin).json(&mail)).await, 200);
        let outbox = async || app.send(Ask::get("/api/outbox").key(&keys.viewer)).await.json()["items"][0].clone();
        while outbox().await["status"] != "sent" {
            tokio::task::yield_now().await;
        }
        let mail = outbox().await["id"].as_str().unwrap().to_owned();
        let waiting = task(json!({"input": "x", "planKey": "fixture.ask"})).await;
        let inbox = app.send(Ask::get("/api/approvals").key(&keys.viewer)).await.json();
        let hold =
            Ask::post(&format!("/api/tasks/{waiting}/hold")).key(&keys.admin).json(&json!({"reason": "a claim"}));
        made(&app.send(hold).await, 200);
        Self {
            ended,
            failed: task(json!({"input": "x", "planKey": "fixture.fail"})).await,
            waiting,
            approval: inbox["items"][0]["id"].as_str().unwrap().to_owned(),
            running: made(&running.await, 202)["id"].as_str().unwrap().to_owned(),
            user: create("/api/users", &user).await,
            key: create("/api/keys", &key).await,
            webhook: create("/api/webhooks/outbound", &webhook).await,
            budget: create("/api/budgets", &budget).await,
            memory: create("/api/memories", &memory).await,
            document,
            lesson: create("/api/lessons", &json!({"kind": "trusted_sender", "address": "ada@example.com"})).await,
            record,
            mail,
            prompt: create("/api/prompts", &json!({"agent": agent, "text": "You help well."})).await,
            made: things,
            chat,
            secret,
            plan,
            agent,
        }
    }
}

#[track_caller]
pub(crate) fn made(answer: &Answer, status: u16) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text());
    answer.json()
}
