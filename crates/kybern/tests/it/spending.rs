//! Money at a whole server that is killed, and that shuts down: a provider over HTTP, callers over HTTP, and a budget in
//! between.
//!
//! The store's own tests do the same two hundred times, without a server around it.

mod in_vain;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::server::client::{Ask, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, Site};
use crate::storm::Random;

/// Kills of a run.
const ROUNDS: u64 = 5;
/// Calls at once.
const CALLS: usize = 100;
/// Calls that the budget has room for, in each round anew.
const ROOM: u64 = 10;
/// What a call takes at the fake provider: fifty tokens read and ten written, at a price of one and of two.
const COST: u64 = 70;

/// A place whose one provider is at that address.
fn asking(site: Site, address: &str) -> Site {
    let settings = format!(
        "[egress]\nallow = [\"{address}\"]\n\
         [providers.fake]\nkind = \"openai\"\nformat = \"openai_chat\"\nbase_url = \"http://{address}/v1\"\napi_key = \"none\"\n\
         models = [{{ name = \"small\", input_price = 1000000, output_price = 2000000 }}]\n"
    );
    site.file("kybern.toml", settings);
    site
}

fn question(stream: bool) -> Ask {
    let messages = json!([{"role": "user", "content": "How many boxes?"}]);
    let body = json!({"model": "fake/small", "messages": messages, "max_tokens": 20, "stream": stream});
    Ask::json("/v1/chat/completions", &body)
}

fn answer() -> Value {
    let message = json!({"role": "assistant", "content": "Four."});
    json!({
        "id": "r", "object": "chat.completion", "created": 1, "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
    })
}

async fn budget(client: &Client) -> String {
    let body = json!({"subject": {"type": "tenant"}, "period": "month", "calls": 0});
    client.post("/api/budgets", &body).await["id"].as_str().unwrap().to_owned()
}

async fn extend(client: &Client, id: &str, calls: u64) {
    let ask =
        Ask { method: reqwest::Method::PATCH, ..Ask::json(&format!("/api/budgets/{id}"), &json!({"calls": calls})) };
    client.ok(&ask).await;
}

fn number(amount: &Value, unit: &str) -> u64 {
    amount[unit].as_u64().unwrap()
}

/// What the budget says: used and reserved calls.
async fn stands(client: &Client, id: &str) -> (u64, u64) {
    let shown = client.get(&format!("/api/budgets/{id}")).await;
    let (used, reserved) = (number(&shown["used"], "calls"), number(&shown["reserved"], "calls"));
    assert!(used + reserved <= number(&shown, "calls"), "{shown}");
    (used, reserved)
}

async fn no_kill_lets_calls_pass_a_budget(site: Site, leases_end_at_once: bool) {
    let receiver = Receiver::answering(|_, _| Some((200, answer())));
    let site = asking(site, &receiver.address());
    let mut random = Random::from_environment();
    let mut server = site.start();
    let id = budget(&server.client()).await;
    for round in 1..=ROUNDS {
        let client = server.client();
        extend(&client, &id, round * ROOM).await;
        // What the last round has left is there too.
        let (used, reserved) = stands(&client, &id).await;
        let room = usize::try_from(round * ROOM - used - reserved).unwrap();
        // It dies once the provider has seen so many questions of this round; the answers to some of them are lost.
        let before = receiver.seen().len();
        let moment = before + random.index(usize::try_from(ROOM).unwrap() - 1) + 1;
        let asked = question(false);
        let asking = join_all((0..CALLS).map(|_| client.raw(&asked)));
        let killing = async {
            until("the provider is asked", || std::future::ready((receiver.seen().len() >= moment).then_some(())))
                .await;
            server.kill();
        };
        let (answers, ()) = tokio::join!(asking, killing);
        let answered = answers.iter().flatten().filter(|answer| answer.status().is_success()).count();
        assert!(answered <= room, "{answered} answers in round {round}, with room for {room}");
        server = site.start();
        let client = server.client();
        if leases_end_at_once {
            until("what was lost is settled", || async { (stands(&client, &id).await.1 == 0).then_some(()) }).await;
        }
        let (used, reserved) = stands(&client, &id).await;
        let seen = u64::try_from(receiver.seen().len()).unwrap();
        assert!(seen <= round * ROOM, "the provider was asked {seen} times in {round} rounds");
        assert!(used + reserved >= seen, "{seen} questions, of which {used} and {reserved} are known");
    }
    let client = server.client();
    let shown = client.get(&format!("/api/budgets/{id}")).await;
    let known = number(&shown["used"], "costNanos") + number(&shown["reserved"], "costNanos");
    let paid = u64::try_from(receiver.seen().len()).unwrap() * COST;
    assert!(known >= paid, "{known} of {paid} nano-dollars are known");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn a_hundred_calls_never_pass_a_budget_for_ten_whatever_is_killed_on_sqlite() {
    no_kill_lets_calls_pass_a_budget(Site::sqlite(), true).await;
}

/// What the dead have reserved stays reserved here until the time of their calls is up.
#[tokio::test]
async fn a_hundred_calls_never_pass_a_budget_for_ten_whatever_is_killed_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    no_kill_lets_calls_pass_a_budget(site, false).await;
}

/// A provider that begins one streamed reply and then says nothing more.
fn silent_after_the_first_piece() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (gone, closed) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 16_384];
        assert!(stream.read(&mut asked).unwrap() > 0);
        let piece = json!({"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "small",
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Four"}, "finish_reason": null}]});
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(format!("{head}data: {piece}\n\n").as_bytes()).unwrap();
        // Until whoever asked hangs up.
        while stream.read(&mut asked).is_ok_and(|read| read > 0) {}
        gone.send(()).unwrap();
    });
    (address, closed)
}

#[tokio::test]
async fn a_stream_that_outlasts_the_grace_ends_with_an_error_and_is_settled() {
    let (address, closed) = silent_after_the_first_piece();
    let site = asking(Site::sqlite(), &address).with("KYBERN_SERVER__SHUTDOWN_GRACE_MS", "2000");
    let mut server = site.start();
    let client = server.client();
    let id = budget(&client).await;
    extend(&client, &id, 5).await;
    let mut reply = client.raw(&question(true)).await.unwrap();
    let mut said = String::new();
    while !said.contains("Four") {
        said.push_str(&String::from_utf8_lossy(&reply.chunk().await.unwrap().unwrap()));
    }
    assert_eq!(stands(&client, &id).await, (0, 1));
    server.terminate();
    while let Some(more) = reply.chunk().await.unwrap() {
        said.push_str(&String::from_utf8_lossy(&more));
    }
    assert!(said.contains("\"UNAVAILABLE\"") && !said.contains("[DONE]"), "{said}");
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.said());
    assert!(closed.recv_timeout(crate::server::PATIENCE).is_ok(), "the provider is not left hanging");
    let server = site.start();
    let client = server.client();
    assert_eq!(stands(&client, &id).await, (1, 0), "it was settled before the end");
    let usage = client.get("/api/usage?by=model").await;
    assert_eq!(usage["items"][0]["failedCalls"], 1, "{usage}");
}

#[tokio::test]
async fn a_providers_own_words_reach_the_caller_and_not_the_log() {
    let words = "what was asked was: violet elephant";
    let receiver = Receiver::answering(move |_, _| Some((401, json!({"error": {"message": words}}))));
    let site = asking(Site::sqlite(), &receiver.address());
    let server = site.start();
    let client = server.client();
    let (status, answer) = client.send(&question(false)).await;
    assert_eq!((status.as_u16(), &answer["error"]["code"]), (502, &json!("MODEL_ERROR")));
    assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    until("the failure is logged", || std::future::ready(server.said().contains("MODEL_ERROR").then_some(()))).await;
    assert!(!server.said().contains("elephant"), "{}", server.said());
    let usage = client.get("/api/usage?by=model").await;
    until("it is counted", || async {
        let usage = client.get("/api/usage?by=model").await;
        (usage["items"][0]["failedCalls"] == 1).then_some(())
    })
    .await;
    assert!(
        !usage.to_string().contains("elephant") && !client.get("/api/audit").await.to_string().contains("elephant")
    );
}
