//! Templates as the engine reads them: one typed expression per value, strict about names that do not exist.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Map, Value, json};

/// Fills in the templates of a value.
pub(crate) fn fill(value: &Value, state: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) {
            Some(expression) if !expression.contains("{{") => evaluate(expression.trim(), state),
            _ => Value::String(within(text, state)),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, state)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), fill(value, state))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A text with expressions in it.
fn within(text: &str, state: &Map<String, Value>) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(text, Serde(json!({"state": state}))).unwrap()
}

fn evaluate(expression: &str, state: &Map<String, Value>) -> Value {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let compiled = environment.compile_expression(expression).unwrap();
    let result = compiled.eval(Serde(json!({"state": state}))).unwrap_or_else(|error| panic!("{expression}: {error}"));
    assert!(!result.is_undefined(), "{expression} is undefined");
    serde_json::to_value(result).unwrap()
}
