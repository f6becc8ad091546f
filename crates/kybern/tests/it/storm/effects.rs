//! Hundreds of tasks that write records and call an outside system, while the server is killed with -9.
//!
//! What happened outside is judged by the receiver's own log, which is on its disk before it answers. A request under
//! a key that came before is there only where the task's journal tells of another try or of a dead worker; a request
//! of which nobody can know whether it arrived is sent again only by a person.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::Storm;
use super::ledger::{Ledger, Line};
use super::told::Told;
use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// Tasks that run at once.
const BURST: u64 = 40;
/// Bursts that a run has at least: 240 tasks.
const BURSTS: u64 = 6;
/// Bursts after which a run that cannot hit the work is given up.
const MAX_BURSTS: u64 = 12;
const KILLS: usize = 3;
/// Kills while something was unfinished that a run must have seen.
const HITS: usize = 12;
/// What a person can say about a request that may have arrived; each is said at least once.
const ANSWERS: [&str; 3] = ["done", "retry", "fail"];

#[tokio::test]
async fn effects_happen_as_often_as_the_journal_says_on_sqlite() {
    kills_leave_honest_effects(Site::sqlite(), Duration::ZERO).await;
}

#[tokio::test]
async fn effects_happen_as_often_as_the_journal_says_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    kills_leave_honest_effects(site, Duration::from_millis(1200)).await;
}

/// A task, and what a person said about it.
struct Order {
    id: String,
    answer: Option<&'static str>,
}

async fn kills_leave_honest_effects(site: Site, lease: Duration) {
    let ledger = Ledger::open().await;
    // How many deaths in a row a task survives is not what is tried here.
    let site = site.with("KYBERN_WORKER__MAX_RECOVERIES", "1000");
    let mut storm = Storm::new(site, &ledger.authority(), lease);
    let client = storm.server.lock().unwrap().client();
    for (key, path) in [("storm.keyed", "/keyed"), ("storm.once", "/once")] {
        client.post("/api/plans", &plan(key, &ledger.url(path))).await;
    }
    let (mut orders, mut asked, mut burst) = (BTreeMap::new(), 0, 0);
    while burst < BURSTS || storm.hits < HITS || asked < ANSWERS.len() {
        assert!(burst < MAX_BURSTS, "{} kills hit unfinished work, {asked} requests became unclear", storm.hits);
        let numbers = burst * BURST..(burst + 1) * BURST;
        let work = join_all(numbers.clone().map(|n| order(&client, n)));
        for (n, task) in numbers.zip(storm.disturb(&client, KILLS, work).await) {
            let answer = answered(&client, n, &task.1, &mut asked).await;
            orders.insert(n, Order { id: task.0, answer });
        }
        burst += 1;
    }
    let repeats = judge(&client, &orders, &ledger.read()).await;
    client.audit_is_whole().await;
    println!("{} tasks, {} kills hit, {asked} asked, {repeats} repeats at the receiver", orders.len(), storm.hits);
}

/// A record, a request, and another record.
pub(super) fn plan(key: &str, url: &str) -> Value {
    let effect = if key == "storm.once" { "unkeyed" } else { "keyed" };
    let n = "{{ task.payload.n }}";
    let put = |id: &str| {
        let args = json!({"kind": format!("test.{id}"), "key": format!("{id}-{n}"), "props": {"n": n}});
        json!({"id": id, "tool": "core.put_record", "args": args})
    };
    let args = json!({"method": "POST", "url": url, "json": {"n": n}, "effect": effect});
    let retry = json!({"maxAttempts": 20, "initialDelayMs": 30, "maxDelayMs": 100});
    let send = json!({"id": "send", "tool": "core.http_request", "args": args, "retry": retry});
    json!({"key": key, "intentKey": key, "steps": [put("order"), send, put("receipt")]})
}

/// Whether the request of this task is one that nobody can repeat.
fn is_once(n: u64) -> bool {
    n % 4 == 3
}

/// Submits a task under a key of its own until somebody has taken it, and waits until it rests.
async fn order(client: &Client, n: u64) -> (String, Value) {
    let plan = if is_once(n) { "storm.once" } else { "storm.keyed" };
    let body =
        json!({"input": "go", "planKey": plan, "payload": {"n": n}, "idempotencyKey": format!("storm-order-{n}")});
    let id = text(&client.deliver(&Ask::json("/api/tasks", &body)).await["id"]);
    let task = client.rest(&id).await;
    (id, task)
}

/// Answers a task that asks, each time differently, and checks how it ends. Nobody is killed meanwhile.
async fn answered(client: &Client, n: u64, task: &Value, asked: &mut usize) -> Option<&'static str> {
    if task["status"] != "needs_review" {
        assert_eq!(task["status"], "completed", "{n}: {task}");
        return None;
    }
    assert!(is_once(n) && task["waits"][0]["kind"] == "ambiguous", "{n}: {}", task["waits"]);
    let answer = ANSWERS[*asked % ANSWERS.len()];
    *asked += 1;
    let ended = client.review(task, &json!({"resolution": answer})).await;
    let status = if answer == "fail" { "failed" } else { "completed" };
    assert_eq!(ended["status"], status, "{n}, {answer}: {ended}");
    Some(answer)
}

/// Compares tasks, records and the receiver's log; how many requests came under a key that had come before.
async fn judge(client: &Client, orders: &BTreeMap<u64, Order>, log: &BTreeMap<u64, Vec<Line>>) -> usize {
    assert_eq!(client.list("/api/tasks").await.len(), orders.len(), "each order is one task");
    let failed = orders.values().filter(|order| order.answer == Some("fail")).count();
    for (kind, count) in [("test.order", orders.len()), ("test.receipt", orders.len() - failed)] {
        let records = client.list(&format!("/api/records/{kind}")).await;
        let keys: BTreeSet<String> = records.iter().map(|record| text(&record["key"])).collect();
        assert_eq!((records.len(), keys.len()), (count, count), "{kind}");
        assert!(records.iter().all(|record| record["version"] == 1), "a {kind} was written twice");
    }
    let (mut keys, mut repeats) = (BTreeSet::new(), 0);
    for (n, order) in orders {
        let lines = log.get(n).map_or(&[][..], Vec::as_slice);
        let told = Told::of(client, &order.id).await;
        told.each_step_once(if order.answer == Some("fail") { &["order"] } else { &["order", "send", "receipt"] });
        if is_once(*n) {
            once(*n, order.answer, lines, &told);
        } else {
            keyed(*n, lines, &told);
            repeats += lines.len() - 1;
        }
        let mine: BTreeSet<&str> = lines.iter().map(|line| line.key.as_str()).collect();
        assert!(mine.iter().all(|key| !key.is_empty() && keys.insert((*key).to_owned())), "{n}: not its own: {mine:?}");
        client.replays(&order.id).await;
    }
    assert!(repeats > 0, "no request was ever repeated");
    repeats
}

/// One key, one effect, and no repeat that the journal does not explain.
pub(super) fn keyed(n: u64, lines: &[Line], told: &Told) {
    let keys: BTreeSet<&str> = lines.iter().map(|line| line.key.as_str()).collect();
    assert_eq!((keys.len(), lines.iter().filter(|line| line.took_effect).count()), (1, 1), "{n}: {lines:?}");
    assert!(lines.len() <= 1 + told.tries + told.deaths, "{n}: nothing tells why: {lines:?} {told:?}");
    assert!(lines.iter().all(|line| line.body == lines[0].body), "{n}: {lines:?}");
}

/// Sent again only where a person said so, and then under a key of its own.
fn once(n: u64, answer: Option<&str>, lines: &[Line], told: &Told) {
    let keys: BTreeSet<&str> = lines.iter().map(|line| line.key.as_str()).collect();
    assert_eq!(keys.len(), lines.len(), "{n}: sent again without a new key: {lines:?}");
    let possible = match answer {
        None => 1..=1,
        Some("retry") => 1..=2,
        Some(_) => 0..=1,
    };
    assert!(possible.contains(&lines.len()), "{n}, {answer:?}: {lines:?}");
    assert_eq!(told.possible_duplicate, answer == Some("retry"), "{n}: {told:?}");
}
