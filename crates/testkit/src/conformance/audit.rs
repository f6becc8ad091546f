//! The audit chain: whole, per tenant, written with what it explains.

use futures::future::join_all;
use kybern_core::audit::{ChainVerifier, ChainedEvent};
use kybern_core::task::{Commit, TaskStatus};

use super::fixture::review;
use super::{Harness, Home, World};

async fn chain(w: &World, home: &Home) -> Vec<ChainedEvent> {
    let mut links: Vec<ChainedEvent> = Vec::new();
    loop {
        let after = links.last().map_or(0, |link| link.seq);
        let page = w.store().audit_events(home.scope, after, 3).await.unwrap();
        assert!(page.len() <= 3);
        if page.is_empty() {
            return links;
        }
        links.extend(page);
    }
}

async fn faults(w: &World, home: &Home) -> (i64, usize) {
    let mut verifier = ChainVerifier::new(w.harness.keys.audit_key(home.scope.tenant()));
    for link in chain(w, home).await {
        verifier.push(&link);
    }
    let (length, faults) = verifier.finish(w.store().audit_head(home.scope).await.unwrap());
    (length, faults.len())
}

pub async fn the_chain_is_whole_and_per_tenant(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    for n in 0..7 {
        let home = if n % 3 == 0 { &other } else { &home };
        w.store().append_audit(home.scope, w.now(), w.event(&format!("test.{n}"))).await.unwrap();
    }
    // One more each: the creation of the tenant.
    assert_eq!(faults(&w, &home).await, (5, 0));
    assert_eq!(faults(&w, &other).await, (4, 0));
    let actions: Vec<String> = chain(&w, &home).await.into_iter().map(|link| link.event.action).collect();
    assert_eq!(actions, ["tenant.create", "test.1", "test.2", "test.4", "test.5"]);
}

pub async fn parallel_events_stand_in_one_line(h: Harness) {
    let (w, home) = World::new(h).await;
    let appends = (0..40).map(|n| {
        let (store, event, now) = (w.shared(), w.event(&format!("test.{n}")), w.now());
        async move { store.append_audit(home.scope, now, event).await }
    });
    for answer in join_all(appends).await {
        answer.unwrap();
    }
    assert_eq!(faults(&w, &home).await, (41, 0));
}

pub async fn acts_are_audited_where_they_happen(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let audit = vec![w.event("one.done"), w.event("two.done")];
    w.commit(&lease, Commit { rows: vec![w.row(1)], audit, ..w.blank() }).await;
    let wait = w.wait("ask", 1);
    w.release(&lease, TaskStatus::NeedsReview, None, vec![wait.clone()]).await;
    w.store().answer(home.scope, lease.task(), &wait, review(&wait), w.event("task.review")).await.unwrap();
    w.store().set_paused(home.scope, lease.task(), true, w.now(), w.event("task.pause")).await.unwrap();
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    let actions: Vec<String> = chain(&w, &home).await.into_iter().map(|link| link.event.action).collect();
    let expected = ["tenant.create", "one.done", "two.done", "task.review", "task.pause", "task.cancel"];
    assert_eq!(actions, expected);
    assert_eq!(faults(&w, &home).await, (6, 0));
}
