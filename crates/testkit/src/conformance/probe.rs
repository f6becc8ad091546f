//! What the store knows of all that is open: here, how old the oldest of it is.

use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::OldestWork;
use kybern_core::task::{Commit, Delegation, Effect, Lease, TaskStatus};
use kybern_core::time::Timestamp;

use super::fixture::{HOUR, release};
use super::outbox::message;
use super::{Harness, World};

async fn oldest(w: &World) -> OldestWork {
    w.store().oldest_work(w.now()).await.unwrap()
}

pub async fn the_first_task_that_may_be_claimed_is_the_oldest(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    assert_eq!(oldest(&w).await, OldestWork::default());
    let first = w.queued(&other, w.new_task()).await;
    let due = oldest(&w).await.task;
    assert!(due.is_some());
    w.queued(&home, w.new_task()).await;
    assert_eq!(
        oldest(&w).await,
        OldestWork { task: due, ..OldestWork::default() },
        "the first one, of whatever tenant"
    );
    let claimed = w.claim("w", 10).await;
    assert_eq!((claimed.len(), oldest(&w).await), (2, OldestWork::default()), "both are at work");
    let lease = &claimed.iter().find(|claimed| claimed.task.id == first.id).unwrap().lease;
    w.release(lease, TaskStatus::Executing, Some(w.now().plus(HOUR)), vec![]).await;
    assert_eq!(oldest(&w).await, OldestWork::default(), "it is not due yet");
}

/// A question of a task that waits for a person, asked then.
async fn ask(w: &World, lease: &Lease, at: Timestamp) {
    let wait = w.wait("asked", 1);
    let asked = Effect::Ask(Box::new(super::approvals::question(w, &wait)));
    let change = release(TaskStatus::NeedsReview, None, vec![wait]);
    w.commit(lease, Commit { at, effects: vec![asked], ..w.changes(change) }).await;
}

pub async fn the_oldest_question_is_that_of_any_tenant(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    let (now, before) = (w.now(), w.now().minus(HOUR));
    ask(&w, &w.leased(&home, "w").await, now).await;
    assert_eq!(oldest(&w).await.approval, Some(now));
    let lease = w.leased(&other, "w").await;
    ask(&w, &lease, before).await;
    assert_eq!(oldest(&w).await, OldestWork { approval: Some(before), ..OldestWork::default() });
}

pub async fn a_delegated_task_is_as_old_as_its_last_delegation(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    let (now, before) = (w.now(), w.now().minus(HOUR));
    let hand_over = |name: &str| {
        let step = kybern_core::plan::StepId::trusted(name);
        let (workflow, deadline) = ("flow".to_owned(), now.plus(HOUR));
        Effect::Delegate(Box::new(Delegation { step, workflow, workflow_id: format!("wf-{name}"), deadline }))
    };
    let lease = w.leased(&home, "w").await;
    w.commit(&lease, Commit { at: before, ..w.effects(vec![hand_over("first")]) }).await;
    assert_eq!(oldest(&w).await.delegation, None, "the task goes on with another step");
    let change = || release(TaskStatus::Delegated, None, vec![]);
    w.commit(&lease, Commit { at: now, effects: vec![hand_over("second")], ..w.changes(change()) }).await;
    assert_eq!(oldest(&w).await, OldestWork { delegation: Some(now), ..OldestWork::default() });
    let lease = w.leased(&other, "w").await;
    w.commit(&lease, Commit { at: before, effects: vec![hand_over("other")], ..w.changes(change()) }).await;
    assert_eq!(oldest(&w).await.delegation, Some(before));
}

pub async fn the_oldest_message_is_one_that_is_still_to_leave(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    let (now, before) = (w.now(), w.now().minus(HOUR));
    let send = async |lease: Lease, at: Timestamp| {
        let message = message(&w);
        w.commit(&lease, Commit { at, ..w.effects(vec![Effect::Send(Box::new(message.clone()))]) }).await;
        message.id
    };
    send(w.leased(&other, "w").await, now).await;
    let id = send(w.leased(&home, "w").await, before).await;
    let found = oldest(&w).await;
    assert!(found.job.is_some(), "each has its job");
    assert_eq!((found.message, found.approval, found.delegation), (Some(before), None, None));
    let moved = async |from, to| {
        assert!(w.store().move_outbox(home.scope, id, (from, to), None, None, now).await.unwrap());
        oldest(&w).await.message
    };
    assert_eq!(moved(OutboxStatus::Pending, OutboxStatus::Sending).await, Some(before));
    assert_eq!(moved(OutboxStatus::Sending, OutboxStatus::Uncertain).await, Some(now), "a person is to look at it");
}
