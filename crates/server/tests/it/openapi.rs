//! The OpenAPI document and the routes are the same, and the document is the one in the repository.

use std::collections::BTreeSet;
use std::path::Path;

use kybern_server::router::{Access, Query, table};
use serde_json::{Value, json};

use crate::harness::{App, Ask};
use crate::schemas::document;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(METHODS.contains(&method.as_str()), "{path} has {method}");
            found.push((method.to_uppercase(), path.clone(), operation.clone()));
        }
    }
    found
}

#[test]
fn the_document_lists_the_routes_and_nothing_else() {
    let routes: BTreeSet<(String, String)> =
        table().iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    let documented: BTreeSet<(String, String)> =
        operations(&document()).into_iter().map(|(method, path, _)| (method, path)).collect();
    assert_eq!(routes, documented);
}

/// Those too that read the key in their own way, and not as the table of routes says.
#[test]
fn every_route_that_honours_an_idempotency_key_says_so() {
    let own = ["/v1/chat/completions", "/api/inbound/webhook/{source}"];
    let routes = table();
    for (method, path, operation) in operations(&document()) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let says = parameters.filter(|known| known["in"] == "header" && known["name"] == "Idempotency-Key").count();
        let route = routes.iter().find(|route| route.method == method && route.path == path).unwrap();
        assert_eq!(says, usize::from(route.once || own.contains(&path.as_str())), "{method} {path}");
    }
}

#[test]
fn every_operation_says_what_it_takes_and_answers() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let about = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{about}: its operationId is taken");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{about} has no summary");
        assert!(operation["tags"][0].is_string(), "{about} has no tag");
        let responses = operation["responses"].as_object().unwrap();
        let success: Vec<_> = responses.iter().filter(|(status, _)| status.starts_with('2')).collect();
        assert!(!success.is_empty(), "{about} has no success");
        for (status, response) in responses {
            let response = match response.get("$ref").and_then(Value::as_str) {
                Some(reference) => document.pointer(&reference[1..]).unwrap(),
                None => response,
            };
            let content = response.get("content").and_then(Value::as_object);
            let shown = content.is_some_and(|content| content.values().all(|media| media.get("schema").is_some()));
            assert!(shown || status == "204", "{about}: {status} has no schema");
            if status.starts_with('4') || status == "500" {
                assert_eq!(response["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/Error");
            }
        }
        assert!(responses.contains_key("500"), "{about} does not say 500");
        for (n, name) in path.split('/').filter(|part| part.starts_with('{')).enumerate() {
            let name = name.trim_matches(['{', '}']);
            let parameters = operation["parameters"].as_array().unwrap();
            let found = parameters.iter().any(|parameter| parameter["name"] == name && parameter["in"] == "path");
            assert!(found, "{about}: part {n} ({name}) is not described");
        }
    }
}

#[test]
fn a_route_reads_the_query_when_its_operation_names_parameters_of_it() {
    let document = document();
    for route in table() {
        let operation = &document["paths"][route.path][route.method.to_lowercase()];
        let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = parameters.iter().any(|parameter| parameter["in"] == "query");
        assert_eq!(route.query == Query::Own, named, "{} {}", route.method, route.path);
        let refuses = operation["responses"].get("400").is_some();
        assert!(refuses || route.query == Query::Any, "{} {}", route.method, route.path);
    }
}

#[test]
fn guarded_operations_say_so() {
    let document = document();
    assert_eq!(document["components"]["securitySchemes"]["key"]["scheme"], "bearer");
    for route in table() {
        let operation = &document["paths"][route.path][route.method.to_lowercase()];
        let by_key = operation["security"][0].get("key").is_some();
        assert_eq!(by_key, matches!(route.access, Access::Needs(_) | Access::SignedOr(_)), "{}", route.path);
        if let Access::Needs(right) | Access::SignedOr(right) = route.access {
            let text = operation["description"].as_str().unwrap();
            assert!(text.contains(&format!("Needs the right `{}`.", right.as_str())), "{}: {text}", route.path);
            assert!(operation["responses"].get("401").is_some() && operation["responses"].get("403").is_some());
        }
    }
}

#[test]
fn the_rights_of_all_routes_are_these() {
    let line = |route: &kybern_server::router::Route| {
        let asks = match route.access {
            Access::Open => "open".to_owned(),
            Access::Needs(right) => right.as_str().to_owned(),
            Access::Callback => "callback proof".to_owned(),
            Access::SignedOr(right) => format!("{}, or a signature", right.as_str()),
        };
        format!("{:<6} {:<38} {asks}", route.method, route.path)
    };
    let lines: Vec<String> = table().iter().map(line).collect();
    insta::assert_snapshot!("rights", lines.join("\n"));
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(document: &Value, value: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
                }
                members.values().for_each(|member| walk(document, member));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(document, item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document();
    walk(&document, &document);
}

#[test]
fn the_document_in_the_repository_is_this_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json");
    let now = kybern_server::openapi_json();
    if std::env::var_os("KYBERN_UPDATE_OPENAPI").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "openapi.json is not what the routes say. If the change is meant, run\n  \
         KYBERN_UPDATE_OPENAPI=1 cargo test -p kybern-server --test it openapi\nand commit the file"
    );
}

#[tokio::test]
async fn the_plan_that_the_document_shows_is_taken() {
    let example = document().pointer("/components/schemas/NewPlan/example").unwrap().clone();
    let app = App::start().await;
    let made = app.send(Ask::new("POST", "/api/plans").key(&app.ours.admin).json(&example)).await;
    assert_eq!(made.status, 201, "{}", made.text());
}

#[tokio::test]
async fn a_capability_is_refused_as_the_document_says() {
    let described = document().pointer("/components/schemas/Step/properties/capability/description").cloned();
    assert!(described.is_some_and(|text| text.to_string().contains("refused")));
    let app = App::start().await;
    let plan = json!({"key": "a.b", "steps": [{"id": "a", "kind": "task", "capability": "quotes"}]});
    let answer = app.send(Ask::post("/api/plans").key(&app.ours.admin).json(&plan)).await;
    assert_eq!(answer.refused(422, "UNPROCESSABLE", "a capability"), ["/steps/0/capability"]);
}
