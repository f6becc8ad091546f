//! JSON Schemas of arguments, forms and corrections: bounded, checked with paths, never fetched.

use jsonschema::{PatternOptions, Validator};
use kybern_core::error::Detail;
use kybern_core::json_schema;
use serde_json::{Value, json};

/// Faults that are listed of one value.
const MAX_FAULTS: usize = 20;

/// Compiles a schema that is not ours, within [`json_schema`]'s limits. Nothing of it is kept: it belongs to whoever
/// checks with it.
///
/// # Errors
/// A sentence that says what is wrong with the schema.
pub fn compile(schema: &Value) -> Result<Validator, String> {
    json_schema::check(schema).map_err(|fault| fault.to_string())?;
    compile_own(schema)
}

/// Compiles a schema of the program: of a tool that is registered. Remote references are never followed, and patterns
/// are matched in linear time.
///
/// # Errors
/// A sentence that says what is wrong with the schema.
pub(crate) fn compile_own(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex()
        .size_limit(json_schema::MAX_PATTERN_BYTES)
        .dfa_size_limit(json_schema::MAX_PATTERN_BYTES);
    let built = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .with_pattern_options(patterns)
        .build(schema);
    built.map_err(|error| {
        let problem: String = error.to_string().chars().take(300).collect();
        format!("not a usable JSON Schema: {problem}")
    })
}

/// The faults of a value under a schema that is not ours, by JSON pointer. Where finding them would take too much, the
/// value as a whole is at fault.
#[must_use]
pub fn check(schema: &Value, value: &Value) -> Vec<Detail> {
    let validator = match compile(schema) {
        Err(problem) => return vec![Detail::new("", problem)],
        Ok(validator) => validator,
    };
    bounded_faults(&validator, schema, value)
}

/// The faults of a value under a compiled schema that is not ours.
pub(crate) fn bounded_faults(validator: &Validator, schema: &Value, value: &Value) -> Vec<Detail> {
    match json_schema::work(schema, value) {
        Some(work) if work <= json_schema::MAX_LISTED_WORK => faults(validator, value),
        Some(_) if validator.is_valid(value) => Vec::new(),
        Some(_) => vec![Detail::new("", "it does not fit the schema, which has too many ways to list where")],
        None => {
            let most = json_schema::MAX_WORK;
            let message = format!("checking it takes more than {most} steps: simplify the schema, or give less");
            vec![Detail::new("", message)]
        }
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

/// Members that a JSON Schema for an object has, and that are no names of fields.
const SCHEMA_WORDS: [&str; 9] =
    ["$schema", "$ref", "$defs", "properties", "patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf"];

/// A form's schema: a whole JSON Schema as it is, or a plain object of fields made into one in which each is needed.
#[must_use]
pub fn form(fields: &Value) -> Value {
    let Value::Object(members) = fields else { return json!({"type": "object"}) };
    let is_schema = members.get("type").is_some_and(Value::is_string)
        || SCHEMA_WORDS.iter().any(|word| members.contains_key(*word));
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
    fn a_schema_that_explodes_is_refused_and_so_is_a_check_that_would() {
        let wide = "(\\w{0,300}x){0,20}";
        assert!(compile(&json!({"pattern": wide})).unwrap_err().contains("not a usable JSON Schema"));
        assert!(compile(&json!({"pattern": "(a)\\1"})).is_err(), "no linear engine takes it");
        let twice = json!({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, false]});
        let lists = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
        assert!(check(&twice, &lists(3)).is_empty());
        assert!(check(&twice, &lists(40))[0].message.contains("takes more than 1000000 steps"));
        let never =
            json!({"anyOf": [{"items": {"$ref": "#"}, "maxItems": 0}, {"items": {"$ref": "#"}, "maxItems": 0}]});
        let many = json!({"type": "array", "items": {"type": "string"}});
        let value = Value::Array(vec![json!(1); 30_000]);
        assert_eq!(check(&many, &value).len(), 1, "the whole, not each");
        assert!(!check(&never, &lists(2)).is_empty());
    }

    #[test]
    fn a_form_is_a_schema_when_it_has_members_of_one() {
        let fields = json!({"name": {"type": "string"}, "type": {"type": "string"}});
        assert_eq!(form(&fields)["required"], json!(["name", "type"]));
        for schema in [
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}),
            json!({"patternProperties": {"^x-": {"type": "string"}}}),
            json!({"additionalProperties": {"type": "string"}}),
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ] {
            assert_eq!(form(&schema), schema);
        }
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
