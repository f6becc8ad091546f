//! Records: found, read with their history, taken along, and changed by hand.

use futures::FutureExt as _;
use kybern_core::record::version::MAX_REASON;
use serde_json::{Value, json};

use super::Noun;
use crate::answers::Walk;
use crate::bounds::Bound;
use crate::cases::Place::{Fixed, Id, Shared};
use crate::cases::{Case, Input, case, strict};
use crate::fixture::Fixture;
use crate::harness::{App, Ask};

pub(super) const NOUN: Noun = Noun {
    name: "record",
    // A step of the fixture has made it.
    make: |app, keys, _| {
        async move {
            let all = app.send(Ask::get("/api/records/note").key(&keys.viewer)).await.json();
            all["items"][0]["id"].as_str().unwrap().to_owned()
        }
        .boxed_local()
    },
    cases,
    bounds,
    walk: |walk, fixture| life(walk, fixture).boxed_local(),
};

fn cases() -> Vec<Case> {
    let record = || Id(|fixture: &Fixture| fixture.record.clone());
    let change = json!({"version": 1, "props": {"text": "bye"}, "reason": "He said so."});
    let change = strict(change, ("/version", json!("one")), &["version", "props", "reason"]);
    vec![
        case("GET", "/api/records", Fixed, Input::None),
        case("GET", "/api/records/{kind}", Shared("note"), Input::None),
        case("GET", "/api/records/{kind}/export", Shared("note"), Input::None),
        case("GET", "/api/records/{kind}/{id}", record(), Input::None),
        case("PATCH", "/api/records/{kind}/{id}", record(), change),
        case("GET", "/api/records/{kind}/{id}/history", record(), Input::None),
        case("GET", "/api/records/{kind}/{id}/tasks", record(), Input::None),
    ]
}

fn bounds() -> Vec<Bound> {
    vec![("ChangeRecord", "reason", "maxLength", json!(MAX_REASON)), ("ChangeRecord", "version", "minimum", json!(1))]
}

/// The records of the kind that a query finds, by their keys.
async fn keys_of(app: &App, query: &str) -> Vec<String> {
    let page = app.send(Ask::get(&format!("/api/records/note?{query}")).key(&app.ours.viewer)).await.json();
    let keys = page["items"].as_array().unwrap().iter();
    keys.map(|record| record["key"].as_str().unwrap().to_owned()).collect()
}

async fn life(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (viewer, operator) = (walk.app.ours.viewer.clone(), walk.app.ours.operator.clone());
    let id = fixture.record.as_str();
    let kinds = walk.call(200, ("GET", "/api/records"), &[], &viewer, None).await;
    assert_eq!(kinds["items"][0]["kind"], "note");
    let page = walk.call(200, ("GET", "/api/records/{kind}"), &["note"], &viewer, None).await;
    assert_eq!(page["items"][0]["key"], "n1");
    let record = walk.call(200, ("GET", "/api/records/{kind}/{id}"), &["note", id], &viewer, None).await;
    assert_eq!((&record["props"]["text"], &record["version"]), (&json!("hello"), &json!(1)));
    for query in ["key=n1", "text=N1", "text=N1&field=text:hello"] {
        assert_eq!(keys_of(walk.app, query).await, ["n1"], "{query}");
    }
    // Another route's walk has made one more.
    for query in ["field=text:hello", "text=HELL"] {
        assert_eq!(keys_of(walk.app, query).await, ["n1", "n2"], "{query}");
    }
    for query in ["key=n9", "field=text:hell", "text=nothing", "lookup=DOT:1"] {
        assert!(keys_of(walk.app, query).await.is_empty(), "{query}");
    }
    for (query, place) in
        [("field=text", "/field"), ("lookup=:1", "/lookup"), ("key=n1&text=x", "/key"), ("size=1", "/size")]
    {
        let answer = walk.app.send(Ask::get(&format!("/api/records/note?{query}")).key(&viewer)).await;
        let paths = answer.refused(400, "VALIDATION_ERROR", query);
        assert_eq!(paths, [place], "{query}");
    }

    let path = format!("/api/records/note/{id}");
    let change = |version: i64, props: Value| json!({"version": version, "props": props, "reason": "He said so."});
    let patch = async |key: &str, body: &Value| walk.app.send(Ask::new("PATCH", &path).key(key).json(body)).await;
    patch(&viewer, &change(1, json!({"text": "bye"}))).await.refused(403, "PERMISSION_DENIED", "a reader");
    patch(&operator, &change(2, json!({"text": "bye"}))).await.refused(409, "CONFLICT", "another version");
    patch(&operator, &change(1, json!({}))).await.refused(400, "VALIDATION_ERROR", "no change");
    let body = change(1, json!({"text": "=bye, \"you\"", "list": [1]}));
    let changed = walk.call(200, ("PATCH", "/api/records/{kind}/{id}"), &["note", id], &operator, Some(body)).await;
    assert_eq!((&changed["version"], &changed["props"]["list"]), (&json!(2), &json!([1])));

    let history = walk.call(200, ("GET", "/api/records/{kind}/{id}/history"), &["note", id], &viewer, None).await;
    let newest = &history["items"][0];
    assert_eq!(
        (&newest["version"], &newest["reason"], &newest["taskId"]),
        (&json!(2), &json!("He said so."), &json!(null))
    );
    let first = &history["items"][1];
    assert_eq!(
        (&first["version"], &first["userId"], &first["changed"]["text"]),
        (&json!(1), &json!(null), &json!("hello"))
    );
    let one = walk.app.send(Ask::get(&format!("{path}/history?limit=1")).key(&viewer)).await.json();
    let cursor = one["nextCursor"].as_str().unwrap();
    let rest = walk.app.send(Ask::get(&format!("{path}/history?limit=1&cursor={cursor}")).key(&viewer)).await.json();
    assert_eq!((&rest["items"][0], &rest["nextCursor"]), (first, &json!(null)));
    let tasks = walk.call(200, ("GET", "/api/records/{kind}/{id}/tasks"), &["note", id], &viewer, None).await;
    // Another route's walk has looked at it since.
    let maker = tasks["items"].as_array().unwrap().last().unwrap();
    assert_eq!((&maker["role"], &maker["taskId"]), (&json!("created"), &first["taskId"]));

    let text = walk.call_text(200, ("GET", "/api/records/{kind}/export"), &["note"], &viewer).await;
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("\"id\",\"key\",\"version\",\"createdAt\",\"updatedAt\",\"unreadable\",\"list\",\"text\"")
    );
    let line = lines.next().unwrap();
    assert!(line.contains(id) && line.ends_with(",\"\",\"[1]\",\"'=bye, \"\"you\"\"\""), "{line}");
    let none = walk.app.send(Ask::get("/api/records/note/export?text=nothing").key(&viewer)).await;
    assert_eq!(none.text(), "\"id\",\"key\",\"version\",\"createdAt\",\"updatedAt\",\"unreadable\"\n");
}
