//! Own tools, from the draft to what is deleted.

use futures::FutureExt as _;
use kybern_core::approval;
use kybern_core::tool::own;
use serde_json::{Value, json};

use super::Noun;
use crate::answers::Walk;
use crate::bounds::Bound;
use crate::cases::Place::{Fixed, Name};
use crate::cases::{Case, Input, Place, case, strict};
use crate::fixture::{Fixture, made};
use crate::harness::{Ask, PLATFORM};

pub(super) const NOUN: Noun = Noun {
    name: "own_tool",
    make: |app, keys, mark| {
        async move {
            let key = format!("crm.of_{mark}");
            let ask = Ask::post("/api/tools").key(&keys.admin).json(&draft(&key));
            made(&app.send(ask).await, 201);
            key
        }
        .boxed_local()
    },
    cases,
    bounds,
    walk: |walk, fixture| life(walk, fixture).boxed_local(),
};

fn draft(key: &str) -> Value {
    json!({
        "key": key, "kind": "http", "description": "Pings.", "inputSchema": {"type": "object"}, "effect": "read",
        "http": {"method": "GET", "url": "https://crm.example.com/ping"},
    })
}

fn cases() -> Vec<Case> {
    let tool = || -> Place { Name(|fixture| fixture.made["own_tool"].clone()) };
    let needed = &["key", "kind", "description", "inputSchema", "effect", "http"];
    let read = || strict(json!({"hash": "00ff"}), ("/hash", json!(7)), &["hash"]);
    let note = strict(json!({"note": "too wide"}), ("/note", json!(true)), &["note"]);
    vec![
        case("POST", "/api/tools", Fixed, strict(draft("crm.find"), ("/effect", json!("sometimes")), needed)),
        case("GET", "/api/tools/{name}/versions", tool(), Input::None),
        case("POST", "/api/tools/{name}/submit", tool(), Input::None),
        case("POST", "/api/tools/{name}/reject", tool(), note),
        case("POST", "/api/tools/{name}/approve", tool(), read()),
        case("POST", "/api/tools/{name}/activate", tool(), read()),
        case("POST", "/api/tools/{name}/disable", tool(), Input::None),
        case("DELETE", "/api/tools/{name}", tool(), Input::None),
    ]
}

fn bounds() -> Vec<Bound> {
    vec![
        ("NewOwnTool", "key", "maxLength", json!(own::MAX_KEY)),
        ("NewOwnTool", "description", "maxLength", json!(own::MAX_DESCRIPTION)),
        ("NewOwnTool", "tags", "maxItems", json!(own::MAX_TAGS)),
        ("NewOwnTool", "timeoutMs", "minimum", json!(own::MIN_TIMEOUT)),
        ("NewOwnTool", "timeoutMs", "maximum", json!(own::MAX_TIMEOUT)),
        ("HttpCall", "url", "maxLength", json!(own::MAX_URL)),
        ("RejectTool", "note", "maxLength", json!(approval::MAX_NOTE)),
    ]
}

async fn life(walk: &mut Walk<'_>, fixture: &Fixture) {
    let (admin, viewer) = (walk.app.ours.admin.clone(), walk.app.ours.viewer.clone());
    let name = fixture.made["own_tool"].as_str();
    let maker = PLATFORM.to_owned();
    let second = json!({"name": "Third", "email": "third@example.com", "roles": ["admin"]});
    let second = walk.app.send(Ask::post("/api/users").key(&maker).json(&second)).await.json();
    let key = Ask::post("/api/keys").key(&maker).json(&json!({"name": "third", "userId": second["id"]}));
    let other = walk.app.send(key).await.json()["key"].as_str().unwrap().to_owned();

    let next = json!({
        "key": name, "kind": "http", "description": "Updates a customer.",
        "input_schema": {"type": "object", "properties": {"id": {"type": "string"}, "to": {"type": "string"}}},
        "outputSchema": {"type": "object"}, "effect": "keyed", "risk": "R3", "price": {"fixedNanos": 1_000},
        "category": "network_write", "tags": ["customers"], "destinations": ["to"], "timeoutMs": 5_000,
        "http": {"method": "POST", "url": "https://crm.example.com/{{ args.id }}", "auth": {"secret": "crm_token"},
            "headers": {"X-To": "{{ args.to }}", "X-Key": {"secret": "crm_key"}}, "json": {"to": "{{ args.to }}"}},
    });
    let made = walk.call(201, ("POST", "/api/tools"), &[], &admin, Some(next)).await;
    assert_eq!((&made["version"], &made["status"], &made["kind"]), (&json!(2), &json!("draft"), &json!("http")));
    assert_eq!(made["http"]["headers"]["X-Key"], json!({"secret": "crm_key"}));
    let page = walk.call(200, ("GET", "/api/tools/{name}/versions"), &[name], &viewer, None).await;
    let versions: Vec<&Value> = page["items"].as_array().unwrap().iter().map(|tool| &tool["version"]).collect();
    assert_eq!((versions, &page["items"][0]), (vec![&json!(2), &json!(1)], &made));
    let of = async |query: &str| {
        let path = format!("/api/tools/{name}/versions?{query}");
        walk.app.send(Ask::get(&path).key(&viewer)).await.json()["items"].as_array().unwrap().len()
    };
    assert_eq!((of("status=draft").await, of("status=active").await), (2, 0));

    let review = walk.call(200, ("POST", "/api/tools/{name}/submit"), &[name], &admin, None).await;
    assert_eq!((&review["id"], &review["status"]), (&made["id"], &json!("review")));
    let read = json!({"hash": made["hash"]});
    let post = async |key: &str, verb: &str, body: &Value| {
        walk.app.send(Ask::post(&format!("/api/tools/{name}/{verb}")).key(key).json(body)).await
    };
    post(&admin, "approve", &read).await.refused(403, "PERMISSION_DENIED", "an author who approves");
    post(&maker, "approve", &read).await.refused(403, "PERMISSION_DENIED", "who made the author");
    post(&admin, "activate", &read).await.refused(409, "CONFLICT", "a tool that was not approved");
    post(&other, "approve", &json!({"hash": "00ff"})).await.refused(409, "CONFLICT", "what was not read");
    let approved = walk.call(200, ("POST", "/api/tools/{name}/approve"), &[name], &other, Some(read.clone())).await;
    assert_eq!((&approved["status"], &approved["approvedBy"]), (&json!("approved"), &second["id"]));
    let active = walk.call(200, ("POST", "/api/tools/{name}/activate"), &[name], &admin, Some(read.clone())).await;
    assert_eq!(active["status"], "active");
    post(&admin, "activate", &read).await.refused(409, "CONFLICT", "what is active");
    let off = walk.call(200, ("POST", "/api/tools/{name}/disable"), &[name], &admin, None).await;
    assert_eq!((&off["status"], &off["hash"]), (&json!("disabled"), &made["hash"]));
    // The older draft is the newest one now.
    walk.call(200, ("POST", "/api/tools/{name}/submit"), &[name], &admin, None).await;
    let note = Some(json!({"note": "Version 2 does it."}));
    let back = walk.call(200, ("POST", "/api/tools/{name}/reject"), &[name], &other, note).await;
    assert_eq!((&back["status"], &back["version"]), (&json!("rejected"), &json!(1)));
    assert_eq!(back["note"], "Version 2 does it.");

    refused(walk, &admin).await;
    walk.call(204, ("DELETE", "/api/tools/{name}"), &[name], &admin, None).await;
    let gone = walk.app.send(Ask::new("DELETE", &format!("/api/tools/{name}")).key(&admin)).await;
    gone.refused(404, "NOT_FOUND", "a tool that was deleted");
}

/// What cannot be written, and what cannot be done to a bundled tool.
async fn refused(walk: &mut Walk<'_>, admin: &str) {
    let body = |name: &str, value: Value| {
        let mut body = draft("crm.ping");
        body[name] = value;
        body
    };
    let http = |method: &str, url: &str| json!({"method": method, "url": url});
    for (name, value, place) in [
        ("kind", json!("script"), "/kind"),
        ("kind", json!("mcp"), "/kind"),
        ("key", json!("core.ping"), "/key"),
        ("key", json!("ping"), "/key"),
        ("effect", json!("queryable"), "/effect"),
        ("risk", json!("R0"), "/risk"),
        ("timeoutMs", json!(1), "/timeoutMs"),
        ("destinations", json!(["to"]), "/destinations/0"),
        ("inputSchema", json!({"type": "array"}), "/inputSchema"),
        ("http", http("TRACE", "https://crm.example.com/"), "/http/method"),
        ("http", http("GET", "https://{{ args.host }}/"), "/http/url"),
        ("http", json!(["GET", "https://crm.example.com/"]), "/http"),
        ("http", json!({"method": "GET"}), "/http/url"),
        ("http", json!({"method": "GET", "url": "https://crm.example.com/", "body": 1}), "/http/body"),
        ("price", json!([1]), "/price"),
    ] {
        let answer = walk.app.send(Ask::post("/api/tools").key(admin).json(&body(name, value.clone()))).await;
        let places = answer.refused(400, "VALIDATION_ERROR", &format!("{name} {value}"));
        assert!(places.iter().any(|at| at == place), "{name} {value}: {places:?}");
    }
    let script = walk.app.send(Ask::post("/api/tools").key(admin).json(&body("kind", json!("script")))).await;
    assert!(script.text().contains("is not supported: use"), "{}", script.text());
    let bundled = walk.app.send(Ask::new("DELETE", "/api/tools/core.noop").key(admin)).await;
    assert!(bundled.text().contains("bundled") && bundled.text().contains("PATCH"), "{}", bundled.text());
    bundled.refused(409, "CONFLICT", "a bundled tool");
    for (verb, body) in [
        ("submit", json!({})),
        ("reject", json!({"note": "x"})),
        ("approve", json!({"hash": "00ff"})),
        ("activate", json!({"hash": "00ff"})),
        ("disable", json!({})),
    ] {
        let ask = Ask::post(&format!("/api/tools/core.noop/{verb}")).key(admin).json(&body);
        walk.app.send(ask).await.refused(409, "CONFLICT", verb);
    }
    let none = walk.app.send(Ask::get("/api/tools/core.noop/versions").key(admin)).await;
    assert_eq!((none.status, &none.json()["items"]), (200, &json!([])));
}
