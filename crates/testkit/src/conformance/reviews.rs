//! Answers of persons: exactly one per wait.

use futures::future::join_all;
use kybern_core::ports::ReviewRefused;
use kybern_core::task::{Commit, Lease, Signal, TaskStatus, Wait};

use super::fixture::{end, review};
use super::{Harness, Home, World};

async fn waiting(w: &World, home: &Home, waits: &[Wait]) -> Lease {
    let lease = w.leased(home, "w").await;
    w.release(&lease, TaskStatus::NeedsReview, None, waits.to_vec()).await;
    lease
}

async fn answer(w: &World, home: &Home, lease: &Lease, wait: &Wait) -> Result<(), ReviewRefused> {
    w.store().answer(home.scope, lease.task(), wait, review(wait), w.event("task.review")).await
}

pub async fn a_wait_is_answered_once_of_fifty(h: Harness) {
    let (w, home) = World::new(h).await;
    let wait = w.wait("ask", 3);
    let lease = waiting(&w, &home, std::slice::from_ref(&wait)).await;
    let head = w.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq);
    let answers = join_all((0..50).map(|n| {
        let (store, wait, event) = (w.shared(), wait.clone(), w.event("task.review"));
        let signal = Signal::Review {
            step: wait.step_id.clone(),
            wait_seq: wait.seq,
            corrections: serde_json::Map::new(),
            resolution: None,
            replaces: false,
            note: None,
            by: format!("user:{n}"),
        };
        let id = lease.task();
        async move { store.answer(home.scope, id, &wait, signal, event).await }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ReviewRefused::NotWaiting))));
    assert_eq!(w.store().signals(home.scope, lease.task(), 0).await.unwrap().len(), 1);
    assert_eq!(w.store().audit_events(home.scope, head, 100).await.unwrap().len(), 1, "what is refused is no act");
    assert_eq!(w.task(&home, lease.task()).await.signals, 1);
}

pub async fn an_answer_binds_to_its_wait(h: Harness) {
    let (w, home) = World::new(h).await;
    let wait = w.wait("ask", 3);
    let lease = waiting(&w, &home, std::slice::from_ref(&wait)).await;
    for other in [w.wait("ask", 4), w.wait("else", 3)] {
        assert!(matches!(answer(&w, &home, &lease, &other).await, Err(ReviewRefused::NotWaiting)));
    }
    assert!(w.due().await.is_empty());
    answer(&w, &home, &lease, &wait).await.unwrap();
    let found = w.store().signals(home.scope, lease.task(), 0).await.unwrap();
    assert_eq!(found, [(1, review(&wait))]);
}

pub async fn an_unknown_task_is_not_found(h: Harness) {
    let (w, home) = World::new(h).await;
    let (wait, unknown) = (w.wait("ask", 1), w.new_task().id);
    let refused = w.store().answer(home.scope, unknown, &wait, review(&wait), w.event("task.review")).await;
    assert!(matches!(refused, Err(ReviewRefused::NotFound)));
}

pub async fn a_second_wait_can_be_answered_while_the_first_is_taken_in(h: Harness) {
    let (w, home) = World::new(h).await;
    let (first, second) = (w.wait("ask", 1), w.wait("ask_more", 2));
    let lease = waiting(&w, &home, &[first.clone(), second.clone()]).await;
    answer(&w, &home, &lease, &first).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await.lease;
    let progress = kybern_core::task::TaskChange::Progress { status: TaskStatus::Executing, intent: None, plan: None };
    w.commit(&claimed, Commit { rows: vec![w.row(1)], signals_seen: 1, ..w.changes(progress) }).await;
    answer(&w, &home, &lease, &second).await.unwrap();
    assert!(matches!(answer(&w, &home, &lease, &first).await, Err(ReviewRefused::NotWaiting)));
    let found = w.store().signals(home.scope, lease.task(), 1).await.unwrap();
    assert_eq!(found, [(2, review(&second))]);
}

pub async fn a_wait_that_is_over_takes_no_answer(h: Harness) {
    let (w, home) = World::new(h).await;
    let wait = w.wait("ask", 1);
    let lease = waiting(&w, &home, std::slice::from_ref(&wait)).await;
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await.lease;
    w.commit(&claimed, w.changes(end(TaskStatus::Cancelled))).await;
    assert!(matches!(answer(&w, &home, &lease, &wait).await, Err(ReviewRefused::NotWaiting)));
    assert!(w.store().signals(home.scope, lease.task(), 0).await.unwrap().is_empty());
}

pub async fn the_same_step_may_ask_again(h: Harness) {
    let (w, home) = World::new(h).await;
    let (first, again) = (w.wait("ask", 1), w.wait("ask", 3));
    let lease = waiting(&w, &home, std::slice::from_ref(&first)).await;
    answer(&w, &home, &lease, &first).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await.lease;
    let change = super::fixture::release(TaskStatus::NeedsReview, None, vec![again.clone()]);
    w.commit(&claimed, Commit { signals_seen: 1, ..w.changes(change) }).await;
    assert!(matches!(answer(&w, &home, &lease, &first).await, Err(ReviewRefused::NotWaiting)));
    answer(&w, &home, &lease, &again).await.unwrap();
    assert_eq!(w.due().await, [lease.task()]);
}
