//! Children: spawned with a step, heard of at their end.

use kybern_core::id::TaskId;
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::task::{Commit, Effect, Lease, NewChild, NewTask, Signal, SignalKind, TaskStatus};

use super::fixture::end;
use super::{Harness, Home, World};

/// A child of that parent, spawned by a commit.
pub(super) async fn spawn(w: &World, parent: &Lease) -> TaskId {
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

pub async fn a_parent_that_has_failed_finds_the_childs_end_when_it_is_tried_again(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let child = spawn(&w, &parent).await;
    w.end(&parent, TaskStatus::Failed).await;
    let lease = w.claim_only("w", child).await.lease;
    w.end(&lease, TaskStatus::Completed).await;
    assert!(w.due().await.is_empty(), "an ended task is not claimed because its child ends");
    w.reopen(&home, parent.task()).await.unwrap();
    assert_eq!(w.due().await, [parent.task()]);
    let kinds: Vec<SignalKind> =
        signals(&w, &home, parent.task()).await.iter().map(|(_, signal)| signal.kind()).collect();
    assert_eq!(kinds, [SignalKind::ChildEnded, SignalKind::Retry]);
}

pub async fn a_failed_child_is_reopened_by_its_parents_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let parent = w.leased(&home, "w").await;
    let (failed, other) = (spawn(&w, &parent).await, w.leased(&home, "w").await);
    w.end(&w.claim_only("w", failed).await.lease, TaskStatus::Failed).await;
    w.end(&other, TaskStatus::Failed).await;
    // An end that has been told and not been taken in yet comes first.
    w.commit(&parent, w.effects(vec![Effect::Reopen(failed)])).await;
    assert!(w.due().await.is_empty());
    let reopening = |effects| Commit { signals_seen: 9, ..w.effects(effects) };
    w.commit(&parent, reopening(vec![Effect::Reopen(failed), Effect::Reopen(other.task())])).await;
    // The other one is no child of this task and stays as it is.
    let child = w.claim_only("w", failed).await;
    assert_eq!((child.task.status, child.task.error.is_some()), (TaskStatus::Pending, false));
    assert!(matches!(&signals(&w, &home, failed).await[..], [(1, Signal::Retry { .. })]));
    // It runs: nothing to be done. Then it ends, and tells of it again when it is asked to.
    w.commit(&parent, reopening(vec![Effect::Reopen(failed)])).await;
    w.end(&child.lease, TaskStatus::Completed).await;
    w.commit(&parent, reopening(vec![Effect::Reopen(failed)])).await;
    let ends: Vec<TaskStatus> = signals(&w, &home, parent.task())
        .await
        .into_iter()
        .filter_map(|(_, signal)| match signal {
            Signal::ChildEnded { status, .. } => Some(status),
            Signal::Review { .. } | Signal::Callback { .. } | Signal::Retry { .. } | Signal::Unreadable { .. } => None,
        })
        .collect();
    assert_eq!(ends, [TaskStatus::Failed, TaskStatus::Completed, TaskStatus::Completed]);
}
