//! What two stores answered and what they hold, in a form that can be compared: without what each may choose freely.

use kybern_core::error::Error;
use kybern_core::id::TaskId;
use kybern_core::ports::{ReviewRefused, Store};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Claimed, CommitRefused, Committed, Submitted, Task};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::super::fixture::LONG;

/// A row without the moment of its first claim, which is the database's own where leases follow its clock.
pub(super) fn plain(task: &Task) -> Task {
    Task { started_at: task.started_at.map(|_| Timestamp::default()), ..task.clone() }
}

pub(super) fn claimed(claimed: &Claimed) -> String {
    format!("{:?} {:?} {:?}", claimed.lease, claimed.recovered_from, plain(&claimed.task))
}

pub(super) fn submitted(answer: &Result<Submitted, Error>) -> String {
    match answer {
        Ok(Submitted::New(new)) => format!("new {}", claimed(new)),
        Ok(Submitted::Queued(task)) => format!("queued {:?}", plain(task)),
        Ok(Submitted::Duplicate { task, same_body }) => format!("duplicate {same_body} {:?}", plain(task)),
        Err(error) => refused(error),
    }
}

pub(super) fn committed(answer: &Result<Committed, CommitRefused>) -> String {
    match answer {
        Ok(committed) => format!("{committed:?}"),
        Err(CommitRefused::Fenced) => "fenced".to_owned(),
        Err(CommitRefused::Changed { what }) => format!("changed {what}"),
        Err(CommitRefused::Store(error)) => refused(error),
    }
}

pub(super) fn answered(answer: &Result<(), ReviewRefused>) -> String {
    match answer {
        Ok(()) => "answered".to_owned(),
        Err(ReviewRefused::NotWaiting) => "not waiting".to_owned(),
        Err(ReviewRefused::NotFound) => "not found".to_owned(),
        Err(ReviewRefused::Store(error)) => refused(error),
    }
}

pub(super) fn steered(answer: &Result<Task, Error>) -> String {
    answer.as_ref().map_or_else(refused, |task| format!("{:?}", plain(task)))
}

pub(super) fn refused(error: &Error) -> String {
    format!("refused {}", error.code())
}

/// Everything that a store holds of these tasks and their tenant, line by line.
pub(super) async fn holdings(store: &dyn Store, scope: TenantScope, tasks: &[TaskId], now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    for id in tasks.iter().copied() {
        let task = store.task(scope, id).await.unwrap();
        lines.push(format!("{:?}", task.as_ref().map(plain)));
        lines.extend(store.journal(scope, id, 0, 1000).await.unwrap().iter().map(|row| format!("{id} {row:?}")));
        lines.extend(store.signals(scope, id, 0).await.unwrap().iter().map(|signal| format!("{id} {signal:?}")));
        lines.extend(store.attempts(scope, id).await.unwrap().iter().map(|attempt| format!("{id} {attempt:?}")));
        lines.push(format!("{id} children {:?}", store.children(scope, id).await.unwrap()));
        lines.push(format!("{id} used {:?}", store.usage_of_tree(scope, id).await.unwrap()));
    }
    let records = store.records(scope, "test.thing", None, 200).await.unwrap().items;
    lines.extend(records.iter().map(|record| format!("{record:?}")));
    for value in ["0", "1", "2"] {
        let found = store.records_by_lookup(scope, "test.thing", "DOT", value).await.unwrap();
        lines.push(format!("DOT {value} {:?}", found.iter().map(|record| &record.key).collect::<Vec<_>>()));
    }
    let messages = store.outbox(scope, None, None, 200).await.unwrap().items;
    lines.extend(messages.iter().map(|message| format!("{message:?}")));
    let audit = store.audit_events(scope, 0, 1000).await.unwrap();
    lines.extend(audit.iter().map(|link| format!("{} {} {}", link.seq, link.event.action, link.event.subject)));
    let worker = kybern_core::task::WorkerId::new("at the end");
    let jobs = store.claim_jobs(&worker, &WorkerCapacity::of(1000), LONG, now).await.unwrap();
    let mut jobs: Vec<String> = jobs.iter().map(|job| format!("{} {}", job.kind, job.payload)).collect();
    jobs.sort_unstable();
    lines.extend(jobs);
    lines
}
