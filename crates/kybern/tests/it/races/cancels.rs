//! Tasks that are cancelled at any moment, by two callers at once; on PostgreSQL by way of the other process.

use std::time::Duration;

use futures::future::join_all;
use kybern_core::time::Millis;
use kybern_testkit::sink::{EffectSink, Reply};
use serde_json::{Value, json};

use super::{Crew, submit};
use crate::server::Site;
use crate::server::client::{Ask, pause, text};
use crate::storm::{self, Random};

const TASKS: usize = 60;
/// Pairs of a request and a record in each task.
const PAIRS: usize = 5;
/// Milliseconds within which a task is cancelled.
const WINDOW: u64 = 500;
/// Tasks that have to be hit in the middle, for a run to count.
const HIT: usize = 10;

#[tokio::test]
async fn nothing_begins_after_a_cancel_was_acknowledged_on_sqlite() {
    nothing_begins_after_a_cancel_was_acknowledged(Site::sqlite(), 1).await;
}

#[tokio::test]
async fn nothing_begins_after_a_cancel_was_acknowledged_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    nothing_begins_after_a_cancel_was_acknowledged(site, 2).await;
}

/// A task that was cancelled.
struct Cancelled {
    task: Value,
    /// When a caller had been told so; `None` when all were told that it has ended.
    acknowledged: Option<String>,
}

async fn nothing_begins_after_a_cancel_was_acknowledged(site: Site, workers: usize) {
    let sink = EffectSink::builder().answering(|_| Reply::Late(Millis(25), 200)).start().await;
    let crew = Crew::new(site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", sink.authority())), workers);
    let steps: Vec<Value> = (0..PAIRS).flat_map(|n| pair(n, &sink.url("/order"))).collect();
    crew.plan("race.long", json!(steps)).await;
    let mut random = Random::from_environment();
    let moments: Vec<u64> = (0..TASKS).map(|_| random.below(WINDOW)).collect();
    let cancelling = moments.into_iter().enumerate().map(|(n, moment)| cancel(&crew, n, moment));
    let cancelled = join_all(cancelling).await;
    let (mut hit, mut sent) = (0, 0);
    for Cancelled { task, acknowledged } in &cancelled {
        let id = text(&task["id"]);
        let log = crew.client(0).list(&format!("/api/tasks/{id}/log")).await;
        let of = |kind: &str| log.iter().filter(|entry| entry["eventType"] == kind).collect::<Vec<_>>();
        let ends = ["task_completed", "task_failed", "task_cancelled"].map(|kind| of(kind).len());
        let expected = if task["status"] == "cancelled" { [0, 0, 1] } else { [1, 0, 0] };
        assert_eq!(ends, expected, "{task}");
        let begun = of("step_started");
        if let Some(acknowledged) = acknowledged {
            let late: Vec<_> = begun.iter().filter(|entry| text(&entry["createdAt"]) > *acknowledged).collect();
            assert!(late.is_empty(), "acknowledged at {acknowledged}, and then: {late:?}");
        } else {
            assert_eq!(task["status"], "completed", "{task}");
        }
        let requests = begun.iter().filter(|entry| text(&entry["stepId"]).starts_with("send")).count();
        let body = json!({"task": id});
        assert_eq!(sink.received().iter().filter(|request| request.json() == body).count(), requests, "{log:?}");
        sent += requests;
        hit += usize::from(task["status"] == "cancelled" && !begun.is_empty());
        crew.client(0).replays(&id).await;
    }
    assert_eq!(sink.received().len(), sent);
    assert!(hit >= HIT, "only {hit} tasks were cancelled at work");
    crew.client(0).audit_is_whole().await;
    println!("{hit} of {TASKS} tasks were cancelled at work");
}

fn pair(n: usize, url: &str) -> [Value; 2] {
    let args = json!({"method": "POST", "url": url, "json": {"task": "{{ task.id }}"}});
    let key = format!("{n}-{{{{ task.id }}}}");
    [
        json!({"id": format!("send{n}"), "tool": "core.http_request", "args": args}),
        json!({"id": format!("keep{n}"), "tool": "core.put_record", "args": {
            "kind": "test.order", "key": key, "props": {"n": n}
        }}),
    ]
}

async fn cancel(crew: &Crew, n: usize, moment: u64) -> Cancelled {
    let id = submit(crew.client(n), "race.long").await;
    pause(Duration::from_millis(moment)).await;
    let ask = Ask::post(&format!("/api/tasks/{id}/cancel"), "application/json", "");
    let asked = [n + 1, n + 2].map(|n| {
        let (client, ask) = (crew.client(n), &ask);
        async move {
            let (status, answer) = client.send(ask).await;
            let at = storm::now();
            assert!(matches!(status.as_u16(), 200 | 409), "{status} {answer}");
            (status.as_u16() == 200).then_some(at)
        }
    });
    let acknowledged = join_all(asked).await.into_iter().flatten().min();
    Cancelled { task: crew.client(n).rest(&id).await, acknowledged }
}
