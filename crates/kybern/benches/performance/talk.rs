//! Conversations: stored turns before a model that answers at once, beside the floor before the same one, in one run.
//! Everything is on: keys, memories, preferences, prompts, a budget, the audit, the ledger and the journal.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kybern_adapters::clock::{SystemClock, UuidV7Ids};
use kybern_adapters::keys::MasterKey;
use kybern_core::audit::AuditEvent;
use kybern_core::chat::{Chat, Message, Speaker};
use kybern_core::id::{ChatId, MessageId, TenantId};
use kybern_core::money::Usage;
use kybern_core::ports::{ChatStore as _, Clock as _, IdSource as _, Keys};
use kybern_store::{SqliteOptions, SqliteStore};
use serde_json::{Value, json};

use crate::Bench;
use crate::kit::{self, Load, Process, Server, Site, Target, until};
use crate::table::{at_least, at_most, line};

/// Clients at a time.
const CLIENTS: usize = 32;
/// Conversations that they go on with in turn, so that each is as long as most are.
const CHATS: usize = 640;
/// How often ours and the floor are measured in turn; the medians count.
const ROUNDS: usize = 3;
/// The last word of every answer: one that was cut is an error.
const LAST_WORD: &str = "w31";
/// Messages of the long conversation.
const HISTORY: usize = 100_000;
/// Streams that are open and hear nothing.
const IDLE: usize = 5_000;
/// What is paid for a million tokens, in nano-dollars, so that the budget is one of money.
const PRICE: i64 = 150_000_000;
/// The database.
const FILE: &str = "chat.db";

/// The model, the floor and the server.
struct Place<'a> {
    bench: &'a Bench,
    _model: (Process, String),
    floor: (Process, String),
    server: Server,
}

/// What was measured of the floor and of ours.
struct Two {
    floor: Load,
    ours: Load,
}

impl<'a> Place<'a> {
    fn new(bench: &'a Bench) -> Self {
        let model = kit::model();
        let floor = kit::floor(&bench.folder, Some(&format!("{}/v1", model.1)));
        let tool = "tool-5?tool=core__noop&args={}";
        let late = "plain?first_us=600000000";
        let models = ["plain", tool, late]
            .map(|name| format!("{{ name = \"{name}\", input_price = {PRICE}, output_price = {PRICE} }}"))
            .join(", ");
        let settings =
            format!("[providers.mock]\nkind = \"custom\"\nbase_url = \"{}/v1\"\nmodels = [{models}]\n", model.1);
        std::fs::write(bench.folder.join("kybern.toml"), settings).unwrap();
        let server = Site::new(&bench.folder, &format!("sqlite:{FILE}")).start();
        let mut client = server.client();
        let budget = json!({"subject": {"type": "tenant"}, "period": "day", "costNanos": 1_000_000_000_000_000_i64});
        client.post("/api/budgets", &budget);
        for (name, model, tools) in
            [("plain", "plain", json!([])), ("five", tool, json!(["core.noop"])), ("late", late, json!([]))]
        {
            let prompt = "You help at Acme Freight.";
            let time = 900_000;
            let agent = json!({"name": name, "systemPrompt": prompt, "provider": "mock", "model": model, "tools": tools, "timeoutMs": time});
            client.post("/api/agents", &agent);
        }
        Self { bench, _model: model, floor, server }
    }

    /// A file with new conversations with that agent.
    fn chats(&self, agent: &str) -> String {
        let mut client = self.server.client();
        let ids: Vec<String> = (0..CHATS)
            .map(|_| client.post("/api/chats", &json!({"agent": agent}))["id"].as_str().unwrap().to_owned())
            .collect();
        let path = self.bench.folder.join(format!("{agent}.ids"));
        std::fs::write(&path, ids.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn ours(&self, each: &str, clients: usize) -> Load {
        let url = format!("{}/api/chats/{{each}}/messages", self.server.url);
        let body = json!({"content": "hello"}).to_string();
        let target = Target {
            url: &url,
            each,
            key: Some(&self.server.key),
            body: &body,
            expect: LAST_WORD,
            streams: false,
            pid: self.server.process.id(),
        };
        kit::drive(&target, clients, self.bench.seconds)
    }

    fn floors(&self, path: &str, clients: usize) -> Load {
        let url = format!("{}{path}", self.floor.1);
        let pid = self.floor.0.id();
        let target = Target { url: &url, each: "", key: None, body: "{}", expect: LAST_WORD, streams: false, pid };
        kit::drive(&target, clients, self.bench.seconds)
    }

    fn both(&self, path: &str, each: &str, clients: usize) -> Two {
        let rounds: Vec<[Load; 2]> =
            (0..ROUNDS).map(|_| [self.floors(path, clients), self.ours(each, clients)]).collect();
        let [floor, ours] = [0, 1].map(|which| kit::median(&rounds, which));
        Two { floor, ours }
    }
}

/// Everything about conversations.
pub(crate) fn measure(bench: &Bench) {
    let place = Place::new(bench);
    let commit = kit::floor_of_one_client(&bench.folder, 1, bench.seconds);
    line("a commit of one row, one client: p50", &format!("{commit:.3} ms"), "", None);
    let peaks = [turns(&place, commit), loops(&place)];
    at_most("chat: resident memory, the highest of all these", peaks.into_iter().fold(0.0, f64::max), "MB", 60.0);
    let place = history(place);
    idle(&place);
}

fn turns(place: &Place<'_>, commit: f64) -> f64 {
    let each = place.chats("plain");
    let one = place.both("/chat", &each, 1);
    let added = one.ours.p50 - one.floor.p50;
    let goal = 2.0_f64.mul_add(commit, 0.3);
    let goal_text = format!("at most {goal:.3} ms: 0.3 ms and two commits of {commit:.3} ms");
    let measured = format!("{added:.3} ms: {:.3} and {:.3} ms", one.ours.p50, one.floor.p50);
    line("stored turns, 1 client: p50 added to the floor's", &measured, &goal_text, Some(added <= goal));
    let many = place.both("/chat", &each, CLIENTS);
    shares(&format!("stored turns, {CLIENTS} clients"), &many, 15.0);
    one.ours.peak_mb.max(many.ours.peak_mb)
}

fn shares(what: &str, two: &Two, goal: f64) {
    let Two { floor, ours } = two;
    let measured = format!(
        "{:.0} of {:.0} a second; p50 {:.2} of {:.2} ms, p99 {:.2} of {:.2} ms; CPU {:.3} of {:.3} ms; {:.2} KB written",
        ours.per_second,
        floor.per_second,
        ours.p50,
        floor.p50,
        ours.p99,
        floor.p99,
        ours.cpu_ms,
        floor.cpu_ms,
        ours.written / 1_024.0
    );
    line(&format!("{what}: ours of the floor's"), &measured, "", None);
    at_least(&format!("{what}: share of the floor's rate"), ours.per_second / floor.per_second * 100.0, "%", goal);
}

fn loops(place: &Place<'_>) -> f64 {
    let each = place.chats("five");
    let plain = place.floors("/loop", 1);
    let one = place.both("/loop-durable", &each, 1);
    let commit = (one.floor.p50 - plain.p50) / 11.0;
    let goal = 14.0_f64.mul_add(commit, plain.p50 + 1.0);
    let goal_text =
        format!("at most {goal:.2} ms: the floor's {:.2} ms, 14 commits of {commit:.3} ms, and 1 ms", plain.p50);
    let met = Some(one.ours.p50 <= goal);
    line("turns of five calls, 1 client: p50", &format!("{:.2} ms", one.ours.p50), &goal_text, met);
    let many = place.both("/loop-durable", &each, CLIENTS);
    shares(&format!("turns of five calls, {CLIENTS} clients"), &many, 50.0);
    one.ours.peak_mb.max(many.ours.peak_mb)
}

/// A conversation with a long past, beside a new one.
fn history(mut place: Place<'_>) -> Place<'_> {
    place.server.process.terminate();
    let id = remembered(&place.bench.folder);
    let key = place.server.key.clone();
    place.server = Site::new(&place.bench.folder, &format!("sqlite:{FILE}")).under(&key).start();
    let path = place.bench.folder.join("long.ids");
    std::fs::write(&path, id).unwrap();
    let (long, short) = (path.to_str().unwrap().to_owned(), place.bench.folder.join("short.ids"));
    let new = place.server.client().post("/api/chats", &json!({"agent": "plain"}))["id"].as_str().unwrap().to_owned();
    std::fs::write(&short, new).unwrap();
    let short = short.to_str().unwrap().to_owned();
    // A new conversation is given as many messages as a window takes, so that both are shown as much.
    place.ours(&short, 1);
    let rounds: Vec<[Load; 2]> = (0..ROUNDS).map(|_| [place.ours(&short, 1), place.ours(&long, 1)]).collect();
    let [short, long] = [0, 1].map(|which| kit::median(&rounds, which));
    let slower = (long.p50 / short.p50 - 1.0) * 100.0;
    let what = format!("a past of {HISTORY} messages: p50 {:.3} instead of {:.3} ms, slower by", long.p50, short.p50);
    at_most(&what, slower, "%", 10.0);
    place
}

/// Writes a conversation with a long past into the database.
fn remembered(folder: &Path) -> String {
    let keys: Arc<dyn Keys> = Arc::new(MasterKey::load_or_create(&folder.join(format!("{FILE}.key"))).unwrap());
    let (ids, now) = (UuidV7Ids, SystemClock.now());
    let chat = Chat {
        id: ChatId::from_uuid(ids.next()),
        user_id: None,
        agent: Some("plain".to_owned()),
        title: "a long one".to_owned(),
        forked_from: None,
        created_at: now,
        updated_at: now,
    };
    let said = |n: usize| Message {
        id: MessageId::from_uuid(ids.next()),
        chat_id: chat.id,
        role: if n.is_multiple_of(2) { Speaker::User } else { Speaker::Assistant },
        content: "hello w0 w1 w2 w3 w4 w5 w6 w7".to_owned(),
        task_id: None,
        tool_calls: Value::Null,
        finish_reason: None,
        usage: Usage::default(),
        transcript: Vec::new(),
        tainted: false,
        redacted_at: None,
        created_at: now,
    };
    let messages: Vec<Message> = (0..HISTORY).map(said).collect();
    let write = async {
        let path = folder.join(FILE);
        let store = SqliteStore::open(path, SqliteOptions::default(), keys, Arc::new(SystemClock)).await.unwrap();
        let audit = AuditEvent::by_executor("chat.import", format!("chat:{}", chat.id), json!({}));
        store.put_chat(kybern_testkit::actors::scope(TenantId::DEFAULT), &chat, &messages, audit).await.unwrap();
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(write);
    chat.id.to_string()
}

/// Readers of a turn that says nothing for a long time.
fn idle(place: &Place<'_>) {
    let mut client = place.server.client();
    let before = place.server.process.memory();
    let chat = client.post("/api/chats", &json!({"agent": "late"}))["id"].as_str().unwrap().to_owned();
    let authority = place.server.url.strip_prefix("http://").unwrap();
    let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", place.server.key);
    let begin = "{\"content\":\"hello\"}";
    let mut first = TcpStream::connect(authority).unwrap();
    let said = format!(
        "POST /api/chats/{chat}/messages HTTP/1.1\r\n{head}Accept: text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{begin}",
        begin.len()
    );
    first.write_all(said.as_bytes()).unwrap();
    heard(&mut first);
    let asks = format!("GET /api/chats/{chat}/stream HTTP/1.1\r\n{head}\r\n");
    let streams: Vec<TcpStream> = (1..IDLE)
        .map(|_| {
            let mut stream = TcpStream::connect(authority).unwrap();
            stream.write_all(asks.as_bytes()).unwrap();
            heard(&mut stream);
            stream
        })
        .collect();
    // Memory that is only needed while a stream is opened is given back meanwhile.
    let mut seen = f64::MAX;
    let mut looks = 0;
    until("the memory rests", Duration::from_millis(500), || {
        seen = place.server.process.memory();
        looks += 1;
        looks == 20
    });
    let what = format!("{} streams that hear nothing, over {before:.1} MB before: resident memory", streams.len() + 1);
    at_most(&what, seen, "MB", 200.0);
}

/// Waits for the first event.
fn heard(stream: &mut TcpStream) {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4_096]);
    while !String::from_utf8_lossy(&bytes).contains("message.start") {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "the stream has ended: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(piece.get(..n).unwrap());
    }
}
