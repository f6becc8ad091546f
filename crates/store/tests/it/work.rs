//! Small pieces of work for tests.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{IdSource as _, Store};
use kybern_core::task::{
    Channel, Claimed, Commit, JournalEntry, JournalRow, Lease, NewKind, NewTask, StepOutcome, Submitted, TaskChange,
    TaskEnding, TaskStatus, WorkerId,
};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::{SeededIds, SimClock, actors};
use serde_json::json;

/// When tests happen.
pub const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Ids that no other seed has, of the month of [`NOW`].
pub fn ids(seed: u64) -> SeededIds {
    SeededIds::new(seed, std::sync::Arc::new(SimClock::at(NOW)))
}

/// The scope of the default tenant.
pub fn home() -> TenantScope {
    actors::scope(TenantId::DEFAULT)
}

pub fn task(id: TaskId) -> NewTask {
    NewTask {
        id,
        channel: Channel::Api,
        source: "api".to_owned(),
        dedupe_key: None,
        body_hash: None,
        input: "hello".to_owned(),
        payload: json!({"n": 1}),
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
        at: NOW,
    }
}

pub fn row(seq: i64) -> JournalRow {
    JournalRow {
        seq,
        step: Some(kybern_core::plan::StepId::trusted("noop")),
        tool: Some("core.noop".to_owned()),
        attempt: 1,
        generation: 0,
        at: NOW,
        duration: Millis(1),
        summary: "did nothing".to_owned(),
        entry: JournalEntry::Finished(Arc::new(StepOutcome::completed(json!({"seq": seq})))),
    }
}

/// A commit of rows only.
pub fn rows(seqs: &[i64]) -> Commit {
    Commit { rows: seqs.iter().map(|seq| row(*seq)).collect(), at: NOW, ..Commit::default() }
}

/// A commit that ends its task.
pub fn ended() -> Commit {
    let ending = TaskEnding { status: TaskStatus::Completed, result: json!({}), error: None, current_step: None };
    Commit { change: TaskChange::End(Box::new(ending)), at: NOW, ..Commit::default() }
}

/// Submits a task under a lease.
pub async fn leased(store: &dyn Store, scope: TenantScope, new: NewTask) -> Claimed {
    match store.submit(scope, new, Some((&WorkerId::new("w"), Millis::from_secs(3600)))).await.unwrap() {
        Submitted::New(claimed) => *claimed,
        other => panic!("{other:?} is no new task"),
    }
}

/// A lease of a task that is made on the spot.
pub async fn lease(store: &dyn Store, ids: &SeededIds) -> Lease {
    leased(store, home(), task(TaskId::from_uuid(ids.next()))).await.lease
}

pub fn event(action: &str) -> AuditEvent {
    AuditEvent::by_executor(action, "task:1", json!({}))
}
