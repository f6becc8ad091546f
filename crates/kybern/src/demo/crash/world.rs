//! The world around the server that is killed: a language model that answers and counts, and a receiver that takes and
//! counts. Both live in the process that kills, so nothing of what they saw dies with the server.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_adapters::clock::SystemClock;
use kybern_core::ports::Clock as _;
use kybern_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::serve::spawn;

/// What every prompt and every order calls its order, so that a question can be told from another.
pub(super) const ORDER: &str = "ORDER-";

/// The longest request that is read.
const MAX_REQUEST: u64 = 1024 * 1024;

/// When the server is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KillMoment {
    /// A mail was acknowledged.
    Acknowledged,
    /// The model was asked and has not answered.
    Asked,
    /// The receiver has taken an order and has not answered.
    Ordered,
    /// The receiver has been told of a completed task and has not answered.
    Told,
}

/// A question that came to the model.
#[derive(Clone, Debug)]
pub(super) struct AskedQuestion {
    /// The order it is about.
    pub(super) order: String,
    /// Which of the server's processes asked.
    pub(super) life: usize,
    /// When it came.
    pub(super) at: Timestamp,
}

/// A request that came to the receiver.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    /// Whether it is an order; otherwise it tells of a completed task.
    pub(super) is_order: bool,
    /// The number of the order, or the id of the task.
    pub(super) about: String,
    /// Its `Idempotency-Key`.
    pub(super) key: String,
    /// Which of the server's processes sent it.
    pub(super) life: usize,
    /// Whether it was new to the receiver, which drops what comes again under a key.
    pub(super) took_effect: bool,
}

#[derive(Default)]
struct WorldLog {
    life: usize,
    questions: Vec<AskedQuestion>,
    deliveries: Vec<Delivery>,
    keys: HashSet<String>,
    /// The moment that is waited for, and how often it has to come.
    trap: Option<(KillMoment, usize)>,
}

/// The model and the receiver.
#[derive(Clone)]
pub(super) struct World {
    address: SocketAddr,
    seen: Arc<Mutex<WorldLog>>,
    sprung: mpsc::UnboundedSender<KillMoment>,
}

impl World {
    /// Listens on an address of this machine until `stop`; what comes out is each moment that was waited for.
    pub(super) async fn start(
        parts: &TaskTracker,
        stop: CancellationToken,
    ) -> anyhow::Result<(Self, mpsc::UnboundedReceiver<KillMoment>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (sprung, springs) = mpsc::unbounded_channel();
        let world = Self { address: listener.local_addr()?, seen: Arc::default(), sprung };
        let (serving, connections) = (world.clone(), parts.clone());
        spawn(parts, async move {
            while let Some(Ok((tcp, _))) = stop.run_until_cancelled(listener.accept()).await {
                let world = serving.clone();
                // A connection that breaks is one whose process was killed.
                spawn(&connections, async move { drop(exchange(tcp, &world).await) });
            }
        });
        Ok((world, springs))
    }

    /// `host:port`.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a moment to come so often; meanwhile a new process of the server is alive.
    pub(super) fn arm(&self, moment: Option<(KillMoment, usize)>) {
        let mut seen = self.lock();
        seen.life += 1;
        seen.trap = moment;
    }

    /// Says that a moment has come. Whether it is the one: then whoever asked gets no answer, because he is killed.
    pub(super) fn meets(&self, moment: KillMoment) -> bool {
        spring(&mut self.lock(), moment, &self.sprung)
    }

    /// Everything that came.
    pub(super) fn seen(&self) -> (Vec<AskedQuestion>, Vec<Delivery>) {
        let seen = self.lock();
        (seen.questions.clone(), seen.deliveries.clone())
    }

    fn lock(&self) -> MutexGuard<'_, WorldLog> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a question, and answers it unless this is when the server dies.
    fn asked(&self, body: &[u8]) -> Option<Value> {
        let mut seen = self.lock();
        let order = order_in(&String::from_utf8_lossy(body));
        let (life, at) = (seen.life, SystemClock.now());
        seen.questions.push(AskedQuestion { order: order.clone(), life, at });
        if spring(&mut seen, KillMoment::Asked, &self.sprung) {
            return None;
        }
        let is_urgent = order.ends_with(['1', '4', '7']);
        let content = json!({ "urgent": is_urgent }).to_string();
        Some(json!({
            "id": format!("answer-{}", seen.questions.len()), "object": "chat.completion", "created": 1, "model": "clerk",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }))
    }

    /// Notes a request, and answers it unless this is when the server dies.
    fn received(&self, is_order: bool, key: &str, body: &[u8]) -> Option<Value> {
        let mut seen = self.lock();
        let told: Value = serde_json::from_slice(body).unwrap_or_default();
        let about = if is_order { &told["order"] } else { &told["data"]["taskId"] };
        let about = about.as_str().unwrap_or_default().to_owned();
        let took_effect = seen.keys.insert(key.to_owned());
        let life = seen.life;
        seen.deliveries.push(Delivery { is_order, about, key: key.to_owned(), life, took_effect });
        let moment = if is_order { KillMoment::Ordered } else { KillMoment::Told };
        let dies = spring(&mut seen, moment, &self.sprung);
        (!dies).then(|| json!({ "accepted": true }))
    }
}

fn spring(seen: &mut WorldLog, moment: KillMoment, sprung: &mpsc::UnboundedSender<KillMoment>) -> bool {
    match &mut seen.trap {
        Some((waited_for, more)) if *waited_for == moment => *more = more.saturating_sub(1),
        _other => return false,
    }
    if seen.trap.is_some_and(|(_, more)| more > 0) {
        return false;
    }
    seen.trap = None;
    // When nobody waits any more, nobody is killed.
    sprung.send(moment).is_ok()
}

/// One request on a connection of its own, and its answer.
async fn exchange(mut tcp: TcpStream, world: &World) -> io::Result<()> {
    let (path, key, body) = request(&mut tcp).await?;
    let answer = match path.as_str() {
        "/orders" => world.received(true, &key, &body),
        "/told" => world.received(false, &key, &body),
        _model => world.asked(&body),
    };
    let Some(value) = answer else {
        // No answer: the connection ends with the process at its other end.
        return tcp.read(&mut [0]).await.map(|_| ());
    };
    let body = value.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n", body.len());
    tcp.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).await?;
    tcp.shutdown().await
}

/// A request's path, `Idempotency-Key` and body. Whoever asks is this program, so no more of HTTP is needed.
async fn request(tcp: &mut TcpStream) -> io::Result<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(tcp.take(MAX_REQUEST));
    let (mut path, mut key, mut length) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("idempotency-key") => value.clone_into(&mut key),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap_or(0),
            Some(_other) => {}
            None => line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path),
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).await?;
    Ok((path, key, body))
}

/// The order that a text is about.
fn order_in(text: &str) -> String {
    let Some((_, rest)) = text.split_once(ORDER) else { return String::new() };
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    format!("{ORDER}{number}")
}
