//! Approvals in turns, at a whole server: a yes holds for what was shown, once, and in its time.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::client::{Ask, text, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, Server, Site};

/// What the model says when it wants nothing more.
const DONE: &str = "That is all.";

/// A model that wants the same mails sent whoever asks: one call a reply. It was asked what is kept here.
struct Model {
    receiver: Receiver,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    fn wanting(mails: &'static [&'static str]) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let receiver = Receiver::answering(move |request, _| {
            let question = request.json();
            let said = question["messages"].as_array().unwrap();
            let done = said.iter().filter(|message| message["role"] == "tool").count();
            let (message, finish) = match mails.get(done) {
                Some(to) => {
                    let mail = json!({"to": to, "subject": "Offer", "body": "Here it is."}).to_string();
                    let function = json!({"name": "core__notify", "arguments": mail});
                    let calls = json!([{"id": format!("call_{done}"), "type": "function", "function": function}]);
                    (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
                }
                None => (json!({"role": "assistant", "content": DONE}), "stop"),
            };
            kept.lock().unwrap().push(question);
            let usage = json!({"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60});
            let choice = json!({"index": 0, "message": message, "finish_reason": finish});
            let reply = json!({"id": "r", "object": "chat.completion", "created": 1, "model": "small",
                "choices": [choice], "usage": usage});
            Some((200, reply))
        });
        Self { receiver, asked }
    }

    /// What the last question said of the call number `n` of its turn.
    fn told(&self, n: usize) -> String {
        let asked = self.asked.lock().unwrap();
        let said = asked.last().unwrap()["messages"].as_array().unwrap();
        text(&said.iter().filter(|message| message["role"] == "tool").nth(n).unwrap()["content"])
    }
}

/// A conversation whose one message came with a file: what is wanted after it is asked about.
struct Talk {
    model: Model,
    site: Site,
    server: Server,
    client: Client,
    ask: Ask,
}

impl Talk {
    async fn start(site: Site, mails: &'static [&'static str], time: u64) -> Self {
        let model = Model::wanting(mails);
        let site = site.asking(&model.receiver.address(), &format!("[limits]\napproval_ms = {time}\n"));
        let server = site.start();
        let client = server.client();
        client.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Send.", "tools": ["core.notify"]})).await;
        let chat = text(&client.post("/api/chats", &json!({"agent": "clerk"})).await["id"]);
        let file = json!({"filename": "memo.txt", "contentType": "text/plain", "dataBase64": STANDARD.encode("Send.")});
        let said = json!({"content": "Send the offer.", "attachments": [file]});
        let ask = Ask::json(&format!("/api/chats/{chat}/messages"), &said).header("idempotency-key", "once");
        Self { model, site, server, client, ask }
    }

    /// What waits for a yes now: its path. `seen` have been answered.
    async fn waiting(&self, seen: &[&str]) -> String {
        until("somebody is asked", || async {
            let turn = self.client.ok(&self.ask).await;
            let path = format!("/api/approvals/{}", turn["approvalId"].as_str()?);
            (!seen.contains(&path.as_str())).then_some(path)
        })
        .await
    }

    /// The turn once it has ended.
    async fn ended(&self) -> Value {
        let turn = until("the turn ends", || async {
            let turn = self.client.ok(&self.ask).await;
            (turn["status"] == "completed").then_some(turn)
        })
        .await;
        assert_eq!(turn["content"], DONE, "{turn}");
        turn
    }

    /// A decision that is not taken.
    async fn refused(&self, path: &str, decision: &Value) -> (u16, String) {
        let (status, answer) = self.client.send(&Ask::json(path, decision)).await;
        assert!(!status.is_success(), "{answer}");
        (status.as_u16(), text(&answer["error"]["code"]))
    }

    /// Who has got a mail.
    async fn mailed(&self) -> Vec<String> {
        let mails = self.client.list("/api/outbox").await;
        mails.iter().map(|mail| text(&mail["target"])).collect()
    }
}

fn yes() -> Value {
    json!({"decision": "approve"})
}

async fn a_yes_holds_once(site: Site) {
    let talk = Talk::start(site, &["a@example.com", "a@example.com", "b@example.com"], 600_000).await;
    let first = talk.waiting(&[]).await;
    let shown = talk.client.get(&first).await;
    assert_eq!(shown["input"], json!({"to": "a@example.com", "subject": "Offer", "body": "Here it is."}), "{shown}");
    talk.client.post(&first, &yes()).await;
    // The same call again is another call, and so is one with another receiver.
    let second = talk.waiting(&[&first]).await;
    assert_eq!(talk.client.get(&second).await["inputHash"], shown["inputHash"]);
    assert_eq!(talk.refused(&first, &yes()).await, (409, "CONFLICT".to_owned()));
    talk.client.post(&second, &json!({"decision": "deny", "note": "They have it already."})).await;
    let third = talk.waiting(&[&first, &second]).await;
    assert_eq!(talk.refused(&second, &yes()).await, (409, "CONFLICT".to_owned()));
    assert!(talk.model.told(1).contains("They have it already."), "{}", talk.model.told(1));
    talk.client.post(&third, &json!({"decision": "deny"})).await;
    let turn = talk.ended().await;
    let states: Vec<&Value> = turn["toolCalls"].as_array().unwrap().iter().map(|call| &call["status"]).collect();
    assert_eq!(states, ["success", "denied", "denied"]);
    assert_eq!(talk.refused(&third, &yes()).await, (409, "CONFLICT".to_owned()));
    assert_eq!(talk.mailed().await, ["a@example.com"]);
    // What was denied stays on record, with who did it.
    let denied = talk.client.list("/api/approvals?status=denied").await;
    assert_eq!(denied.len(), 2);
    assert!(denied.iter().all(|one| one["decidedBy"].is_string() && one["input"]["to"].is_string()), "{denied:?}");
    talk.client.audit_is_whole().await;
}

async fn other_arguments_are_checked(site: Site) {
    let talk = Talk::start(site, &["a@example.com"], 600_000).await;
    let path = talk.waiting(&[]).await;
    for bad in [json!({"to": "b@example.com"}), json!({"to": "b@example.com", "subject": "x", "body": "y", "z": 1})] {
        let refused = talk.refused(&path, &json!({"decision": "approve", "input": bad})).await;
        assert_eq!(refused, (400, "VALIDATION_ERROR".to_owned()));
    }
    let other = json!({"to": "b@example.com", "subject": "Offer 2", "body": "There it is."});
    let decided = talk.client.post(&path, &json!({"decision": "approve", "input": other})).await;
    assert_eq!((&decided["edited"], &decided["status"]), (&json!(true), &json!("approved")), "{decided}");
    talk.ended().await;
    assert_eq!(talk.mailed().await, ["b@example.com"]);
}

async fn a_yes_that_comes_too_late(site: Site) {
    let talk = Talk::start(site, &["a@example.com"], 500).await;
    let path = talk.waiting(&[]).await;
    let turn = talk.ended().await;
    assert_ne!(turn["toolCalls"][0]["status"], "success", "{turn}");
    assert_eq!(talk.client.get(&path).await["status"], "expired");
    assert_eq!(talk.refused(&path, &yes()).await, (409, "CONFLICT".to_owned()));
    assert!(talk.mailed().await.is_empty());
}

async fn a_question_outlives_the_server(site: Site) {
    let mut talk = Talk::start(site, &["a@example.com"], 600_000).await;
    let path = talk.waiting(&[]).await;
    talk.server.kill();
    talk.server = talk.site.start();
    talk.client = talk.server.client();
    let asked = talk.model.asked.lock().unwrap().len();
    assert_eq!(talk.client.get(&path).await["status"], "pending");
    talk.client.post(&path, &yes()).await;
    talk.ended().await;
    assert_eq!(talk.mailed().await, ["a@example.com"]);
    assert_eq!(talk.model.asked.lock().unwrap().len(), asked + 1, "what was decided is not asked again");
}

#[tokio::test]
async fn approvals_in_turns_hold_on_sqlite() {
    a_yes_holds_once(Site::sqlite()).await;
    other_arguments_are_checked(Site::sqlite()).await;
    a_yes_that_comes_too_late(Site::sqlite()).await;
    a_question_outlives_the_server(Site::sqlite()).await;
}

#[tokio::test]
async fn approvals_in_turns_hold_on_postgres() {
    let site = || Site::postgres().unwrap();
    if Site::postgres().is_none() {
        return;
    }
    a_yes_holds_once(site()).await;
    other_arguments_are_checked(site()).await;
    a_yes_that_comes_too_late(site()).await;
    a_question_outlives_the_server(site()).await;
}
