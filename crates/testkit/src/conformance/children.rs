//! Children: spawned with a step, heard of at their end.

use kybern_core::id::TaskId;
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::task::{Commit, Effect, Lease, NewChild, NewTask, Signal, TaskStatus};

use super::fixture::end;
use super::{Harness, Home, World};

/// A child of that parent, spawned by a commit.
async fn spawn(w: &World, parent: &Lease) -> TaskId {
    let task = NewTask { parent: Some((parent.task(), "start".to_owned())), depth: 1, ..w.new_task() };
    let id = task.id;
    w.commit(parent, w.effects(vec![Effect::Spawn(Box::new(NewChild { task }))])).await;
    id
}

async fn signals(w: &World, home: &Home, task: TaskId) -> Vec<(i64, Signal)> {
    w.store().signals(home.scope, task, 0).await.unwrap()
}

pub async fn a_child_comes_with_the_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let (first, second) = (spawn(&w, &parent).await, spawn(&w, &parent).await);
    assert_eq!(w.store().children(home.scope, parent.task()).await.unwrap(), [first, second]);
    let child = w.task(&home, first).await;
    assert_eq!((child.status, child.depth, child.tenant), (TaskStatus::Pending, 1, home.scope.tenant()));
    assert_eq!(child.parent, Some((parent.task(), "start".to_owned())));
    assert_eq!(w.due().await.len(), 2);
}

pub async fn child_end_signals_parent_in_the_same_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let child = spawn(&w, &parent).await;
    w.release(&parent, TaskStatus::Executing, None, vec![]).await;
    let lease = w.claim_only("w", child).await.lease;
    let usage = Usage { cost_nanos: NanoUsd(11), ..Usage::default() };
    w.commit(&lease, Commit { usage, ..w.changes(end(TaskStatus::Failed)) }).await;

    let found = signals(&w, &home, parent.task()).await;
    let [(1, Signal::ChildEnded { step, child: of, status, error, usage: used, .. })] = &found[..] else {
        panic!("expected the child's end, found {found:?}");
    };
    assert_eq!((step.as_str(), *of, *status), ("start", child, TaskStatus::Failed));
    assert_eq!((error.is_some(), *used), (true, usage));
    let claimed = w.claim_only("w", parent.task()).await;
    assert_eq!(claimed.task.signals, 1);
}

pub async fn a_parent_at_work_hears_at_its_next_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let child = spawn(&w, &parent).await;
    let lease = w.claim_only("w", child).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    assert!(w.due().await.is_empty(), "its lease holds");
    assert_eq!(w.commit(&parent, w.blank()).await.signals, 1);
    w.release(&parent, TaskStatus::Executing, None, vec![]).await;
    assert_eq!(w.due().await, [parent.task()]);
}

pub async fn a_parent_that_has_ended_stays_ended(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let child = spawn(&w, &parent).await;
    w.end(&parent, TaskStatus::Cancelled).await;
    let lease = w.claim_only("w", child).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    assert!(w.due().await.is_empty());
    assert_eq!(w.task(&home, parent.task()).await.status, TaskStatus::Cancelled);
}

pub async fn a_waiting_child_leaves_no_signal(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let child = spawn(&w, &parent).await;
    w.release(&parent, TaskStatus::Executing, None, vec![]).await;
    let lease = w.claim_only("w", child).await.lease;
    w.release(&lease, TaskStatus::NeedsReview, None, vec![w.wait("ask", 1)]).await;
    assert!(signals(&w, &home, parent.task()).await.is_empty());
    assert!(w.due().await.is_empty());
}
