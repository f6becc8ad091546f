//! Another tenant sees nothing and changes nothing, whatever ids it knows.

use bytes::Bytes;
use kybern_core::error::ErrorCode;
use kybern_core::id::{KeyId, OutboxId, PlanId, WebhookId};
use kybern_core::identity::OutboundWebhook;
use kybern_core::money::{NanoUsd, Usage};
use kybern_core::outbox::OutboxStatus;
use kybern_core::plan::StepId;
use kybern_core::plan::parse::plan as parse_plan;
use kybern_core::ports::{Heartbeat, ReviewRefused};
use kybern_core::record::{Expect, Lookup, PutRecord};
use kybern_core::task::{Commit, Effect, Lease, NewTask, Signal, TaskStatus, Wait};
use serde_json::json;

use super::fixture::{LONG, code, file, is_fenced, link, plan, retry, review};
use super::{Harness, Home, World};

/// What one tenant has, and another knows the ids of.
struct Estate {
    lease: Lease,
    wait: Wait,
    put: PutRecord,
    outbox: OutboxId,
    key: KeyId,
    webhook: WebhookId,
    blob: String,
}

/// Fills a tenant with one of everything; its task waits for a person and a workflow.
async fn settle(w: &World, home: &Home) -> Estate {
    let blob = w.store().put_blob(home.scope, Bytes::from_static(b"theirs")).await.unwrap();
    let task = NewTask { attachments: vec![file(&blob)], plan: Some(plan("test.plan").into()), ..w.new_task() };
    let lease = w.leased_as(home, task, "w", LONG).await.lease;
    let child = NewTask { parent: Some((lease.task(), "s".to_owned())), ..w.new_task() };
    w.leased_as(home, child, "w", LONG).await;
    let lookups = vec![Lookup::unique("DOT", "1")];
    let put = PutRecord { lookups, ..w.put("test.thing", "a", json!({"n": 1}), Expect::Absent) };
    let message = super::outbox::message(w);
    let outbox = message.id;
    w.store().begin_attempt(&lease, &w.attempt()).await.unwrap();
    let commit = Commit {
        rows: vec![w.row(1)],
        effects: vec![
            Effect::Put(Box::new(put.clone())),
            Effect::Link { link: link(&put), step: step(), tool: None },
            Effect::Send(Box::new(message)),
            Effect::Delegate(Box::new(w.delegation("wf-1"))),
        ],
        usage: Usage { cost_nanos: NanoUsd(5), ..Usage::default() },
        ..w.blank()
    };
    w.commit(&lease, commit).await;
    let wait = w.wait("ask", 2);
    w.release(&lease, TaskStatus::NeedsReview, None, vec![wait.clone(), w.wait("ask_more", 3)]).await;
    let answered = w.wait("ask_more", 3);
    w.store().answer(home.scope, lease.task(), &answered, review(&answered), w.event("x.y")).await.unwrap();
    let draft = json!({"key": "test.plan", "steps": [{"id": "only", "tool": "test.noop", "args": {}}]});
    let draft = parse_plan(&draft).expect("the draft is well-formed");
    w.store().put_plan(home.scope, PlanId::from_uuid(w.id()), draft, w.now(), w.event("x.y")).await.unwrap();
    let webhook = WebhookId::from_uuid(w.id());
    let (url, created_at) = ("https://x.example".to_owned(), w.now());
    let hook = OutboundWebhook { id: webhook, url, events: vec![], active: true, created_at };
    w.store().create_webhook(home.scope, &hook, w.event("x.y")).await.unwrap();
    let key = w.store().keys(home.scope).await.unwrap()[0].id;
    Estate { lease, wait, put, outbox, key, webhook, blob }
}

fn step() -> StepId {
    StepId::trusted("hand_over")
}

/// Everything of a tenant that can be read, as text: two of these are equal when nothing changed.
async fn survey(w: &World, home: &Home, estate: &Estate) -> String {
    let (store, scope, task) = (w.store(), home.scope, estate.lease.task());
    let kind = &estate.put.kind;
    format!(
        "{:#?}",
        (
            (store.task(scope, task).await.unwrap(), store.tasks(scope, &super::tasks::everything()).await.unwrap()),
            (store.journal(scope, task, 0, 10).await.unwrap(), store.signals(scope, task, 0).await.unwrap()),
            (store.attempts(scope, task).await.unwrap(), store.attachments(scope, task).await.unwrap()),
            (store.artifacts(scope, task).await.unwrap(), store.children(scope, task).await.unwrap()),
            (store.usage_of_tree(scope, task).await.unwrap(), store.records(scope, kind, None, 9).await.unwrap()),
            (store.outbox(scope, None, None, 9).await.unwrap(), store.plans(scope).await.unwrap()),
            (store.users(scope).await.unwrap(), store.keys(scope).await.unwrap()),
            (store.webhooks(scope).await.unwrap(), store.audit_head(scope).await.unwrap()),
            (store.blob(scope, &estate.blob).await.unwrap(), w.harness.keys.callback_secret("wf-1")),
        )
    )
}

pub async fn another_tenant_reads_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let estate = settle(&w, &home).await;
    let (other, store, task) = (w.tenant("second").await, w.store(), estate.lease.task());
    let scope = other.scope;
    let kind = estate.put.kind.as_str();
    assert_eq!(store.task(scope, task).await.unwrap(), None);
    assert!(store.tasks(scope, &super::tasks::everything()).await.unwrap().items.is_empty());
    assert!(store.journal(scope, task, 0, 10).await.unwrap().is_empty());
    assert!(store.signals(scope, task, 0).await.unwrap().is_empty());
    assert!(store.attempts(scope, task).await.unwrap().is_empty());
    assert!(store.attachments(scope, task).await.unwrap().is_empty());
    assert!(store.artifacts(scope, task).await.unwrap().is_empty());
    assert!(store.children(scope, task).await.unwrap().is_empty());
    assert!(store.usage_of_tree(scope, task).await.unwrap().is_zero());
    assert_eq!(store.frozen_plan(scope, plan("test.plan").hash()).await.unwrap(), None);
    assert_eq!(store.record(scope, kind, "a").await.unwrap(), None);
    assert_eq!(store.record_by_id(scope, estate.put.id).await.unwrap(), None);
    assert!(store.records_by_lookup(scope, kind, "DOT", "1").await.unwrap().is_empty());
    assert!(store.lookup_values(scope, kind, ("DOT", "1"), "DOT").await.unwrap().is_empty());
    assert!(store.records(scope, kind, None, 10).await.unwrap().items.is_empty());
    assert!(store.record_kinds(scope).await.unwrap().is_empty());
    assert_eq!(store.outbox_message(scope, estate.outbox).await.unwrap(), None);
    assert!(store.outbox(scope, None, None, 10).await.unwrap().items.is_empty());
    assert!(store.plans(scope).await.unwrap().is_empty());
    assert!(store.plan_versions(scope, "test.plan", None, 9).await.unwrap().items.is_empty());
    assert_eq!(store.user(scope, home.user).await.unwrap(), None);
    assert_eq!(store.users(scope).await.unwrap().len(), 1, "its own");
    assert!(store.keys(scope).await.unwrap().iter().all(|key| key.id != estate.key));
    assert!(store.webhooks(scope).await.unwrap().is_empty());
    assert_eq!(store.audit_events(scope, 0, 100).await.unwrap().len(), 1, "its own creation");
    assert_eq!(store.audit_head(scope).await.unwrap().map(|(seq, _)| seq), Some(1));
    assert_eq!(store.blob(scope, &estate.blob).await.unwrap(), None);
    assert_eq!(store.scope_of(home.scope.tenant(), task).await.unwrap(), Some(home.scope));
    assert_eq!(store.scope_of(scope.tenant(), task).await.unwrap(), None, "a task has one tenant");
}

pub async fn another_tenant_changes_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let estate = settle(&w, &home).await;
    let other = w.tenant("second").await;
    let (store, scope, task) = (w.store(), other.scope, estate.lease.task());
    let before = survey(&w, &home, &estate).await;
    let event = || w.event("x.y");
    let callback =
        Signal::Callback { step: step(), workflow_id: "wf-1".to_owned(), success: true, data: json!({}), error: None };
    let answer = store.answer(scope, task, &estate.wait, review(&estate.wait), event()).await;
    assert!(matches!(answer, Err(ReviewRefused::NotFound)));
    assert_eq!(code(store.callback(scope, task, &step(), callback, "a", w.now()).await), ErrorCode::NotFound);
    assert_eq!(code(store.request_cancel(scope, task, w.now(), event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.set_paused(scope, task, true, w.now(), event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.reopen(scope, task, retry(), w.now(), event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.set_plan_active(scope, "test.plan", false, event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.set_roles(scope, home.user, &[], event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.create_key(scope, &w.key(home.user, &[]), "h", event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.revoke_key(scope, estate.key, w.now(), event()).await), ErrorCode::NotFound);
    assert_eq!(code(store.delete_webhook(scope, estate.webhook, event()).await), ErrorCode::NotFound);
    let (from, to) = (OutboxStatus::Pending, OutboxStatus::Sending);
    assert!(!store.move_outbox(scope, estate.outbox, (from, to), None, None, w.now()).await.unwrap());
    assert_eq!(survey(&w, &home, &estate).await, before);
    assert!(store.key_holder(&home.key_hash).await.unwrap().is_some());
}

pub async fn a_lease_forged_for_another_tenant_is_refused(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let real = w.leased(&home, "w").await;
    let forged = Lease::granted(other.scope, real.task(), real.epoch(), real.worker().clone());
    let commit = Commit { rows: vec![w.row(1)], ..w.blank() };
    assert!(is_fenced(&w.store().commit(&forged, commit.into()).await));
    assert!(is_fenced(&w.store().begin_attempt(&forged, &w.attempt()).await));
    assert_eq!(w.store().heartbeat(&[forged], LONG, w.now()).await.unwrap(), [Heartbeat::Lost]);
    assert!(w.store().journal(home.scope, real.task(), 0, 10).await.unwrap().is_empty());
    w.commit(&real, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
}

pub async fn two_tenants_keep_records_of_the_same_key_apart(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    for (n, home) in [(1, &home), (2, &other)] {
        let lease = w.leased(home, "w").await;
        let lookups = vec![Lookup::unique("DOT", "1")];
        let put = PutRecord { lookups, ..w.put("test.thing", "a", json!({"n": n}), Expect::Absent) };
        w.commit(&lease, w.effects(vec![Effect::Put(Box::new(put))])).await;
    }
    for (n, home) in [(1, &home), (2, &other)] {
        let found = w.store().records_by_lookup(home.scope, "test.thing", "DOT", "1").await.unwrap();
        assert_eq!(found.iter().map(|record| record.props["n"].clone()).collect::<Vec<_>>(), [json!(n)]);
    }
}
