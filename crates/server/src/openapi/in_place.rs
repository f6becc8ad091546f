//! Writes schemas where they are used: ids, moments and other scalars, which nobody wants to follow a reference for; and
//! the members of objects that are flattened into others, which are one object on the wire.

use kybern_core::schema::IN_PLACE;
use serde_json::{Map, Value, json};

const REFERENCE: &str = "#/components/schemas/";

/// Writes them in place, and leaves them out of the components.
pub(super) fn write(document: &mut Value) {
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object).cloned().unwrap_or_default();
    resolve(document, &schemas);
    if let Some(named) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        named.retain(|name, _| !name.starts_with(IN_PLACE));
    }
}

fn resolve(value: &mut Value, schemas: &Map<String, Value>) {
    match value {
        Value::Object(members) => {
            if let Some(target) = referred(members, schemas).filter(|(name, _)| name.starts_with(IN_PLACE)) {
                let mut written = target.1.clone();
                members.remove("$ref");
                written.append(members);
                *members = written;
            }
            flatten(members, schemas);
            members.values_mut().for_each(|member| resolve(member, schemas));
            or_null(members);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, schemas)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn referred<'a>(
    members: &Map<String, Value>,
    schemas: &'a Map<String, Value>,
) -> Option<(&'a String, &'a Map<String, Value>)> {
    let name = members.get("$ref")?.as_str()?.strip_prefix(REFERENCE)?;
    let (name, schema) = schemas.get_key_value(name)?;
    Some((name, schema.as_object()?))
}

/// All of several objects is one object with the members of all.
fn flatten(members: &mut Map<String, Value>, schemas: &Map<String, Value>) {
    let Some(parts) = members.get("allOf").and_then(Value::as_array) else { return };
    let mut whole = Map::new();
    for part in parts {
        let Some(part) = part.as_object() else { return };
        let mut part = referred(part, schemas).map_or(part, |(_, schema)| schema).clone();
        flatten(&mut part, schemas);
        if part.get("type") != Some(&json!("object")) {
            return;
        }
        for (name, said) in part {
            match (whole.get_mut(&name), said) {
                (Some(Value::Object(all)), Value::Object(mut more)) => all.append(&mut more),
                (Some(Value::Array(all)), Value::Array(mut more)) => all.append(&mut more),
                (_, said) => {
                    whole.insert(name, said);
                }
            }
        }
    }
    members.remove("allOf");
    whole.append(members);
    *members = whole;
}

/// A scalar that may be null says so in its type, as those do that are written out.
fn or_null(members: &mut Map<String, Value>) {
    let Some([null, Value::Object(one)]) = members.get("oneOf").and_then(Value::as_array).map(Vec::as_slice) else {
        return;
    };
    let Some(of) = one.get("type").and_then(Value::as_str).filter(|of| *of != "object" && *of != "array") else {
        return;
    };
    if *null != json!({"type": "null"}) || one.contains_key("enum") {
        return;
    }
    let mut one = one.clone();
    one.insert("type".to_owned(), json!([of, "null"]));
    members.remove("oneOf");
    one.append(members);
    *members = one;
}
