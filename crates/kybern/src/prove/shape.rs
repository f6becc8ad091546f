//! Values that nobody has given: made from a JSON Schema, or from how a plan reads them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// How deep a schema is followed. What lies deeper is left out.
const MAX_DEPTH: usize = 8;

/// A value of which only the parts are known that a plan reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    members: BTreeMap<String, Self>,
    value: Option<Value>,
}

impl Shape {
    /// Notes that a part is read, and what it seems to be. The first that says what it is counts.
    pub(super) fn read(&mut self, path: &[String], value: Option<Value>) {
        match path.split_first() {
            Some((name, rest)) => self.members.entry(name.clone()).or_default().read(rest, value),
            None => self.value = self.value.take().or(value),
        }
    }

    /// What is known of both.
    pub(super) fn merge(&mut self, other: &Self) {
        for (name, shape) in &other.members {
            self.members.entry(name.clone()).or_default().merge(shape);
        }
        if self.value.is_none() {
            self.value.clone_from(&other.value);
        }
    }

    /// A value in which every part that is read is there.
    pub(super) fn make(&self) -> Value {
        if self.members.is_empty() {
            return self.value.clone().unwrap_or_else(|| json!("value"));
        }
        Value::Object(self.members())
    }

    /// The parts that are read, as an object's members.
    pub(super) fn members(&self) -> Map<String, Value> {
        self.members.iter().map(|(name, shape)| (name.clone(), shape.make())).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.value.is_none()
    }
}

/// Two values of one shape that differ, for a list.
pub(super) fn two_of(value: &Value) -> Value {
    json!([numbered(value, 1), numbered(value, 2)])
}

fn numbered(value: &Value, n: u64) -> Value {
    match value {
        Value::String(text) => json!(format!("{text} {n}")),
        Value::Number(number) => number.as_u64().map_or_else(|| value.clone(), |known| json!(known + n)),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), numbered(member, n))).collect::<Map<_, _>>().into()
        }
        Value::Array(_) | Value::Bool(_) | Value::Null => value.clone(),
    }
}

/// A value that fits a schema, as far as its keywords say plainly which: every property is there, a choice takes its
/// first way, a boolean is true.
pub(super) fn of_schema(schema: &Value) -> Value {
    made(schema, 0)
}

fn made(schema: &Value, depth: usize) -> Value {
    if let Some(known) = schema.get("const").or_else(|| schema.get("default")).or_else(|| first(schema, "enum")) {
        return known.clone();
    }
    if let Some(example) = first(schema, "examples") {
        return example.clone();
    }
    if let Some(way) = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|name| first(schema, name)) {
        return made(way, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    };
    match kind {
        "object" => object(schema, depth),
        "array" => match schema.get("items") {
            Some(items) if depth < MAX_DEPTH => json!([made(items, depth + 1)]),
            _ => json!([]),
        },
        "integer" => json!(bound(schema).unwrap_or(1)),
        "number" => json!(bound(schema).unwrap_or(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _text => text(schema),
    }
}

fn object(schema: &Value, depth: usize) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|_| depth < MAX_DEPTH);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let members = properties.into_iter().flatten();
    let members = members.map(|(name, property)| (name.clone(), made(property, depth + 1), property));
    // What nobody asks for is left out where no value is known that fits.
    let kept = members.filter(|(name, value, property)| is_required(name) || fits(property, value));
    kept.map(|(name, value, _)| (name, value)).collect::<Map<_, _>>().into()
}

/// Texts of which one fits most patterns.
const SAMPLES: [&str; 12] = [
    "value",
    "2030-01-15",
    "2030-01-15T12:00:00Z",
    "1",
    "12345",
    "1234567",
    "A",
    "AB",
    "ABC",
    "A-12345",
    "person@example.com",
    "https://example.com/value",
];

fn fits(schema: &Value, value: &Value) -> bool {
    kybern_engine::schema::check(schema, value).is_empty()
}

fn bound(schema: &Value) -> Option<i64> {
    let least = schema.get("minimum").and_then(Value::as_i64);
    let above = schema.get("exclusiveMinimum").and_then(Value::as_i64).map(|above| above.saturating_add(1));
    let most = schema.get("maximum").and_then(Value::as_i64).filter(|most| *most < 1);
    least.or(above).map(|least| if least == 0 { 1.min(schema_most(schema)) } else { least }).or(most)
}

fn schema_most(schema: &Value) -> i64 {
    schema.get("maximum").and_then(Value::as_i64).unwrap_or(i64::MAX)
}

fn text(schema: &Value) -> Value {
    let plain = match schema.get("format").and_then(Value::as_str) {
        Some("email") => "person@example.com",
        Some("date") => "2030-01-15",
        Some("date-time") => "2030-01-15T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("uri" | "url") => "https://example.com/value",
        Some("uuid") => "01920000-0000-7000-8000-000000000001",
        _ => "value",
    };
    if schema.get("pattern").is_some() {
        let known = SAMPLES.iter().map(|sample| json!(sample)).chain([Value::Null]).find(|sample| fits(schema, sample));
        return known.unwrap_or_else(|| json!(plain));
    }
    let length = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (least, most) = (length("minLength").unwrap_or(0).min(1_000), length("maxLength").unwrap_or(usize::MAX));
    let missing = least.saturating_sub(plain.len());
    json!(format!("{plain}{}", "x".repeat(missing)).chars().take(most).collect::<String>())
}

fn first<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).and_then(Value::as_array).and_then(|all| all.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_the_schema_it_is_made_of() {
        let schema = json!({
            "type": "object",
            "required": ["name", "count", "lines", "ok"],
            "properties": {
                "name": {"type": "string", "minLength": 12},
                "mail": {"type": ["null", "string"], "format": "email"},
                "count": {"type": "integer", "minimum": 3},
                "wait": {"type": "integer", "minimum": 0},
                "kind": {"enum": ["a", "b"]},
                "day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
                "odd": {"type": "string", "pattern": "^zz[0-9]{9}$"},
                "ok": {"type": "boolean", "const": true},
                "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
            },
            "additionalProperties": false
        });
        let made = of_schema(&schema);
        assert!(jsonschema::is_valid(&schema, &made), "{made}");
        assert_eq!((&made["day"], made.get("odd")), (&json!("2030-01-15"), None));
        assert_eq!((&made["count"], &made["wait"], &made["kind"]), (&json!(3), &json!(1), &json!("a")));
    }

    #[test]
    fn a_shape_has_every_part_that_is_read() {
        let mut shape = Shape::default();
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        shape.read(&path("a.b"), None);
        shape.read(&path("a.c"), Some(json!(7)));
        shape.read(&path("d"), Some(json!([1])));
        assert_eq!(shape.make(), json!({"a": {"b": "value", "c": 7}, "d": [1]}));
        assert_eq!(two_of(&json!({"n": 1, "t": "x"})), json!([{"n": 2, "t": "x 1"}, {"n": 3, "t": "x 2"}]));
    }
}
