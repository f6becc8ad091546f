//! What a stranger's JSON Schema may cost: measured before it is compiled, and again before a value is checked.
//!
//! Size alone says little. A reference doubles what it names each time it is used, a choice between references doubles
//! the work at each level of a value, and a pattern of twenty letters may compile to megabytes. So the schema is
//! counted as it is when every reference is followed, and a check is counted as it would run, pair by pair of schema
//! and value, before it runs.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::json::{self, Unstorable};

/// Bytes of a schema as it is written.
pub const MAX_BYTES: usize = 64 * 1024;
/// Parts of a schema once its references are followed.
pub const MAX_PARTS: u64 = 10_000;
/// Patterns of a schema once its references are followed.
pub const MAX_PATTERNS: u64 = 64;
/// Bytes of one compiled pattern.
pub const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// Pairs of a part of the schema and a part of the value that one check may look at.
pub const MAX_WORK: u64 = 1_000_000;
/// The work of a check up to which its faults are listed one by one: each choice that fails keeps all of its own.
pub const MAX_LISTED_WORK: u64 = 20_000;
/// Parts and references that may stand in each other.
const MAX_NESTING: usize = 128;
/// Steps into schema and value that a check may take from its beginning.
const MAX_DESCENT: usize = 512;

/// The schema of an object that has these properties, of which these are required, and no others.
#[must_use]
pub fn object<const N: usize>(properties: Value, required: [&str; N]) -> Value {
    if required.is_empty() {
        return json!({"type": "object", "properties": properties, "additionalProperties": false});
    }
    let required = required.as_slice();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Why a schema is not taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SchemaFault {
    /// It is too large.
    #[error("the schema has {0} bytes, more than {MAX_BYTES}: make it smaller")]
    TooLarge(usize),
    /// It is nested too deep.
    #[error("the schema cannot be taken: {0}")]
    Unstorable(#[from] Unstorable),
    /// It explodes.
    #[error("the schema has more than {MAX_PARTS} parts once its references are followed: simplify it")]
    TooManyParts,
    /// Its patterns take too much.
    #[error("the schema has more than {MAX_PATTERNS} patterns once its references are followed: use fewer")]
    TooManyPatterns,
    /// References lead too far.
    #[error("the references of the schema lead through more than {MAX_NESTING} others: make it flatter")]
    TooNested,
    /// A reference leaves the schema, or leads nowhere.
    #[error("the schema refers to {0:?}: references stay inside it, as in #/$defs/name")]
    Reference(String),
    /// A way to refer that cannot be followed beforehand.
    #[error("the schema uses {0}: name parts by $ref and #/$defs/… only")]
    Keyword(&'static str),
}

/// Refuses a schema that would take too much to compile.
///
/// # Errors
/// [`SchemaFault`], with the remedy.
pub fn check(schema: &Value) -> Result<(), SchemaFault> {
    json::check_value(schema)?;
    let bytes = schema.to_string().len();
    if bytes > MAX_BYTES {
        return Err(SchemaFault::TooLarge(bytes));
    }
    Expansion { root: schema, known: HashMap::new() }.count(schema, 0).map(|_| ())
}

/// What a part of a schema is when its references are followed.
#[derive(Clone, Copy, Default)]
struct Count {
    parts: u64,
    patterns: u64,
}

struct Expansion<'a> {
    root: &'a Value,
    /// What each reference counts; nothing more while it is being counted: it goes round, and each round of it takes a
    /// level of a value.
    known: HashMap<&'a str, Count>,
}

impl<'a> Expansion<'a> {
    fn count(&mut self, part: &'a Value, nesting: usize) -> Result<Count, SchemaFault> {
        if nesting > MAX_NESTING {
            return Err(SchemaFault::TooNested);
        }
        let mut count = Count { parts: 1, patterns: 0 };
        match part {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::Array(items) => {
                for item in items {
                    count = count.plus(self.count(item, nesting + 1)?)?;
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    count = count.plus(self.member(name, member, nesting)?)?;
                }
            }
        }
        Ok(count)
    }

    fn member(&mut self, name: &str, member: &'a Value, nesting: usize) -> Result<Count, SchemaFault> {
        match (name, member) {
            ("$ref", Value::String(reference)) => self.reference(reference, nesting),
            ("$dynamicRef", Value::String(_)) => Err(SchemaFault::Keyword("$dynamicRef")),
            ("$recursiveRef", Value::String(_)) => Err(SchemaFault::Keyword("$recursiveRef")),
            ("$anchor", Value::String(_)) => Err(SchemaFault::Keyword("$anchor")),
            ("$id", Value::String(_)) if nesting > 0 => Err(SchemaFault::Keyword("$id inside the schema")),
            ("pattern", Value::String(_)) => Ok(Count { parts: 1, patterns: 1 }),
            ("patternProperties", Value::Object(members)) => {
                let patterns = u64::try_from(members.len()).unwrap_or(u64::MAX);
                self.count(member, nesting + 1)?.plus(Count { parts: 0, patterns })
            }
            // Values, not schemas: what looks like a reference in them is none.
            ("const" | "enum" | "default" | "examples", _) => Count { parts: size(member), patterns: 0 }.within(),
            (_, _) => self.count(member, nesting + 1),
        }
    }

    fn reference(&mut self, reference: &'a str, nesting: usize) -> Result<Count, SchemaFault> {
        if let Some(count) = self.known.get(reference) {
            return Ok(*count);
        }
        let target = target(self.root, reference).ok_or_else(|| {
            let shown: String = reference.chars().take(100).collect();
            SchemaFault::Reference(shown)
        })?;
        self.known.insert(reference, Count { parts: 1, patterns: 0 });
        let count = self.count(target, nesting + 1)?;
        self.known.insert(reference, count);
        Ok(count)
    }
}

impl Count {
    fn plus(self, other: Self) -> Result<Self, SchemaFault> {
        Self { parts: self.parts.saturating_add(other.parts), patterns: self.patterns.saturating_add(other.patterns) }
            .within()
    }

    fn within(self) -> Result<Self, SchemaFault> {
        if self.parts > MAX_PARTS {
            return Err(SchemaFault::TooManyParts);
        }
        if self.patterns > MAX_PATTERNS {
            return Err(SchemaFault::TooManyPatterns);
        }
        Ok(self)
    }
}

/// What a reference inside a schema names.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Values inside a value, and itself.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(members) => members.values().map(size).fold(1, u64::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// How many pairs of a part of the schema and a part of the value a check looks at; `None` when more than
/// [`MAX_WORK`], or without an end. An upper bound: what a check leaves out because it knows enough is counted.
#[must_use]
pub fn work(schema: &Value, value: &Value) -> Option<u64> {
    let mut work = SchemaWork { root: schema, known: HashMap::new() };
    Some(work.of(schema, value, 0)).filter(|work| *work <= MAX_WORK)
}

/// What stands for a value that is none of the instance's: a name that is checked.
static NAME: Value = Value::Null;

struct SchemaWork<'a> {
    root: &'a Value,
    /// What each pair takes, by where both lie; too much while it is being counted: it would never end.
    known: HashMap<(usize, usize), u64>,
}

impl<'a> SchemaWork<'a> {
    fn of(&mut self, schema: &'a Value, value: &'a Value, nesting: usize) -> u64 {
        let Value::Object(members) = schema else { return 1 };
        if nesting > MAX_DESCENT || self.known.len() as u64 > MAX_WORK {
            return u64::MAX;
        }
        let pair = (std::ptr::from_ref(schema) as usize, std::ptr::from_ref(value) as usize);
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        self.known.insert(pair, u64::MAX);
        let mut all = 1_u64;
        for (keyword, member) in members {
            all = all.saturating_add(self.keyword(keyword, member, value, nesting + 1));
            if all > MAX_WORK {
                return u64::MAX;
            }
        }
        self.known.insert(pair, all);
        all
    }

    fn keyword(&mut self, keyword: &str, member: &'a Value, value: &'a Value, nesting: usize) -> u64 {
        match (keyword, member, value) {
            ("$ref", Value::String(reference), _) => match target(self.root, reference) {
                Some(target) => self.of(target, value, nesting),
                None => 1,
            },
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts), _) => {
                self.sum(parts.iter().map(|part| (part, value)), nesting)
            }
            ("not" | "if" | "then" | "else", _, _) => self.of(member, value, nesting),
            ("dependentSchemas", Value::Object(parts), _) => {
                self.sum(parts.values().map(|part| (part, value)), nesting)
            }
            ("properties", Value::Object(parts), Value::Object(values)) => {
                let found = parts.iter().filter_map(|(name, part)| Some((part, values.get(name)?)));
                self.sum(found, nesting).saturating_add(parts.len() as u64)
            }
            ("patternProperties", Value::Object(parts), Value::Object(values)) => {
                let pairs = parts.values().flat_map(|part| values.values().map(move |value| (part, value)));
                self.sum(pairs, nesting)
            }
            ("additionalProperties" | "unevaluatedProperties", _, Value::Object(values)) => {
                self.sum(values.values().map(|value| (member, value)), nesting)
            }
            ("propertyNames", _, Value::Object(values)) => {
                self.of(member, &NAME, nesting).saturating_mul(values.len() as u64)
            }
            ("prefixItems", Value::Array(parts), Value::Array(values)) => self.sum(parts.iter().zip(values), nesting),
            ("items" | "contains" | "unevaluatedItems", _, Value::Array(values)) => {
                self.sum(values.iter().map(|value| (member, value)), nesting)
            }
            ("enum", Value::Array(choices), _) => choices.len() as u64,
            _ => 1,
        }
    }

    fn sum(&mut self, pairs: impl Iterator<Item = (&'a Value, &'a Value)>, nesting: usize) -> u64 {
        let mut all = 1_u64;
        for (schema, value) in pairs {
            all = all.saturating_add(self.of(schema, value, nesting));
            if all > MAX_WORK {
                return u64::MAX;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// Each definition asks twice for the one before it, and nothing fits.
    fn doubling(n: usize) -> Value {
        let mut defs = Map::from_iter([("a0".to_owned(), json!({"type": "string"}))]);
        for i in 1..n {
            let once = json!({"allOf": [{"$ref": format!("#/$defs/a{}", i - 1)}, false]});
            defs.insert(format!("a{i}"), json!({"anyOf": [once.clone(), once]}));
        }
        json!({"type": "object", "properties": {"x": {"$ref": format!("#/$defs/a{}", n - 1)}}, "$defs": defs})
    }

    #[test]
    fn what_doubles_with_each_reference_is_counted_and_refused() {
        assert_eq!(check(&doubling(6)), Ok(()));
        assert_eq!(check(&doubling(24)), Err(SchemaFault::TooManyParts));
        let value = json!({"x": "y"});
        assert!(work(&doubling(6), &value).unwrap() > 64, "each way is gone");
        assert_eq!(work(&doubling(40), &value), None);
    }

    #[test]
    fn a_schema_that_goes_round_is_bounded_by_the_depth_of_the_value() {
        let tree = json!({"type": "object", "properties": {
            "left": {"$ref": "#"}, "right": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}}});
        assert_eq!(check(&tree), Ok(()));
        let deep = (0..20).fold(json!({}), |inner, n| json!({(if n % 2 == 0 { "left" } else { "right" }): inner}));
        assert!(work(&tree, &deep).unwrap() < 500, "one way down");
        let twice = json!({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
        assert_eq!(check(&twice), Ok(()));
        let lists = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
        assert!(work(&twice, &lists(3)).is_some());
        assert_eq!(work(&twice, &lists(30)), None, "two ways at each level");
        assert_eq!(work(&json!({"$ref": "#"}), &json!(1)), None, "it never gets anywhere");
    }

    #[test]
    fn size_patterns_and_references_have_limits() {
        let patterns = |n: usize| {
            let fields = (0..n).map(|i| (format!("p{i}"), json!({"type": "string", "pattern": "^[a-z]+$"})));
            json!({"type": "object", "properties": Map::from_iter(fields)})
        };
        assert_eq!(check(&patterns(64)), Ok(()));
        assert_eq!(check(&patterns(65)), Err(SchemaFault::TooManyPatterns));
        let by_name = Map::from_iter((0..65).map(|i| (format!("^{i}"), json!({}))));
        assert_eq!(check(&json!({"patternProperties": by_name})), Err(SchemaFault::TooManyPatterns));
        assert!(matches!(check(&json!({"title": "x".repeat(MAX_BYTES)})), Err(SchemaFault::TooLarge(_))));
        for strange in ["https://example.com/schema.json", "other.json#/a", "#/$defs/ghost", "#named"] {
            assert!(matches!(check(&json!({"$ref": strange})), Err(SchemaFault::Reference(_))), "{strange}");
        }
        assert!(matches!(check(&json!({"$dynamicRef": "#a"})), Err(SchemaFault::Keyword(_))));
        assert_eq!(check(&json!({"$id": "https://example.com/form", "properties": {"$id": {}}})), Ok(()));
        let data = json!({"enum": [{"$ref": "nowhere"}], "default": {"$ref": "nowhere"}});
        assert_eq!(check(&data), Ok(()), "what is data is no reference");
        let chain = Map::from_iter((0..300).map(|i| (format!("a{i}"), json!({"$ref": format!("#/$defs/a{}", i + 1)}))));
        let mut chained = json!({"$ref": "#/$defs/a0", "$defs": chain});
        chained["$defs"]["a300"] = json!({});
        assert_eq!(check(&chained), Err(SchemaFault::TooNested));
    }

    #[test]
    fn the_work_grows_with_the_value() {
        let rows = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}});
        let value = |n: usize| Value::Array(vec![json!({"n": 1}); n]);
        assert!(work(&rows, &value(1_000)).unwrap() < 10_000);
        assert_eq!(work(&rows, &value(1_000_000)), None);
    }
}
