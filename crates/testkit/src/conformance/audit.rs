//! The audit chain: whole, per tenant, written with what it explains.

use futures::future::join_all;
use kybern_core::audit::{self, AuditEvent, AuditReport, ChainStart, ChainVerifier, ChainedEvent, PURGED};
use kybern_core::retention::TaskHold;
use kybern_core::task::{Commit, NewTask, TaskStatus};

use super::fixture::{HOUR, LONG, review};
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

async fn report(w: &World, home: &Home) -> AuditReport {
    audit::verify(w.store(), home.scope, w.harness.keys.audit_key(home.scope.tenant())).await.unwrap()
}

/// Lets the chain begin later, as an admin does who has exported it.
async fn shorten(w: &World, home: &Home, from: &ChainStart, to: &ChainStart) -> bool {
    let event = AuditEvent { detail: to.detail(to.seq - from.seq, w.now()), ..w.event(PURGED) };
    w.store().purge_audit(home.scope, from, to, w.now(), event).await.unwrap()
}

pub async fn the_beginning_of_a_chain_is_removed_and_the_rest_is_whole(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    for n in 2..=9 {
        for home in [&home, &other] {
            w.store().append_audit(home.scope, w.now(), w.event(&format!("test.{n}"))).await.unwrap();
        }
    }
    let (store, scope) = (w.store(), home.scope);
    let start = store.audit_start(scope).await.unwrap();
    assert_eq!(start, ChainStart::default());
    assert_eq!(store.drop_purged_audit(scope, 100).await.unwrap(), 0, "nothing was given up");
    let later = w.now().plus(HOUR);
    assert_eq!(store.audit_purgeable(scope, 5, w.now().minus(HOUR)).await.unwrap(), None, "nothing is that old");
    let to = store.audit_purgeable(scope, 5, later).await.unwrap().unwrap();
    assert_eq!((to.seq, &to.hash), (5, &chain(&w, &home).await[4].hash));
    assert!(shorten(&w, &home, &start, &to).await);
    assert!(!shorten(&w, &home, &start, &to).await, "it does not begin there any more");
    // Whether the events before are still there or not, the chain is whole.
    for left in [5, 2, 0] {
        assert_eq!(chain(&w, &home).await.len(), left + 5);
        let found = report(&w, &home).await;
        assert_eq!((found.length, found.removed_to, found.faults), (10, 5, Vec::new()));
        store.drop_purged_audit(scope, if left == 5 { 3 } else { 100 }).await.unwrap();
    }
    // It grows, and is removed further.
    store.append_audit(scope, w.now(), w.event("test.11")).await.unwrap();
    let further = store.audit_purgeable(scope, 7, later).await.unwrap().unwrap();
    assert!(shorten(&w, &home, &to, &further).await);
    assert_eq!(store.drop_purged_audit(scope, 100).await.unwrap(), 2);
    let found = report(&w, &home).await;
    assert_eq!((found.length, found.removed_to, found.valid), (12, 7, true), "{found:?}");
    assert_eq!(store.audit_purgeable(scope, 7, later).await.unwrap(), None);
    assert_eq!((report(&w, &other).await.length, report(&w, &other).await.valid), (9, true));
    assert_eq!(chain(&w, &other).await.len(), 9);
}

pub async fn events_as_young_as_what_is_open_or_on_hold_stay(h: Harness) {
    let (w, home) = World::new(h).await;
    let (store, scope) = (w.store(), home.scope);
    let (soon, after) = (w.now().plus(HOUR), w.now().plus(HOUR).plus(HOUR));
    let task = NewTask { at: soon, ..w.new_task() };
    let lease = w.leased_as(&home, task, "w", LONG).await.lease;
    store.append_audit(scope, after, w.event("test.young")).await.unwrap();
    let later = after.plus(HOUR);
    let last = store.audit_head(scope).await.unwrap().unwrap().0;
    let old = async || store.audit_purgeable(scope, last, later).await.unwrap().map(|to| to.seq);
    // The tenant's creation is older than the task.
    assert_eq!(old().await, Some(1));
    w.end(&lease, TaskStatus::Completed).await;
    assert_eq!(old().await, Some(last));
    let hold = TaskHold {
        task_id: lease.task(),
        reason: "a claim".to_owned(),
        held_by: "user:1".to_owned(),
        held_at: w.now(),
    };
    store.hold_task(scope, &hold, w.event("task.hold")).await.unwrap();
    assert_eq!(old().await, Some(1));
    store.release_task(scope, lease.task(), w.now(), w.event("task.release")).await.unwrap();
    assert_eq!(old().await, Some(last));
}

pub async fn a_chain_whose_beginning_went_without_an_export_is_found(h: Harness) {
    let (w, home) = World::new(h).await;
    for n in 2..=5 {
        w.store().append_audit(home.scope, w.now(), w.event(&format!("test.{n}"))).await.unwrap();
    }
    let to = w.store().audit_purgeable(home.scope, 3, w.now().plus(HOUR)).await.unwrap().unwrap();
    // Whoever can write the database lets it begin later; nobody without the key writes the event that says so.
    let start = ChainStart::default();
    assert!(w.store().purge_audit(home.scope, &start, &to, w.now(), w.event("test.other")).await.unwrap());
    w.store().drop_purged_audit(home.scope, 100).await.unwrap();
    let found = report(&w, &home).await;
    assert_eq!(found.faults.iter().map(|fault| fault.seq).collect::<Vec<_>>(), [3], "{found:?}");
}
