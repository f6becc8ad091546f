//! Schemas of strangers and values under them: whatever they are, a check ends in bounded time and memory, finds the
//! same twice, and lists no more than it may.

use kybern_core::json_schema;
use kybern_engine::schema;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::{Value, json};

const NAMES: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "contains",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependentSchemas",
    "dependentRequired",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "$id",
    "$anchor",
    "$schema",
    "$dynamicRef",
    "enum",
    "const",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "default",
    "a",
    "b",
    "x",
];
const TEXTS: &[&str] = &[
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#/$defs/none",
    "https://example.com/s",
    "object",
    "array",
    "string",
    "integer",
    "number",
    "null",
    "boolean",
    "date-time",
    "email",
    "uri",
    "regex",
    "uuid",
    "hostname",
    "(a+)+$",
    "(\\w{0,300}x){0,20}",
    "^(?=a)",
    "[^\\x00-\\x7f]{1,1000}",
    "\\p{L}+",
    "https://json-schema.org/draft/2020-12/schema",
];

fn shapes() -> Vec<Value> {
    let twice =
        |name: &str| json!({"allOf": [{"$ref": format!("#/$defs/{name}")}, {"$ref": format!("#/$defs/{name}")}]});
    let doubling = json!({"$defs": {"a": twice("b"), "b": twice("c"), "c": twice("d"), "d": {"type": "object"}}, "$ref": "#/$defs/a"});
    let tree =
        json!({"type": "object", "properties": {"x": {"$ref": "#"}, "a": {"type": "array", "items": {"$ref": "#"}}}});
    let choice = json!({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, {"type": "string"}]});
    let form = json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "string", "pattern": "^[a-z]{1,20}$"}, "b": {"enum": [1, "x", null]},
            "x": {"type": "array", "uniqueItems": true, "items": {"type": "integer", "minimum": 0}}},
    });
    let conditional = json!({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"not": {"required": ["b"]}}});
    let value = json!({"a": "abc", "b": 1, "x": [1, 2, {"a": [[[]]], "x": {"x": {}}}]});
    [doubling, tree, choice, form, conditional].into_iter().map(|schema| json!([schema, value])).collect()
}

fn run(input: &[u8]) -> Result<(), String> {
    let Ok(pair) = serde_json::from_slice::<Value>(input) else { return Ok(()) };
    let (schema, value) = (&pair[0], &pair[1]);
    let faults = schema::check(schema, value);
    if faults.len() > 20 {
        return Err(format!("{} faults are listed", faults.len()));
    }
    if faults.iter().any(|fault| fault.message.chars().count() > 2_000) {
        return Err("a fault is a book".to_owned());
    }
    if schema::check(schema, value) != faults {
        return Err("a second check finds something else".to_owned());
    }
    if faults.is_empty() && json_schema::check(schema).is_err() {
        return Err("a value fits a schema that is not taken".to_owned());
    }
    let form = schema::form(schema);
    drop(schema::check(&form, value));
    drop(schema::check(&schema::partial(&form), value));
    Ok(())
}

#[test]
fn schemas() {
    let shapes = shapes();
    let seeds: Vec<Vec<u8>> = shapes.iter().map(|pair| pair.to_string().into_bytes()).collect();
    let make = move |chance: &Chance| {
        let (mut pair, other) = (chance.one(&shapes).clone(), chance.one(&shapes).clone());
        for _ in 0..=chance.below(8) {
            damage::mutate(&mut pair, &other, NAMES, TEXTS, chance);
        }
        pair.to_string().into_bytes()
    };
    Target::new("schemas", 3_000, run)
        .seeds(seeds)
        .words(&[
            "\"$ref\":\"#\"",
            "\"$ref\":\"#/$defs/a\"",
            "\"anyOf\":[",
            "\"pattern\":",
            "{",
            "}",
            "[",
            "]",
            ",",
            "true",
            "null",
        ])
        .made_by(make)
        .play();
}
