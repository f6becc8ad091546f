//! `json_parser`: JSON out of a text, checked against a schema.
//!
//! The whole text is tried first, then what stands in code fences, then the first object or array that is complete.
//! Nothing is repaired or guessed: what is returned stands in the text, and a key that stands twice or a number that
//! loses digits is told.

mod find;
mod schema;
mod strict;

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::schema::Checker;
use self::strict::Parsed;
use super::{fields, refuse, text};

/// Bytes of a text.
const MAX_TEXT: usize = 1024 * 1024;

/// The tool.
#[derive(Debug)]
pub struct JsonParser {
    spec: ToolSpec,
}

impl Default for JsonParser {
    fn default() -> Self {
        Self::new()
    }
}

impl JsonParser {
    /// The tool with its spec.
    #[must_use]
    pub fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {
                    "type": "string",
                    "description": "The text, up to 1 MiB: JSON, or prose with JSON in it."
                },
                "schema": {
                    "type": ["object", "null"],
                    "description": "A JSON Schema that the value is checked against. Where the text holds several \
                                    values, the first that fits is taken. References stay inside the schema and do \
                                    not go round; patterns have no look-around."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        });
        let description = "Finds JSON in a text: success, data, method (direct_parse or extraction), and problems with \
                           the place of each as a JSON pointer: what the schema asks and the value has not, keys that \
                           stand twice, numbers that lose digits. It repairs nothing.";
        Self { spec: ToolSpec::read("json_parser", description, schema) }
    }
}

#[async_trait]
impl Tool for JsonParser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let text = text(&args, "text")?;
        if text.len() > MAX_TEXT {
            return Err(refuse(format!("the text has {} bytes, more than {MAX_TEXT}: give a part of it", text.len())));
        }
        let checker = match args.get("schema") {
            None | Some(Value::Null) => None,
            Some(schema) => Some(Checker::new(schema)?),
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let data = match strict::parse(text) {
            Ok(parsed) => answer(parsed, "direct_parse", checker.as_ref(), None)?,
            Err(problem) => extract(text, checker.as_ref(), &problem)?,
        };
        let found = if data.contains_key("data") { "found JSON" } else { "found no JSON" };
        Ok(ToolOutcome::new(data, found))
    }
}

/// What stands somewhere in the text, or why there is nothing.
fn extract(text: &str, checker: Option<&Checker>, problem: &str) -> Result<Map<String, Value>, ToolFailure> {
    let mut first = None;
    let search = find::search(text, |parsed| {
        let fits = checker.is_none_or(|checker| checker.fits(&parsed.value));
        if first.is_none() || fits {
            first = Some(parsed);
        }
        fits
    });
    if let Some(parsed) = first {
        return answer(parsed, "extraction", checker, search.warning());
    }
    let mut error = format!("there is no complete JSON object or array in the text; as a whole it is none: {problem}");
    if let Some(warning) = search.warning() {
        error = format!("{error}; {warning}");
    }
    match checker {
        None => Ok(fields([("success", json!(false)), ("error", json!(error))])),
        Some(_) => Ok(without_model(&error)),
    }
}

/// The answer when a schema is given and the text holds no JSON: filling a schema from prose takes a model, and this
/// tool has none. A model-backed extraction belongs here.
fn without_model(error: &str) -> Map<String, Value> {
    let error = format!("{error}. To fill the schema from prose a model is needed, and this tool has none");
    fields([("success", json!(false)), ("error", json!(error))])
}

fn answer(
    parsed: Parsed,
    method: &str,
    checker: Option<&Checker>,
    warning: Option<String>,
) -> Result<Map<String, Value>, ToolFailure> {
    let mut problems: Vec<Value> =
        parsed.problems.into_iter().map(|(path, message)| json!({"path": path, "message": message})).collect();
    problems.extend(warning.map(|message| json!({"path": "", "message": message})));
    let mut success = true;
    if let Some(checker) = checker {
        let faults = checker.faults(&parsed.value)?;
        success = faults.is_empty();
        problems.splice(0..0, faults.into_iter().map(|(path, message)| json!({"path": path, "message": message})));
    }
    let mut data = fields([("success", json!(success)), ("data", parsed.value), ("method", json!(method))]);
    if !success {
        data.insert("error".to_owned(), json!("the value does not fit the schema: see problems"));
    }
    if !problems.is_empty() {
        data.insert("problems".to_owned(), json!(problems));
    }
    Ok(data)
}
