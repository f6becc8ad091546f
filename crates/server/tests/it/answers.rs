//! Every route does its work, and its answer is what the OpenAPI document says. A route that is not called here fails.

use std::collections::BTreeSet;

use kybern_core::ports::Keys;
use kybern_server::router::table;
use kybern_testkit::TestKeys;
use serde_json::{Value, json};

use crate::fixture::{Fixture, put_plan};
use crate::harness::{Answer, App, Ask, PLATFORM};
use crate::nouns::NOUNS;
use crate::schemas;

/// Calls routes and remembers which.
pub(crate) struct Walk<'a> {
    pub(crate) app: &'a App,
    document: Value,
    called: BTreeSet<(String, String)>,
}

impl Walk<'_> {
    /// Calls a route and checks its answer. `fill` names what stands for `{id}` and the like, in order.
    pub(crate) async fn call(
        &mut self,
        status: u16,
        route: (&str, &str),
        fill: &[&str],
        key: &str,
        body: Option<Value>,
    ) -> Value {
        let (method, template) = route;
        let ask = Ask::new(method, &filled(template, fill)).key(key);
        let ask = match &body {
            Some(body) => ask.json(body),
            None => ask,
        };
        let answer = self.app.send(ask).await;
        self.check(status, method, template.split('?').next().unwrap(), &answer)
    }

    /// The same for an answer that is no JSON.
    pub(crate) async fn call_text(&mut self, status: u16, route: (&str, &str), fill: &[&str], key: &str) -> String {
        let (method, template) = route;
        let answer = self.app.send(Ask::new(method, &filled(template, fill)).key(key)).await;
        assert_eq!(answer.status, status, "{method} {template}: {}", answer.text());
        self.called.insert((method.to_owned(), template.to_owned()));
        answer.text()
    }

    fn check(&mut self, status: u16, method: &str, path: &str, answer: &Answer) -> Value {
        let about = format!("{method} {path}");
        assert_eq!(answer.status, status, "{about}: {}", answer.text());
        self.called.insert((method.to_owned(), path.to_owned()));
        let Some(schema) = schemas::of_answer(&self.document, method, path, status) else { return Value::Null };
        let value = answer.json();
        schemas::fits(&self.document, &schema, &value, &about);
        value
    }
}

fn filled(template: &str, fill: &[&str]) -> String {
    let mut fill = fill.iter();
    let part = |piece: &str| if piece.starts_with('{') { (*fill.next().unwrap()).to_owned() } else { piece.to_owned() };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_answers_as_the_document_says() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let mut walk = Walk { app: &app, document: schemas::document(), called: BTreeSet::new() };
    tasks(&mut walk, &fixture).await;
    steering(&mut walk, &fixture).await;
    inbound(&mut walk).await;
    plans_and_tools(&mut walk, &fixture).await;
    agents(&mut walk, &fixture).await;
    prompts(&mut walk, &fixture).await;
    for noun in NOUNS {
        (noun.walk)(&mut walk, &fixture).await;
    }
    preferences(&mut walk).await;
    chats(&mut walk, &fixture).await;
    memories(&mut walk, &fixture).await;
    lessons(&mut walk).await;
    knowledge(&mut walk, &fixture).await;
    approvals(&mut walk, &fixture).await;
    models_and_budgets(&mut walk, &fixture).await;
    secrets(&mut walk, &fixture).await;
    outgoing(&mut walk, &fixture).await;
    identities(&mut walk, &fixture).await;
    operation(&mut walk).await;
    let all: BTreeSet<(String, String)> =
        table().iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    let missing: Vec<_> = all.difference(&walk.called).collect();
    assert!(missing.is_empty(), "routes that this test does not call: {missing:?}");
}

async fn tasks(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (viewer, operator) = (walk.app.ours.viewer.clone(), walk.app.ours.operator.clone());
    let body = json!({"input": "hi", "plan_key": fixture.plan, "payload": {"name": "n2"}, "max_steps": 3});
    let task = walk.call(202, ("POST", "/api/tasks"), &[], &operator, Some(body)).await;
    let id = task["id"].as_str().unwrap().to_owned();
    let task = walk.call(200, ("GET", "/api/tasks/{id}?waitMs=20000"), &[&id], &viewer, None).await;
    // The query hangs on the last part, so the fill above replaced it: ask once more with it.
    assert_eq!(task["id"], id.as_str());
    let answer = walk.app.send(Ask::get(&format!("/api/tasks/{id}?waitMs=20000")).key(&viewer)).await;
    let task = walk.check(200, "GET", "/api/tasks/{id}", &answer);
    assert_eq!(task["status"], "completed");
    assert_eq!(task["completedStepIds"], json!(["put"]));
    assert_eq!(task["maxSteps"], 3);
    let page = walk.call(200, ("GET", "/api/tasks"), &[], &viewer, None).await;
    assert!(page["items"].as_array().unwrap().len() >= 5);
    let log = walk.call(200, ("GET", "/api/tasks/{id}/log"), &[&id], &viewer, None).await;
    assert_eq!(log["items"][0]["eventType"], "task_created");
    assert_eq!(log["items"].as_array().unwrap().last().unwrap()["eventType"], "task_completed");
    walk.call(200, ("GET", "/api/tasks/{id}/events"), &[&id], &viewer, None).await;
    let artifacts = walk.call(200, ("GET", "/api/tasks/{id}/artifacts"), &[&id], &viewer, None).await;
    assert_eq!(artifacts["items"][0]["kind"], "note");
    let ended = &fixture.ended;
    let attachments = walk.call(200, ("GET", "/api/tasks/{id}/attachments"), &[ended], &viewer, None).await;
    assert_eq!(attachments["items"][0]["filename"], "note.txt");
    walk.call(200, ("GET", "/api/tasks/{id}/attachments/{n}"), &[ended, "1"], &viewer, None).await;
}

async fn steering(walk: &mut Walk<'_>, fixture: &Fixture) {
    let keys = walk.app.ours.clone();
    let running = &fixture.running;
    let task = walk.call(200, ("POST", "/api/tasks/{id}/pause"), &[running], &keys.operator, None).await;
    assert!(task["pausedAt"].is_string());
    let task = walk.call(200, ("POST", "/api/tasks/{id}/resume"), &[running], &keys.operator, None).await;
    assert!(task["pausedAt"].is_null());
    let task = walk.call(200, ("POST", "/api/tasks/{id}/cancel"), &[running], &keys.operator, None).await;
    assert_eq!(task["cancelRequested"], true);
    walk.call(200, ("POST", "/api/tasks/{id}/retry"), &[&fixture.failed], &keys.operator, None).await;
    let report = walk.call(200, ("POST", "/api/tasks/{id}/replay"), &[&fixture.ended], &keys.operator, None).await;
    assert_eq!(report["matches"], true, "{report}");
    let why = Some(json!({"reason": "a claim"}));
    let task = walk.call(200, ("POST", "/api/tasks/{id}/hold"), &[&fixture.ended], &keys.admin, why).await;
    assert_eq!(task["hold"]["reason"], "a claim");
    let task = walk.call(200, ("POST", "/api/tasks/{id}/release"), &[&fixture.ended], &keys.admin, None).await;
    assert!(task.get("hold").is_none(), "{task}");
    let old = Some(json!({"olderThanDays": 7}));
    let purged = walk.call(200, ("POST", "/api/purge"), &[], &keys.admin, old).await;
    let counts: u64 = purged["items"].as_array().unwrap().iter().map(|item| item["count"].as_u64().unwrap()).sum();
    assert_eq!((purged["items"].as_array().unwrap().len(), counts), (6, 0), "nothing here is that old: {purged}");
    let fork = walk.call(202, ("POST", "/api/tasks/{id}/fork"), &[&fixture.ended], &keys.operator, None).await;
    assert_eq!(fork["forkedFromTaskId"], fixture.ended.as_str());
    // What would leave the house again needs a yes.
    let tell = json!({"to": "a@example.com", "subject": "s", "body": "b"});
    let tell = json!({"key": "fixture.tell", "steps": [{"id": "tell", "tool": "core.notify", "args": tell}]});
    walk.call(201, ("POST", "/api/plans"), &[], &keys.admin, Some(tell)).await;
    let told = walk.app.submit(&keys.operator, json!({"input": "x", "planKey": "fixture.tell"})).await;
    let told = told["id"].as_str().unwrap().to_owned();
    walk.call(200, ("GET", "/api/tasks/{id}?waitMs=20000"), &[&told], &keys.operator, None).await;
    let (route, dry) = (("POST", "/api/tasks/{id}/fork"), Some(json!({"dry_run": true})));
    let preview = walk.call(200, route, &[&told], &keys.operator, dry).await;
    assert_eq!((&preview["repeats"][0]["stepId"], &preview["repeats"][0]["kind"]), (&json!("tell"), &json!("message")));
    let refused = walk.app.send(Ask::post(&format!("/api/tasks/{told}/fork")).key(&keys.operator)).await;
    assert!(refused.text().contains("step tell: sends a message"), "{}", refused.text());
    refused.refused(409, "CONFLICT", "a fork without a yes");
    walk.call(202, route, &[&told], &keys.operator, Some(json!({"confirm": ["tell"]}))).await;
    let answer = json!({"corrections": {"answer": "Pinewood"}});
    walk.call(200, ("POST", "/api/tasks/{id}/review"), &[&fixture.waiting], &keys.reviewer, Some(answer.clone())).await;
    let waiting = walk.app.submit(&keys.operator, json!({"input": "x", "planKey": "fixture.ask"})).await;
    let (route, id) = (("POST", "/api/internal/brain/review/{id}"), waiting["id"].as_str().unwrap().to_owned());
    walk.call(200, route, &[&id], &keys.reviewer, Some(answer)).await;

    let workflow_id = format!("v1:{}:{}:put:1", kybern_core::id::TenantId::DEFAULT, fixture.ended);
    let body = json!({"workflowId": workflow_id, "success": true, "data": {}});
    let path = format!("/api/internal/brain/callback/{}", fixture.ended);
    let secret = TestKeys::new().callback_secret(&workflow_id);
    let answer = walk.app.send(Ask::post(&path).header("x-callback-secret", &secret).json(&body)).await;
    let outcome = walk.check(200, "POST", "/api/internal/brain/callback/{id}", &answer);
    assert_eq!(outcome["outcome"], "late");
}

async fn inbound(walk: &mut Walk<'_>) {
    let operator = walk.app.ours.operator.clone();
    let mail = "Message-ID: <m1@example.com>\r\nFrom: a@example.com\r\nSubject: Hi\r\n\r\nHello";
    for duplicate in [false, true] {
        let ask = Ask::post("/api/inbound/email").key(&operator).body("message/rfc822", mail);
        let answer = walk.app.send(ask).await;
        assert_eq!(walk.check(202, "POST", "/api/inbound/email", &answer)["duplicate"], duplicate);
        let form = "From=%2B1&To=%2B2&Body=Hello&MessageSid=SM1";
        let ask = Ask::post("/api/inbound/sms").key(&operator).body("application/x-www-form-urlencoded", form);
        let answer = walk.app.send(ask).await;
        assert_eq!(walk.check(202, "POST", "/api/inbound/sms", &answer)["duplicate"], duplicate);
        let ask = Ask::post("/api/inbound/webhook/crm").key(&operator).header("x-delivery-id", "d1");
        let answer = walk.app.send(ask.json(&json!({"event": "lead"}))).await;
        assert_eq!(walk.check(202, "POST", "/api/inbound/webhook/{source}", &answer)["duplicate"], duplicate);
    }
}

async fn plans_and_tools(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (viewer, admin) = (walk.app.ours.viewer.clone(), walk.app.ours.admin.clone());
    let plan = walk.call(201, ("POST", "/api/plans"), &[], &admin, Some(put_plan(&fixture.plan))).await;
    assert_eq!(plan["version"], 2);
    let page = walk.call(200, ("GET", "/api/plans"), &[], &viewer, None).await;
    assert!(page["items"].as_array().unwrap().len() >= 5);
    let shown = walk.call(200, ("GET", "/api/plans/{key}"), &[&fixture.plan], &viewer, None).await;
    assert_eq!(shown["version"], 2);
    let versions = walk.call(200, ("GET", "/api/plans/{key}/versions"), &[&fixture.plan], &viewer, None).await;
    assert_eq!(versions["items"].as_array().unwrap().len(), 2);
    let off = Some(json!({"active": false}));
    let changed = walk.call(200, ("PATCH", "/api/plans/{key}"), &[&fixture.plan], &admin, off).await;
    assert_eq!(changed["active"], false);
    let faulty = json!({"key": "a.b", "steps": [{"id": "a", "tool": "no.such"}, {"id": "a", "tool": "core.noop"}]});
    let check = walk.call(200, ("POST", "/api/plans/check"), &[], &viewer, Some(faulty)).await;
    assert_eq!(check["valid"], false);

    let tools = walk.call(200, ("GET", "/api/tools"), &[], &viewer, None).await;
    assert!(tools["items"].as_array().unwrap().iter().any(|tool| tool["key"] == "core.noop"));
    let tool = walk.call(200, ("GET", "/api/tools/{name}"), &["core.put_record"], &viewer, None).await;
    assert!(tool["inputSchema"]["properties"]["kind"].is_object());
    let operator = walk.app.ours.operator.clone();
    let input = Some(json!({"input": {"greeting": "hello"}}));
    let call = walk.call(200, ("POST", "/api/tools/{name}/invoke"), &["core.set"], &operator, input).await;
    assert_eq!((&call["status"], &call["output"]["greeting"]), (&json!("success"), &json!("hello")));
    let input = Some(json!({"input": {"message": "no"}}));
    let call = walk.call(200, ("POST", "/api/tools/{name}/invoke"), &["core.fail"], &operator, input).await;
    assert_eq!((&call["status"], &call["error"]["message"]), (&json!("failure"), &json!("no")));
    let bad = Ask::post("/api/tools/core.put_record/invoke").key(&operator).json(&json!({"input": {"kind": 5}}));
    let paths = walk.app.send(bad).await.refused(400, "VALIDATION_ERROR", "arguments that do not fit");
    assert!(paths.iter().all(|path| path.starts_with("/input")), "{paths:?}");
}

async fn chats(walk: &mut Walk<'_>, fixture: &Fixture) {
    let operator = walk.app.ours.operator.clone();
    let new = json!({"agent": fixture.agent, "title": "Renewals"});
    let chat = walk.call(201, ("POST", "/api/chats"), &[], &operator, Some(new)).await;
    assert_eq!((&chat["agent"], &chat["title"]), (&json!(fixture.agent), &json!("Renewals")));
    let id = chat["id"].as_str().unwrap().to_owned();
    let chats = walk.call(200, ("GET", "/api/chats"), &[], &operator, None).await;
    assert_eq!(chats["items"].as_array().unwrap().len(), 2, "its own and the fixture's");
    walk.call(200, ("GET", "/api/chats/{id}"), &[&id], &operator, None).await;
    let said = json!({"content": "Which end this month?"});
    let turn = walk.call(200, ("POST", "/api/chats/{id}/messages"), &[&id], &operator, Some(said)).await;
    assert_eq!((&turn["status"], &turn["finishReason"]), (&json!("completed"), &json!("complete")), "{turn}");
    let messages = walk.call(200, ("GET", "/api/chats/{id}/messages"), &[&id], &operator, None).await;
    assert_eq!(messages["items"][1]["id"], turn["messageId"]);
    let events = walk.call_text(200, ("GET", "/api/chats/{id}/stream"), &[&id], &operator).await;
    assert!(events.starts_with("id: 0\nevent: message.start\n") && events.contains("event: done"), "{events}");
    let ask = json!({"model": format!("agent:{}", fixture.agent), "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "And next month?"}]});
    let asked = Ask::post("/v1/chat/completions").key(&operator).json(&ask);
    let reply = walk.app.send(asked).await.json();
    assert_eq!((&reply["object"], &reply["choices"][0]["finish_reason"]), (&json!("chat.completion"), &json!("stop")));
    let mut ask = ask;
    let seen = |url: &str, later: &[&str]| {
        let parts = json!([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]);
        let mut messages = vec![json!({"role": "user", "content": parts})];
        messages.extend(later.iter().map(|said| json!({"role": "user", "content": said})));
        Ask::post("/v1/chat/completions").key(&operator).json(&json!({"model": ask["model"], "messages": messages}))
    };
    for url in ["https://pictures.example.com/1.png", "HTTPS://pictures.example.com/2.png", "data:image/png;base64,*"] {
        let refused = walk.app.send(seen(url, &[])).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "a picture that is not there"), ["/messages"]);
    }
    let pixel = "data:image/png;base64,iVBORw0KGgo=";
    let reply = walk.app.send(seen(pixel, &[])).await.text();
    assert!(reply.contains("attached picture picture-1.png: it is picture 1 of this message"), "{reply}");
    let reply = walk.app.send(seen(pixel, &["And now?"])).await.json();
    let chats = walk.call(200, ("GET", "/api/chats"), &[], &operator, None).await;
    let last = chats["items"][0]["id"].as_str().unwrap();
    let kept = walk.call(200, ("GET", "/api/chats/{id}/messages"), &[last], &operator, None).await;
    let told = "What is it?\n[pictures came with this, and are not shown again]";
    assert_eq!((&kept["items"][0]["content"], reply["object"].as_str()), (&json!(told), Some("chat.completion")));
    ask["stream"] = json!(true);
    let pieces = walk.app.send(Ask::post("/v1/chat/completions").key(&operator).json(&ask)).await.text();
    assert!(pieces.contains("chat.completion.chunk") && pieces.ends_with("data: [DONE]\n\n"), "{pieces}");
    ask["tools"] = json!([{"type": "function", "function": {"name": "own"}}]);
    let refused = walk.app.send(Ask::post("/v1/chat/completions").key(&operator).json(&ask)).await;
    assert_eq!(refused.refused(400, "VALIDATION_ERROR", "tools beside those of the agent"), ["/tools"]);
    let fork = json!({"messageId": messages["items"][0]["id"]});
    let fork = walk.call(201, ("POST", "/api/chats/{id}/fork"), &[&id], &operator, Some(fork)).await;
    assert_eq!(fork["forkedFrom"], chat["id"]);
    let message = messages["items"][0]["id"].as_str().unwrap();
    let path = ("POST", "/api/chats/{id}/messages/{message}/redact");
    let redacted = walk.call(200, path, &[&id, message], &operator, None).await;
    assert_eq!(redacted["content"], "");
    let export = walk.call(200, ("GET", "/api/chats/{id}/export"), &[&id], &operator, None).await;
    let import = ("POST", "/api/chats/import");
    let imported = walk.call(201, import, &[], &operator, Some(export.clone())).await;
    assert_eq!((&imported["title"], &imported["agent"]), (&chat["title"], &chat["agent"]), "as it was exported");
    assert!(imported["id"] != chat["id"] && imported["forkedFrom"].is_null(), "{imported}");
    let (mut other, mut elsewhere) = (export.clone(), export);
    (other["title"], other["agent"]) = (json!("Copy"), Value::Null);
    let imported = walk.call(201, import, &[], &operator, Some(other)).await;
    assert_eq!((&imported["title"], &imported["agent"]), (&json!("Copy"), &Value::Null), "what is said goes before");
    elsewhere["chat"]["agent"] = json!("not_here");
    let refused = walk.app.send(Ask::post("/api/chats/import").key(&operator).json(&elsewhere)).await;
    refused.refused(404, "NOT_FOUND", "an agent that is not here");
    walk.call(200, ("POST", "/api/chats/{id}/reset"), &[&id], &operator, None).await;
    walk.call(204, ("DELETE", "/api/chats/{id}"), &[&id], &operator, None).await;
}

async fn agents(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (viewer, admin) = (walk.app.ours.viewer.clone(), walk.app.ours.admin.clone());
    let new = json!({"name": "Billing", "system_prompt": "You bill.", "max_turns": 7, "maxToolCalls": 9,
        "tools": ["test.echo", "mail.send"], "triggers": ["invoice"], "timeout_ms": 5_000});
    let made = walk.call(201, ("POST", "/api/agents"), &[], &admin, Some(new)).await;
    assert_eq!((&made["key"], &made["maxTurns"], &made["maxToolCalls"]), (&json!("billing"), &json!(7), &json!(9)));
    assert_eq!((&made["toolKeys"], &made["missingTools"]), (&json!(["test.echo"]), &json!(["mail.send"])));
    assert_eq!(
        (&made["provider"], &made["model"], &made["bundled"]),
        (&json!("default"), &json!("default"), &json!(false))
    );
    let page = walk.call(200, ("GET", "/api/agents"), &[], &viewer, None).await;
    let keys: Vec<&str> = page["items"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["assistant", "billing", fixture.agent.as_str()]);
    for name in ["billing", "BILLING", made["id"].as_str().unwrap()] {
        let mut shown = walk.call(200, ("GET", "/api/agents/{id}"), &[name], &viewer, None).await;
        assert_eq!(shown["draftPromptId"], Value::Null, "only what made a draft tells its id");
        shown["draftPromptId"] = made["draftPromptId"].clone();
        assert_eq!(shown, made);
    }
    assert_eq!(made["historyMs"], json!(2_592_000_000_u64));
    let told = made["systemPrompt"].clone();
    assert!(told.as_str().unwrap().contains("waiting for approval"), "{told}");
    let draft = made["draftPromptId"].as_str().unwrap();
    let draft = walk.call(200, ("GET", "/api/prompts/{id}"), &[draft], &admin, None).await;
    assert_eq!(draft["text"], json!("You bill."), "the first text is governed like any other");
    let change = json!({"name": "Invoices", "emoji": "🧾", "maxCostNanos": 5, "systemPrompt": "You bill twice.",
        "historyMs": 60_000});
    let changed = walk.call(200, ("PATCH", "/api/agents/{id}"), &["billing"], &admin, Some(change)).await;
    assert_eq!((&changed["name"], &changed["systemPrompt"]), (&json!("Invoices"), &told));
    assert_eq!(
        (&changed["version"], &changed["maxTurns"], &changed["maxCostNanos"], &changed["historyMs"]),
        (&json!(2), &json!(7), &json!(5), &json!(60_000))
    );
    let draft = changed["draftPromptId"].as_str().unwrap().to_owned();
    let draft = walk.call(200, ("GET", "/api/prompts/{id}"), &[&draft], &admin, None).await;
    assert_eq!(
        (&draft["agent"], &draft["text"], &draft["status"]),
        (&json!("billing"), &json!("You bill twice."), &json!("draft"))
    );
    let change = json!({"systemPrompt": told, "emoji": null, "maxCostNanos": null});
    let changed = walk.call(200, ("PATCH", "/api/agents/{id}"), &["billing"], &admin, Some(change)).await;
    assert_eq!(
        (&changed["draftPromptId"], &changed["emoji"], &changed["maxCostNanos"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    for (body, place) in [
        (json!({"maxTurns": 51}), "/maxTurns"),
        (json!({"maxToolCalls": 201}), "/maxToolCalls"),
        (json!({"timeoutMs": 0}), "/timeoutMs"),
        (json!({"historyMs": 0}), "/historyMs"),
        (json!({"history_ms": u64::MAX}), "/historyMs"),
        (json!({"toolGroups": ["no_such_group"]}), "/toolGroups/0"),
        (json!({"systemPrompt": "  "}), "/systemPrompt"),
        (json!({"temperature": 3}), "/temperature"),
    ] {
        let refused = walk.app.send(Ask::new("PATCH", "/api/agents/billing").key(&admin).json(&body)).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "a change that cannot be"), [place]);
    }
    let taken = json!({"name": "invoices", "systemPrompt": "You bill."});
    let taken = walk.app.send(Ask::post("/api/agents").key(&admin).json(&taken)).await;
    taken.refused(409, "CONFLICT", "a name that is taken");
    walk.call(204, ("DELETE", "/api/agents/{id}"), &["billing"], &admin, None).await;
    let gone = walk.app.send(Ask::get("/api/agents/billing").key(&viewer)).await;
    gone.refused(404, "NOT_FOUND", "an agent that was removed");
    let resynced = walk.call(200, ("POST", "/api/agents/resync"), &[], &admin, None).await;
    assert_eq!(resynced, json!({"created": [], "updated": []}), "nothing of the bundled agents was changed");
    let own = walk.app.send(Ask::post(&format!("/api/agents/{}/reset", fixture.agent)).key(&admin)).await;
    own.refused(409, "CONFLICT", "an agent that does not come with the program");
    walk.call(204, ("DELETE", "/api/agents/{id}"), &["assistant"], &admin, None).await;
    let reset = walk.call(200, ("POST", "/api/agents/{id}/reset"), &["assistant"], &admin, None).await;
    assert_eq!(
        (&reset["key"], &reset["bundled"], &reset["createdAt"]),
        (&json!("assistant"), &json!(true), &Value::Null)
    );
}

async fn prompts(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (admin, id) = (walk.app.ours.admin.clone(), fixture.prompt.as_str());
    // Whoever made the author's account and key counts as the author; somebody else whom they made does not.
    let maker = PLATFORM.to_owned();
    let second = json!({"name": "Second", "email": "second@example.com", "roles": ["admin"]});
    let second = walk.app.send(Ask::post("/api/users").key(&maker).json(&second)).await.json();
    let key = Ask::post("/api/keys").key(&maker).json(&json!({"name": "second", "userId": second["id"]}));
    let other = walk.app.send(key).await.json()["key"].as_str().unwrap().to_owned();
    let for_all = Some(json!({"text": "  You answer for Acme Freight. "}));
    let made = walk.call(201, ("POST", "/api/prompts"), &[], &admin, for_all).await;
    assert_eq!(
        (&made["agent"], &made["version"], &made["text"]),
        (&Value::Null, &json!(1), &json!("You answer for Acme Freight."))
    );
    let unknown = Ask::post("/api/prompts").key(&admin).json(&json!({"agent": "nobody", "text": "x"}));
    assert_eq!(walk.app.send(unknown).await.refused(400, "VALIDATION_ERROR", "no such agent"), ["/agent"]);
    let page = walk.call(200, ("GET", "/api/prompts"), &[], &admin, None).await;
    assert_eq!(page["items"][0]["id"], made["id"], "the newest first");
    let of = async |query: &str| {
        let page = walk.app.send(Ask::get(&format!("/api/prompts?{query}")).key(&admin)).await.json();
        page["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("agent=*").await, [made["id"].as_str().unwrap()]);
    let drafts = of(&format!("agent={}&status=draft", fixture.agent)).await;
    assert_eq!((drafts.len(), drafts[0].as_str()), (2, id), "behind it the agent's first text");
    assert!(of("status=active").await.is_empty());
    let tried = json!({"content": "Hello.", "agent": fixture.agent, "text": "You greet."});
    let preview = walk.call(200, ("POST", "/api/prompts/preview"), &[], &admin, Some(tried)).await;
    assert_eq!((&preview["agent"], &preview["layers"][1]["layer"]), (&json!(fixture.agent), &json!("prompt")));
    let told = preview["messages"][1]["parts"][0]["text"].as_str().unwrap();
    assert!(told.starts_with("You greet."), "{told}");
    let edited = Some(json!({"text": "You help better."}));
    let edited = walk.call(200, ("PATCH", "/api/prompts/{id}"), &[id], &admin, edited).await;
    assert_eq!(edited["text"], "You help better.");
    let review = walk.call(200, ("POST", "/api/prompts/{id}/submit"), &[id], &admin, None).await;
    assert_eq!(review["status"], "review");
    let again = walk.app.send(Ask::post(&format!("/api/prompts/{id}/submit")).key(&admin)).await;
    again.refused(409, "CONFLICT", "submitted twice");
    let note = Some(json!({"note": "Say how."}));
    let back = walk.call(200, ("POST", "/api/prompts/{id}/reject"), &[id], &other, note).await;
    assert_eq!((&back["status"], &back["note"]), (&json!("draft"), &json!("Say how.")));
    walk.call(200, ("POST", "/api/prompts/{id}/submit"), &[id], &admin, None).await;
    let read = json!({"textHash": edited["textHash"]});
    let own = walk.app.send(Ask::post(&format!("/api/prompts/{id}/approve")).key(&admin).json(&read)).await;
    own.refused(403, "PERMISSION_DENIED", "an author who approves");
    let made_it = walk.app.send(Ask::post(&format!("/api/prompts/{id}/approve")).key(&maker).json(&read)).await;
    made_it.refused(403, "PERMISSION_DENIED", "who made the author");
    let early = walk.app.send(Ask::post(&format!("/api/prompts/{id}/activate")).key(&admin).json(&read)).await;
    early.refused(409, "CONFLICT", "a prompt that was not approved");
    let stale = json!({"textHash": made["textHash"]});
    let stale = walk.app.send(Ask::post(&format!("/api/prompts/{id}/approve")).key(&other).json(&stale)).await;
    stale.refused(409, "CONFLICT", "a text that was not read");
    let approved = walk.call(200, ("POST", "/api/prompts/{id}/approve"), &[id], &other, Some(read.clone())).await;
    assert_eq!((&approved["status"], &approved["note"]), (&json!("approved"), &Value::Null));
    let active = walk.call(200, ("POST", "/api/prompts/{id}/activate"), &[id], &admin, Some(read)).await;
    assert_eq!(active["status"], "active");
    // What it is told now, it need not be told in another draft.
    let path = format!("/api/agents/{}", fixture.agent);
    for (text, draft) in [("You help better.", false), ("You help.", true)] {
        let answer = walk.app.send(Ask::new("PATCH", &path).key(&admin).json(&json!({"systemPrompt": text}))).await;
        assert_eq!((answer.status, answer.json()["draftPromptId"].is_string()), (200, draft), "{text}");
    }
}

async fn preferences(walk: &mut Walk<'_>) {
    let keys = walk.app.ours.clone();
    let fresh = walk.call(200, ("GET", "/api/preferences"), &[], &keys.operator, None).await;
    assert_eq!((&fresh["responseLength"], &fresh["formality"]), (&json!("balanced"), &json!("neutral")));
    assert_eq!((&fresh["updatedAt"], &fresh["profile"]["name"]), (&Value::Null, &Value::Null));
    let said = json!({"response_length": "concise", "customInstructions": [" Use metric units. "],
        "profile": {"name": "Ada", "facts": ["Works from Lisbon"]}});
    let set = walk.call(200, ("PUT", "/api/preferences"), &[], &keys.operator, Some(said)).await;
    assert_eq!(
        (&set["responseLength"], &set["customInstructions"]),
        (&json!("concise"), &json!(["Use metric units."]))
    );
    assert_eq!(walk.call(200, ("GET", "/api/preferences"), &[], &keys.operator, None).await, set);
    let user = set["userId"].as_str().unwrap();
    let of = |key: &str| Ask::get(&format!("/api/preferences?userId={user}")).key(key);
    assert_eq!(walk.app.send(of(&keys.admin)).await.json(), set, "an administrator reads them");
    assert_eq!(walk.app.send(of(&keys.operator)).await.json(), set);
    walk.app.send(of(&keys.viewer)).await.refused(403, "PERMISSION_DENIED", "somebody else's preferences");
    walk.app.send(of(&walk.app.theirs.admin)).await.refused(404, "NOT_FOUND", "another tenant's user");
    for (body, place) in [
        (json!({"autonomy": "full"}), "/autonomy"),
        (json!({"autonomyLevel": "full"}), "/autonomy"),
        (json!({"customInstructions": ["the password is hunter2hunter2"]}), "/customInstructions/0"),
        (json!({"customInstructions": ["x".repeat(501)]}), "/customInstructions/0"),
        (json!({"profile": {"goals": [""]}}), "/profile/goals/0"),
        (json!({"profile": {"colour": "red"}}), "/profile/colour"),
        (json!({"profile": []}), "/profile"),
    ] {
        let refused = walk.app.send(Ask::new("PUT", "/api/preferences").key(&keys.operator).json(&body)).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "no preference"), [place], "{body}");
    }
    assert_eq!(
        walk.call(200, ("GET", "/api/preferences"), &[], &keys.operator, None).await,
        set,
        "nothing has changed"
    );
    walk.call(204, ("DELETE", "/api/preferences"), &[], &keys.operator, None).await;
    assert_eq!(walk.call(200, ("GET", "/api/preferences"), &[], &keys.operator, None).await, fresh);
}

async fn lessons(walk: &mut Walk<'_>) {
    let keys = walk.app.ours.clone();
    let new = json!({"kind": "intent_example", "intent": "fixture.ask", "text": " Please  take a note. "});
    let made = walk.call(201, ("POST", "/api/lessons"), &[], &keys.admin, Some(new.clone())).await;
    assert_eq!((&made["text"], &made["status"]), (&json!("Please take a note."), &json!("suggested")));
    assert_eq!((&made["source"]["taskId"], &made["sinceVersion"]), (&Value::Null, &Value::Null));
    let id = made["id"].as_str().unwrap();
    let post = |body: &Value| Ask::post("/api/lessons").key(&keys.admin).json(body);
    walk.app.send(post(&new)).await.refused(409, "CONFLICT", "the same again");
    let accepted = walk.call(200, ("POST", "/api/lessons/{id}/accept"), &[id], &keys.admin, None).await;
    assert_eq!((&accepted["status"], &accepted["sinceVersion"]), (&json!("accepted"), &json!(1)));
    let again = Ask::post(&format!("/api/lessons/{id}/accept")).key(&keys.admin);
    walk.app.send(again).await.refused(409, "CONFLICT", "it is accepted");
    assert_eq!(walk.call(200, ("GET", "/api/lessons/{id}"), &[id], &keys.viewer, None).await, accepted);
    let preview = walk.call(200, ("GET", "/api/lessons/{id}/preview"), &[id], &keys.admin, None).await;
    assert_eq!((&preview["lessonId"], &preview["complete"]), (&made["id"], &json!(true)));
    let query = "/api/lessons?status=accepted&kind=intent_example";
    let listed = walk.call(200, ("GET", query), &[], &keys.viewer, None).await;
    assert_eq!(listed["items"], json!([accepted]));
    let withdrawn = walk.call(200, ("POST", "/api/lessons/{id}/withdraw"), &[id], &keys.admin, None).await;
    assert_eq!((&withdrawn["status"], &withdrawn["untilVersion"]), (&json!("withdrawn"), &json!(2)));
    for key in [&keys.viewer, &keys.operator] {
        walk.app.send(Ask::post("/api/lessons").key(key).json(&new)).await.refused(
            403,
            "PERMISSION_DENIED",
            "no admin",
        );
    }
    let theirs = Ask::get(&format!("/api/lessons/{id}")).key(&walk.app.theirs.admin);
    walk.app.send(theirs).await.refused(404, "NOT_FOUND", "another tenant's");
    for (body, place) in [
        (json!({"kind": "habit"}), "/kind"),
        (json!({"kind": "intent_example", "intent": "no.plan", "text": "take a note"}), "/intent"),
        (json!({"kind": "intent_example", "intent": "fixture.ask", "text": "17"}), "/text"),
        (json!({"kind": "intent_example", "intent": "fixture.ask"}), "/text"),
        (json!({"kind": "trusted_sender", "address": "*@example.com"}), "/address"),
        (json!({"kind": "trusted_sender", "address": "b@example.com", "text": "x"}), "/text"),
        (json!({"kind": "trusted_sender", "address": "b@example.com", "company": "Fern Hollow Mutual"}), "/company"),
        (json!({"kind": "speaker", "address": "b@example.com"}), "/company"),
        (json!({"kind": "spelling", "schema": "cars", "field": "owner.name", "label": "fern holow"}), "/value"),
        (json!({"kind": "label", "schema": "none", "field": "a", "label": "keeper"}), "/schema"),
        (json!({"kind": "label", "schema": "none", "field": "a", "label": ".*"}), "/label"),
    ] {
        let refused = walk.app.send(post(&body)).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "no lesson"), [place], "{body}");
    }
}

async fn memories(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (keys, entity) = (walk.app.ours.clone(), fixture.memory.as_str());
    let new = json!({"content": " Prefers night trains. ", "category": "preference", "importance": 8,
        "expires_at": "2100-01-01T00:00:00Z"});
    let mine = walk.call(201, ("POST", "/api/memories"), &[], &keys.operator, Some(new)).await;
    assert_eq!(
        (&mine["content"], &mine["status"], &mine["trust"]),
        (&json!("Prefers night trains."), &json!("active"), &json!("user"))
    );
    assert_eq!((&mine["subject"]["type"], &mine["importance"]), (&json!("user"), &json!(8)));
    let ids = |page: &Value| {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let id = mine["id"].as_str().unwrap().to_owned();
    let page = walk.call(200, ("GET", "/api/memories"), &[], &keys.operator, None).await;
    assert_eq!(ids(&page), [id.as_str()], "one's own");
    let page = walk.app.send(Ask::get("/api/memories").key(&keys.admin)).await.json();
    assert_eq!(ids(&page), [id.as_str(), entity], "all of the tenant");
    let of = async |query: &str, key: &str| walk.app.send(Ask::get(&format!("/api/memories?{query}")).key(key)).await;
    assert_eq!(ids(&of("subjectType=entity", &keys.operator).await.json()), [entity]);
    assert_eq!(ids(&of("status=pending", &keys.admin).await.json()), [entity]);
    of("subjectType=entity", &keys.viewer).await.refused(403, "PERMISSION_DENIED", "entities to a viewer");
    let user = mine["subject"]["id"].as_str().unwrap();
    let theirs = of(&format!("subjectType=user&subjectId={user}"), &keys.viewer).await;
    theirs.refused(403, "PERMISSION_DENIED", "another user's memories");
    let found = of("query=which+trains", &keys.operator).await.json();
    assert_eq!((ids(&found), &found["items"][0]["similarity"]), (vec![id.clone()], &json!(500)));
    assert!(ids(&of("query=ships", &keys.operator).await.json()).is_empty());
    for (query, place) in [
        ("query=trains&status=active", "/status"),
        ("query=trains&cursor=abc", "/cursor"),
        ("query=trains&subjectType=entity", "/subjectId"),
    ] {
        let refused = of(query, &keys.operator).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "what would be ignored"), [place], "{query}");
    }
    let unnamed = walk.app.send(Ask::get("/api/memories/export?subjectType=entity").key(&keys.operator)).await;
    assert_eq!(unnamed.refused(400, "VALIDATION_ERROR", "which entity"), ["/subjectId"]);
    // Seeing them asks for no more than listing them does.
    let hidden = walk.app.send(Ask::get(&format!("/api/memories/{entity}")).key(&keys.viewer)).await;
    hidden.refused(404, "NOT_FOUND", "an entity's memory to a viewer");
    let exported = walk.call(200, ("GET", "/api/memories/export"), &[], &keys.operator, None).await;
    assert_eq!(ids(&exported), [id.as_str()]);

    let change = Some(json!({"content": "Prefers ships.", "expiresAt": null}));
    let changed = walk.call(200, ("PATCH", "/api/memories/{id}"), &[&id], &keys.operator, change).await;
    assert_eq!((&changed["content"], &changed["expiresAt"]), (&json!("Prefers ships."), &Value::Null));
    assert_eq!(walk.call(200, ("GET", "/api/memories/{id}"), &[&id], &keys.operator, None).await, changed);
    for (body, place) in [
        (json!({"content": ""}), "/content"),
        (json!({"content": "the password is hunter2hunter2"}), "/content"),
        (json!({"content": "x".repeat(2_001)}), "/content"),
        (json!({"content": "x", "importance": 11}), "/importance"),
        (json!({"content": "x", "category": "rumour"}), "/category"),
        (json!({"content": "x", "expiresAt": "2020-01-01T00:00:00Z"}), "/expiresAt"),
        (json!({"content": "x", "subject": {"type": "planet", "id": user}}), "/subject/type"),
        (json!({"content": "x", "subject": {"type": "user", "id": "me"}}), "/subject/id"),
    ] {
        let refused = walk.app.send(Ask::post("/api/memories").key(&keys.operator).json(&body)).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "no memory"), [place], "{body}");
    }
    let other = json!({"content": "x", "subject": {"type": "user", "id": fixture.user}});
    let other = walk.app.send(Ask::post("/api/memories").key(&keys.operator).json(&other)).await;
    other.refused(403, "PERMISSION_DENIED", "a memory of somebody else");
    let accepted = walk.call(200, ("POST", "/api/memories/{id}/accept"), &[entity], &keys.operator, None).await;
    assert_eq!(accepted["status"], "active");
    let again = walk.app.send(Ask::post(&format!("/api/memories/{entity}/reject")).key(&keys.operator)).await;
    again.refused(409, "CONFLICT", "judged twice");
    let proposed = Some(json!({"content": "Prefers planes.", "pending": true}));
    let proposed = walk.call(201, ("POST", "/api/memories"), &[], &keys.operator, proposed).await;
    let proposed = proposed["id"].as_str().unwrap();
    let rejected = walk.call(200, ("POST", "/api/memories/{id}/reject"), &[proposed], &keys.operator, None).await;
    assert_eq!(rejected["status"], "rejected");
    walk.call(204, ("DELETE", "/api/memories/{id}"), &[&id], &keys.operator, None).await;
    let gone = walk.app.send(Ask::get(&format!("/api/memories/{id}")).key(&keys.admin)).await;
    gone.refused(404, "NOT_FOUND", "a memory that was forgotten");
}

async fn knowledge(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (keys, document) = (walk.app.ours.clone(), fixture.document.as_str());
    let boundary = "X-KYBERN-X";
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHours\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"hours.txt\"\r\nContent-Type: text/plain\r\n\r\n\
         We open at nine.\r\n--{boundary}--\r\n"
    );
    let ask = Ask::post("/api/knowledge").key(&keys.admin);
    let answer = walk.app.send(ask.body(&format!("multipart/form-data; boundary={boundary}"), form)).await;
    let made = walk.check(202, "POST", "/api/knowledge", &answer);
    assert_eq!(
        (&made["title"], &made["filename"], &made["published"]),
        (&json!("Hours"), &json!("hours.txt"), &json!(false))
    );
    let shown = walk.call(200, ("GET", "/api/knowledge/{id}"), &[document], &keys.viewer, None).await;
    assert_eq!((&shown["status"], &shown["pieces"], &shown["model"]), (&json!("ready"), &json!(1), &Value::Null));
    let page = walk.call(200, ("GET", "/api/knowledge"), &[], &keys.viewer, None).await;
    assert_eq!((page["items"].as_array().unwrap().len(), &page["items"][0]["id"]), (2, &made["id"]));
    let search = async |walk: &mut Walk<'_>| {
        let answer = walk.app.send(Ask::get("/api/knowledge/search?query=freight").key(&keys.viewer)).await;
        walk.check(200, "GET", "/api/knowledge/search", &answer)["items"].clone()
    };
    assert_eq!(search(walk).await, json!([]), "a draft is not found");
    let published = walk.call(200, ("POST", "/api/knowledge/{id}/publish"), &[document], &keys.admin, None).await;
    assert_eq!(published["published"], true);
    let found = search(walk).await;
    assert_eq!((&found[0]["title"], &found[0]["text"]), (&json!("Terms of carriage"), &json!("We carry freight.")));
    let hidden = walk.call(200, ("POST", "/api/knowledge/{id}/unpublish"), &[document], &keys.admin, None).await;
    assert_eq!(hidden["published"], false);
    let again = walk.call(200, ("POST", "/api/knowledge/{id}/reindex"), &[document], &keys.admin, None).await;
    assert_eq!((&again["status"], &again["version"]), (&json!("indexing"), &json!(2)));
    for (body, place) in [
        (json!({"filename": " ", "dataBase64": "aGVsbG8="}), "/filename"),
        (json!({"filename": "a.txt", "dataBase64": "%"}), "/dataBase64"),
        (json!({"filename": "a.txt", "dataBase64": ""}), "/dataBase64"),
        (json!({"filename": "a.txt", "dataBase64": "aGVsbG8=", "title": "x".repeat(201)}), "/title"),
    ] {
        let refused = walk.app.send(Ask::post("/api/knowledge").key(&keys.admin).json(&body)).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "no document"), [place], "{body}");
    }
    walk.call(204, ("DELETE", "/api/knowledge/{id}"), &[document], &keys.admin, None).await;
}

async fn approvals(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (admin, operator, reviewer) =
        (walk.app.ours.admin.clone(), walk.app.ours.operator.clone(), walk.app.ours.reviewer.clone());
    let answered = walk.call(200, ("GET", "/api/approvals/{id}"), &[&fixture.approval], &operator, None).await;
    assert_eq!((&answered["status"], &answered["taskId"]), (&json!("approved"), &json!(fixture.waiting)));
    // A tool that always asks, called by hand: first denied, then approved with other arguments.
    let always = Some(json!({"confirm": true, "risk": "R2", "limits": {"perMinute": 50}, "price": {"fixedNanos": 0}}));
    let tool = walk.call(200, ("PATCH", "/api/tools/{name}"), &["core.set"], &admin, always).await;
    assert_eq!(
        (&tool["confirm"], &tool["risk"], &tool["limits"]),
        (&json!(true), &json!("R2"), &json!({"perMinute": 50}))
    );
    for (decision, status) in [
        (json!({"decision": "deny", "note": "not now"}), "denied"),
        (json!({"decision": "approve", "input": {"greeting": "hi"}, "note": "shorter"}), "approved"),
    ] {
        let ask = Ask::post("/api/tools/core.set/invoke").key(&operator).json(&json!({"input": {"greeting": "hello"}}));
        let call = walk.app.send(ask).await.json();
        assert_eq!(call["status"], "waiting", "{call}");
        let id = call["approvalId"].as_str().unwrap().to_owned();
        walk.call(200, ("GET", "/api/approvals"), &[], &reviewer, None).await;
        let of_task = format!("/api/approvals?taskId={}", call["invocationId"].as_str().unwrap());
        let inbox = walk.app.send(Ask::get(&of_task).key(&reviewer)).await.json();
        assert_eq!((inbox["items"].as_array().unwrap().len(), &inbox["items"][0]["id"]), (1, &json!(id)));
        assert_eq!(inbox["items"][0]["input"], json!({"greeting": "hello"}));
        let path = format!("/api/approvals/{id}");
        walk.app.send(Ask::post(&path).key(&operator).json(&decision)).await.refused(
            403,
            "PERMISSION_DENIED",
            "a decision without the right",
        );
        // Other arguments are another call, which a reviewer may not make.
        let decides = if status == "denied" { &reviewer } else { &admin };
        if decides == &admin {
            let edited = walk.app.send(Ask::post(&path).key(&reviewer).json(&decision)).await;
            edited.refused(403, "PERMISSION_DENIED", "arguments of somebody who may not call the tool");
        }
        let decided = walk.call(200, ("POST", "/api/approvals/{id}"), &[&id], decides, Some(decision.clone())).await;
        assert_eq!((&decided["status"], &decided["note"]), (&json!(status), &decision["note"]));
        let again = walk.app.send(Ask::post(&path).key(&reviewer).json(&decision)).await;
        again.refused(409, "CONFLICT", "a second answer");
        let task = format!("/api/tasks/{}?waitMs=20000", call["invocationId"].as_str().unwrap());
        let task = walk.app.send(Ask::get(&task).key(&operator)).await.json();
        match status {
            "denied" => assert_eq!(task["error"]["code"], "PERMISSION_DENIED"),
            _approved => assert_eq!(task["state"]["greeting"], "hi"),
        }
    }
    let back = Some(json!({"confirm": false, "risk": null, "limits": null, "price": null}));
    let tool = walk.call(200, ("PATCH", "/api/tools/{name}"), &["core.set"], &admin, back).await;
    assert_eq!((&tool["confirm"], &tool["risk"], &tool["price"]), (&json!(false), &json!("R0"), &Value::Null));
    for (said, [enabled, confirm, four_eyes]) in [
        (json!({"enabled": false, "confirm": true, "fourEyes": true}), [false, true, true]),
        (json!({"enabled": null, "confirm": null, "fourEyes": null}), [true, false, false]),
    ] {
        let tool = walk.call(200, ("PATCH", "/api/tools/{name}"), &["core.set"], &admin, Some(said)).await;
        let now = [&tool["enabled"], &tool["confirm"], &tool["fourEyes"]];
        assert_eq!(now, [&json!(enabled), &json!(confirm), &json!(four_eyes)], "null takes back what was said");
    }
    let all = walk.app.send(Ask::get("/api/approvals?status=all").key(&reviewer)).await.json();
    assert!(all["items"].as_array().unwrap().len() >= 3, "what was decided stays");
    let odd = walk.app.send(Ask::get("/api/approvals?status=maybe").key(&reviewer)).await;
    assert_eq!(odd.refused(400, "VALIDATION_ERROR", "an unknown status"), ["/status"]);
}

async fn models_and_budgets(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (viewer, admin) = (walk.app.ours.viewer.clone(), walk.app.ours.admin.clone());
    let operator = walk.app.ours.operator.clone();
    let list = walk.call(200, ("GET", "/v1/models"), &[], &viewer, None).await;
    assert!(list["data"].as_array().unwrap().iter().any(|model| model["id"] == "scripted/echo"), "{list}");
    let model = walk.call(200, ("GET", "/v1/models/{id}"), &["scripted/echo"], &viewer, None).await;
    assert_eq!((&model["id"], &model["owned_by"]), (&json!("scripted/echo"), &json!("scripted")));
    let strategy = walk.app.send(Ask::get("/v1/models/balanced").key(&viewer)).await.json();
    assert_eq!(strategy["owned_by"], "kybern");
    let nobody = walk.app.send(Ask::get("/v1/models/nobody/x").key(&viewer)).await;
    assert_eq!(nobody.headers["x-should-retry"], "false");
    nobody.refused(404, "NOT_FOUND", "a model that nobody has");
    let policy = ("PUT", "/api/models/policy");
    let none = walk.call(200, policy, &[], &admin, Some(json!({"providers": []}))).await;
    assert_eq!((&none["providers"], &none["configured"]), (&json!([]), &json!(["scripted"])));
    assert_eq!(walk.call(200, ("GET", "/api/models/policy"), &[], &admin, None).await, none);
    let list = walk.call(200, ("GET", "/v1/models"), &[], &viewer, None).await;
    assert_eq!(list["data"], json!([]), "what the tenant does not allow is not offered");
    let hidden = walk.app.send(Ask::get("/v1/models/scripted/echo").key(&viewer)).await;
    hidden.refused(404, "NOT_FOUND", "a model that the tenant does not allow");
    walk.call(200, policy, &[], &admin, Some(json!({"providers": null}))).await;
    let ask = json!({"model": "balanced", "messages": [{"role": "user", "content": "hello"}]});
    let reply = walk.call(200, ("POST", "/v1/chat/completions"), &[], &operator, Some(ask)).await;
    assert_eq!(reply["choices"][0]["message"]["content"], "you said: hello");
    assert_eq!((&reply["usage"]["prompt_tokens"], &reply["model"]), (&json!(12), &json!("scripted/echo")));
    let tokens = Ask::post("/v1/embeddings").key(&operator).json(&json!({"model": "scripted/embed", "input": [1, 2]}));
    walk.app.send(tokens).await.refused(422, "UNPROCESSABLE", "tokens of a model whose tokenizer is not here");
    let ask = json!({"model": "scripted/embed", "input": ["a", "b"]});
    let vectors = walk.call(200, ("POST", "/v1/embeddings"), &[], &operator, Some(ask)).await;
    assert_eq!(vectors["data"][1]["index"], 1);
    let budget = &fixture.budget;
    let page = walk.call(200, ("GET", "/api/budgets"), &[], &viewer, None).await;
    assert_eq!(page["items"][0]["id"], budget.as_str());
    // The turns of chats were calls too; what they took is settled in the background.
    let shown = loop {
        let shown = walk.call(200, ("GET", "/api/budgets/{id}"), &[budget], &viewer, None).await;
        if shown["reserved"]["calls"] == 0 && shown["used"]["calls"].as_u64() >= Some(3) {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    let used = shown["used"]["calls"].clone();
    let changed = Some(json!({"calls": used, "cost_nanos": 5}));
    let changed = walk.call(200, ("PATCH", "/api/budgets/{id}"), &[budget], &admin, changed).await;
    assert_eq!((&changed["calls"], &changed["costNanos"], &changed["tokens"]), (&used, &json!(5), &Value::Null));
    let refused = Ask::post("/v1/chat/completions").key(&operator);
    let refused = refused.json(&json!({"messages": [{"role": "user", "content": "again"}]}));
    walk.app.send(refused).await.refused(402, "BUDGET_EXCEEDED", "a call over its budget");
    for (member, value) in
        [("models", json!(["other/dear"])), ("functions", json!([])), ("audio", json!({"voice": "x"}))]
    {
        let mut asks = json!({"model": "scripted/echo", "messages": [{"role": "user", "content": "x"}], "n": null,
            "logit_bias": {}, "presence_penalty": 0, "temperature": 0.5});
        asks[member] = value;
        let refused = walk.app.send(Ask::post("/v1/chat/completions").key(&operator).json(&asks)).await;
        let places = refused.refused(400, "VALIDATION_ERROR", "a member that could change what a call reaches");
        assert_eq!(places, [format!("/{member}")]);
    }
    for (member, value) in [
        ("top_logprobs", json!(3)),
        (
            "messages",
            json!([{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "closest"}}]}]),
        ),
    ] {
        let mut asks = json!({"model": "scripted/echo", "messages": [{"role": "user", "content": "x"}]});
        asks[member] = value;
        let refused = walk.app.send(Ask::post("/v1/chat/completions").key(&operator).json(&asks)).await;
        let places = refused.refused(400, "VALIDATION_ERROR", "a wish that cannot be");
        assert!(places[0].starts_with(&format!("/{member}")), "{places:?}");
    }
    let report = walk.call(200, ("GET", "/api/usage"), &[], &viewer, None).await;
    assert!(report["items"][0]["calls"].as_u64() >= Some(2) && report["by"] == "day", "{report}");
    let other = json!({"subject": {"type": "each_task"}, "period": "whole", "costNanos": 9});
    walk.call(201, ("POST", "/api/budgets"), &[], &admin, Some(other)).await;
    walk.call(204, ("DELETE", "/api/budgets/{id}"), &[budget], &admin, None).await;
}

async fn secrets(walk: &mut Walk<'_>, fixture: &Fixture) {
    let admin = walk.app.ours.admin.clone();
    let new = |value: &str| Some(json!({"name": "mail_key", "value": value, "hosts": ["api.example.com"]}));
    let made = walk.call(201, ("POST", "/api/secrets"), &[], &admin, new("example-value-1")).await;
    assert_eq!((&made["version"], &made["hosts"]), (&json!(1), &json!(["api.example.com"])));
    let again = walk.call(201, ("POST", "/api/secrets"), &[], &admin, new("example-value-2")).await;
    assert_eq!((&again["version"], &again["createdAt"]), (&json!(2), &made["createdAt"]));
    let page = walk.call(200, ("GET", "/api/secrets"), &[], &admin, None).await;
    let names: Vec<&str> = page["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, [fixture.secret.as_str(), "mail_key"]);
    let shown = walk.call(200, ("GET", "/api/secrets/{name}"), &["mail_key"], &admin, None).await;
    assert_eq!(shown, again);
    for answer in [&made, &again, &page, &shown] {
        assert!(answer.get("value").is_none() && !answer.to_string().contains("example-value"), "{answer}");
    }
    // One key stands for one value, although what is kept of the request does not hold it.
    for (value, status) in [("example-value-3", 201), ("example-value-3", 201), ("example-value-4", 409)] {
        let ask = Ask::post("/api/secrets").key(&admin).header("idempotency-key", "mail").json(&new(value).unwrap());
        let answer = walk.app.send(ask).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let shown = walk.call(200, ("GET", "/api/secrets/{name}"), &["mail_key"], &admin, None).await;
    assert_eq!(shown["version"], 3);
    walk.call(204, ("DELETE", "/api/secrets/{name}"), &["mail_key"], &admin, None).await;
    let gone = walk.app.send(Ask::get("/api/secrets/mail_key").key(&admin)).await;
    gone.refused(404, "NOT_FOUND", "a secret that was removed");
}

async fn outgoing(walk: &mut Walk<'_>, fixture: &Fixture) {
    let viewer = walk.app.ours.viewer.clone();
    let message = json!({"to": "a@example.com", "subject": "s", "body": "b"});
    let call = Ask::post("/api/tools/core.notify/invoke").key(&walk.app.ours.admin).json(&json!({"input": message}));
    assert_eq!(walk.app.send(call).await.json()["status"], "success");
    let page = walk.call(200, ("GET", "/api/outbox"), &[], &viewer, None).await;
    assert!(page["items"].as_array().unwrap().iter().any(|message| message["target"] == "a@example.com"), "{page}");
    let operator = walk.app.ours.operator.clone();
    // It has arrived.
    walk.call(409, ("POST", "/api/outbox/{id}/retry"), &[&fixture.mail], &operator, None).await;
}

async fn identities(walk: &mut Walk<'_>, fixture: &Fixture) {
    let admin = walk.app.ours.admin.clone();
    let user =
        json!({"name": "Bo Reed", "email": "bo@example.com", "roles": ["operator"], "timezone": "Europe/Berlin"});
    let user = walk.call(201, ("POST", "/api/users"), &[], &admin, Some(user)).await;
    assert_eq!(user["timezone"], "Europe/Berlin");
    let id = user["id"].as_str().unwrap().to_owned();
    walk.call(200, ("GET", "/api/users"), &[], &admin, None).await;
    walk.call(200, ("GET", "/api/users/{id}"), &[&id], &admin, None).await;
    let may = walk.call(200, ("GET", "/api/users/{id}/permissions"), &[&id], &admin, None).await;
    assert_eq!(may["roles"], json!(["operator"]));
    let roles = Some(json!({"roles": ["reviewer"]}));
    let may = walk.call(200, ("PUT", "/api/users/{id}/permissions"), &[&id], &admin, roles).await;
    assert_eq!(may["roles"], json!(["reviewer"]));
    assert_eq!((&may["source"], &may["level"], &may["callsPerMinute"]), (&json!("role"), &json!("read"), &json!(60)));
    let said =
        Some(json!({"preset": "permissive", "denied_tools": ["core.notify"], "allowedHosts": ["*.example.com"]}));
    let may = walk.call(200, ("PUT", "/api/users/{id}/permissions"), &[&id], &admin, said).await;
    assert_eq!((&may["source"], &may["level"], &may["autonomy"]), (&json!("own"), &json!("admin"), &json!("full")));
    assert_eq!((&may["deniedTools"], &may["callsPerMinute"]), (&json!(["core.notify"]), &Value::Null));
    let bad = Ask::new("PUT", &format!("/api/users/{id}/permissions")).key(&admin);
    let bad = walk.app.send(bad.json(&json!({"allowedPaths": ["data"], "allowedHosts": ["http://x"]}))).await;
    let places = bad.refused(400, "VALIDATION_ERROR", "places that are none");
    assert_eq!(places, ["/allowedPaths/0", "/allowedHosts/0"]);

    let new = json!({"name": "k", "user_id": id, "scopes": ["read"], "expires_at": "2099-01-01T00:00:00Z"});
    let key = walk.call(201, ("POST", "/api/keys"), &[], &admin, Some(new)).await;
    let secret = key["key"].as_str().unwrap().to_owned();
    assert_eq!(walk.app.send(Ask::get("/api/tasks").key(&secret)).await.status, 200);
    let page = walk.call(200, ("GET", "/api/keys"), &[], &admin, None).await;
    assert!(!page.to_string().contains(&secret), "a list shows no key");
    walk.call(204, ("DELETE", "/api/keys/{id}"), &[key["id"].as_str().unwrap()], &admin, None).await;
    let maker = walk.call(201, ("POST", "/api/keys"), &[], &admin, Some(json!({"name": "maker"}))).await;
    let new = Some(json!({"name": "made with it"}));
    walk.call(201, ("POST", "/api/keys"), &[], maker["key"].as_str().unwrap(), new).await;
    let fell = walk.call(200, ("DELETE", "/api/keys/{id}"), &[maker["id"].as_str().unwrap()], &admin, None).await;
    assert_eq!(fell["revokedWith"][0]["name"], "made with it");
    assert_eq!(walk.app.send(Ask::get("/api/tasks").key(&secret)).await.status, 401, "revoked at once");

    // A scheme may be written in capitals.
    let hook = Some(json!({"url": "HTTPS://example.com/done"}));
    let hook = walk.call(201, ("POST", "/api/webhooks/outbound"), &[], &admin, hook).await;
    assert!(hook["secret"].as_str().unwrap().starts_with("whsec_"));
    walk.call(200, ("GET", "/api/webhooks/outbound"), &[], &admin, None).await;
    walk.call(204, ("DELETE", "/api/webhooks/outbound/{id}"), &[&fixture.webhook], &admin, None).await;

    let tenant = Some(json!({"name": "Third Carrier"}));
    let tenant = walk.call(201, ("POST", "/api/admin/tenants"), &[], PLATFORM, tenant).await;
    let their_key = tenant["adminKey"].as_str().unwrap().to_owned();
    let tasks = walk.app.send(Ask::get("/api/tasks").key(&their_key)).await.json();
    assert_eq!(tasks["items"], json!([]));
    let page = walk.call(200, ("GET", "/api/admin/tenants"), &[], PLATFORM, None).await;
    assert_eq!(page["items"].as_array().unwrap().len(), 3);
}

async fn operation(walk: &mut Walk<'_>) {
    let admin = walk.app.ours.admin.clone();
    let page = walk.call(200, ("GET", "/api/audit"), &[], &admin, None).await;
    assert_eq!(page["items"][0]["seq"], 1);
    let report = walk.call(200, ("GET", "/api/audit/verify"), &[], &admin, None).await;
    assert_eq!(report["valid"], true, "{report}");
    let head = walk.call(200, ("GET", "/api/audit/head"), &[], &admin, None).await;
    let text = |name: &str| head[name].as_str().unwrap().to_owned();
    let held = async |seq: i64, hash: &str| {
        let path = format!("/api/audit/verify?seq={seq}&hash={hash}&at={}&signature={}", text("at"), text("signature"));
        walk.app.send(Ask::get(&path).key(&admin)).await.json()
    };
    let seq = head["seq"].as_i64().unwrap();
    assert_eq!(held(seq, &text("hash")).await["valid"], true);
    assert_eq!(held(seq - 1, &text("hash")).await["valid"], false, "nobody signed that");
    let page = walk.app.send(Ask::get("/api/audit?limit=100").key(&admin)).await.json();
    let mut events = page["items"].clone();
    let sound = walk.call(200, ("POST", "/api/audit/check"), &[], &admin, Some(json!({"events": events}))).await;
    assert_eq!((&sound["valid"], &sound["length"]), (&json!(true), &json!(events.as_array().unwrap().len())));
    events[1]["actor"] = json!("executor:somebody");
    let edited = walk.call(200, ("POST", "/api/audit/check"), &[], &admin, Some(json!({"events": events}))).await;
    assert!(edited["valid"] == false && edited["faults"][0]["seq"] == 2, "{edited}");
    let old = Some(json!({"olderThanDays": 7, "from": 1, "head": head}));
    let purged = walk.call(200, ("POST", "/api/audit/purge"), &[], &admin, old).await;
    assert_eq!(purged, json!({"dryRun": false, "count": 0}), "nothing here is that old");
    let half = walk.app.send(Ask::get("/api/audit/verify?seq=1").key(&admin)).await;
    half.refused(400, "VALIDATION_ERROR", "half a head");
    walk.call(200, ("GET", "/healthz"), &[], "", None).await;
    let ready = walk.call(200, ("GET", "/readyz"), &[], "", None).await;
    assert_eq!(ready["ready"], true);
    walk.call(200, ("GET", "/openapi.json"), &[], "", None).await;
    let answer = walk.app.send(Ask::get("/metrics")).await;
    walk.check(200, "GET", "/metrics", &answer);
    assert_eq!(answer.text().lines().find(|line| !line.starts_with('#')), Some("kybern_up 1"), "{}", answer.text());
    assert!(ready["checks"].as_array().unwrap().iter().all(|check| check.get("message").is_none()), "{ready}");
    let ready = walk.call(200, ("GET", "/readyz"), &[], &admin, None).await;
    assert!(ready["checks"].as_array().unwrap().iter().all(|check| check["message"].is_string()), "{ready}");
    let answer = walk.app.send(Ask::get("/metrics").key(&admin)).await;
    walk.check(200, "GET", "/metrics", &answer);
    let text = answer.text();
    for line in [
        "kybern_http_requests_total{method=\"GET\",route=\"/api/tasks/{id}\",status=\"200\"}",
        "kybern_http_request_duration_seconds_bucket{le=\"0.005\"",
        "kybern_tasks{status=\"completed\"}",
        "kybern_build_info{version=\"",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    let answer = walk.app.send(Ask::get("/")).await;
    walk.check(200, "GET", "/", &answer);
    assert!(answer.text().contains("database") && answer.text().contains("<strong class=\"ok\">ready</strong>"));
}

#[tokio::test]
async fn a_list_is_walked_page_by_page_without_gap_or_repeat() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let lists = [
        "/api/tasks".to_owned(),
        "/api/plans".to_owned(),
        "/api/tools".to_owned(),
        "/api/users".to_owned(),
        "/api/keys".to_owned(),
        "/api/audit".to_owned(),
        format!("/api/tasks/{}/log", fixture.ended),
    ];
    for list in lists {
        let whole = app.send(Ask::get(&format!("{list}?limit=200")).key(&app.ours.admin)).await.json();
        assert!(whole["nextCursor"].is_null(), "{list}");
        let (mut pieces, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.send(Ask::get(&format!("{list}?limit=2&cursor={cursor}")).key(&app.ours.admin)).await.json();
            pieces.extend(page["items"].as_array().unwrap().clone());
            assert!(pieces.len() <= 200, "{list} does not end");
            match page["nextCursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        let ids = |items: &[Value]| -> Vec<Value> {
            let id = |item: &Value| ["id", "seq", "key"].iter().find_map(|name| item.get(*name)).cloned().unwrap();
            items.iter().map(id).collect()
        };
        assert_eq!(ids(&pieces), ids(whole["items"].as_array().unwrap()), "{list}");
        assert!(pieces.len() > 2, "{list} is too short to tell");
    }
}

#[tokio::test]
async fn filters_of_tasks_filter() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let ids = async |query: &str| {
        let page = app.send(Ask::get(&format!("/api/tasks?{query}")).key(&app.ours.viewer)).await.json();
        page["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("status=needs_review").await, [fixture.waiting.as_str()]);
    assert_eq!(ids("status=failed&channel=api").await, [fixture.failed.as_str()]);
    assert!(ids("channel=email").await.is_empty());
    assert!(ids("intent=nothing.known").await.is_empty());
}

#[tokio::test]
async fn an_original_comes_back_as_a_download() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let path = format!("/api/tasks/{}/attachments/1", fixture.ended);
    let answer = app.send(Ask::get(&path).key(&app.ours.viewer)).await;
    assert_eq!(answer.text(), "hello");
    assert_eq!(answer.header("content-type"), "text/plain");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"note.txt\"; filename*=UTF-8''note.txt");
    assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
    let path = format!("/api/tasks/{}/attachments/9", fixture.ended);
    app.send(Ask::get(&path).key(&app.ours.viewer)).await.refused(404, "NOT_FOUND", "an attachment that is not there");
}

#[tokio::test]
async fn a_page_that_is_read_from_its_picture_shows_it() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let file = json!({"filename": "a.photo", "contentType": "image/png", "dataBase64": "RE9U"});
    let task = json!({"input": "x", "planKey": fixture.plan, "attachments": [file]});
    let task = app.submit(&app.ours.operator, task).await;
    let path = format!("/api/tasks/{}/attachments/1", task["id"].as_str().unwrap());
    let answer = app.send(Ask::get(&format!("{path}?page=2")).key(&app.ours.viewer)).await;
    assert_eq!((answer.text(), answer.header("content-type")), ("picture of page 2".into(), "image/png"));
    for wrong in ["page=0", "page=one", "page=501", "pages=1"] {
        let ask = Ask::get(&format!("{path}?{wrong}")).key(&app.ours.viewer);
        app.send(ask).await.refused(400, "VALIDATION_ERROR", wrong);
    }
    let text = format!("/api/tasks/{}/attachments/1?page=1", fixture.ended);
    app.send(Ask::get(&text).key(&app.ours.viewer)).await.refused(404, "NOT_FOUND", "a page of text has no picture");
}

#[tokio::test]
async fn steering_what_does_not_fit_is_a_conflict() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let keys = &app.ours;
    for verb in ["cancel", "pause", "resume", "retry"] {
        let path = format!("/api/tasks/{}/{verb}", fixture.ended);
        app.send(Ask::post(&path).key(&keys.operator)).await.refused(409, "CONFLICT", verb);
    }
    let path = format!("/api/tasks/{}/review", fixture.ended);
    let ask = Ask::post(&path).key(&keys.reviewer).json(&json!({"corrections": {"a": 1}}));
    app.send(ask).await.refused(409, "CONFLICT", "nothing waits");
    let path = format!("/api/tasks/{}/review", fixture.waiting);
    let ask = Ask::post(&path).key(&keys.reviewer).json(&json!({"corrections": {"answer": 5}}));
    let paths = app.send(ask).await.refused(400, "VALIDATION_ERROR", "an answer that does not fit the form");
    assert_eq!(paths, ["/corrections/answer"]);
}
