//! Messages: committed with their step, with the job that sends them.

use std::collections::BTreeSet;

use kybern_core::id::OutboxId;
use kybern_core::outbox::{NewOutbox, OutboxChannel, OutboxStatus};
use kybern_core::slots::Offer;
use kybern_core::task::{Commit, Effect, Lease, WorkerId};
use serde_json::json;

use super::fixture::LONG;
use super::{Harness, World};

pub(super) fn message(w: &World) -> NewOutbox {
    let id = OutboxId::from_uuid(w.id());
    NewOutbox {
        id,
        channel: OutboxChannel::Email,
        target: "someone@example.com".to_owned(),
        key: format!("key of {id}"),
        body: json!({"subject": "Grüße", "body": "…"}),
    }
}

async fn send(w: &World, lease: &Lease) -> NewOutbox {
    let message = message(w);
    w.commit(lease, w.effects(vec![Effect::Send(Box::new(message.clone()))])).await;
    message
}

pub async fn outbox_row_and_its_job_come_with_the_commit(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let message = message(&w);
    let commit = Commit { rows: vec![w.row(1)], ..w.effects(vec![Effect::Send(Box::new(message.clone()))]) };
    let at = commit.at;
    w.commit(&lease, commit).await;
    let stored = w.store().outbox_message(home.scope, message.id).await.unwrap().unwrap();
    assert_eq!((&stored.message, stored.task_id, stored.status), (&message, Some(lease.task()), OutboxStatus::Pending));
    assert_eq!((stored.attempts, stored.error, stored.created_at, stored.sent_at), (0, None, at, None));
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &Offer::of(10), LONG, w.now()).await.unwrap();
    let told: Vec<_> = jobs.iter().map(|job| (job.kind.as_str(), job.payload.clone(), job.scope())).collect();
    assert_eq!(told, [("outbox.send", json!({"outboxId": message.id}), home.scope)]);
}

pub async fn a_message_moves_only_from_where_it_is(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let id = send(&w, &lease).await.id;
    let go = async |from, to, error| w.store().move_outbox(home.scope, id, from, to, error, w.now()).await.unwrap();
    assert!(!go(OutboxStatus::Sending, OutboxStatus::Sent, None).await);
    assert!(go(OutboxStatus::Pending, OutboxStatus::Sending, None).await);
    assert!(!go(OutboxStatus::Pending, OutboxStatus::Sending, None).await, "two senders never both begin");
    assert!(go(OutboxStatus::Sending, OutboxStatus::Pending, Some("busy")).await);
    let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
    assert_eq!((stored.attempts, stored.error.as_deref(), stored.sent_at), (1, Some("busy"), None));
    assert!(go(OutboxStatus::Pending, OutboxStatus::Sending, None).await);
    assert!(go(OutboxStatus::Sending, OutboxStatus::Sent, None).await);
    let stored = w.store().outbox_message(home.scope, id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.attempts, stored.sent_at.is_some()), (OutboxStatus::Sent, 2, true));
    let unknown = OutboxId::from_uuid(w.id());
    let moved = w.store().move_outbox(home.scope, unknown, OutboxStatus::Pending, OutboxStatus::Sending, None, w.now());
    assert!(!moved.await.unwrap());
}

pub async fn pages_of_the_outbox_visit_each_once_newest_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let mut all = Vec::new();
    for _ in 0..17 {
        all.push(send(&w, &lease).await.id);
    }
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let page = w.store().outbox(home.scope, None, before, 5).await.unwrap();
        assert!(page.items.len() <= 5);
        seen.extend(page.items.iter().map(|stored| stored.message.id));
        let Some(next) = page.next else { break };
        before = Some(next.parse().unwrap());
    }
    all.reverse();
    assert_eq!(seen, all);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 17);
}
