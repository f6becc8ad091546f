//! Holds real answers against the OpenAPI document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub(crate) fn document() -> Value {
    serde_json::from_str(&kybern_server::openapi_json()).unwrap()
}

/// The schema of an answer, by route and status; `None` for one that is no JSON.
pub(crate) fn of_answer(document: &Value, method: &str, path: &str, status: u16) -> Option<Value> {
    let operation = &document["paths"][path][method.to_lowercase()];
    let response = &operation["responses"][status.to_string()];
    assert!(!response.is_null(), "{method} {path} does not document {status}");
    let schema = response["content"].get("application/json")?.get("schema")?.clone();
    Some(schema)
}

/// Checks a value against a schema of the document, and that it has no member that the schema does not know.
#[track_caller]
pub(crate) fn fits(document: &Value, schema: &Value, value: &Value, about: &str) {
    let mut root = schema.clone();
    root["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&root).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{about}: {faults:#?}\n{value:#}");
    let mut unknown = BTreeSet::new();
    undeclared(document, schema, value, "", &mut unknown);
    assert!(unknown.is_empty(), "{about}: members that the document does not know: {unknown:?}");
}

fn undeclared(document: &Value, schema: &Value, value: &Value, path: &str, unknown: &mut BTreeSet<String>) {
    let schema = resolve(document, schema);
    if let Some(items) = value.as_array() {
        if let Some(inner) = schema.get("items") {
            items.iter().for_each(|item| undeclared(document, inner, item, &format!("{path}/*"), unknown));
        }
        return;
    }
    let (Some(members), Some(known)) = (value.as_object(), schema.get("properties").and_then(Value::as_object)) else {
        return;
    };
    for (name, member) in members {
        let path = format!("{path}/{name}");
        match known.get(name) {
            Some(inner) => undeclared(document, inner, member, &path, unknown),
            None => drop(unknown.insert(path)),
        }
    }
}

pub(crate) fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let choices = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array);
    let schema = choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")).unwrap_or(schema);
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

#[test]
fn a_member_that_no_schema_knows_is_found() {
    let document = json!({"components": {"schemas": {"A": {"type": "object", "properties": {
        "b": {"type": "array", "items": {"type": "object", "properties": {"c": {}}}}}}}}});
    let mut unknown = BTreeSet::new();
    let schema = json!({"$ref": "#/components/schemas/A"});
    undeclared(&document, &schema, &json!({"b": [{"c": 1, "d": 2}], "e": 3}), "", &mut unknown);
    assert_eq!(unknown, BTreeSet::from(["/b/*/d".to_owned(), "/e".to_owned()]));
}
