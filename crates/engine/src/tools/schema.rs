//! JSON Schemas of arguments, forms and corrections: compiled once, checked with paths, never fetched.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use kybern_core::error::Detail;
use serde_json::{Value, json};

/// Schemas that are kept compiled.
const KEPT: usize = 2_048;
/// Faults that are listed of one value.
const MAX_FAULTS: usize = 20;

type Cache = HashMap<String, Arc<Validator>>;
static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Compiles a schema, or finds it compiled. Remote references are never followed.
///
/// # Errors
/// A sentence that says what is wrong with the schema.
pub fn compile(schema: &Value) -> Result<Arc<Validator>, String> {
    let key = schema.to_string();
    if let Some(found) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(Arc::clone(found));
    }
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| format!("not a usable JSON Schema: {error}"))?;
    let validator = Arc::new(validator);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= KEPT {
        cache.clear();
    }
    cache.insert(key, Arc::clone(&validator));
    Ok(validator)
}

/// The faults of a value, by JSON pointer.
#[must_use]
pub fn check(schema: &Value, value: &Value) -> Vec<Detail> {
    match compile(schema) {
        Err(problem) => vec![Detail::new("", problem)],
        Ok(validator) => faults(&validator, value),
    }
}

/// The faults of a value under a compiled schema.
#[must_use]
pub fn faults(validator: &Validator, value: &Value) -> Vec<Detail> {
    if validator.is_valid(value) {
        return Vec::new();
    }
    validator
        .iter_errors(value)
        .take(MAX_FAULTS)
        .map(|error| {
            let message: String = error.to_string().chars().take(300).collect();
            Detail::new(error.instance_path().to_string(), message)
        })
        .collect()
}

/// A tool's schema with unknown arguments refused, unless it says itself what it thinks of them.
#[must_use]
pub fn closed(schema: &Value) -> Value {
    let mut closed = schema.clone();
    if let Value::Object(members) = &mut closed {
        members.entry("type").or_insert_with(|| json!("object"));
        members.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    closed
}

/// A form's schema: a whole JSON Schema as it is, or a plain object of fields made into one in which each is needed.
#[must_use]
pub fn form(fields: &Value) -> Value {
    let Value::Object(members) = fields else { return json!({"type": "object"}) };
    let is_schema = members.contains_key("properties")
        || members.contains_key("$schema")
        || members.get("type").is_some_and(Value::is_string);
    if is_schema {
        return fields.clone();
    }
    let names: Vec<&String> = members.keys().collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}

/// The same schema with nothing required: for corrections, which put right only what is wrong.
#[must_use]
pub fn partial(schema: &Value) -> Value {
    let mut partial = schema.clone();
    if let Value::Object(members) = &mut partial {
        members.remove("required");
    }
    partial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_their_place() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"n": {"type": "integer"}}}}});
        let faults = check(&schema, &json!({"a": {"n": "x"}}));
        assert_eq!((faults.len(), faults[0].path.as_str()), (1, "/a/n"));
        assert!(check(&schema, &json!({"a": {"n": 1}})).is_empty());
    }

    #[test]
    fn a_schema_that_is_none_is_a_fault_and_remote_references_are_not_followed() {
        assert!(compile(&json!({"type": 5})).is_err());
        assert!(compile(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert_eq!(check(&json!({"type": 5}), &json!({})).len(), 1);
    }

    #[test]
    fn arguments_are_closed_unless_the_tool_opens_them() {
        assert_eq!(check(&closed(&json!({"properties": {}})), &json!({"x": 1})).len(), 1);
        assert!(check(&closed(&json!({"additionalProperties": true})), &json!({"x": 1})).is_empty());
    }

    #[test]
    fn a_form_is_a_schema_or_a_list_of_needed_fields() {
        let plain = form(&json!({"name": {"type": "string"}}));
        assert_eq!(check(&plain, &json!({})).len(), 1);
        assert!(check(&plain, &json!({"name": "x"})).is_empty());
        let whole = json!({"type": "object", "properties": {"name": {}}});
        assert_eq!(form(&whole), whole);
        assert!(check(&partial(&plain), &json!({})).is_empty());
    }
}
