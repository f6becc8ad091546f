//! A tenant's own HTTP tools over real HTTP, from the draft to the call and to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::{Receiver, Seen};
use crate::server::{Client, Server, Site};

/// A customer register and a model: `/v1/chat` asks for one call of the tool that a message names, everything else is what a
/// tool has reached.
fn world() -> Receiver {
    let calls = Arc::new(AtomicUsize::new(0));
    Receiver::answering(move |seen, _| {
        if seen.path.starts_with("/v1/chat/") {
            return Some((200, replied(seen, calls.fetch_add(1, Ordering::SeqCst))));
        }
        Some((200, json!({"name": "Acme Freight", "by": seen.path, "sent": seen.header("authorization")})))
    })
}

fn replied(seen: &Seen, n: usize) -> Value {
    let asked = seen.json();
    let messages = asked["messages"].as_array().unwrap();
    let answered = messages.iter().any(|message| message["role"] == "tool");
    let offered: Vec<&Value> =
        asked["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]["name"]).collect();
    let call = json!({"id": format!("call_{n}"), "type": "function",
        "function": {"name": "crm__find_customer", "arguments": "{\"id\": \"17\"}"}});
    let (message, finish) = if answered {
        let last = messages.last().unwrap()["content"].to_string();
        (json!({"role": "assistant", "content": format!("found: {}", last.contains("Acme Freight"))}), "stop")
    } else if offered.contains(&&json!("crm__find_customer")) {
        (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
    } else {
        (json!({"role": "assistant", "content": "no such tool"}), "stop")
    };
    json!({"id": "r", "object": "chat.completion", "created": 1, "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}})
}

/// A server that may reach the world, where an administrator may approve what they have written.
async fn started(site: Site, world: &Receiver) -> (Site, Server) {
    let site = site.asking(&world.address(), "[governance]\nself_approval = true\n");
    let server = site.start();
    (site, server)
}

/// A tool that finds a customer, by this way.
fn find_customer(world: &Receiver, way: &str) -> Value {
    json!({
        "key": "crm.find_customer", "kind": "http",
        "description": "Finds a customer of the register by number.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "outputSchema": {"type": "object", "required": ["name"]},
        "effect": "read", "tags": ["customers"],
        "http": {"method": "GET", "url": world.url(&format!("/{way}/{{{{ args.id }}}}"))},
    })
}

/// Drafts a version, and brings it into use.
async fn put_in_use(client: &Client, tool: &Value) -> Value {
    let draft = client.post("/api/tools", tool).await;
    assert_eq!(draft["status"], "draft", "{draft}");
    let (name, hash) = (text(&draft["key"]), json!({"hash": draft["hash"]}));
    client.post(&format!("/api/tools/{name}/submit"), &json!({})).await;
    client.post(&format!("/api/tools/{name}/approve"), &hash).await;
    let active = client.post(&format!("/api/tools/{name}/activate"), &hash).await;
    assert_eq!(active["status"], "active", "{active}");
    active
}

/// A plan that waits for a person and then finds a customer.
fn waiting_plan() -> Value {
    json!({"key": "find.later", "intentKey": "find.later", "steps": [
        {"id": "ask", "kind": "input", "title": "Go on?", "fields": {"yes": {"type": "boolean"}}},
        {"id": "find", "tool": "crm.find_customer", "args": {"id": "17"}},
    ]})
}

async fn waits_for_its_person(client: &Client) -> Value {
    let task = client.post("/api/tasks", &json!({"input": "", "planKey": "find.later"})).await;
    let task = client.rest(&text(&task["id"])).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    task
}

/// The hash that a task's log shows of the definition that a step has called.
async fn hash_in_log(client: &Client, task: &Value, step: &str) -> Value {
    let log = client.list(&format!("/api/tasks/{}/log", text(&task["id"]))).await;
    let ended = log.iter().find(|entry| entry["stepId"] == step && entry["status"] == "completed");
    ended.unwrap_or_else(|| panic!("{step} has not completed: {log:?}"))["metadata"]["toolHash"].clone()
}

async fn a_tool_is_made_called_changed_and_deleted(site: Site) {
    let world = world();
    let (_site, server) = started(site, &world).await;
    let client = server.client();
    let yes = json!({"corrections": {"yes": true}});

    // Nobody calls what is not active.
    client.post("/api/tools", &find_customer(&world, "v1")).await;
    let call = Ask::json("/api/tools/crm.find_customer/invoke", &json!({"input": {"id": "17"}}));
    assert_eq!(client.send(&call).await.0, 404);
    let unknown = client.send(&Ask::json("/api/plans", &waiting_plan())).await;
    assert_eq!(unknown.0, 422, "{}", unknown.1);
    let first = put_in_use(&client, &find_customer(&world, "v1")).await;
    assert_eq!(first["version"], 2, "{first}");

    // Over the API, from a plan, by an agent.
    let called = client.ok(&call).await;
    assert_eq!((&called["status"], &called["output"]["json"]["by"]), (&json!("success"), &json!("/v1/17")), "{called}");
    let wrong = Ask::json("/api/tools/crm.find_customer/invoke", &json!({"input": {"number": 17}}));
    assert_eq!(client.send(&wrong).await.0, 400);
    client.post("/api/plans", &waiting_plan()).await;
    let task = waits_for_its_person(&client).await;
    let task = client.review(&task, &yes).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(hash_in_log(&client, &task, "find").await, first["hash"]);
    client.replays(&text(&task["id"])).await;
    let agent = json!({"key": "clerk", "name": "Clerk", "systemPrompt": "You find customers.", "provider": "fake",
        "model": "small", "tools": ["crm.find_customer"]});
    let agent = client.post("/api/agents", &agent).await;
    assert_eq!((&agent["toolKeys"], &agent["missingTools"]), (&json!(["crm.find_customer"]), &json!([])), "{agent}");
    let chat = client.post("/api/chats", &json!({"agent": "clerk"})).await;
    let say = format!("/api/chats/{}/messages", text(&chat["id"]));
    let answer = client.post(&say, &json!({"content": "Who is customer 17?"})).await;
    assert_eq!(answer["content"], "found: true", "{answer}");

    // Changed while a task waits: the step calls what is active when it begins.
    let task = waits_for_its_person(&client).await;
    let second = put_in_use(&client, &find_customer(&world, "v2")).await;
    assert_ne!(second["hash"], first["hash"]);
    let task = client.review(&task, &yes).await;
    assert_eq!((&task["status"], &task["result"]["json"]["by"]), (&json!("completed"), &json!("/v2/17")), "{task}");
    assert_eq!(hash_in_log(&client, &task, "find").await, second["hash"]);

    // With other arguments than the plan gives: the plan is in quarantine, and a task that walks it asks a person.
    let task = waits_for_its_person(&client).await;
    let mut other = find_customer(&world, "v3");
    other["inputSchema"] =
        json!({"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]});
    other["http"]["url"] = json!(world.url("/v3/{{ args.number }}"));
    put_in_use(&client, &other).await;
    let plan = client.get("/api/plans/find.later").await;
    assert!(!plan["quarantine"].as_array().unwrap().is_empty(), "{plan}");
    let task = client.review(&task, &yes).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    assert!(
        text(&task["waits"][0]["reason"]).contains("crm.find_customer does not take what this step gives it"),
        "{task}"
    );
    put_in_use(&client, &find_customer(&world, "v4")).await;
    let task = client.review(&task, &json!({"corrections": {}})).await;
    assert_eq!((&task["status"], &task["result"]["json"]["by"]), (&json!("completed"), &json!("/v4/17")), "{task}");
    assert!(client.get("/api/plans/find.later").await["quarantine"].as_array().unwrap().is_empty());

    // Deleted under a plan: the same.
    let delete = Ask { method: Method::DELETE, ..Ask::get("/api/tools/crm.find_customer") };
    let task = waits_for_its_person(&client).await;
    assert_eq!(client.send(&delete).await.0, 204);
    let task = client.review(&task, &yes).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    assert!(text(&task["waits"][0]["reason"]).contains("crm.find_customer is not there any more"), "{task}");
    put_in_use(&client, &find_customer(&world, "v5")).await;
    let task = client.review(&task, &json!({"corrections": {}})).await;
    assert_eq!((&task["status"], &task["result"]["json"]["by"]), (&json!("completed"), &json!("/v5/17")), "{task}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn a_tool_is_made_called_changed_and_deleted_on_sqlite() {
    a_tool_is_made_called_changed_and_deleted(Site::sqlite()).await;
}

#[tokio::test]
async fn a_tool_is_made_called_changed_and_deleted_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_tool_is_made_called_changed_and_deleted(site).await;
}

#[tokio::test]
async fn a_secret_goes_with_a_tool_and_stands_nowhere() {
    let world = world();
    let (_site, server) = started(Site::sqlite(), &world).await;
    let client = server.client();
    let secret = json!({"name": "crm_token", "value": "example-value-9", "hosts": [world.url("")]});
    client.post("/api/secrets", &secret).await;
    let mut tool = find_customer(&world, "v1");
    tool["http"]["auth"] = json!({"secret": "crm_token"});
    put_in_use(&client, &tool).await;
    let called = client.post("/api/tools/crm.find_customer/invoke", &json!({"input": {"id": "17"}})).await;
    assert_eq!(called["output"]["json"]["sent"], "Bearer [secret:crm_token]", "{called}");
    assert_eq!(world.seen().pop().unwrap().header("authorization"), "Bearer example-value-9");
    assert!(!server.said().contains("example-value-9"));
}
