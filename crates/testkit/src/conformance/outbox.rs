//! Messages: committed with their step, with the job that sends them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::id::OutboxId;
use kybern_core::job::NewJob;
use kybern_core::outbox::{Dispatch, NewOutbox, OutboxChannel, OutboxStatus, SEND_JOB};
use kybern_core::plan::StepId;
use kybern_core::ports::OpenWork;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    Commit, Effect, JournalEntry, JournalRow, Lease, StepOutcome, StepStatus, TaskChange, TaskStatus, WorkerId,
};
use serde_json::json;

use super::fixture::{HOUR, LONG, end, pages, release};
use super::{Harness, Home, World};

pub(super) fn message(w: &World) -> NewOutbox {
    let id = OutboxId::from_uuid(w.id());
    NewOutbox {
        id,
        channel: OutboxChannel::Email,
        target: "someone@example.com".to_owned(),
        key: format!("key of {id}"),
        body: json!({"subject": "Grüße", "body": "…"}),
    }
}

async fn send(w: &World, lease: &Lease) -> NewOutbox {
    let message = message(w);
    w.commit(lease, w.effects(vec![Effect::Send(Box::new(message.clone()))])).await;
    message
}

pub async fn outbox_row_and_its_job_come_with_the_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let message = message(&w);
    let commit = Commit { rows: vec![w.row(1)], ..w.effects(vec![Effect::Send(Box::new(message.clone()))]) };
    let at = commit.at;
    w.commit(&lease, commit).await;
    let stored = w.store().outbox_message(home.scope, message.id).await.unwrap().unwrap();
    assert_eq!((&stored.message, stored.task_id, stored.status), (&message, Some(lease.task()), OutboxStatus::Pending));
    let task = w.store().task(home.scope, lease.task()).await.unwrap().unwrap();
    assert_eq!(stored.trace_id, Some(task.trace_id));
    assert_eq!((stored.attempts, stored.error, stored.created_at, stored.sent_at), (0, None, at, None));
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    let told: Vec<_> = jobs.iter().map(|job| (job.kind.as_str(), job.payload.clone(), job.scope())).collect();
    assert_eq!(told, [("outbox.send", json!({"outboxId": message.id}), home.scope)]);
}

pub async fn a_message_moves_only_from_where_it_is(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = send(&w, &lease).await.id;
    let go =
        async |from, to, error| w.store().move_outbox(home.scope, id, (from, to), error, None, w.now()).await.unwrap();
    assert!(!go(OutboxStatus::Sending, OutboxStatus::Sent, None).await);
    assert!(go(OutboxStatus::Pending, OutboxStatus::Sending, None).await);
    assert!(!go(OutboxStatus::Pending, OutboxStatus::Sending, None).await, "two senders never both begin");
    assert!(go(OutboxStatus::Sending, OutboxStatus::Pending, Some("busy")).await);
    let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
    assert_eq!((stored.attempts, stored.error.as_deref(), stored.sent_at), (1, Some("busy"), None));
    assert!(go(OutboxStatus::Pending, OutboxStatus::Sending, None).await);
    assert!(go(OutboxStatus::Sending, OutboxStatus::Sent, None).await);
    let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.attempts, stored.sent_at.is_some()), (OutboxStatus::Sent, 2, true));
    let unknown = OutboxId::from_uuid(w.id());
    let moved =
        w.store().move_outbox(home.scope, unknown, (OutboxStatus::Pending, OutboxStatus::Sending), None, None, w.now());
    assert!(!moved.await.unwrap());
}

pub async fn a_message_that_came_to_its_end_is_sent_again_as_often_as_somebody_wants(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = send(&w, &lease).await.id;
    let claimed =
        async || w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    let job = || NewJob { kind: SEND_JOB.to_owned(), payload: json!({ "outboxId": id }), ..w.job() };
    let again = async |from| w.store().send_again(home.scope, id, from, job(), w.event("outbox.retry"), w.now()).await;
    let (pending, kept) = (OutboxStatus::Pending, OutboxStatus::Kept);
    assert!(!again(kept).await.unwrap(), "it has not come to its end");
    assert_eq!(claimed().await.len(), 1, "and has the job of its commit");
    for _ in 0..2 {
        assert!(
            w.store().move_outbox(home.scope, id, (pending, kept), Some("no server"), None, w.now()).await.unwrap()
        );
        assert!(again(kept).await.unwrap());
        assert!(!again(kept).await.unwrap(), "once");
        let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
        assert_eq!((stored.status, stored.error), (pending, None));
        assert_eq!(claimed().await.len(), 1);
    }
}

/// Hands a step over to a workflow for an hour, and gives the lease back; the dispatch.
async fn delegate(w: &World, lease: &Lease) -> OutboxId {
    let key = format!("workflow of {}", lease.task());
    let delegation = w.delegation(&key);
    let due = Some(delegation.deadline);
    let dispatch = NewOutbox { channel: OutboxChannel::Workflow, key, ..message(w) };
    let id = dispatch.id;
    let effects = vec![Effect::Delegate(Box::new(delegation)), Effect::Send(Box::new(dispatch))];
    let change = TaskChange::Release {
        status: TaskStatus::Delegated,
        due,
        waits: vec![],
        current_step: None,
        workflow_id: None,
    };
    w.commit(lease, Commit { change, ..w.effects(effects) }).await;
    id
}

async fn begin(w: &World, home: &Home, id: OutboxId) -> Dispatch {
    w.store().begin_dispatch(home.scope, id, w.now()).await.unwrap()
}

async fn cancel(w: &World, home: &Home, lease: &Lease) {
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
}

pub async fn a_dispatch_goes_only_as_long_as_its_step_waits_for_it(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = delegate(&w, &lease).await;
    let (pending, sending) = (OutboxStatus::Pending, OutboxStatus::Sending);
    // A process that died in the middle of a try, and one whose try has failed.
    for (attempts, next) in [(1, None), (1, Some(pending)), (2, Some(pending))] {
        assert_eq!(begin(&w, &home, id).await, Dispatch::Goes);
        let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
        assert_eq!((stored.status, stored.attempts), (sending, attempts));
        if let Some(next) = next {
            assert!(w.store().move_outbox(home.scope, id, (sending, next), Some("busy"), None, w.now()).await.unwrap());
        }
    }
    cancel(&w, &home, &lease).await;
    assert_eq!(begin(&w, &home, id).await, Dispatch::Rests, "it will be cancelled");
    let lease = w.claim_only("w", lease.task()).await.lease;
    w.commit(&lease, w.changes(end(TaskStatus::Cancelled))).await;
    assert_eq!(begin(&w, &home, id).await, Dispatch::Over);
    // Its step has ended, and its task goes on.
    let lease = w.leased(&home, "w").await;
    let id = delegate(&w, &lease).await;
    w.store().move_outbox(home.scope, id, (pending, OutboxStatus::Uncertain), None, None, w.now()).await.unwrap();
    assert_eq!(begin(&w, &home, id).await, Dispatch::Over, "it has its end");
    let lease = w.leased(&home, "w").await;
    let id = delegate(&w, &lease).await;
    cancel(&w, &home, &lease).await;
    let lease = w.claim_only("w", lease.task()).await.lease;
    let outcome = JournalEntry::Finished(Arc::new(StepOutcome::bare(StepStatus::Failed)));
    let ended = JournalRow { step: Some(StepId::trusted("hand_over")), entry: outcome, ..w.row(1) };
    w.commit(&lease, Commit { rows: vec![ended], ..w.blank() }).await;
    assert_eq!(begin(&w, &home, id).await, Dispatch::Over);
    let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.attempts), (pending, 0), "nothing is counted that does not leave");
}

pub async fn the_dispatch_of_a_failed_task_rests_until_it_is_tried_again(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = delegate(&w, &lease).await;
    cancel(&w, &home, &lease).await;
    let lease = w.claim_only("w", lease.task()).await.lease;
    w.commit(&lease, w.changes(end(TaskStatus::Failed))).await;
    assert_eq!(begin(&w, &home, id).await, Dispatch::Rests);
    w.reopen(&home, lease.task()).await.unwrap();
    assert_eq!(begin(&w, &home, id).await, Dispatch::Goes);
    let late = w.now().plus(HOUR);
    assert_eq!(w.store().begin_dispatch(home.scope, id, late).await.unwrap(), Dispatch::Over, "its time is up");
    let other = w.tenant("second").await;
    assert_eq!(begin(&w, &other, id).await, Dispatch::Over, "another tenant sees nothing of it");
}

pub async fn pages_of_the_outbox_visit_each_once_newest_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let mut all = Vec::new();
    for _ in 0..17 {
        all.push(send(&w, &lease).await.id);
    }
    let list = async |before| {
        let page = w.store().outbox(home.scope, None, before, 5).await.unwrap();
        assert!(page.items.len() <= 5);
        page
    };
    let seen: Vec<OutboxId> = pages(list).await.iter().map(|stored| stored.message.id).collect();
    all.reverse();
    assert_eq!(seen, all);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 17);
}

pub async fn what_is_open_is_counted_over_all_tenants(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    let count = async || w.store().open_work().await.unwrap();
    assert_eq!(count().await, OpenWork::default());
    let (lease, wait) = (w.leased(&home, "w").await, w.wait("asked", 1));
    let message = send(&w, &lease).await;
    send(&w, &w.leased(&other, "w").await).await;
    let asked = Effect::Ask(Box::new(super::approvals::question(&w, &wait)));
    let change = release(TaskStatus::NeedsReview, None, vec![wait]);
    w.commit(&lease, Commit { effects: vec![asked], ..w.changes(change) }).await;
    let jobs = |count| vec![(SEND_JOB.to_owned(), count)];
    let open = OpenWork { approvals: 1, messages: vec![(OutboxStatus::Pending, 2)], jobs: jobs(2), dead_jobs: vec![] };
    assert_eq!(count().await, open);
    let moved = async |from, to| {
        assert!(w.store().move_outbox(home.scope, message.id, (from, to), None, None, w.now()).await.unwrap());
    };
    moved(OutboxStatus::Pending, OutboxStatus::Sending).await;
    assert_eq!(count().await.messages, [(OutboxStatus::Pending, 1), (OutboxStatus::Sending, 1)]);
    moved(OutboxStatus::Sending, OutboxStatus::Sent).await;
    assert_eq!(count().await.messages, [(OutboxStatus::Pending, 1)]);
}
