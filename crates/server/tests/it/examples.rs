//! Every body has an example in the document, and a server takes it.

use kybern_core::id::TenantId;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::fixture::Fixture;
use crate::harness::{Answer, App, Ask};
use crate::routes::{allowed, routed};
use crate::schemas::{document, resolve};

const BOUNDARY: &str = "----example";

/// What an example names that has another name on the server of this test: the route, the place and the name.
fn named(fixture: &Fixture, head: &Value) -> Vec<((&'static str, &'static str), &'static str, Value)> {
    let workflow = format!("v1:{}:{}:put:1", TenantId::DEFAULT, fixture.ended);
    vec![
        (("POST", "/api/tasks/{id}/review"), "/corrections", json!({"answer": "Pinewood"})),
        (("POST", "/api/internal/brain/review/{id}"), "/corrections", json!({"answer": "Pinewood"})),
        (("POST", "/api/internal/brain/callback/{id}"), "/workflowId", json!(workflow)),
        (("PUT", "/api/models/policy"), "/providers/0", json!("scripted")),
        (("POST", "/v1/embeddings"), "/model", json!("scripted/embed")),
        (("POST", "/api/audit/purge"), "/head", head.clone()),
    ]
}

/// A form out of an example: texts as they are, what the schema calls binary as files.
fn form(schema: &Value, example: &Value) -> Vec<u8> {
    let mut body = String::new();
    for (name, value) in example.as_object().unwrap() {
        let property = &schema["properties"][name];
        let binary = property["format"] == "binary" || property["items"]["format"] == "binary";
        let file = if binary { "; filename=\"example.txt\"" } else { "" };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        body.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n"
        ));
    }
    body.push_str(&format!("--{BOUNDARY}--\r\n"));
    body.into_bytes()
}

/// The request that an example makes.
fn filled(ask: Ask, kind: &str, schema: &Value, example: &Value) -> Ask {
    match kind {
        "application/json" => ask.json(example),
        "application/x-www-form-urlencoded" => {
            let pairs = example.as_object().unwrap().iter().map(|(name, value)| (name, value.as_str().unwrap()));
            ask.body(kind, form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
        }
        "multipart/form-data" => ask.body(&format!("{kind}; boundary={BOUNDARY}"), form(schema, example)),
        other => ask.body(other, example.as_str().unwrap().to_owned()),
    }
}

/// Whether the body was taken. Where it is about a thing, the thing may not be in a state for it, or the proof wrong.
fn is_taken(answer: &Answer) -> bool {
    (200..300).contains(&answer.status) || matches!(answer.status, 401 | 409)
}

#[tokio::test]
async fn every_body_has_an_example_that_a_server_takes() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let head = app.send(Ask::get("/api/audit/head").key(&app.ours.admin)).await.json();
    let (document, named) = (document(), named(&fixture, &head));
    let mut faults = Vec::new();
    for (route, case) in routed() {
        let operation = &document["paths"][route.path][route.method.to_lowercase()];
        let Some(content) = operation["requestBody"]["content"].as_object() else { continue };
        for (kind, media) in content {
            let about = format!("{} {} as {kind}", route.method, route.path);
            let Some(mut example) = media.get("example").cloned() else {
                faults.push(format!("{about} has no example"));
                continue;
            };
            for (_, place, name) in named.iter().filter(|(at, ..)| *at == (route.method, route.path)) {
                *example.pointer_mut(place).unwrap() = name.clone();
            }
            let mut root = media["schema"].clone();
            root["components"] = document["components"].clone();
            if !jsonschema::is_valid(&root, &example) {
                faults.push(format!("{about}: the example is not what the schema says"));
            }
            let ask = Ask::new(route.method, &case.path(&fixture));
            let ask = filled(ask, kind, resolve(&document, &media["schema"]), &example);
            let answer = app.send(allowed(ask, route.access, &app.ours)).await;
            if !is_taken(&answer) {
                faults.push(format!("{about}: {} {}", answer.status, answer.text()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
