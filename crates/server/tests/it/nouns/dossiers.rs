//! Dossiers: found by a name, shown with what the caller may see.

use futures::FutureExt as _;
use serde_json::{Value, json};

use super::Noun;
use crate::answers::Walk;
use crate::bounds::Bound;
use crate::cases::Place::{Fixed, Id};
use crate::cases::{Input, case};
use crate::fixture::Fixture;
use crate::harness::Ask;

pub(super) const NOUN: Noun = Noun {
    name: "entity",
    make: |app, keys, _| {
        async move {
            // The record that the tenant's task has made by then.
            let records = app.send(Ask::get("/api/records/note").key(&keys.viewer)).await.json();
            records["items"][0]["id"].as_str().unwrap().to_owned()
        }
        .boxed_local()
    },
    cases: || {
        vec![
            case("GET", "/api/entities", Fixed, Input::None),
            case("GET", "/api/entities/{id}/dossier", Id(|fixture| fixture.made["entity"].clone()), Input::None),
        ]
    },
    bounds: || -> Vec<Bound> { Vec::new() },
    walk: |walk, fixture| life(walk, fixture).boxed_local(),
};

async fn life(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (keys, entity) = (walk.app.ours.clone(), fixture.made["entity"].as_str());
    let none = walk.call(200, ("GET", "/api/entities"), &[], &keys.viewer, None).await;
    assert_eq!(none, json!({"items": [], "more": false, "nextCursor": null}), "who is not named is not found");
    let found = async |name: &str| {
        let answer = walk.app.send(Ask::get(&format!("/api/entities?name={name}")).key(&keys.viewer)).await;
        answer.json()["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(found(entity).await, [json!(entity)]);
    assert!(found("nobody").await.is_empty());
    let long = Ask::get(&format!("/api/entities?name={}", "x".repeat(301))).key(&keys.viewer);
    assert_eq!(walk.app.send(long).await.refused(400, "VALIDATION_ERROR", "too long"), ["/name"]);

    let new = json!({"subject": {"type": "entity", "id": entity}, "content": "Files are often late.",
        "category": "insight", "confidence": 0.75});
    let new = walk.call(201, ("POST", "/api/memories"), &[], &keys.operator, Some(new)).await;
    assert_eq!((&new["confidence"], &new["provenance"]["step"]), (&json!(0.75), &Value::Null));
    let again = json!({"subject": {"type": "entity", "id": entity}, "content": "Files are often late."});
    let again = walk.call(201, ("POST", "/api/memories"), &[], &keys.operator, Some(again)).await;
    assert_eq!(again["id"], new["id"], "the same words are remembered once");
    let wrong = json!({"subject": {"type": "entity", "id": entity}, "content": "x", "confidence": 1.5});
    let wrong = walk.app.send(Ask::post("/api/memories").key(&keys.operator).json(&wrong)).await;
    assert_eq!(wrong.refused(400, "VALIDATION_ERROR", "too sure"), ["/confidence"]);

    let path = ("GET", "/api/entities/{id}/dossier");
    let dossier = walk.call(200, path, &[entity], &keys.operator, None).await;
    assert_eq!((&dossier["entity"]["id"], &dossier["memoriesWithheld"]), (&json!(entity), &json!(false)));
    assert_eq!(dossier["insights"], json!([new]));
    let seen = walk.call(200, path, &[entity], &keys.viewer, None).await;
    assert_eq!((&seen["insights"], &seen["memoriesWithheld"]), (&json!([]), &json!(true)));
    let asked = Ask::get(&format!("/api/entities/{entity}/dossier?query=late+files")).key(&keys.operator);
    assert_eq!(walk.app.send(asked).await.json()["insights"][0]["id"], new["id"]);
    walk.call(204, ("DELETE", "/api/memories/{id}"), &[new["id"].as_str().unwrap()], &keys.operator, None).await;
}
