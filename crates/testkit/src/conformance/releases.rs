//! Giving a lease back: when a task goes on, and by whom it is woken.

use kybern_core::task::{Commit, Effect, TaskChange, TaskStatus};
use kybern_core::time::Millis;

use super::fixture::{HOUR, SHORT, release, review};
use super::{Harness, World};

pub async fn release_without_due_waits_for_a_signal(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let wait = w.wait("ask", 1);
    w.release(&lease, TaskStatus::NeedsReview, None, vec![wait.clone()]).await;
    assert!(w.due().await.is_empty());
    w.store().answer(home.scope, lease.task(), &wait, review(&wait), w.event("task.review")).await.unwrap();
    assert_eq!(w.due().await, [lease.task()]);
}

pub async fn release_with_due_goes_on_by_itself(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.release(&lease, TaskStatus::Executing, Some(w.now().plus(SHORT)), vec![]).await;
    if !w.harness.db_clock {
        assert!(w.due().await.is_empty());
    }
    let look = async || w.due().await.contains(&lease.task()).then_some(());
    w.harness.after(Millis(SHORT.0 + 1), look).await;
}

pub async fn release_with_unseen_signal_is_due_at_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let (first, second) = (w.wait("ask", 1), w.wait("ask_more", 2));
    w.release(&lease, TaskStatus::NeedsReview, None, vec![first.clone(), second.clone()]).await;
    w.store().answer(home.scope, lease.task(), &first, review(&first), w.event("task.review")).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await;
    assert_eq!(claimed.task.signals, 1);
    // The second answer comes while a worker takes in the first.
    w.store().answer(home.scope, lease.task(), &second, review(&second), w.event("task.review")).await.unwrap();
    let unseen = Commit { signals_seen: 1, ..w.changes(release(TaskStatus::NeedsReview, None, vec![second])) };
    assert_eq!(w.commit(&claimed.lease, unseen).await.signals, 2);
    let claimed = w.claim_only("w", lease.task()).await;
    let seen =
        Commit { signals_seen: 2, ..w.changes(release(TaskStatus::Executing, Some(w.now().plus(HOUR)), vec![])) };
    w.commit(&claimed.lease, seen).await;
    assert!(w.due().await.is_empty());
}

pub async fn release_after_a_cancel_is_due_at_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    w.release(&lease, TaskStatus::NeedsReview, None, vec![w.wait("ask", 1)]).await;
    let claimed = w.claim_only("w", lease.task()).await;
    assert!(claimed.task.cancel_requested);
}

pub async fn a_release_writes_what_the_task_waits_for(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let waits = vec![w.wait("ask", 1)];
    let commit = Commit {
        effects: vec![Effect::Delegate(Box::new(w.delegation("wf-1")))],
        change: TaskChange::Release {
            status: TaskStatus::Delegated,
            due: None,
            waits: waits.clone(),
            current_step: Some("hand_over".to_owned()),
            workflow_id: Some("wf-1".to_owned()),
        },
        ..w.blank()
    };
    w.commit(&lease, commit).await;
    let task = w.task(&home, lease.task()).await;
    assert_eq!((task.status, task.waits), (TaskStatus::Delegated, waits));
    assert_eq!(task.current_step.as_deref(), Some("hand_over"));
    assert_eq!(task.delegated_workflow_id.as_deref(), Some("wf-1"));
}
