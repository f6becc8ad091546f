//! How many tasks of five durable steps a store takes: `cargo run --release -p kybern-store --example commit_rate --
//! [sqlite:PATH | postgres://…] [CLIENTS] [TASKS] [WRITERS]`. Submission claims at once; each step is a commit; the last one
//! ends the task. Prints tasks per second, the median task, and how many units shared a commit.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a measurement stops at the first fault")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{Clock, Store};
use kybern_core::task::{
    Channel, Commit, Ending, JournalEntry, JournalRow, NewTask, StepOutcome, Submitted, TaskChange, TaskStatus,
    WorkerId,
};
use kybern_core::time::{Millis, Timestamp};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::TestKeys;
use serde_json::json;

struct Wall;

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
    }
}

fn new_task() -> NewTask {
    NewTask {
        id: TaskId::from_uuid(uuid::Uuid::now_v7()),
        channel: Channel::Api,
        source: "api".to_owned(),
        dedupe_key: None,
        body_hash: None,
        input: "hello".to_owned(),
        payload: json!({}),
        created_by: "user:1".to_owned(),
        user: None,
        plan: None,
        intent: None,
        attachments: vec![],
        max_steps: 50,
        confidence_threshold: 0.8,
        budget: None,
        trace_id: "0".repeat(32),
        parent: None,
        depth: 0,
        forked_from: None,
        at: Wall.now(),
    }
}

fn row(seq: i64) -> JournalRow {
    JournalRow {
        seq,
        step: Some(kybern_core::plan::StepId::trusted("noop")),
        tool: Some("core.noop".to_owned()),
        attempt: 1,
        generation: 0,
        at: Wall.now(),
        duration: Millis(0),
        summary: String::new(),
        entry: JournalEntry::Finished(Box::new(StepOutcome::completed(json!({"output": "0123456789".repeat(4)})))),
    }
}

async fn one(store: &dyn Store, worker: &WorkerId) {
    let scope = kybern_core::task::Lease::granted(TenantId::DEFAULT, new_task().id, 0, worker.clone()).scope();
    let claim = Some((worker, Millis(30_000)));
    let Submitted::New(claimed) = store.submit(scope, new_task(), claim).await.unwrap() else { return };
    for seq in 1..=5 {
        let change = if seq < 5 {
            TaskChange::Keep
        } else {
            let result = json!({"ok": true});
            TaskChange::End(Box::new(Ending { status: TaskStatus::Completed, result, error: None, current_step: None }))
        };
        let commit = Commit { rows: vec![row(seq)], change, at: Wall.now(), ..Commit::default() };
        store.commit(&claimed.lease, commit).await.unwrap();
    }
}

async fn measure(store: Arc<dyn Store>, commits: impl Fn() -> u64, clients: usize, tasks: usize) {
    let done = Arc::new(AtomicUsize::new(0));
    let (begun, before) = (Instant::now(), commits());
    let runs = (0..clients).map(|n| {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        tokio::spawn(async move {
            let worker = WorkerId::new(&format!("worker-{n}"));
            let mut times = Vec::new();
            while done.fetch_add(1, Ordering::Relaxed) < tasks {
                let begun = Instant::now();
                one(&*store, &worker).await;
                times.push(begun.elapsed());
            }
            times
        })
    });
    let mut times: Vec<_> = futures::future::join_all(runs).await.into_iter().flat_map(Result::unwrap).collect();
    let (seconds, shared) = (begun.elapsed().as_secs_f64(), commits() - before);
    times.sort();
    println!(
        "{clients} clients: {:.0} tasks/s, p50 {:?}, p99 {:?}, {:.1} units a commit",
        times.len() as f64 / seconds,
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        (times.len() * 6) as f64 / shared as f64,
    );
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let target = args.first().map_or("sqlite:/tmp/commit_rate.db", String::as_str);
    let clients = args.get(1).map_or(32, |n| n.parse().unwrap());
    let tasks = args.get(2).map_or(20_000, |n| n.parse().unwrap());
    let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(Wall));
    if let Some(path) = target.strip_prefix("sqlite:") {
        let store = Arc::new(SqliteStore::open(path, SqliteOptions::default(), keys, clock).await.unwrap());
        let counted = Arc::clone(&store);
        measure(store, move || counted.commits(), clients, tasks).await;
    } else {
        let mut options = PostgresOptions::default();
        options.writers = args.get(3).map_or(options.writers, |n| n.parse().unwrap());
        let store = Arc::new(PostgresStore::connect(target, options, keys, clock).await.unwrap());
        let counted = Arc::clone(&store);
        measure(store, move || counted.commits(), clients, tasks).await;
    }
}
