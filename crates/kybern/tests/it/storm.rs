//! The samples again, while the server is killed with -9 at random moments of the work and started again at once.
//!
//! Whoever delivers behaves as a mail server does: it sends the same message again until somebody has taken it.
//! `KYBERN_TEST_SEED` repeats the order, the bursts and the moments of a run.

mod effects;
mod fleet;
mod keyed;
mod ledger;
mod told;
mod zombie;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::samples::{self, Sample, Tasks, check};
use crate::server::client::{pause, text, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, KEY, Server, Site};

/// Kills while something is unfinished that a run must have seen.
const KILLS: usize = 20;
/// Rounds, each in a tenant of its own, after which a run that cannot hit the work is given up.
const MAX_ROUNDS: usize = 6;

#[tokio::test]
async fn nothing_is_lost_or_doubled_by_kills_on_sqlite() {
    let receiver = Receiver::start();
    Storm::new(Site::sqlite(), &receiver.address(), Duration::ZERO).run(&receiver).await;
}

#[tokio::test]
async fn nothing_is_lost_or_doubled_by_kills_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    let receiver = Receiver::start();
    Storm::new(site, &receiver.address(), Duration::from_millis(1200)).run(&receiver).await;
}

/// Numbers that a seed repeats (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn from_environment() -> Self {
        let given = std::env::var("KYBERN_TEST_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0));
        println!("KYBERN_TEST_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }
}

struct Storm {
    site: Arc<Site>,
    server: Mutex<Server>,
    random: Random,
    /// How long a worker's death goes unnoticed.
    lease: Duration,
    /// In what time after the start of a burst it is killed; follows how long the work takes here.
    window: Duration,
    /// Kills while something was unfinished.
    hits: usize,
    misses: usize,
}

impl Storm {
    /// A server that may send to `receiver`, and whose dead workers are noticed after `lease`.
    fn new(site: Site, receiver: &str, lease: Duration) -> Self {
        let site = Arc::new(site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{receiver}\"]")));
        let server = Mutex::new(site.start());
        let random = Random::from_environment();
        Self { site, server, random, lease, window: Duration::from_millis(250), hits: 0, misses: 0 }
    }

    async fn run(mut self, receiver: &Receiver) {
        let admin = self.server.lock().unwrap().client();
        let mut client = admin.with_key(KEY);
        let mut rounds = 0;
        while rounds == 0 || self.hits < KILLS {
            assert!(rounds < MAX_ROUNDS, "{} kills hit unfinished work in {rounds} rounds", self.hits);
            if rounds > 0 {
                let tenant = admin.post("/api/admin/tenants", &json!({"name": format!("Round {rounds}")})).await;
                client = admin.with_key(tenant["adminKey"].as_str().unwrap());
            }
            self.round(&client, receiver).await;
            rounds += 1;
        }
        println!("{} kills hit unfinished work, {} came too late, {rounds} rounds", self.hits, self.misses);
    }

    /// Every sample once, in an empty tenant.
    async fn round(&mut self, client: &Client, receiver: &Receiver) {
        samples::hire(client).await;
        let webhook = json!({"url": receiver.url("/done"), "events": ["task.completed"]});
        client.post("/api/webhooks/outbound", &webhook).await;
        let samples = samples::all();
        let mut waiting = samples.clone();
        self.random.shuffle(&mut waiting);
        let mut tasks = Tasks::new();
        while !waiting.is_empty() {
            let burst: Vec<Sample> = waiting.drain(..waiting.len().min(1 + self.random.index(2))).collect();
            tasks.extend(self.burst(client, &burst).await);
        }
        check::all(client, &samples, &tasks).await;
        sent(client).await;
        announced_once(client, &tasks, receiver).await;
    }

    /// Delivers a few samples, kills the server once or twice meanwhile, and waits until all of them rest.
    async fn burst(&mut self, client: &Client, burst: &[Sample]) -> Tasks {
        let work = join_all(burst.iter().map(|sample| async {
            let id = text(&client.deliver(&sample.ask).await["taskId"]);
            (sample.file.clone(), client.rest(&id).await)
        }));
        let kills = 1 + self.random.index(2);
        let done = self.disturb(client, kills, work).await;
        done.into_iter().map(|(file, task)| (file, text(&task["id"]))).collect()
    }

    /// Kills the server that often while tasks are brought to rest, and counts what was hit.
    async fn disturb(
        &mut self,
        client: &Client,
        kills: usize,
        work: impl Future<Output = Vec<(String, Value)>>,
    ) -> Vec<(String, Value)> {
        let moments: Vec<Duration> = (0..kills)
            .map(|again| {
                // After a kill, nothing goes on before the dead worker's lease is over.
                let span = self.window + if again > 0 { self.lease } else { Duration::ZERO };
                Duration::from_millis(2 + self.random.below(u64::try_from(span.as_millis()).unwrap()))
            })
            .collect();
        let settled = Cell::new(false);
        let work = async {
            let done = work.await;
            settled.set(true);
            done
        };
        let killing = async {
            let mut kills = Vec::new();
            for moment in moments {
                pause(moment).await;
                if settled.get() {
                    break;
                }
                kills.push(self.kill(client).await);
            }
            kills
        };
        let (done, kills) = tokio::join!(work, killing);
        self.count(&done, &kills);
        done
    }

    /// Kills the server, starts it again, and says when it was dead.
    async fn kill(&self, client: &Client) -> String {
        self.server.lock().unwrap().kill();
        let dead = now();
        let site = Arc::clone(&self.site);
        let server = tokio::task::spawn_blocking(move || site.start()).await.unwrap();
        server.url().clone_into(&mut client.place().write().unwrap());
        *self.server.lock().unwrap() = server;
        dead
    }

    /// A kill counts when a task of the burst came to rest later.
    fn count(&mut self, done: &[(String, Value)], kills: &[String]) {
        let last = done.iter().map(|(_, task)| rested_at(task)).max().unwrap();
        let hits = kills.iter().filter(|dead| last > **dead).count();
        self.hits += hits;
        self.misses += kills.len() - hits;
        let hit = hits > 0;
        self.window = if hit { self.window.mul_f64(1.1).min(Duration::from_secs(2)) } else { self.window.mul_f64(0.7) };
        self.window = self.window.max(Duration::from_millis(20));
    }
}

/// When a task ended, or began to wait.
fn rested_at(task: &Value) -> String {
    let since = task["waits"].as_array().into_iter().flatten().map(|wait| text(&wait["since"]));
    since.chain([text(&task["completedAt"])]).max().unwrap()
}

/// The time as the server writes it.
#[expect(clippy::disallowed_methods, reason = "compared with what the server's own clock said")]
pub(crate) fn now() -> String {
    kybern_core::time::Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()).to_string()
}

/// Waits until nothing in the outbox is on its way.
async fn sent(client: &Client) {
    until("the outbox is empty", || async {
        let outbox = client.list("/api/outbox").await;
        let waits = |message: &Value| message["status"] == "pending" || message["status"] == "sending";
        (!outbox.iter().any(waits)).then_some(())
    })
    .await;
}

/// Each completed task is announced by one message, which arrives, however often, as the same each time.
async fn announced_once(client: &Client, tasks: &Tasks, receiver: &Receiver) {
    let outbox = client.list("/api/outbox").await;
    let mut seen: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for request in receiver.seen() {
        seen.entry(request.header("idempotency-key").to_owned()).or_default().push(request.body);
    }
    for (file, id) in tasks {
        let task = client.get(&format!("/api/tasks/{id}")).await;
        let announced: Vec<&Value> =
            outbox.iter().filter(|one| one["channel"] == "completion" && one["taskId"] == id.as_str()).collect();
        let expected = usize::from(task["status"] == "completed");
        assert_eq!(announced.len(), expected, "{file}: {announced:?}");
        for message in announced {
            let bodies = seen.get(message["key"].as_str().unwrap()).map_or(&[][..], Vec::as_slice);
            assert!(!bodies.is_empty() || message["status"] != "sent", "{file}: {message} did not arrive");
            assert!(bodies.iter().all(|body| body == &bodies[0]), "{file}: {bodies:?}");
        }
    }
}
