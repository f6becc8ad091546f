//! Cancel, pause, resume, retry.

use kybern_core::error::ErrorCode;
use kybern_core::task::{Commit, TaskStatus};

use super::fixture::{code, end, retry};
use super::{Harness, World};

pub async fn cancel_makes_an_unleased_task_due(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.release(&lease, TaskStatus::NeedsReview, None, vec![w.wait("ask", 1)]).await;
    let head = w.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq);
    let task = w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    assert_eq!((task.cancel_requested, task.status), (true, TaskStatus::NeedsReview), "a worker ends it");
    assert_eq!(w.store().audit_events(home.scope, head, 10).await.unwrap().len(), 1);
    assert!(w.claim_only("w", lease.task()).await.task.cancel_requested);
}

pub async fn cancel_leaves_a_leased_task_to_its_holder(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    assert!(w.due().await.is_empty());
    assert!(w.commit(&lease, w.blank()).await.cancel_requested);
}

pub async fn cancel_ends_a_pause(h: Harness) {
    let (w, home) = World::new(h).await;
    let task = w.queued(&home, w.new_task()).await;
    w.store().set_paused(home.scope, task.id, true, w.now(), w.event("task.pause")).await.unwrap();
    let task = w.store().request_cancel(home.scope, task.id, w.now(), w.event("task.cancel")).await.unwrap();
    assert_eq!(task.paused_at, None);
    assert_eq!(w.due().await, [task.id]);
}

pub async fn paused_is_not_claimed(h: Harness) {
    let (w, home) = World::new(h).await;
    let task = w.queued(&home, w.new_task()).await;
    let at = w.now();
    let paused = w.store().set_paused(home.scope, task.id, true, at, w.event("task.pause")).await.unwrap();
    assert_eq!((paused.paused_at, paused.status), (Some(at), TaskStatus::Pending), "the status stays");
    assert!(w.due().await.is_empty());
    let resumed = w.store().set_paused(home.scope, task.id, false, w.now(), w.event("task.resume")).await.unwrap();
    assert_eq!(resumed.paused_at, None);
    assert_eq!(w.due().await, [task.id]);
}

pub async fn pausing_twice_is_a_conflict(h: Harness) {
    let (w, home) = World::new(h).await;
    let id = w.queued(&home, w.new_task()).await.id;
    let set = async |paused| w.store().set_paused(home.scope, id, paused, w.now(), w.event("task.pause")).await;
    assert_eq!(code(set(false).await), ErrorCode::Conflict);
    set(true).await.unwrap();
    assert_eq!(code(set(true).await), ErrorCode::Conflict);
    set(false).await.unwrap();
}

/// A pause may come while the end is on its way. Nothing can lift it from an ended task, and a retry is not paused. An
/// end with its last row may be written with what other tasks write, one without rows is written by itself.
pub async fn an_end_ends_a_pause(h: Harness) {
    let (w, home) = World::new(h).await;
    for rows in [Vec::new(), vec![w.row(1)]] {
        let lease = w.leased(&home, "w").await;
        let id = lease.task();
        w.store().set_paused(home.scope, id, true, w.now(), w.event("task.pause")).await.unwrap();
        w.commit(&lease, Commit { rows, ..w.changes(end(TaskStatus::Failed)) }).await;
        assert_eq!(w.store().task(home.scope, id).await.unwrap().unwrap().paused_at, None);
        let task = w.reopen(&home, id).await.unwrap();
        assert_eq!((task.status, task.paused_at), (TaskStatus::Pending, None));
        assert_eq!(w.due().await, [id]);
    }
}

pub async fn what_has_ended_is_not_steered(h: Harness) {
    let (w, home) = World::new(h).await;
    for status in [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled] {
        let lease = w.leased(&home, "w").await;
        w.end(&lease, status).await;
        let head = w.store().audit_head(home.scope).await.unwrap();
        let cancel = w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("x.y")).await;
        assert_eq!(code(cancel), ErrorCode::Conflict);
        let pause = w.store().set_paused(home.scope, lease.task(), true, w.now(), w.event("x.y")).await;
        assert_eq!(code(pause), ErrorCode::Conflict);
        assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "what is refused is no act");
    }
}

pub async fn an_unknown_task_is_not_steered(h: Harness) {
    let (w, home) = World::new(h).await;
    let id = w.new_task().id;
    let store = w.store();
    assert_eq!(code(store.request_cancel(home.scope, id, w.now(), w.event("x.y")).await), ErrorCode::NotFound);
    assert_eq!(code(store.set_paused(home.scope, id, true, w.now(), w.event("x.y")).await), ErrorCode::NotFound);
    assert_eq!(code(w.reopen(&home, id).await), ErrorCode::NotFound);
}

pub async fn only_what_failed_is_reopened(h: Harness) {
    let (w, home) = World::new(h).await;
    let queued = w.queued(&home, w.new_task()).await.id;
    assert_eq!(code(w.reopen(&home, queued).await), ErrorCode::Conflict);
    w.due().await;
    for status in [TaskStatus::Completed, TaskStatus::Cancelled] {
        let lease = w.leased(&home, "w").await;
        w.end(&lease, status).await;
        assert_eq!(code(w.reopen(&home, lease.task()).await), ErrorCode::Conflict);
    }
    let lease = w.leased(&home, "w").await;
    w.end(&lease, TaskStatus::Failed).await;
    let task = w.reopen(&home, lease.task()).await.unwrap();
    assert_eq!((task.status, task.completed_at, task.result, task.error), (TaskStatus::Pending, None, None, None));
    assert_eq!(code(w.reopen(&home, lease.task()).await), ErrorCode::Conflict);
    let claimed = w.claim_only("w", lease.task()).await;
    assert_eq!((claimed.task.signals, claimed.task.recoveries, claimed.lease.epoch()), (1, 0, 2));
    assert_eq!(w.store().signals(home.scope, lease.task(), 0).await.unwrap(), [(1, retry())]);
}
