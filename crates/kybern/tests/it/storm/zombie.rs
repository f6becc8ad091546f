//! A worker that sleeps past its lease, in the middle of outside calls, and wakes when others have done its work.

use futures::future::join_all;
use kybern_core::time::Millis;
use kybern_testkit::sink::{EffectSink, Reply};
use nix::sys::signal::Signal;
use serde_json::json;

use super::told::Told;
use crate::server::Site;
use crate::server::client::{text, until};

/// Tasks that it sleeps on.
const TASKS: usize = 8;
/// What the sleeper was answered.
const FIRST: u16 = 201;
/// What the other worker was answered.
const SECOND: u16 = 200;

#[tokio::test]
async fn what_a_sleeper_has_to_say_is_refused() {
    let Some(site) = Site::postgres() else { return };
    // The sleeper's answers are there while it sleeps. The other worker still waits for its own when the sleeper wakes.
    let sink = EffectSink::builder().answering(|request| match request.n {
        n if n <= TASKS => Reply::Late(Millis(400), FIRST),
        _ => Reply::Late(Millis(2500), SECOND),
    });
    let sink = sink.start().await;
    let site = site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", sink.authority()));
    let (sleeper, other) = (site.start(), site.start());
    let args = json!({"method": "POST", "url": sink.url("/order"), "json": {"n": "{{ task.payload.n }}"}});
    let args_of_record = json!({"kind": "test.order", "key": "order-{{ task.payload.n }}", "props": {
        "answer": "{{ steps.send.result.status }}"
    }});
    let steps = json!([
        {"id": "send", "tool": "core.http_request", "args": args},
        {"id": "keep", "tool": "core.put_record", "args": args_of_record}
    ]);
    other.client().post("/api/plans", &json!({"key": "test.sleep", "intentKey": "test.sleep", "steps": steps})).await;
    let client = sleeper.client();
    let ids = join_all((0..TASKS).map(|n| {
        let (client, body) = (&client, json!({"input": "go", "planKey": "test.sleep", "payload": {"n": n}}));
        async move { text(&client.post("/api/tasks", &body).await["id"]) }
    }))
    .await;
    sink.until(TASKS).await;
    sleeper.signal(Signal::SIGSTOP);
    // The other worker has begun the same calls, and holds the tasks while the sleeper wakes.
    sink.until(2 * TASKS).await;
    sleeper.signal(Signal::SIGCONT);
    until("the sleeper sees that it is too late", || {
        let lost = sleeper.said().matches("lease lost, work discarded").count();
        std::future::ready((lost == TASKS).then_some(()))
    })
    .await;
    let client = other.client();
    for id in &ids {
        let task = client.rest(id).await;
        assert_eq!(task["status"], "completed", "{task}");
        Told::of(&client, id).await.each_step_once(&["send", "keep"]);
        client.replays(id).await;
    }
    let records = client.list("/api/records/test.order").await;
    assert_eq!(records.len(), TASKS);
    for record in records {
        assert_eq!((&record["version"], &record["props"]["answer"]), (&json!(1), &json!(SECOND)));
    }
    // It is as good a worker as before.
    let again = json!({"input": "go", "planKey": "test.sleep", "payload": {"n": TASKS}});
    let id = text(&sleeper.client().post("/api/tasks", &again).await["id"]);
    assert_eq!(sleeper.client().rest(&id).await["status"], "completed");
}
