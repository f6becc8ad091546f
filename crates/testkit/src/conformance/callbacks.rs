//! Callbacks of outside engines: one body per workflow id, whenever it comes.

use futures::future::join_all;
use kybern_core::error::ErrorCode;
use kybern_core::plan::StepId;
use kybern_core::ports::CallbackOutcome;
use kybern_core::task::{Commit, Effect, Lease, Signal, TaskChange, TaskStatus};
use serde_json::json;

use super::fixture::{code, retry};
use super::{Harness, Home, World};

fn step() -> StepId {
    StepId::trusted("hand_over")
}

fn callback(workflow_id: &str) -> Signal {
    Signal::Callback {
        step: step(),
        workflow_id: workflow_id.to_owned(),
        success: true,
        data: json!({"done": true}),
        error: None,
    }
}

/// Delegates the step and goes to sleep.
async fn delegate(w: &World, lease: &Lease) {
    let delegation = w.delegation("wf-1");
    let change = TaskChange::Release {
        status: TaskStatus::Delegated,
        due: Some(delegation.deadline),
        waits: vec![],
        current_step: Some("hand_over".to_owned()),
        workflow_id: Some("wf-1".to_owned()),
    };
    w.commit(lease, Commit { change, ..w.effects(vec![Effect::Delegate(Box::new(delegation))]) }).await;
}

async fn call(w: &World, home: &Home, lease: &Lease, body: &str) -> CallbackOutcome {
    w.store().callback(home.scope, lease.task(), &step(), callback("wf-1"), body, w.now()).await.unwrap()
}

pub async fn a_callback_ends_the_wait(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    assert!(w.due().await.is_empty());
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Accepted);
    let claimed = w.claim_only("w", lease.task()).await;
    assert_eq!((claimed.task.status, claimed.task.signals), (TaskStatus::Delegated, 1));
    let found = w.store().signals(home.scope, lease.task(), 0).await.unwrap();
    assert_eq!(found, [(1, callback("wf-1"))]);
}

pub async fn the_same_body_again_is_a_duplicate(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Accepted);
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Duplicate);
    assert_eq!(w.task(&home, lease.task()).await.signals, 1);
}

pub async fn another_body_is_a_conflict_and_audited(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Accepted);
    let head = w.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq);
    assert_eq!(call(&w, &home, &lease, "b").await, CallbackOutcome::Conflict);
    let events = w.store().audit_events(home.scope, head, 10).await.unwrap();
    assert_eq!(events.iter().map(|link| link.event.action.as_str()).collect::<Vec<_>>(), ["delegation.conflict"]);
    assert_eq!(w.store().signals(home.scope, lease.task(), 0).await.unwrap(), [(1, callback("wf-1"))]);
}

pub async fn an_early_callback_is_kept(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Kept);
    delegate(&w, &lease).await;
    let claimed = w.claim_only("w", lease.task()).await;
    assert_eq!(claimed.task.signals, 1);
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Duplicate);
}

pub async fn a_late_callback_changes_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await.lease;
    w.end(&claimed, TaskStatus::Cancelled).await;
    let before = w.task(&home, lease.task()).await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Late);
    let after = w.task(&home, lease.task()).await;
    assert_eq!((after.status, after.result, after.completed_at), (before.status, before.result, before.completed_at));
    assert!(w.due().await.is_empty());
}

pub async fn a_late_callback_is_there_when_a_failed_task_is_tried_again(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.commit(&lease, w.effects(vec![Effect::Delegate(Box::new(w.delegation("wf-1")))])).await;
    w.end(&lease, TaskStatus::Failed).await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Late);
    assert!(w.due().await.is_empty());
    w.reopen(&home, lease.task()).await.unwrap();
    let found = w.store().signals(home.scope, lease.task(), 0).await.unwrap();
    assert_eq!(found, [(1, callback("wf-1")), (2, retry())]);
}

pub async fn fifty_parallel_callbacks_are_one(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    let calls = (0..50).map(|_| {
        let (store, now, id) = (w.shared(), w.now(), lease.task());
        async move { store.callback(home.scope, id, &step(), callback("wf-1"), "a", now).await.unwrap() }
    });
    let outcomes = join_all(calls).await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CallbackOutcome::Accepted).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CallbackOutcome::Duplicate).count(), 49);
    assert_eq!(w.task(&home, lease.task()).await.signals, 1);
}

pub async fn two_delegations_of_a_task_are_told_apart(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    delegate(&w, &lease).await;
    assert_eq!(call(&w, &home, &lease, "a").await, CallbackOutcome::Accepted);
    let other = w.store().callback(home.scope, lease.task(), &step(), callback("wf-2"), "b", w.now()).await.unwrap();
    assert_eq!(other, CallbackOutcome::Kept);
    let numbers: Vec<i64> =
        w.store().signals(home.scope, lease.task(), 0).await.unwrap().into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [1, 2], "signals are numbered from 1");
}

pub async fn a_callback_for_an_unknown_task_is_not_found(h: Harness) {
    let (w, home) = World::new(h).await;
    let unknown = w.new_task().id;
    let answer = w.store().callback(home.scope, unknown, &step(), callback("wf-1"), "a", w.now()).await;
    assert_eq!(code(answer), ErrorCode::NotFound);
}
