//! Things that are there in a tenant before the suite begins: one of each kind, each with the tenant's mark in it.

use serde_json::{Value, json};

use crate::server::Client;
use crate::server::client::{Ask, text, until};
use crate::server::receiver::Receiver;

use super::rows::{self, own_tool};

/// A kind of which both tenants have a record.
pub(crate) const SHARED_KIND: &str = "note.shared";

/// One thing of each kind.
#[derive(Clone, Debug)]
pub(crate) struct Things {
    pub(crate) tenant: String,
    /// The key of the tenant's first admin.
    pub(crate) admin: String,
    /// A task that has ended, with an attachment, a record and a message.
    pub(crate) ended: String,
    pub(crate) failed: String,
    /// Two tasks that wait for a person.
    pub(crate) waiting: String,
    pub(crate) asked: String,
    /// A question, and the task that asks it.
    pub(crate) approval: String,
    pub(crate) asking: String,
    /// A task that waits for an hour.
    pub(crate) running: String,
    /// A task that waits for a workflow, with the delegation and its secret.
    pub(crate) delegated: String,
    pub(crate) workflow_id: String,
    pub(crate) secret: String,
    pub(crate) user: String,
    pub(crate) key: String,
    pub(crate) webhook: String,
    pub(crate) budget: String,
    /// The name of a secret that tools may use.
    pub(crate) sealed: String,
    pub(crate) plan: String,
    /// The key of an agent.
    pub(crate) agent: String,
    /// A draft of a prompt for it, and one that waits for its review.
    pub(crate) draft: String,
    pub(crate) reviewed: String,
    /// The hash of its text.
    pub(crate) reviewed_hash: String,
    /// The key of a tool of its own that is a draft, and of one that waits for its review.
    pub(crate) tool: String,
    pub(crate) reviewed_tool: String,
    /// The hash of its definition.
    pub(crate) reviewed_tool_hash: String,
    /// A chat, and what was said in it.
    pub(crate) chat: String,
    pub(crate) message: String,
    /// What is remembered of its first admin and of the record, if somebody accepts it.
    pub(crate) memory: String,
    pub(crate) proposed: String,
    /// A document of its knowledge.
    pub(crate) document: String,
    /// A mail that is kept, because there is no SMTP server.
    pub(crate) mail: String,
    /// Two lessons about which nobody has decided.
    pub(crate) lesson: String,
    pub(crate) refused_lesson: String,
    pub(crate) kind: String,
    pub(crate) record: String,
    /// The records' key: the only name without the mark, so that a request may name it and leave it in our tenant.
    pub(crate) record_key: String,
    /// The signed head of its audit, as it was then.
    pub(crate) head: Value,
}

impl Things {
    /// Makes a tenant with all of it. `mark` stands in every text of it.
    pub(crate) async fn make(platform: &Client, mark: &str, receiver: &Receiver) -> Self {
        let name = json!({"name": format!("{mark} carrier")});
        let tenant = platform.post("/api/admin/tenants", &name).await;
        let admin = text(&tenant["adminKey"]);
        let client = platform.with_key(&admin);
        let plans = Plans::store(&client, mark).await;
        let user = json!({"name": format!("{mark} Park"), "email": format!("{mark}@example.com"), "roles": ["viewer"]});
        let user = made(&client, "/api/users", &user, 0).await;
        let key = json!({"name": format!("{mark} import"), "userId": user});
        let hook = json!({"url": receiver.url(&format!("/{mark}")), "events": ["task.completed"]});
        let webhook = made(&client, "/api/webhooks/outbound", &hook, 0).await;
        let budget = json!({"subject": {"type": "tenant"}, "period": "day", "calls": 100_000});
        let sealed = format!("{mark}_token");
        let body = json!({"name": sealed, "value": format!("{mark}-example-value"), "hosts": ["api.example.com"],
            "description": mark});
        client.post("/api/secrets", &body).await;
        let agent = format!("{mark}_agent");
        let new = json!({"name": agent, "systemPrompt": mark, "description": mark, "triggers": [mark]});
        client.post("/api/agents", &new).await;
        let wishes = json!({"customInstructions": [mark], "profile": {"name": mark}});
        client.ok(&Ask { method: reqwest::Method::PUT, ..Ask::json("/api/preferences", &wishes) }).await;
        let draft = json!({"agent": agent, "text": mark});
        let reviewed = client.post("/api/prompts", &draft).await;
        let (reviewed, reviewed_hash) = (text(&reviewed["id"]), text(&reviewed["textHash"]));
        client.post(&format!("/api/prompts/{reviewed}/submit"), &json!({})).await;
        let (tool, reviewed_tool) = (format!("{mark}.ping"), format!("{mark}.pong"));
        client.post("/api/tools", &own_tool(&tool, mark)).await;
        let reviewed_tool_hash = text(&client.post("/api/tools", &own_tool(&reviewed_tool, mark)).await["hash"]);
        client.post(&format!("/api/tools/{reviewed_tool}/submit"), &json!({})).await;
        let chat = text(&client.post("/api/chats", &json!({"agent": agent, "title": mark})).await["id"]);
        client.post(&format!("/api/chats/{chat}/messages"), &json!({"content": mark})).await;
        let message = text(&client.get(&format!("/api/chats/{chat}/messages")).await["items"][0]["id"]);
        let record_key = format!("key-{}", mark.len());
        let ended = plans.ended(&client, mark, &record_key).await;
        let kind = format!("note.{mark}");
        let record = client.get(&format!("/api/records/{kind}")).await;
        let memory = json!({"content": format!("{mark} number 0"), "pending": true});
        let subject = json!({"type": "entity", "id": record["items"][0]["id"]});
        let proposed = json!({"subject": subject, "content": format!("{mark} number 1"), "pending": true});
        let proposed = text(&client.post("/api/memories", &proposed).await["id"]);
        let document = json!({"title": mark, "filename": format!("{mark}.txt"), "dataBase64": "aGVsbG8="});
        let document = made(&client, "/api/knowledge", &document, 0).await;
        until("the document is indexed", || async {
            (client.get(&format!("/api/knowledge/{document}")).await["status"] == "ready").then_some(())
        })
        .await;
        let trusted = |name: &str| json!({"kind": "trusted_sender", "address": format!("{name}.{mark}@example.com")});
        let (delegated, handed) = plans.delegated(&client, receiver).await;
        receive(&client, mark).await;
        let asking = plans.rest(&client, "ask", "needs_review").await;
        let inbox = client.get(&format!("/api/approvals?taskId={asking}")).await;
        let mail = json!({"input": {"to": "a@example.com", "subject": "s", "body": "b"}});
        client.post("/api/tools/core.notify/invoke", &mail).await;
        let mail = until("the mail is kept", || async {
            let outbox = client.list("/api/outbox").await;
            outbox.iter().find(|message| message["status"] == "kept").map(|message| text(&message["id"]))
        })
        .await;
        let things = Self {
            approval: text(&inbox["items"][0]["id"]),
            asking,
            tenant: text(&tenant["id"]),
            ended,
            failed: plans.rest(&client, "fail", "failed").await,
            waiting: plans.rest(&client, "ask", "needs_review").await,
            asked: plans.rest(&client, "ask", "needs_review").await,
            running: plans.submit(&client, "wait").await,
            delegated,
            workflow_id: text(&handed["workflowId"]),
            secret: text(&handed["callbackSecret"]),
            user,
            key: made(&client, "/api/keys", &key, 0).await,
            webhook,
            budget: made(&client, "/api/budgets", &budget, 0).await,
            sealed,
            plan: plans.key("put"),
            draft: made(&client, "/api/prompts", &draft, 0).await,
            memory: made(&client, "/api/memories", &memory, 0).await,
            proposed,
            document,
            lesson: made(&client, "/api/lessons", &trusted("ada"), 0).await,
            refused_lesson: text(&client.post("/api/lessons", &trusted("bo")).await["id"]),
            reviewed,
            reviewed_hash,
            tool,
            reviewed_tool,
            reviewed_tool_hash,
            chat,
            message,
            agent,
            kind,
            record: text(&record["items"][0]["id"]),
            record_key,
            mail,
            head: client.get("/api/audit/head").await,
            admin,
        };
        things.come_to_rest(&client).await;
        things
    }

    /// Waits until nothing changes by itself any more.
    async fn come_to_rest(&self, client: &Client) {
        until("the tenant is at rest", || async {
            let outbox = client.list("/api/outbox").await;
            let tasks = client.list("/api/tasks").await;
            let moves = |one: &Value| matches!(one["status"].as_str(), Some("pending" | "sending" | "executing"));
            let waits = |one: &Value| one["id"] == self.running.as_str();
            let still = !outbox.iter().any(moves) && !tasks.iter().any(|task| moves(task) && !waits(task));
            let running = tasks.iter().any(|task| waits(task) && task["currentStepId"] == "only");
            (still && running).then_some(())
        })
        .await;
    }
}

/// The plans of a tenant.
struct Plans(String);

impl Plans {
    async fn store(client: &Client, mark: &str) -> Self {
        let form = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
        let one = |tool: &str, args: Value| json!([{"id": "only", "tool": tool, "args": args}]);
        let put = json!([
            {"id": "put", "tool": "core.put_record", "args": {"kind": format!("note.{mark}"),
                "key": "{{ task.payload.name }}", "props": {"text": format!("{mark} prose")}}},
            {"id": "share", "tool": "core.put_record", "args": {"kind": SHARED_KIND,
                "key": "{{ task.payload.name }}", "props": {"text": format!("{mark} prose")}}},
            {"id": "tell", "tool": "core.notify",
                "args": {"to": format!("{mark}@example.com"), "subject": mark, "body": mark}},
        ]);
        let quote = json!([{"id": "quote", "kind": "workflow", "workflow": "quote", "args": {"of": mark}}]);
        let fail = json!([{"id": "only", "tool": "core.fail", "args": {"message": format!("{mark} will not do")},
            "retry": {"maxAttempts": 1}}]);
        let plans = Self(mark.to_owned());
        for (name, steps) in [
            ("put", put),
            ("ask", one("core.ask", json!({"title": format!("Which {mark}?"), "fields": form}))),
            ("fail", fail),
            ("wait", one("core.wait", json!({"ms": 3_600_000}))),
            ("quote", quote),
        ] {
            let body = json!({"key": plans.key(name), "description": mark, "keywords": [mark], "steps": steps});
            client.post("/api/plans", &body).await;
        }
        plans
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.0)
    }

    async fn submit(&self, client: &Client, name: &str) -> String {
        let body = json!({"input": format!("{} {name}", self.0), "planKey": self.key(name)});
        text(&client.post("/api/tasks", &body).await["id"])
    }

    async fn rest(&self, client: &Client, name: &str, status: &str) -> String {
        let id = self.submit(client, name).await;
        let task = client.rest(&id).await;
        assert_eq!(task["status"], status, "{task}");
        id
    }

    /// Submitted under the keys that the rows use too.
    async fn ended(&self, client: &Client, mark: &str, record_key: &str) -> String {
        let file = json!({"filename": format!("{mark}.txt"), "contentType": "text/plain", "dataBase64": "aGVsbG8="});
        let body = json!({"input": format!("{mark} input"), "planKey": self.key("put"), "attachments": [file],
            "payload": {"name": record_key}, "idempotencyKey": "submission-0"});
        let id = made(client, "/api/tasks", &body, 0).await;
        let task = client.rest(&id).await;
        assert_eq!(task["status"], "completed", "{task}");
        id
    }

    async fn delegated(&self, client: &Client, receiver: &Receiver) -> (String, Value) {
        let id = self.submit(client, "quote").await;
        let handed = until("the workflow is handed over", || {
            let all = receiver.seen().into_iter().filter(|seen| seen.path == "/quote").map(|seen| seen.json());
            std::future::ready(all.into_iter().find(|handed| handed["taskId"] == id.as_str()))
        })
        .await;
        until("it is delegated", || async {
            (client.get(&format!("/api/tasks/{id}")).await["status"] == "delegated").then_some(())
        })
        .await;
        (id, handed)
    }
}

/// What comes in from outside, under the ids that the rows use too.
async fn receive(client: &Client, mark: &str) {
    let mail = rows::mail(0).replace("Hello", mark);
    let sms = rows::sms(0).replace("Hello", mark);
    let lead = json!({"event": mark}).to_string();
    for ask in [
        Ask::post("/api/inbound/email", "message/rfc822", mail),
        Ask::post("/api/inbound/sms", "application/x-www-form-urlencoded", sms),
        Ask::post("/api/inbound/webhook/crm", "application/json", lead).header("x-delivery-id", "delivery-0"),
    ] {
        let task = text(&client.ok(&ask).await["taskId"]);
        client.rest(&task).await;
    }
}

/// Creates something under an idempotency key that the suite uses for every tenant, and gives its id.
async fn made(client: &Client, path: &str, body: &Value, n: u32) -> String {
    text(&client.ok(&Ask::json(path, body).header("idempotency-key", &idempotency_key(n))).await["id"])
}

/// The idempotency keys of the suite.
pub(crate) fn idempotency_key(n: u32) -> String {
    format!("same-for-all-{n}")
}
