//! Schemas that callers supply. They come from models, so what checking them may cost is known before it begins.

use jsonschema::{Draft, PatternOptions, Validator};
use kybern_core::json_schema::{self, MAX_LISTED_WORK, MAX_PATTERN_BYTES};
use kybern_core::tool::ToolFailure;
use serde_json::Value;

use super::super::refuse;

/// Faults that are listed.
const MAX_FAULTS: usize = 20;
/// Letters of a fault's sentence.
const MAX_SENTENCE: usize = 300;

/// A schema that is ready to check values.
#[derive(Debug)]
pub(in super::super) struct Checker {
    validator: Validator,
    schema: Value,
}

impl Checker {
    /// Takes a schema, when it is one and within its limits.
    ///
    /// # Errors
    /// When it is not.
    pub(in super::super) fn new(schema: &Value) -> Result<Self, ToolFailure> {
        json_schema::check(schema).map_err(|fault| refuse(fault.to_string()))?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(
                PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES),
            )
            .build(schema)
            .map_err(|problem| refuse(format!("the schema is no usable JSON Schema: {}", cut(&problem.to_string()))))?;
        Ok(Self { validator, schema: schema.clone() })
    }

    /// Whether a value fits. One that is too large to be checked does not.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.work(value).is_some() && self.validator.is_valid(value)
    }

    /// What a value has not that the schema asks: JSON pointers and sentences.
    ///
    /// # Errors
    /// When the value is too large to be checked against this schema.
    pub(in super::super) fn faults(&self, value: &Value) -> Result<Vec<(String, String)>, ToolFailure> {
        let work = self.work(value).ok_or_else(|| {
            refuse("the schema is too large for so large a value: check a part of it, or simplify it")
        })?;
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        // Each choice that fails keeps all of its own faults.
        if work > MAX_LISTED_WORK {
            return Ok(vec![(String::new(), "the schema has too many ways to list where it does not fit".to_owned())]);
        }
        let faults = self.validator.iter_errors(value).take(MAX_FAULTS);
        Ok(faults.map(|fault| (fault.instance_path().to_string(), cut(&fault.masked().to_string()))).collect())
    }

    fn work(&self, value: &Value) -> Option<u64> {
        json_schema::work(&self.schema, value)
    }
}

fn cut(sentence: &str) -> String {
    sentence.chars().take(MAX_SENTENCE).collect()
}
