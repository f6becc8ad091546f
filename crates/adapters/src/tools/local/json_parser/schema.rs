//! Schemas that callers supply. They come from models, so what checking them may cost is known before it begins.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, Validator};
use kybern_core::json_schema::{self, MAX_PATTERN_BYTES};
use kybern_core::tool::ToolFailure;
use serde_json::Value;

use super::super::{refuse, short};

/// Bytes of a schema as it is written.
const MAX_SCHEMA: usize = 64 * 1024;
/// How deep a schema may be, with what its references name.
const MAX_DEPTH: usize = 64;
/// Nodes of a schema after every reference is replaced by what it names.
const MAX_NODES: u64 = 10_000;
/// Nodes of the schema times nodes of the value.
const MAX_CHECKS: u64 = 20_000_000;
/// Faults that are listed.
const MAX_FAULTS: usize = 20;
/// Letters of a fault's sentence.
const MAX_SENTENCE: usize = 300;

/// A schema that is ready to check values.
#[derive(Debug)]
pub(in super::super) struct Checker {
    validator: Validator,
    nodes: u64,
}

impl Checker {
    /// Takes a schema, when it is one and within its limits.
    ///
    /// # Errors
    /// When it is not.
    pub(in super::super) fn new(schema: &Value) -> Result<Self, ToolFailure> {
        let length = schema.to_string().len();
        if length > MAX_SCHEMA {
            return Err(refuse(format!("the schema has {length} bytes, more than {MAX_SCHEMA}: make it smaller")));
        }
        json_schema::check(schema).map_err(|fault| refuse(fault.to_string()))?;
        let nodes = Expanded { root: schema, known: HashMap::new() }.nodes(schema, 0)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(
                PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES),
            )
            .build(schema)
            .map_err(|problem| refuse(format!("the schema is no usable JSON Schema: {}", cut(&problem.to_string()))))?;
        Ok(Self { validator, nodes })
    }

    /// Whether a value fits. One that is too large to be checked does not.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.affordable(value).is_ok() && self.validator.is_valid(value)
    }

    /// What a value has not that the schema asks: JSON pointers and sentences.
    ///
    /// # Errors
    /// When the value is too large to be checked against this schema.
    pub(in super::super) fn faults(&self, value: &Value) -> Result<Vec<(String, String)>, ToolFailure> {
        self.affordable(value)?;
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        let faults = self.validator.iter_errors(value).take(MAX_FAULTS);
        Ok(faults.map(|fault| (fault.instance_path().to_string(), cut(&fault.masked().to_string()))).collect())
    }

    fn affordable(&self, value: &Value) -> Result<(), ToolFailure> {
        let checks = self.nodes.saturating_mul(size(value));
        if checks > MAX_CHECKS {
            return Err(refuse("the schema is too large for so large a value: check a part of it, or simplify it"));
        }
        Ok(())
    }
}

/// Values inside a value, and itself.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<u64>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// Counts what a schema is when its references are followed.
struct Expanded<'a> {
    root: &'a Value,
    /// What each reference costs; `None` while it is being counted.
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Expanded<'a> {
    fn nodes(&mut self, schema: &'a Value, depth: usize) -> Result<u64, ToolFailure> {
        if depth > MAX_DEPTH {
            return Err(refuse(format!("the schema is more than {MAX_DEPTH} deep: make it flatter")));
        }
        let mut nodes = 1_u64;
        match schema {
            Value::Array(items) => {
                for item in items {
                    nodes = nodes.saturating_add(self.nodes(item, depth + 1)?);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let inner = match (name.as_str(), member) {
                        ("$ref", Value::String(reference)) => self.reference(reference, depth)?,
                        ("$dynamicRef" | "$recursiveRef" | "$id", Value::String(_)) => {
                            return Err(refuse(format!(
                                "the schema uses {name}: name parts by $ref and #/$defs/… only"
                            )));
                        }
                        _ => self.nodes(member, depth + 1)?,
                    };
                    nodes = nodes.saturating_add(inner);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if nodes > MAX_NODES {
            return Err(refuse(format!("the schema has more than {MAX_NODES} parts with its references: simplify it")));
        }
        Ok(nodes)
    }

    fn reference(&mut self, reference: &'a str, depth: usize) -> Result<u64, ToolFailure> {
        match self.known.get(reference) {
            Some(Some(nodes)) => return Ok(*nodes),
            Some(None) => {
                let shown = short(reference);
                return Err(refuse(format!("the schema refers to itself by {shown:?}: write its levels out")));
            }
            None => {}
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let target = target.ok_or_else(|| {
            refuse(format!(
                "the schema refers to {:?}: references stay inside it, as in #/$defs/name",
                short(reference)
            ))
        })?;
        self.known.insert(reference, None);
        let nodes = self.nodes(target, depth + 1)?;
        self.known.insert(reference, Some(nodes));
        Ok(nodes)
    }
}

fn cut(sentence: &str) -> String {
    sentence.chars().take(MAX_SENTENCE).collect()
}
