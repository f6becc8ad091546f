//! A task's log as a stream.

use futures::StreamExt;
use kybern_server::streams::MAX_STREAMS;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::harness::{App, Ask};

/// One event as it came over the wire.
#[derive(Debug, PartialEq)]
struct Event {
    id: Option<String>,
    name: String,
    data: Value,
}

fn parse(text: &str) -> Vec<Event> {
    text.split("\n\n").filter(|block| block.contains("event:")).map(parse_one).collect()
}

fn parse_one(block: &str) -> Event {
    let get = |name: &str| {
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(':').map(|value| value.trim().to_owned());
        block.lines().find_map(value)
    };
    let data = serde_json::from_str(&get("data").unwrap()).unwrap();
    Event { id: get("id"), name: get("event").unwrap(), data }
}

async fn events(app: &App, task: &str, last: Option<&str>) -> Vec<Event> {
    let ask = Ask::get(&format!("/api/tasks/{task}/events")).key(&app.ours.viewer);
    let ask = match last {
        Some(last) => ask.header("last-event-id", last),
        None => ask,
    };
    let answer = app.send(ask).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "text/event-stream");
    parse(&answer.text())
}

#[tokio::test]
async fn an_ended_task_is_told_whole_and_ends_with_done() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let told = events(&app, &fixture.ended, None).await;
    let names: Vec<&str> = told.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"task_created"));
    assert_eq!(names[names.len() - 2..], ["task_completed", "done"]);
    let log = app.send(Ask::get(&format!("/api/tasks/{}/log", fixture.ended)).key(&app.ours.viewer)).await.json();
    let entries: Vec<Value> = told[..told.len() - 1].iter().map(|event| event.data["data"].clone()).collect();
    assert_eq!(json!(entries), log["items"], "the stream and the log say the same");
    for event in &told {
        assert_eq!(event.data["type"], event.name.as_str());
        assert!(event.id.is_some());
    }
    for event in &told[..told.len() - 1] {
        assert_eq!(event.id.as_deref(), Some(event.data["data"]["seq"].to_string().as_str()));
    }
    assert_eq!(told.last().unwrap().data["data"], json!({}));
}

#[tokio::test]
async fn whoever_comes_back_after_any_event_misses_nothing_and_gets_nothing_twice() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let whole = events(&app, &fixture.ended, None).await;
    for (n, event) in whole.iter().enumerate().take(whole.len() - 1) {
        let rest = events(&app, &fixture.ended, event.id.as_deref()).await;
        assert_eq!(rest, whole[n + 1..], "after {:?}", event.id);
    }
    let last = whole.last().unwrap().id.clone();
    let rest = events(&app, &fixture.ended, last.as_deref()).await;
    assert_eq!(rest.len(), 1, "only done is left");
}

#[tokio::test]
async fn a_task_is_told_as_it_goes() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let path = format!("/api/tasks/{}/events", fixture.waiting);
    let response = app.open(Ask::get(&path).key(&app.ours.viewer)).await;
    let mut stream = response.into_body().into_data_stream();
    let mut text = String::new();
    let mut until = async |name: &str| {
        while !text.contains(&format!("event: {name}\n")) {
            text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
        }
    };
    until("needs_review").await;
    let answer = Ask::post(&format!("/api/tasks/{}/review", fixture.waiting)).key(&app.ours.reviewer);
    let answer = app.send(answer.json(&json!({"corrections": {"answer": "Pinewood"}}))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    until("human_review").await;
    until("task_completed").await;
    until("done").await;
}

#[tokio::test]
async fn a_stream_ends_without_done_when_the_server_shuts_down() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let path = format!("/api/tasks/{}/events", fixture.waiting);
    let response = app.open(Ask::get(&path).key(&app.ours.viewer)).await;
    let mut stream = response.into_body().into_data_stream();
    let mut text = String::new();
    while !text.contains("event: needs_review") {
        text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
    }
    app.shutdown.cancel();
    while let Some(chunk) = stream.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    assert!(!text.contains("event: done"));
}

#[tokio::test]
async fn one_user_leaves_streams_to_the_others_and_one_tenant_to_other_tenants() {
    let app = App::start().await;
    let (ours, theirs) = (Fixture::of(&app, &app.ours).await, Fixture::of(&app, &app.theirs).await);
    let open = async |fixture: &Fixture, key: &str| {
        app.open(Ask::get(&format!("/api/tasks/{}/events", fixture.waiting)).key(key)).await
    };
    let open_all = async |key: &str| {
        let mut streams = Vec::new();
        loop {
            let stream = open(&ours, key).await;
            if stream.status() != 200 {
                assert_eq!((stream.status().as_u16(), stream.headers()["retry-after"].as_bytes()), (429, &b"10"[..]));
                return streams;
            }
            streams.push(stream);
        }
    };
    let share = usize::try_from(MAX_STREAMS / 4 * 3).unwrap();
    let mut of_one = open_all(&app.ours.viewer).await;
    assert!(of_one.len() < share - 1_000, "{} are one user's", of_one.len());
    let of_another = open_all(&app.ours.operator).await;
    assert_eq!(of_one.len() + of_another.len(), share, "a tenant has three quarters");
    assert_eq!(open(&ours, &app.ours.admin).await.status(), 429);
    assert_eq!(open(&theirs, &app.theirs.viewer).await.status(), 200);
    drop(of_another);
    assert_eq!(open(&ours, &app.ours.viewer).await.status(), 429, "the others' places are not for this one");
    drop(of_one.pop());
    assert_eq!(open(&ours, &app.ours.viewer).await.status(), 200);
}

#[tokio::test]
async fn a_last_event_that_is_none_is_refused() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let ask = Ask::get(&format!("/api/tasks/{}/events", fixture.ended)).key(&app.ours.viewer);
    app.send(ask.header("last-event-id", "yesterday")).await.refused(400, "VALIDATION_ERROR", "no id");
}
