//! Completion webhooks: who subscribed hears of every end, by a message in the same commit.

use kybern_core::error::ErrorCode;
use kybern_core::id::WebhookId;
use kybern_core::identity::OutboundWebhook;
use kybern_core::outbox::{OutboxChannel, OutboxMessage, OutboxStatus};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{StepError, TaskChange, TaskEnding, TaskStatus, WorkerId};
use serde_json::json;

use super::fixture::{LONG, code};
use super::{Harness, Home, World};

async fn subscribe(w: &World, home: &Home, name: &str, events: &[&str], active: bool) -> OutboundWebhook {
    let webhook = OutboundWebhook {
        id: WebhookId::from_uuid(w.id()),
        url: format!("https://hooks.example/{name}"),
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        active,
        created_at: w.now(),
    };
    w.store().create_webhook(home.scope, &webhook, w.event("webhook.create")).await.unwrap();
    webhook
}

async fn told(w: &World, home: &Home) -> Vec<OutboxMessage> {
    let mut messages = w.store().outbox(home.scope, None, None, 200).await.unwrap().items;
    messages.sort_by(|a, b| a.message.target.cmp(&b.message.target));
    messages
}

pub async fn an_end_is_told_to_who_subscribed(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    subscribe(&w, &home, "all", &[], true).await;
    subscribe(&w, &home, "completed", &["task.completed"], true).await;
    subscribe(&w, &home, "failed", &["task.failed", "task.cancelled"], true).await;
    subscribe(&w, &home, "off", &[], false).await;
    subscribe(&w, &other, "theirs", &[], true).await;
    let lease = w.leased(&home, "w").await;
    w.end(&lease, TaskStatus::Completed).await;

    let messages = told(&w, &home).await;
    let targets: Vec<_> = messages.iter().map(|message| message.message.target.as_str()).collect();
    assert_eq!(targets, ["https://hooks.example/all", "https://hooks.example/completed"]);
    for message in &messages {
        assert_eq!((message.message.channel, message.status), (OutboxChannel::Completion, OutboxStatus::Pending));
        assert_eq!(message.task_id, Some(lease.task()));
        let body = &message.message.body;
        assert_eq!((&body["type"], &body["data"]["taskId"]), (&json!("task.completed"), &json!(lease.task())));
        assert_eq!(body["data"]["status"], json!("completed"));
        assert!(body["timestamp"].is_string());
    }
    let keys: Vec<_> = messages.iter().map(|message| &message.message.key).collect();
    assert_ne!(keys[0], keys[1], "one key per receiver");
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    assert_eq!(jobs.iter().filter(|job| job.kind == "outbox.send").count(), 2);
    assert!(told(&w, &other).await.is_empty());
}

pub async fn an_error_is_told_without_what_is_secret(h: Harness) {
    let (w, home) = World::new(h).await;
    subscribe(&w, &home, "all", &[], true).await;
    let lease = w.leased(&home, "w").await;
    let message = "ops@example.com was refused with password=hunter22x".to_owned();
    let error = Some(StepError { code: ErrorCode::Tool, message, retryable: false });
    let ending = TaskEnding { status: TaskStatus::Failed, result: json!(null), error, current_step: None };
    w.commit(&lease, w.changes(TaskChange::End(Box::new(ending)))).await;
    let [message] = told(&w, &home).await.try_into().unwrap();
    let said = message.message.body["data"]["error"]["message"].as_str().unwrap();
    assert_eq!(said, "[redacted:email] was refused with password=[redacted:password]");
}

pub async fn every_kind_of_end_and_a_review_has_its_event(h: Harness) {
    let (w, home) = World::new(h).await;
    subscribe(&w, &home, "all", &[], true).await;
    let mut tasks = Vec::new();
    for status in [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled] {
        let lease = w.leased(&home, "w").await;
        w.end(&lease, status).await;
        tasks.push((lease.task(), format!("task.{status}")));
    }
    let lease = w.leased(&home, "w").await;
    w.release(&lease, TaskStatus::NeedsReview, None, vec![w.wait("ask", 1)]).await;
    tasks.push((lease.task(), "task.needs_review".to_owned()));
    let quiet = w.leased(&home, "w").await;
    w.release(&quiet, TaskStatus::Executing, None, vec![]).await;
    let quiet = w.leased(&home, "w").await;
    w.release(&quiet, TaskStatus::Delegated, None, vec![]).await;

    let messages = told(&w, &home).await;
    assert_eq!(messages.len(), 4);
    for (task, event) in tasks {
        let message = messages.iter().find(|message| message.task_id == Some(task)).unwrap();
        assert_eq!(message.message.body["type"], json!(event));
    }
}

pub async fn webhooks_are_listed_and_removed(h: Harness) {
    let (w, home) = World::new(h).await;
    let first = subscribe(&w, &home, "a", &["task.failed"], true).await;
    let second = subscribe(&w, &home, "b", &[], false).await;
    assert_eq!(w.store().webhooks(home.scope).await.unwrap(), [first.clone(), second.clone()]);
    let delete = async |id| w.store().delete_webhook(home.scope, id, w.event("webhook.delete")).await;
    delete(first.id).await.unwrap();
    assert_eq!(w.store().webhooks(home.scope).await.unwrap(), [second]);
    assert_eq!(code(delete(first.id).await), ErrorCode::NotFound);
    let lease = w.leased(&home, "w").await;
    w.end(&lease, TaskStatus::Failed).await;
    assert!(told(&w, &home).await.is_empty());
}
