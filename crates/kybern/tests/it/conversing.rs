//! Conversations at a whole server that is killed with -9 at random moments: a model over HTTP, tools that leave something
//! behind, and the same request again until somebody has taken it. `KYBERN_TEST_SEED` repeats the moments of a run.

mod formats;
mod rights;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::server::client::{Ask, pause, text, until};
use crate::server::receiver::{Receiver, Seen};
use crate::server::{Client, Site};
use crate::storm::Random;

/// Turns of a run.
const TURNS: usize = 200;
/// Turns at once.
const ABREAST: usize = 10;
/// Calls of a turn, one after the other.
const CALLS: usize = 5;
/// Questions of a turn to the model, when nothing is lost.
const QUESTIONS: usize = CALLS + 1;
/// How long after a question the server dies, at most: it may be asking, writing down, or calling a tool by then.
const LATER: u64 = 40;

/// What the model and the receiver of the calls have seen.
#[derive(Default)]
struct Sights {
    /// Questions so far.
    questions: usize,
    /// How far each turn has come: the calls that the last question about it knew of.
    come: BTreeMap<String, usize>,
    /// Questions about what had been decided.
    again: Vec<String>,
    /// Under which idempotency keys each turn's request came.
    requests: BTreeMap<String, BTreeSet<String>>,
}

/// A model that does everything it is asked for in five calls, and the receiver of the last of them.
struct World {
    receiver: Receiver,
    seen: Arc<Mutex<Sights>>,
}

impl World {
    fn start() -> Self {
        let seen = Arc::new(Mutex::new(Sights::default()));
        let kept = Arc::clone(&seen);
        let receiver = Receiver::answering(move |request, _| {
            let answer = match request.path.strip_prefix("/orders/") {
                Some(turn) => taken(&mut kept.lock().unwrap(), turn, request),
                None => replied(&mut kept.lock().unwrap(), request),
            };
            Some((200, answer))
        });
        Self { receiver, seen }
    }

    fn seen(&self) -> MutexGuard<'_, Sights> {
        self.seen.lock().unwrap()
    }

    /// A place whose one provider is this model.
    fn site(&self, site: Site) -> Site {
        site.asking(&self.receiver.address(), "")
    }
}

/// Notes a request of a tool.
fn taken(seen: &mut Sights, turn: &str, request: &Seen) -> Value {
    seen.requests.entry(turn.to_owned()).or_default().insert(request.header("idempotency-key").to_owned());
    json!({"taken": true})
}

/// The model's reply: the next call, by how many results there are. Each reply is another one, so that a decision that
/// is made twice leaves two things behind.
fn replied(seen: &mut Sights, request: &Seen) -> Value {
    seen.questions += 1;
    let (n, asked) = (seen.questions, request.json());
    let said = asked["messages"].as_array().unwrap();
    let user = said.iter().rposition(|message| message["role"] == "user").unwrap();
    let words = said[user].to_string();
    let turn: String = words.split("order-").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
    let done = said[user..].iter().filter(|message| message["role"] == "tool").count();
    let come = seen.come.entry(turn.clone()).or_default();
    if *come > done {
        seen.again.push(format!("turn {turn} was at {come} and is asked for {done}"));
    }
    *come = done.max(*come);
    let (message, finish) = if done < CALLS {
        let (name, arguments) = match done {
            0 | 2 => {
                ("core__put_record", json!({"kind": "order.made", "key": format!("{turn}-{done}-{n}"), "props": {}}))
            }
            1 | 3 => (
                "core__notify",
                json!({"to": "orders@example.com", "subject": format!("{turn} {done}"), "body": format!("{n}")}),
            ),
            _ => {
                let host = request.header("host");
                let url = format!("http://{host}/orders/{turn}");
                ("core__http_request", json!({"method": "POST", "url": url, "effect": "keyed", "json": {"n": n}}))
            }
        };
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let calls = json!([{"id": format!("call_{n}"), "type": "function", "function": function}]);
        (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
    } else {
        (json!({"role": "assistant", "content": format!("order-{turn} is done")}), "stop")
    };
    let usage = json!({"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60});
    if asked["stream"] == true {
        return in_pieces(message, finish, &usage);
    }
    json!({
        "id": "r", "object": "chat.completion", "created": 1, "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    })
}

/// The reply as a stream: a piece for each character of its words.
fn in_pieces(mut message: Value, finish: &str, usage: &Value) -> Value {
    let chunk = |choices: Value, usage: &Value| {
        let chunk = json!({"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "small",
            "choices": choices, "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let piece = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), &Value::Null);
    let mut events = String::new();
    for letter in message["content"].as_str().unwrap_or_default().chars() {
        events.push_str(&piece(json!({"content": letter})));
    }
    if let Some(call) = message.get_mut("tool_calls").and_then(|calls| calls.get_mut(0)) {
        call["index"] = json!(0);
        events.push_str(&piece(json!({"tool_calls": [call]})));
    }
    events.push_str(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), &Value::Null));
    events.push_str(&chunk(json!([]), usage));
    events.push_str("data: [DONE]\n\n");
    Value::String(events)
}

/// Says one thing in a chat of its own, again and again until the turn has ended.
async fn take_turn(client: &Client, number: usize) -> Value {
    let begun = Ask::json("/api/chats", &json!({"agent": "clerk"})).header("idempotency-key", &format!("c{number}"));
    let chat = text(&client.deliver(&begun).await["id"]);
    let said = json!({"content": format!("Take order-{number} in.")});
    let ask = Ask::json(&format!("/api/chats/{chat}/messages"), &said).header("idempotency-key", "once");
    until(&format!("turn {number} ends"), || async {
        let turn = client.deliver(&ask).await;
        matches!(turn["status"].as_str(), Some("completed" | "failed" | "cancelled" | "needs_review")).then_some(turn)
    })
    .await
}

async fn turns_survive(site: Site) {
    let world = World::start();
    let site = Arc::new(world.site(site));
    let mut random = Random::from_environment();
    let mut server = site.start();
    let client = server.client();
    let tools = ["core.http_request", "core.notify", "core.put_record"];
    client.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Take orders in.", "tools": tools})).await;
    let mut tasks = Vec::new();
    for round in 0..TURNS / ABREAST {
        let before = world.seen().questions;
        let moment = before + 1 + random.index(ABREAST * QUESTIONS - 1);
        let later = Duration::from_millis(random.below(LATER));
        let turns = join_all((0..ABREAST).map(|turn| take_turn(&client, round * ABREAST + turn)));
        let killing = async {
            until("the model is asked", || std::future::ready((world.seen().questions >= moment).then_some(()))).await;
            pause(later).await;
            server.kill();
            let site = Arc::clone(&site);
            server = tokio::task::spawn_blocking(move || site.start()).await.unwrap();
            server.url().clone_into(&mut client.place().write().unwrap());
        };
        let (ended, ()) = tokio::join!(turns, killing);
        for turn in ended {
            assert_eq!((&turn["status"], &turn["finishReason"]), (&json!("completed"), &json!("complete")), "{turn}");
            assert!(turn["content"].as_str().unwrap().ends_with(" is done"), "{turn}");
            let calls = turn["toolCalls"].as_array().unwrap();
            assert!(calls.len() == CALLS && calls.iter().all(|call| call["status"] == "success"), "{turn}");
            tasks.push(text(&turn["taskId"]));
        }
    }
    {
        let seen = world.seen();
        println!("{} questions, {} of them lost", seen.questions, seen.questions - TURNS * QUESTIONS);
        assert!(seen.again.is_empty(), "asked for what was decided: {:?}", seen.again);
        assert!(seen.questions > TURNS * QUESTIONS, "no kill has hit a question");
        assert!(seen.questions <= TURNS * QUESTIONS + TURNS, "a kill costs each turn one question at most");
        assert_eq!(seen.requests.len(), TURNS);
        let twice: Vec<_> = seen.requests.iter().filter(|(_, keys)| keys.len() != 1).collect();
        assert!(twice.is_empty(), "requests under several keys: {twice:?}");
    }
    assert_eq!(client.list("/api/records/order.made").await.len(), 2 * TURNS, "each record once");
    for task in tasks.iter().step_by(10) {
        client.replays(task).await;
    }
    client.audit_is_whole().await;
}

#[tokio::test]
async fn turns_end_once_whatever_is_killed_on_sqlite() {
    turns_survive(Site::sqlite()).await;
}

#[tokio::test]
async fn turns_end_once_whatever_is_killed_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    turns_survive(site).await;
}

/// Readers of one turn, each of whom is cut off once.
const READERS: usize = 40;
/// Turns that are read along.
const READ: usize = 28;
/// Bytes after which a reader is cut off, at most: a little less than a turn's events have.
const CUT: u64 = 1_900;

/// Events as they came: id and data.
type Events = Vec<(String, String)>;

/// Reads until a cut, or to the end. What is not whole is not counted.
async fn read(client: &Client, path: &str, events: &mut Events, cut: Option<usize>) {
    let mut ask = Ask::get(path);
    if let (Some((last, _)), Some((_, first))) = (events.last(), events.first()) {
        let start: Value = serde_json::from_str(first).unwrap();
        ask = Ask::get(&format!("{path}?message={}", text(&start["data"]["messageId"]))).header("last-event-id", last);
    }
    let mut reply =
        until("there is a turn", || async { client.raw(&ask).await.ok().filter(|r| r.status() == 200) }).await;
    let mut bytes = Vec::new();
    while cut.is_none_or(|cut| bytes.len() < cut)
        && let Some(more) = reply.chunk().await.unwrap()
    {
        bytes.extend_from_slice(&more);
    }
    bytes.truncate(cut.unwrap_or(bytes.len()));
    let said = String::from_utf8_lossy(&bytes);
    let whole = said.rfind("\n\n").map_or("", |end| &said[..end]);
    for block in whole.split("\n\n").filter(|block| block.contains("id: ")) {
        let line =
            |name: &str| text(&json!(block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default()));
        events.push((line("id: "), line("data: ")));
    }
}

async fn cut_streams_go_on(site: Site) {
    let world = World::start();
    let site = world.site(site);
    let mut random = Random::from_environment();
    let server = site.start();
    let client = server.client();
    let resumed = AtomicUsize::new(0);
    let tools = ["core.http_request", "core.notify", "core.put_record"];
    client.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Take orders in.", "tools": tools})).await;
    for number in 0..READ {
        let chat = text(&client.post("/api/chats", &json!({"agent": "clerk"})).await["id"]);
        let path = format!("/api/chats/{chat}/stream");
        let said = json!({"content": format!("Take order-{number} in.")});
        let ask = Ask::json(&format!("/api/chats/{chat}/messages"), &said).header("accept", "text/event-stream");
        let aloud = async { client.raw(&ask).await.unwrap().text().await.unwrap() };
        let cuts: Vec<usize> = (0..READERS).map(|_| random.index(usize::try_from(CUT).unwrap())).collect();
        let (client, path, resumed) = (&client, path.as_str(), &resumed);
        let readers = join_all(cuts.into_iter().map(|cut| async move {
            let mut events = Events::new();
            read(client, path, &mut events, Some(cut)).await;
            if !events.last().is_some_and(|(_, data)| data.contains("\"done\"")) {
                resumed.fetch_add(usize::from(!events.is_empty()), Ordering::Relaxed);
                read(client, path, &mut events, None).await;
            }
            events
        }));
        let (aloud, readers) = tokio::join!(aloud, readers);
        let mut whole = Events::new();
        read(client, path, &mut whole, None).await;
        assert!(whole.len() > 2 * CALLS && whole.last().unwrap().1.contains("\"done\""), "{whole:?}");
        for (id, data) in &whole {
            assert!(aloud.contains(&format!("id: {id}\n")) && aloud.contains(data), "{data} is not in {aloud}");
        }
        for events in &readers {
            assert_eq!(events, &whole, "turn {number}");
        }
    }
    let resumed = resumed.into_inner();
    println!("{resumed} of {} readers were cut off in the middle", READ * READERS);
    assert!(resumed > READ * READERS / 2, "hardly anybody was cut off");
    assert_eq!(world.seen().questions, READ * QUESTIONS, "nobody asks for the sake of a reader");
}

#[tokio::test]
async fn a_thousand_cut_streams_go_on_where_they_were_on_sqlite() {
    cut_streams_go_on(Site::sqlite()).await;
}

#[tokio::test]
async fn a_thousand_cut_streams_go_on_where_they_were_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    cut_streams_go_on(site).await;
}

/// The log of a turn's task has its messages between the entries, and goes on behind each.
#[tokio::test]
async fn the_log_of_a_turn_tells_its_messages() {
    let world = World::start();
    let site = world.site(Site::sqlite());
    let server = site.start();
    let client = server.client();
    let tools = ["core.http_request", "core.notify", "core.put_record"];
    client.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Take orders in.", "tools": tools})).await;
    let turn = take_turn(&client, 1).await;
    let path = format!("/api/tasks/{}/events", text(&turn["taskId"]));
    let names = |told: &str| -> Vec<(String, String)> {
        let line = |block: &str, name: &str| text(&json!(block.lines().find_map(|line| line.strip_prefix(name))));
        let blocks = told.split("\n\n").filter(|block| block.contains("id: "));
        blocks.map(|block| (line(block, "id: "), line(block, "event: "))).collect()
    };
    let whole = names(&client.raw(&Ask::get(&path)).await.unwrap().text().await.unwrap());
    let mut expected = vec!["message.start"];
    for _ in 0..CALLS {
        expected.extend(["tool.start", "tool.complete"]);
    }
    expected.extend(["message.delta", "message.complete"]);
    let mut told: Vec<&str> = whole.iter().map(|(_, name)| name.as_str()).filter(|name| name.contains('.')).collect();
    // An answer may come in pieces: a word that may yet become a host is held back until it is whole.
    told.dedup();
    assert_eq!(told, expected, "{whole:?}");
    assert_eq!(whole.first().unwrap().1, "task_created");
    assert_eq!(whole.last().unwrap().1, "done");
    for (n, (id, _)) in whole.iter().enumerate().take(whole.len() - 1) {
        let rest = client.raw(&Ask::get(&path).header("last-event-id", id)).await.unwrap().text().await.unwrap();
        assert_eq!(names(&rest), whole[n + 1..], "behind {id}");
    }
}

#[tokio::test]
async fn a_turn_that_failed_is_no_completion() {
    let receiver = Receiver::answering(|_, _| Some((401, json!({"error": {"message": "no such key"}}))));
    let world = World { receiver, seen: Arc::default() };
    let site = world.site(Site::sqlite());
    let server = site.start();
    let client = server.client();
    client.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Take orders in."})).await;
    for stream in [false, true] {
        let messages = json!([{"role": "user", "content": "Take order-1 in."}]);
        let body = json!({"model": "agent:clerk", "messages": messages, "stream": stream});
        let said = client.raw(&Ask::json("/v1/chat/completions", &body)).await.unwrap().text().await.unwrap();
        assert!(said.contains("\"MODEL_ERROR\"") && said.contains("no such key"), "{said}");
        assert!(!said.contains("\"stop\"") && !said.contains("[DONE]"), "{said}");
    }
}
