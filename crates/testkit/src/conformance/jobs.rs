//! Jobs: leased, retried, put to rest.

use std::collections::BTreeMap;

use kybern_core::id::JobId;
use kybern_core::job::{ClaimedJob, JobEnd, NewJob};
use kybern_core::slots::{TenantShare, WorkerCapacity};
use kybern_core::task::{Effect, WorkerId};
use kybern_core::time::Millis;
use serde_json::json;

use super::fixture::{HOUR, LONG, SHORT};
use super::{Harness, Home, World};

fn job(w: &World, key: Option<&str>, max_attempts: u32) -> NewJob {
    NewJob { payload: json!({"n": [1, null]}), dedupe_key: key.map(str::to_owned), max_attempts, ..w.job() }
}

/// How many jobs are dead.
pub(super) async fn dead_jobs(w: &World) -> i64 {
    w.store().dead_jobs().await.unwrap().iter().map(|(_, count)| count).sum()
}

async fn enqueue(w: &World, home: &Home, job: &NewJob) -> bool {
    w.store().enqueue(home.scope, job, w.now()).await.unwrap()
}

async fn claim(w: &World, lease: Millis) -> Vec<ClaimedJob> {
    w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), lease, w.now()).await.unwrap()
}

async fn claim_one(w: &World, lease: Millis) -> ClaimedJob {
    let mut found = claim(w, lease).await;
    assert_eq!(found.len(), 1, "exactly one job is due");
    found.remove(0)
}

async fn finish(w: &World, job: &ClaimedJob, end: JobEnd) -> bool {
    w.store().finish_job(job, end, w.now()).await.unwrap()
}

pub async fn a_job_is_claimed_when_it_is_due(h: Harness) {
    let (w, home) = World::new(h).await;
    let due = job(&w, None, 3);
    assert!(enqueue(&w, &home, &due).await);
    assert!(enqueue(&w, &home, &NewJob { due_at: w.now().plus(HOUR), ..job(&w, None, 3) }).await);
    let claimed = claim_one(&w, LONG).await;
    assert_eq!((claimed.id, &claimed.kind, &claimed.payload), (due.id, &due.kind, &due.payload));
    assert_eq!((claimed.attempt, claimed.max_attempts, claimed.scope()), (1, 3, home.scope));
    assert!(claim(&w, LONG).await.is_empty());
    assert!(finish(&w, &claimed, JobEnd::Done).await);
    assert!(claim(&w, LONG).await.is_empty());
    assert_eq!(dead_jobs(&w).await, 0);
}

pub async fn one_dedupe_key_is_one_job(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    assert!(enqueue(&w, &home, &job(&w, Some("k"), 1)).await);
    assert!(!enqueue(&w, &home, &job(&w, Some("k"), 1)).await);
    assert!(enqueue(&w, &home, &NewJob { kind: "test.other".to_owned(), ..job(&w, Some("k"), 1) }).await);
    assert!(enqueue(&w, &other, &job(&w, Some("k"), 1)).await);
    for claimed in claim(&w, LONG).await {
        assert!(finish(&w, &claimed, JobEnd::Done).await);
    }
    assert!(!enqueue(&w, &home, &job(&w, Some("k"), 1)).await, "also when it is done");
}

pub async fn a_retry_comes_at_its_time(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 5)).await;
    let first = claim_one(&w, LONG).await;
    let retry = |due_at| JobEnd::Retry { error: "busy".to_owned(), due_at };
    assert!(finish(&w, &first, retry(w.now())).await);
    let second = claim_one(&w, LONG).await;
    assert_eq!((second.id, second.attempt), (first.id, 2));
    assert!(finish(&w, &second, retry(w.now().plus(HOUR))).await);
    assert!(claim(&w, LONG).await.is_empty());
}

pub async fn a_job_that_is_put_off_keeps_its_tries(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 2)).await;
    let put_off = |due_at| JobEnd::PutOff { error: "its receiver is tried".to_owned(), due_at };
    for _ in 0..3 {
        let claimed = claim_one(&w, LONG).await;
        assert_eq!(claimed.attempt, 1);
        assert!(finish(&w, &claimed, put_off(w.now())).await);
        assert!(!finish(&w, &claimed, put_off(w.now())).await, "its lease was given back");
    }
    assert!(finish(&w, &claim_one(&w, LONG).await, put_off(w.now().plus(HOUR))).await);
    assert!(claim(&w, LONG).await.is_empty());
}

/// At once where the database keeps the time, else when the next process starts.
pub async fn a_job_that_a_clock_ahead_has_put_off_is_due(h: Harness) {
    let (w, home) = World::new(h).await;
    let early = w.now();
    enqueue(&w, &home, &job(&w, None, 2)).await;
    w.harness.clock.set(early.plus(Millis(24 * HOUR.0)));
    let claimed = claim_one(&w, LONG).await;
    let put_off = JobEnd::PutOff { error: "its receiver is not answering".to_owned(), due_at: w.now() };
    assert!(finish(&w, &claimed, put_off).await);
    w.harness.clock.set(early);
    if !w.harness.db_clock {
        assert!(claim(&w, LONG).await.is_empty());
        assert_eq!(w.store().take_over_jobs(w.now()).await.unwrap(), 1);
    }
    assert_eq!(claim_one(&w, LONG).await.id, claimed.id);
}

pub async fn a_dead_job_rests(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 5)).await;
    let claimed = claim_one(&w, LONG).await;
    assert!(finish(&w, &claimed, JobEnd::Dead { error: "no such handler".to_owned() }).await);
    assert_eq!(dead_jobs(&w).await, 1);
    assert!(claim(&w, LONG).await.is_empty());
    assert!(!finish(&w, &claimed, JobEnd::Done).await);
}

pub async fn an_expired_lease_counts_as_a_try_and_after_the_last_one_the_job_is_wound_up(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 2)).await;
    let first = claim_one(&w, SHORT).await;
    let again = async || claim(&w, SHORT).await.pop();
    let second = w.harness.after(Millis(SHORT.0 + 1), again).await;
    assert_eq!((second.attempt, second.id), (2, first.id));
    assert!(!finish(&w, &first, JobEnd::Done).await, "its lease is somebody else's");
    // Whoever winds it up may die as well, so it is claimed until somebody has said how it ended.
    for attempt in [3, 4] {
        let winding_up = w.harness.after(Millis(SHORT.0 + 1), again).await;
        assert_eq!((winding_up.attempt, winding_up.max_attempts, winding_up.id), (attempt, 2, first.id));
        assert_eq!(dead_jobs(&w).await, 0, "nobody has said so");
    }
    let last = w.harness.after(Millis(SHORT.0 + 1), async || claim(&w, LONG).await.pop()).await;
    assert!(!finish(&w, &second, JobEnd::Done).await);
    assert!(finish(&w, &last, JobEnd::Dead { error: "the worker died".to_owned() }).await);
    assert_eq!(dead_jobs(&w).await, 1);
    assert!(claim(&w, LONG).await.is_empty());
}

pub async fn a_lease_is_prolonged_by_its_holder_only(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 5)).await;
    let renew = async |job: &ClaimedJob, lease| w.store().renew_job(job, lease, w.now()).await.unwrap();
    let first = claim_one(&w, SHORT).await;
    assert!(renew(&first, LONG).await);
    enqueue(&w, &home, &job(&w, None, 5)).await;
    let other = w.harness.after(Millis(SHORT.0 + 1), async || claim(&w, LONG).await.pop()).await;
    assert_ne!(other.id, first.id, "the first one is held");
    assert!(renew(&first, SHORT).await, "it was never lost");
    let second = w.harness.after(Millis(SHORT.0 + 1), async || claim(&w, LONG).await.pop()).await;
    assert_eq!((second.id, second.attempt), (first.id, 2));
    assert!(!renew(&first, LONG).await, "its lease is somebody else's");
    let elsewhere = ClaimedJob { scope: w.tenant("second").await.scope, ..second.clone() };
    assert!(!renew(&elsewhere, LONG).await);
    let retry = JobEnd::Retry { error: "busy".to_owned(), due_at: w.now() };
    assert!(finish(&w, &second, retry).await);
    assert!(!renew(&second, LONG).await, "it was given back");
    assert!(finish(&w, &claim_one(&w, LONG).await, JobEnd::Done).await);
}

pub async fn a_job_comes_with_the_commit_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let keyed = |n: u32| Effect::Enqueue(Box::new(job(&w, Some("k"), n)));
    w.commit(&lease, w.effects(vec![keyed(1), keyed(2)])).await;
    w.commit(&lease, w.effects(vec![keyed(3)])).await;
    assert_eq!(claim_one(&w, LONG).await.max_attempts, 1);
}

pub async fn jobs_are_shared_out_among_tenants(h: Harness) {
    let (w, flood) = World::new(h).await;
    let other = w.tenant("second").await;
    let since = |back: u64| NewJob { due_at: w.now().minus(Millis(back * 1000)), ..job(&w, None, 3) };
    for back in 100..130 {
        enqueue(&w, &flood, &since(back)).await;
    }
    let late = [since(2), since(1)];
    for job in &late {
        enqueue(&w, &other, job).await;
    }
    let claim = async |offer: WorkerCapacity| {
        let claimed = w.store().claim_jobs(&WorkerId::new("w"), &offer, LONG, w.now()).await.unwrap();
        let of_flood = claimed.iter().filter(|job| job.scope().tenant() == flood.scope.tenant()).count();
        let others = claimed.iter().filter(|job| job.scope().tenant() != flood.scope.tenant()).map(|job| job.id);
        (of_flood, others.collect::<Vec<_>>())
    };
    let holding = |held, limit, free| {
        let held = BTreeMap::from([(flood.scope.tenant(), held)]);
        WorkerCapacity { free, share: TenantShare::default(), held, ..WorkerCapacity::of(limit) }
    };
    assert_eq!(claim(holding(1, 1, 8)).await, (0, vec![late[0].id]));
    assert_eq!(claim(holding(0, 2, 8)).await, (1, vec![late[1].id]));
    assert_eq!(claim(holding(0, 16, 16)).await, (12, vec![]), "its share, and the rest is for others");
    assert_eq!(claim(holding(12, 4, 4)).await, (0, vec![]));
    assert_eq!(claim(WorkerCapacity::of(40)).await, (17, vec![]));
}

pub async fn eight_workers_never_claim_the_same_job(h: Harness) {
    let (w, home) = World::new(h).await;
    for _ in 0..40 {
        enqueue(&w, &home, &job(&w, None, 1)).await;
    }
    let now = w.now();
    let claims =
        (0..8).map(|n| {
            let store = w.shared();
            async move {
                store.claim_jobs(&WorkerId::new(&format!("w{n}")), &WorkerCapacity::of(10), LONG, now).await.unwrap()
            }
        });
    let mut ids: Vec<JobId> = futures::future::join_all(claims).await.into_iter().flatten().map(|job| job.id).collect();
    loop {
        let rest = claim(&w, LONG).await;
        if rest.is_empty() {
            break;
        }
        ids.extend(rest.into_iter().map(|job| job.id));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}

/// Only where one process owns the store.
pub async fn take_over_makes_leased_jobs_claimable(h: Harness) {
    let (w, home) = World::new(h).await;
    enqueue(&w, &home, &job(&w, None, 3)).await;
    claim_one(&w, LONG).await;
    let taken = w.store().take_over_jobs(w.now()).await.unwrap();
    if w.harness.db_clock {
        assert_eq!((taken, claim(&w, LONG).await.len()), (0, 0), "other workers may hold leases");
    } else {
        assert_eq!((taken, claim_one(&w, LONG).await.attempt), (1, 2));
    }
}
