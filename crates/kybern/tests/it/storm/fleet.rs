//! Several processes on one PostgreSQL, some of which sleep past their leases, or die.

use std::time::Duration;

use futures::future::join_all;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::Random;
use super::effects::{keyed, plan};
use super::ledger::Ledger;
use super::told::Told;
use crate::server::client::{Ask, pause, text};
use crate::server::{Client, Server, Site};

/// Tasks in each round.
const TASKS: u64 = 24;
/// Rounds at least; in each a worker sleeps past its lease, in the first one it dies instead.
const ROUNDS: u64 = 3;
/// Rounds after which a run that cannot hit the work is given up.
const MAX_ROUNDS: u64 = 12;
/// Times that a task was taken over, for a run to count.
const TAKEN_OVER: usize = 3;
/// Longer than a lease.
const NAP: Duration = Duration::from_millis(1400);

#[tokio::test]
async fn two_workers_do_every_step_once() {
    workers_share(2).await;
}

#[tokio::test]
async fn eight_workers_do_every_step_once() {
    workers_share(8).await;
}

async fn workers_share(workers: usize) {
    let Some(site) = Site::postgres() else { return };
    let ledger = Ledger::open().await;
    let site = site
        .with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", ledger.authority()))
        .with("KYBERN_DATABASE__MAX_CONNECTIONS", "8");
    let mut servers: Vec<Server> = (0..workers).map(|_| site.start()).collect();
    let clients: Vec<Client> = servers.iter().map(Server::client).collect();
    clients[0].post("/api/plans", &plan("storm.keyed", &ledger.url("/keyed"))).await;
    let mut random = Random::from_environment();
    let (mut ids, mut round) = (Vec::new(), 0);
    while round < ROUNDS || taken_over(&site) < TAKEN_OVER {
        assert!(round < MAX_ROUNDS, "only {} tasks were taken over", taken_over(&site));
        // The first is never disturbed, so that there is somebody to ask.
        let victim = 1 + random.index(workers - 1);
        let moment = Duration::from_millis(random.below(40));
        let work = join_all((round * TASKS..(round + 1) * TASKS).map(|n| order(&clients, n)));
        let sleeping = async {
            // When the victim, which was handed its part of this round, is in the middle of it, however fast the
            // machine is.
            ledger.hears(|n| n >= round * TASKS && handed_to(n, workers) == victim).await;
            pause(moment).await;
            servers[victim].signal(Signal::SIGSTOP);
            pause(NAP).await;
            servers[victim].signal(if round == 0 { Signal::SIGKILL } else { Signal::SIGCONT });
        };
        let (done, ()) = tokio::join!(work, sleeping);
        ids.extend(done);
        if round == 0 {
            servers[victim].kill();
            servers[victim] = site.start();
            servers[victim].url().clone_into(&mut clients[victim].place().write().unwrap());
        }
        round += 1;
    }
    sql_agrees(&site, ids.len());
    println!("{} tasks, {} taken over", ids.len(), taken_over(&site));
    let log = ledger.read();
    for (n, id) in (0..).zip(&ids) {
        let told = Told::of(&clients[0], id).await;
        told.each_step_once(&["order", "send", "receipt"]);
        keyed(n, &log[&n], &told);
        clients[0].replays(id).await;
    }
    for kind in ["test.order", "test.receipt"] {
        let records = clients[0].list(&format!("/api/records/{kind}")).await;
        assert_eq!(records.len(), ids.len(), "{kind}");
        assert!(records.iter().all(|record| record["version"] == 1), "a {kind} was written twice");
    }
    clients[0].audit_is_whole().await;
}

/// Submits a task to one of the workers and waits, at the first one, until it has completed. A worker that dies with
/// the answer, or says that it cannot take it now, is as good as one that never answers: the key makes it one task.
async fn order(clients: &[Client], n: u64) -> String {
    let client = &clients[handed_to(n, clients.len())];
    let body =
        json!({"input": "go", "planKey": "storm.keyed", "payload": {"n": n}, "idempotencyKey": format!("n-{n}")});
    let ask = Ask::json("/api/tasks", &body);
    let task: Value = match client.raw(&ask).await {
        Ok(answer) if answer.status().is_success() => answer.json().await.unwrap(),
        _gone_or_busy => clients[0].deliver(&ask).await,
    };
    let id = text(&task["id"]);
    let task = clients[0].rest(&id).await;
    assert_eq!(task["status"], "completed", "{n}: {task}");
    id
}

/// The worker that an order is submitted to.
fn handed_to(n: u64, workers: usize) -> usize {
    usize::try_from(n).unwrap() % workers
}

/// The rows themselves: every step ended once, and never under an epoch that was over.
fn sql_agrees(site: &Site, tasks: usize) {
    let count = |statement: &str| site.rows(statement)[0][0].parse::<usize>().unwrap();
    let ended = "SELECT count(*) FROM task WHERE status = 'completed' AND lease_owner IS NULL";
    assert_eq!(count(ended), tasks);
    for (what, statement) in [
        (
            "a step ended twice",
            "SELECT count(*) FROM (SELECT 1 FROM step_row WHERE kind = 'finished' GROUP BY task_id, step_id \
             HAVING count(*) > 1) AS twice",
        ),
        (
            "a try began under an epoch that was over",
            "SELECT count(*) FROM attempt AS a JOIN attempt AS b USING (task_id, step_id) \
             WHERE a.generation = b.generation AND a.n < b.n AND a.epoch > b.epoch",
        ),
        (
            "a try has an epoch that nobody was given",
            "SELECT count(*) FROM attempt AS a JOIN task AS t ON t.id = a.task_id WHERE a.epoch > t.lease_epoch",
        ),
        (
            "a try began after its step had ended",
            "SELECT count(*) FROM attempt AS a JOIN step_row AS r USING (task_id, step_id) \
             WHERE r.kind = 'finished' AND a.at > r.at",
        ),
    ] {
        assert_eq!(count(statement), 0, "{what}");
    }
}

fn taken_over(site: &Site) -> usize {
    site.rows("SELECT count(*) FROM step_row WHERE kind = 'recovered'")[0][0].parse().unwrap()
}
