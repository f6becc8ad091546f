//! Claiming: what is due, once, oldest first, under a new epoch.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::slots::{TenantShare, WorkerCapacity};
use kybern_core::task::{NewTask, TaskStatus, WorkerId};
use kybern_core::time::Millis;

use super::fixture::{HOUR, LONG, SHORT};
use super::{Harness, Home, World};

pub async fn claim_takes_expired_and_due_only(h: Harness) {
    let (w, home) = World::new(h).await;
    let queued = w.queued(&home, w.new_task()).await.id;
    let expiring = w.leased_as(&home, w.new_task(), "dead", SHORT).await.task.id;
    w.leased(&home, "alive").await;
    let later = w.leased(&home, "w").await;
    w.release(&later, TaskStatus::Executing, Some(w.now().plus(HOUR)), vec![]).await;
    let past_due = w.leased(&home, "w").await;
    w.release(&past_due, TaskStatus::Executing, Some(w.now()), vec![]).await;
    let asleep = w.leased(&home, "w").await;
    w.release(&asleep, TaskStatus::Delegated, None, vec![]).await;
    let ended = w.leased(&home, "w").await;
    w.end(&ended, TaskStatus::Completed).await;

    let mut found = BTreeSet::new();
    for claimed in w.claim("second", 50).await {
        found.insert(claimed.task.id);
    }
    if !found.contains(&expiring) {
        found.insert(w.taken_over(expiring, "second").await.task.id);
    }
    assert_eq!(found, BTreeSet::from([queued, expiring, past_due.task()]));
    assert!(w.due().await.is_empty());
}

pub async fn longest_due_is_claimed_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let now = w.now();
    let mut due = Vec::new();
    for back in [3, 1, 4, 2, 5] {
        let lease = w.leased(&home, "w").await;
        let at = now.minus(Millis(back * 1000));
        w.release(&lease, TaskStatus::Executing, Some(at), vec![]).await;
        due.push((at, lease.task()));
    }
    due.sort_unstable();
    let order: Vec<TaskId> = due.into_iter().map(|(_, id)| id).collect();
    let first = w.claim("w", 2).await;
    assert_eq!(
        first.iter().map(|claimed| claimed.task.id).collect::<BTreeSet<_>>(),
        order[..2].iter().copied().collect()
    );
    assert_eq!(w.due().await.into_iter().collect::<BTreeSet<_>>(), order[2..].iter().copied().collect());
}

pub async fn a_claim_is_no_larger_than_asked(h: Harness) {
    let (w, home) = World::new(h).await;
    for _ in 0..5 {
        w.queued(&home, w.new_task()).await;
    }
    assert_eq!(w.claim("w", 3).await.len(), 3);
    assert_eq!(w.claim("w", 3).await.len(), 2);
    assert_eq!(w.claim("w", 3).await.len(), 0);
}

pub async fn eight_workers_never_claim_the_same_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut all = BTreeSet::new();
    for _ in 0..60 {
        all.insert(w.queued(&home, w.new_task()).await.id);
    }
    let worker = |n: usize| {
        let (store, now) = (w.shared(), w.now());
        async move {
            let (me, mut mine) = (WorkerId::new(&format!("worker {n}")), Vec::new());
            loop {
                let found = store.claim_due(&me, &WorkerCapacity::of(4), LONG, now).await.unwrap();
                if found.is_empty() {
                    return mine;
                }
                assert!(found.iter().all(|claimed| *claimed.lease.worker() == me && claimed.lease.epoch() == 1));
                mine.extend(found.into_iter().map(|claimed| claimed.task.id));
            }
        }
    };
    let claimed: Vec<TaskId> = join_all((0..8).map(worker)).await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 60, "no task twice");
    // A claim that skipped a task that another was just looking at may have found nothing.
    let rest = w.due().await;
    assert_eq!(claimed.into_iter().chain(rest).collect::<BTreeSet<_>>(), all);
}

pub async fn a_claim_keeps_the_status_and_raises_the_epoch(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let wait = w.wait("ask", 1);
    w.release(&lease, TaskStatus::NeedsReview, Some(w.now()), vec![wait.clone()]).await;
    let claimed = w.claim_only("second", lease.task()).await;
    assert_eq!((claimed.task.status, claimed.lease.epoch()), (TaskStatus::NeedsReview, 2));
    assert_eq!((claimed.task.waits.as_slice(), claimed.task.epoch), ([wait].as_slice(), 2));
    assert_eq!(claimed.task, w.task(&home, lease.task()).await, "the row as it stands after the claim");
}

pub async fn the_first_claim_starts_a_task(h: Harness) {
    let (w, home) = World::new(h).await;
    let task = w.queued(&home, w.new_task()).await;
    assert_eq!(task.started_at, None);
    let first = w.claim_only("w", task.id).await;
    assert!(first.task.started_at.is_some());
    w.release(&first.lease, TaskStatus::Executing, Some(w.now()), vec![]).await;
    let second = w.claim_only("w", task.id).await;
    assert_eq!(second.task.started_at, first.task.started_at);
}

pub async fn claims_are_of_all_tenants(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    w.queued(&home, w.new_task()).await;
    w.queued(&other, w.new_task()).await;
    let scopes: Vec<_> = w.claim("w", 10).await.into_iter().map(|claimed| claimed.lease.scope()).collect();
    assert!(scopes.len() == 2 && scopes.contains(&home.scope) && scopes.contains(&other.scope));
}

/// Tasks of a tenant that have been due since so many seconds, the longest due first.
async fn due_since(w: &World, home: &Home, seconds: impl IntoIterator<Item = u64>) -> Vec<TaskId> {
    let mut due = Vec::new();
    for back in seconds {
        let task = NewTask { at: w.now().minus(Millis(back * 1000)), ..w.new_task() };
        due.push((task.at, w.queued(home, task).await.id));
    }
    due.sort_unstable();
    due.into_iter().map(|(_, id)| id).collect()
}

/// What is claimed of each tenant, in order.
async fn shared(w: &World, offer: &WorkerCapacity) -> BTreeMap<TenantId, Vec<TaskId>> {
    let mut by_tenant: BTreeMap<TenantId, Vec<TaskId>> = BTreeMap::new();
    for claimed in w.store().claim_due(&WorkerId::new("w"), offer, LONG, w.now()).await.unwrap() {
        assert_eq!(claimed.lease.scope().tenant(), claimed.task.tenant);
        by_tenant.entry(claimed.task.tenant).or_default().push(claimed.task.id);
    }
    by_tenant
}

pub async fn a_tenant_that_floods_is_not_in_front_of_the_others(h: Harness) {
    let (w, flood) = World::new(h).await;
    let (second, third) = (w.tenant("second").await, w.tenant("third").await);
    let (a, b, c) = (flood.scope.tenant(), second.scope.tenant(), third.scope.tenant());
    let flooding = due_since(&w, &flood, 100..130).await;
    let waiting = due_since(&w, &second, [5, 50, 20]).await;
    let last = due_since(&w, &third, [1]).await;
    let first = shared(&w, &WorkerCapacity::of(4)).await;
    assert_eq!(first[&a], flooding[..2], "it has waited longest");
    assert_eq!((&first[&b], &first[&c]), (&waiting[..1].to_vec(), &last));
    let next = shared(&w, &WorkerCapacity::of(4)).await;
    assert_eq!((&next[&a], &next[&b]), (&flooding[2..4].to_vec(), &waiting[1..].to_vec()));
    assert_eq!(shared(&w, &WorkerCapacity::of(40)).await, BTreeMap::from([(a, flooding[4..].to_vec())]));
}

pub async fn who_holds_fewer_slots_comes_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let (a, b) = (home.scope.tenant(), other.scope.tenant());
    let old = due_since(&w, &home, 100..110).await;
    let new = due_since(&w, &other, 1..4).await;
    let offer = |held: u32| WorkerCapacity { held: BTreeMap::from([(a, held)]), ..WorkerCapacity::of(2) };
    assert_eq!(shared(&w, &offer(2)).await, BTreeMap::from([(b, new[..2].to_vec())]));
    let one_each = shared(&w, &offer(0)).await;
    assert_eq!((&one_each[&a][..], &one_each[&b][..]), (&old[..1], &new[2..]));
}

pub async fn a_tenant_gets_no_more_than_its_share(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let (a, b) = (home.scope.tenant(), other.scope.tenant());
    due_since(&w, &home, 100..130).await;
    let share = TenantShare::default();
    let offer =
        |held: u32, free| WorkerCapacity { share, held: BTreeMap::from([(a, held)]), ..WorkerCapacity::of(free) };
    let first = shared(&w, &offer(0, 16)).await;
    assert_eq!(first.iter().map(|(tenant, tasks)| (*tenant, tasks.len())).collect::<Vec<_>>(), [(a, 12)]);
    assert!(shared(&w, &offer(12, 4)).await.is_empty(), "the rest is for others");
    let late = due_since(&w, &other, 1..9).await;
    assert_eq!(shared(&w, &offer(12, 4)).await, BTreeMap::from([(b, late[..3].to_vec())]));
    assert_eq!(shared(&w, &offer(0, 2)).await.len(), 2);
}
