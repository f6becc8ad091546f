//! How many tasks of five durable steps a store takes. Submission claims at once; each step is a commit; the last one
//! ends the task.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{Clock, Store};
use kybern_core::task::{
    Channel, Commit, JournalEntry, JournalRow, NewKind, NewTask, StepOutcome, Submitted, TaskChange, TaskEnding,
    TaskStatus, WorkerId,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;

/// The wall's clock.
pub(crate) struct Wall;

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
    }
}

/// A task without a plan.
pub(crate) fn new_task() -> NewTask {
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
        rights: kybern_core::actor::Rights::OPERATOR,
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
        kind: NewKind::Plan,
        at: Wall.now(),
    }
}

/// A step's row.
pub(crate) fn row(seq: i64) -> JournalRow {
    JournalRow {
        seq,
        step: Some(kybern_core::plan::StepId::trusted("noop")),
        tool: Some("core.noop".to_owned()),
        attempt: 1,
        generation: 0,
        at: Wall.now(),
        duration: Millis(0),
        summary: String::new(),
        entry: JournalEntry::Finished(Arc::new(StepOutcome::completed(json!({"output": "0123456789".repeat(4)})))),
    }
}

/// The scope of the first tenant.
pub(crate) fn scope() -> TenantScope {
    kybern_testkit::actors::scope(TenantId::DEFAULT)
}

async fn one(store: &dyn Store, worker: &WorkerId) {
    let scope = scope();
    let claim = Some((worker, Millis(30_000)));
    let Submitted::New(claimed) = store.submit(scope, new_task(), claim).await.unwrap() else { return };
    for seq in 1..=5 {
        let change = if seq < 5 {
            TaskChange::Keep
        } else {
            let result = json!({"ok": true});
            TaskChange::End(Box::new(TaskEnding {
                status: TaskStatus::Completed,
                result,
                error: None,
                current_step: None,
            }))
        };
        let commit = Commit { rows: vec![row(seq)], change, at: Wall.now(), ..Commit::default() };
        store.commit(&claimed.lease, commit.into()).await.unwrap();
    }
}

/// What came of a run.
pub(crate) struct Rate {
    /// Tasks a second.
    pub(crate) per_second: f64,
    /// The median of a task.
    pub(crate) p50: Duration,
    /// The 99th percentile of a task.
    pub(crate) p99: Duration,
    /// Writes that shared a commit.
    pub(crate) shared: f64,
}

/// Runs tasks with so many clients at a time, for so long.
pub(crate) async fn measure(store: Arc<dyn Store>, commits: impl Fn() -> u64, clients: usize, span: Duration) -> Rate {
    let done = Arc::new(AtomicUsize::new(0));
    let (begun, before) = (Instant::now(), commits());
    let runs = (0..clients).map(|n| {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        tokio::spawn(async move {
            let worker = WorkerId::new(&format!("worker-{n}"));
            let mut times = Vec::new();
            while begun.elapsed() < span {
                let begun = Instant::now();
                one(&*store, &worker).await;
                times.push(begun.elapsed());
                done.fetch_add(1, Ordering::Relaxed);
            }
            times
        })
    });
    let mut times: Vec<_> = futures::future::join_all(runs).await.into_iter().flat_map(Result::unwrap).collect();
    let (seconds, written) = (begun.elapsed().as_secs_f64(), commits() - before);
    times.sort();
    Rate {
        per_second: times.len() as f64 / seconds,
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
        shared: (done.load(Ordering::Relaxed) * 6) as f64 / written as f64,
    }
}
