//! Retention: what is over and old is removed, and nothing else.

use bytes::Bytes;
use kybern_core::error::{ErrorCode, Result};
use kybern_core::job::{JobEnd, NewJob};
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::Idempotent;
use kybern_core::retention::{Purge, PurgePass, Purged, RetentionKind};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Effect, TaskStatus, WorkerId, limits};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Value, json};

use super::fixture::{HOUR, LONG};
use super::jobs::dead_jobs;
use super::{FullHarness, Harness, Home, World};

/// A removal of all that is over by now.
pub(super) fn all(w: &World, kept: RetentionKind) -> Purge {
    Purge { kept, before: w.now().plus(HOUR), holds: Vec::new(), dry_run: false }
}

pub(super) async fn purge(w: &World, purge: &Purge) -> Vec<Purged> {
    tried(w, purge, w.now()).await.unwrap()
}

/// The same at a moment of its own.
pub(super) async fn tried(w: &World, purge: &Purge, at: Timestamp) -> Result<Vec<Purged>> {
    let mut round = PurgePass::begin(w.store(), purge.clone(), at).await?;
    while round.step(w.store()).await?.is_some() {}
    Ok(round.purged())
}

async fn enqueue(w: &World, home: &Home, key: &str) {
    let job = NewJob { dedupe_key: Some(key.to_owned()), ..w.job() };
    assert!(w.store().enqueue(home.scope, &job, w.now()).await.unwrap());
}

/// Ends every job that is due in this way.
async fn end_jobs(w: &World, end: JobEnd) -> usize {
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(1000), LONG, w.now()).await.unwrap();
    for job in &jobs {
        assert!(w.store().finish_job(job, end.clone(), w.now()).await.unwrap());
    }
    jobs.len()
}

/// What the tenant's audit says of removals.
pub(super) async fn audited(w: &World, home: &Home) -> Vec<Value> {
    let events = w.store().audit_events(home.scope, 0, 200).await.unwrap();
    let purges = events.into_iter().filter(|link| link.event.action == "retention.purge");
    purges.map(|link| json!([link.event.detail["kind"], link.event.detail["count"]])).collect()
}

pub async fn ended_jobs_are_removed_and_open_ones_stay(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    enqueue(&w, &home, "done").await;
    enqueue(&w, &other, "done").await;
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 2);
    enqueue(&w, &home, "dead").await;
    assert_eq!(end_jobs(&w, JobEnd::Dead { error: "no".to_owned() }).await, 1);
    enqueue(&w, &home, "later").await;
    assert_eq!(end_jobs(&w, JobEnd::Retry { error: "busy".to_owned(), due_at: w.now() }).await, 1);
    let long_ago = Purge { before: w.now().minus(HOUR), ..all(&w, RetentionKind::Jobs) };
    assert_eq!(purge(&w, &long_ago).await, [], "nothing is that old");
    let mut purged = purge(&w, &all(&w, RetentionKind::Jobs)).await;
    purged.sort_by_key(|purged| purged.count);
    let counts: Vec<_> = purged.iter().map(|purged| (purged.tenant, purged.count)).collect();
    assert_eq!(counts, [(other.scope.tenant(), 1), (home.scope.tenant(), 2)]);
    assert_eq!(purge(&w, &all(&w, RetentionKind::Jobs)).await, []);
    assert_eq!(dead_jobs(&w).await, 0);
    assert_eq!(audited(&w, &home).await, [json!(["jobs", 2])]);
    assert_eq!(audited(&w, &other).await, [json!(["jobs", 1])]);
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 1, "what was open is there");
    enqueue(&w, &home, "done").await;
}

pub async fn messages_with_an_end_are_removed_and_open_ones_stay(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let ends = [
        None,
        Some(OutboxStatus::Sent),
        Some(OutboxStatus::Failed),
        Some(OutboxStatus::Uncertain),
        Some(OutboxStatus::Sending),
        Some(OutboxStatus::Kept),
    ];
    for end in ends {
        let message = super::outbox::message(&w);
        let id = message.id;
        w.commit(&lease, w.effects(vec![Effect::Send(Box::new(message))])).await;
        if let Some(end) = end {
            let pending = OutboxStatus::Pending;
            assert!(w.store().move_outbox(home.scope, id, (pending, end), None, None, w.now()).await.unwrap());
        }
    }
    let long_ago = Purge { before: w.now().minus(HOUR), ..all(&w, RetentionKind::Messages) };
    assert_eq!(purge(&w, &long_ago).await, []);
    let removed = Purged { tenant: home.scope.tenant(), count: 4 };
    assert_eq!(purge(&w, &all(&w, RetentionKind::Messages)).await, [removed]);
    let left = w.store().outbox(home.scope, None, None, 50).await.unwrap().items;
    let mut left: Vec<_> = left.iter().map(|message| message.status.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["pending", "sending"]);
    assert_eq!(audited(&w, &home).await, [json!(["messages", 4])]);
}

pub async fn what_is_on_hold_is_never_removed(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    enqueue(&w, &home, "a").await;
    enqueue(&w, &other, "a").await;
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 2);
    let holding = |names: [&str; 2]| Purge { holds: names.map(str::to_owned).to_vec(), ..all(&w, RetentionKind::Jobs) };
    let misspelt = tried(&w, &holding(["Tenant first", "secnd"]), w.now()).await;
    assert_eq!(misspelt.unwrap_err().code(), ErrorCode::NotFound, "a hold on nobody removes nothing");
    assert_eq!(purge(&w, &holding(["Tenant first", "second"])).await, []);
    let hold = Purge { holds: vec!["second".to_owned()], ..all(&w, RetentionKind::Jobs) };
    assert_eq!(purge(&w, &hold).await, [Purged { tenant: home.scope.tenant(), count: 1 }]);
    assert_eq!(purge(&w, &all(&w, RetentionKind::Jobs)).await, [Purged { tenant: other.scope.tenant(), count: 1 }]);
}

pub async fn tenants_have_times_of_their_own(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let round = async |own: &[(&str, Option<Timestamp>)], before: Option<Timestamp>| -> Result<Vec<Purged>> {
        let own = own.iter().map(|(name, before)| ((*name).to_owned(), *before)).collect();
        let mut round = PurgePass::begin_with(w.store(), all(&w, RetentionKind::Jobs), &own, before, w.now()).await?;
        while round.step(w.store()).await?.is_some() {}
        Ok(round.purged())
    };
    for tenant in [&home, &other] {
        enqueue(&w, tenant, "a").await;
    }
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 2);
    let (soon, long_ago) = (Some(w.now().plus(HOUR)), Some(w.now().minus(HOUR)));
    let misspelt = round(&[("second", soon), ("secnd", None)], soon).await;
    assert_eq!(misspelt.unwrap_err().code(), ErrorCode::NotFound, "the times of nobody remove nothing");
    assert_eq!(round(&[("Tenant first", long_ago), ("second", None)], soon).await.unwrap(), [], "both keep theirs");
    assert_eq!(
        round(&[("Tenant first", soon)], None).await.unwrap(),
        [Purged { tenant: home.scope.tenant(), count: 1 }]
    );
    let twice = [("second", soon), ("Tenant second", None)];
    assert_eq!(round(&twice, soon).await.unwrap(), [], "named twice, it keeps what either keeps");
    assert_eq!(round(&twice[..1], long_ago).await.unwrap(), [Purged { tenant: other.scope.tenant(), count: 1 }]);

    // Another tenant whose name is the slug of one has no part in that one's times.
    let alike = w.tenant_called("third", "second").await;
    for tenant in [&other, &alike] {
        enqueue(&w, tenant, "b").await;
    }
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 2);
    assert_eq!(
        round(&[("second", soon)], None).await.unwrap(),
        [Purged { tenant: other.scope.tenant(), count: 1 }],
        "the slug's own tenant"
    );
    assert_eq!(round(&[("third", soon)], None).await.unwrap(), [Purged { tenant: alike.scope.tenant(), count: 1 }]);
}

pub async fn a_large_removal_is_many_small_ones(h: Harness) {
    let (w, home) = World::new(h).await;
    for n in 0..250 {
        enqueue(&w, &home, &n.to_string()).await;
    }
    while end_jobs(&w, JobEnd::Done).await > 0 {}
    assert_eq!(purge(&w, &all(&w, RetentionKind::Jobs)).await, [Purged { tenant: home.scope.tenant(), count: 250 }]);
    let counts: i64 = audited(&w, &home).await.iter().map(|told| told[1].as_i64().unwrap()).sum();
    assert_eq!(counts, 250);
    let again = async || tried(&w, &all(&w, RetentionKind::Jobs), w.now().plus(Millis(1))).await.unwrap();
    assert_eq!(again().await, []);
}

pub async fn expired_idempotency_keys_are_removed_and_live_ones_stay(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let name = |key: &'static str| ("user:1", "POST /api/tasks", key);
    for key in ["answered", "live"] {
        w.store().take_key(home.scope, name(key), "body", Some(w.id()), w.now()).await.unwrap();
    }
    // Whoever answers takes the expired ones away, so the one that ends soon comes last.
    for (key, keep) in [("live", Millis(3 * HOUR.0)), ("answered", Millis(1))] {
        w.store().answer_key(home.scope, name(key), Some((200, "{}")), keep, w.now()).await.unwrap();
    }
    let long_before = w.now().minus(Millis(limits::KEY_LIFE.0 + 1));
    w.store().take_key(home.scope, name("never"), "body", Some(w.id()), long_before).await.unwrap();
    let keys = all(&w, RetentionKind::IdempotencyKeys);
    let long_ago = Purge { before: w.now().minus(HOUR), ..keys.clone() };
    assert_eq!(purge(&w, &long_ago).await, []);
    assert_eq!(purge(&w, &keys).await, [Purged { tenant: home.scope.tenant(), count: 2 }]);
    assert_eq!(audited(&w, &home).await, [json!(["idempotency_keys", 2])]);
    let known = w.store().take_key(home.scope, name("live"), "body", Some(w.id()), w.now()).await.unwrap();
    assert_eq!(known, Idempotent::Answered(200, "{}".to_owned()));
}

pub async fn a_dry_run_counts_and_removes_nothing(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.end(&lease, TaskStatus::Completed).await;
    w.leased(&home, "w").await;
    enqueue(&w, &home, "a").await;
    assert_eq!(end_jobs(&w, JobEnd::Done).await, 1);
    w.store().put_blob(home.scope, Bytes::from_static(b"a file of nobody")).await.unwrap();
    let long_before = w.now().minus(Millis(limits::KEY_LIFE.0 + 1));
    w.store().take_key(home.scope, ("user:1", "POST /", "k"), "body", Some(w.id()), long_before).await.unwrap();
    let chat = w.chat(&home, None).await;
    for kept in [
        RetentionKind::Tasks,
        RetentionKind::Jobs,
        RetentionKind::Files,
        RetentionKind::IdempotencyKeys,
        RetentionKind::Chats,
    ] {
        let counting = Purge { dry_run: true, ..all(&w, kept) };
        for _ in 0..2 {
            let counted = purge(&w, &counting).await;
            assert_eq!(counted, [Purged { tenant: home.scope.tenant(), count: 1 }], "{kept:?}");
        }
    }
    assert!(w.store().chat(home.scope, chat).await.unwrap().is_some());
    assert!(w.store().task(home.scope, lease.task()).await.unwrap().is_some());
    assert_eq!(audited(&w, &home).await, Vec::<Value>::new());
}
