//! The OpenAPI document that the server serves, and what can be generated from it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::rows::Row;

pub(crate) struct Document(pub(crate) Value);

/// A value in a place where it does not belong.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// Where it is put, as a JSON pointer.
    pub(crate) place: String,
    pub(crate) value: Value,
}

impl Document {
    /// Every operation as method and path.
    pub(crate) fn operations(&self) -> BTreeSet<(String, String)> {
        let paths = self.0["paths"].as_object().unwrap();
        let of = |(path, item): (&String, &Value)| {
            let methods: Vec<String> = item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
            methods.into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of).collect()
    }

    pub(crate) fn operation(&self, row: &Row) -> &Value {
        &self.0["paths"][row.path][row.method.to_lowercase()]
    }

    /// The parameters of an operation that are in `place`: name and schema.
    pub(crate) fn parameters(&self, row: &Row, place: &str) -> Vec<(String, Value)> {
        let all = self.operation(row)["parameters"].as_array().cloned().unwrap_or_default();
        let here = all.into_iter().filter(|parameter| parameter["in"] == place);
        here.map(|parameter| (parameter["name"].as_str().unwrap().to_owned(), parameter["schema"].clone())).collect()
    }

    /// The schema of an operation's JSON body.
    pub(crate) fn body(&self, row: &Row) -> &Value {
        self.resolve(&self.operation(row)["requestBody"]["content"]["application/json"]["schema"])
    }

    /// Whether an operation says that a body has to be there.
    pub(crate) fn needs_body(&self, row: &Row) -> bool {
        self.operation(row)["requestBody"]["required"] == true
    }

    /// What is wrong with a successful answer.
    pub(crate) fn misfits(&self, row: &Row, status: u16, body: &[u8]) -> Vec<String> {
        let Some(content) = self.operation(row)["responses"][status.to_string()].get("content") else {
            return if body.is_empty() { Vec::new() } else { vec!["a body where none is documented".to_owned()] };
        };
        let Some(json) = content.get("application/json") else { return Vec::new() };
        let Ok(value) = serde_json::from_slice::<Value>(body) else { return vec!["no JSON".to_owned()] };
        let mut schema = json["schema"].clone();
        schema["components"] = self.0["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        validator.iter_errors(&value).map(|error| format!("{} {error}", error.instance_path())).collect()
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let choices = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array);
        let schema =
            choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")).unwrap_or(schema);
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.0.pointer(reference.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// For each property of a body everything that its schema forbids.
    pub(crate) fn wrong(&self, schema: &Value) -> Vec<Misfit> {
        let mut found = Vec::new();
        let nothing = serde_json::Map::new();
        for (name, property) in schema["properties"].as_object().unwrap_or(&nothing) {
            self.forbidden(property, &format!("/{name}"), &|value| value, &mut found);
        }
        found
    }

    /// Collects what `schema` forbids. A value is wrapped into what stands around it at `place`'s top.
    fn forbidden(&self, schema: &Value, place: &str, wrap: &dyn Fn(Value) -> Value, found: &mut Vec<Misfit>) {
        let nullable =
            is(schema, "null") || schema["oneOf"].as_array().is_some_and(|all| all.iter().any(|one| is(one, "null")));
        let inner = self.resolve(schema);
        let mut put = |value: Value| found.push(Misfit { place: place.to_owned(), value: wrap(value) });
        for (kind, value) in [
            ("boolean", json!(true)),
            ("integer", json!(7)),
            ("number", json!(1.5)),
            ("string", json!("a word")),
            ("array", json!([])),
            ("object", json!({})),
        ] {
            let number = kind == "integer" && is(inner, "number");
            if !is(inner, kind) && !number && inner.get("type").is_some() {
                put(value);
            }
        }
        if !nullable && inner.get("type").is_some() {
            put(Value::Null);
        }
        if let Some(least) = inner["minimum"].as_i64() {
            put(json!(least - 1));
        }
        if let Some(most) = inner["maximum"].as_i64() {
            put(json!(most.unsigned_abs() + 1));
        }
        if let Some(most) = inner["maxLength"].as_u64().filter(|most| *most < 10_000) {
            put(json!("x".repeat(usize::try_from(most).unwrap() + 1)));
        }
        if is(inner, "string") {
            // The validator takes formats for remarks.
            let forbidden = |text: &Value| well_known(inner) || !jsonschema::is_valid(inner, text);
            [json!("No such Value"), json!("  "), json!("")].into_iter().filter(forbidden).for_each(&mut put);
        }
        if is(inner, "string") {
            put(json!("a\u{0}b"));
        }
        if is(inner, "integer") {
            put(json!(99_999_999_999_999_999_999_999_f64));
        }
        if is(inner, "array") {
            let inside = |value| wrap(json!([value]));
            self.forbidden(&inner["items"], place, &inside, found);
        } else if is(inner, "object") && inner["properties"].is_object() && inner["additionalProperties"] == false {
            found.push(Misfit { place: place.to_owned(), value: wrap(json!({"surprise": 1})) });
        }
    }
}

fn is(schema: &Value, kind: &str) -> bool {
    schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|one| one == kind))
}

fn well_known(schema: &Value) -> bool {
    matches!(schema["format"].as_str(), Some("uuid" | "date-time" | "email"))
}
