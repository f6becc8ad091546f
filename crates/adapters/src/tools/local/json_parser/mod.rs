//! `json_parser`: JSON out of a text, checked against a schema.
//!
//! The whole text is tried first, then what stands in code fences, then the first object or array that is complete.
//! Nothing is guessed: what is returned stands in the text, and a key that stands twice or a number that loses digits
//! is told. Only where the caller asks for a repair, and gives the schema, a language model reads a broken text.

mod find;
mod schema;
mod strict;

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext, ToolPrompt};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) use self::schema::Checker;
use self::strict::Parsed;
use super::asked::{self, Schema, ToolModelAnswer};
use super::{fields, refuse, text};
use crate::workers::{StopFlag, Workers};

/// Bytes of a text.
const MAX_TEXT: usize = 1024 * 1024;
/// Bytes of a text that a language model repairs: the value has to fit into one answer.
const MAX_REPAIRED: usize = 12 * 1024;

/// The tool.
#[derive(Debug)]
pub(super) struct JsonParser {
    spec: ToolSpec,
    workers: Workers,
}

impl JsonParser {
    /// The tool with its spec.
    pub(super) fn new(workers: Workers) -> Self {
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
                },
                "repair": {
                    "type": ["boolean", "null"],
                    "description": "With a schema: whether a language model repairs a text that is no JSON and holds \
                                    none that fits. It costs money."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        });
        let description = "Finds JSON in a text: success, data, method (direct_parse or extraction), and problems with \
                           the place of each as a JSON pointer: what the schema asks and the value has not, keys that \
                           stand twice, numbers that lose digits. It repairs nothing, unless repair is asked for (method \
                           repair).";
        Self {
            spec: ToolSpec {
                timeout: Millis::from_secs(60),
                needs: ToolNeeds { language_model: true, ..ToolNeeds::default() },
                ..ToolSpec::read("json_parser", description, schema)
                    .shown(&["json", "schema", "parse"], json!({"text": "The answer is {\"total\": 7}."}))
            },
            workers,
        }
    }
}

#[async_trait]
impl Tool for JsonParser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_of(&self, args: &Map<String, Value>) -> ToolNeeds {
        ToolNeeds { language_model: wants_repair(args), ..self.spec.needs }
    }

    fn computes(&self, args: &Map<String, Value>) -> bool {
        super::is_large(args) || args.get("schema").is_some_and(Value::is_object)
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let args = Arc::new(args);
        let read = if self.computes(&args) {
            let args = Arc::clone(&args);
            super::compute(&self.workers, context, move |stop| read(&args, stop)).await??
        } else {
            read(&args, &StopFlag::default())?
        };
        let data = match (read, args.get("schema")) {
            (JsonParseOutcome::Broken(checker), Some(schema)) => {
                return self.repair(context, whole(&args)?, Schema { written: schema, checker }).await;
            }
            (JsonParseOutcome::Broken(_), None) => {
                return Err(refuse("repair needs a schema: give what the value has to fit"));
            }
            (JsonParseOutcome::Answer(data), _) => data,
        };
        let found = if data.contains_key("data") { "found JSON" } else { "found no JSON" };
        Ok(ToolOutcome::new(data, found))
    }
}

impl JsonParser {
    /// What a broken text was meant to be, as a language model reads it.
    async fn repair(&self, context: &ToolContext, text: &str, schema: Schema<'_>) -> Result<ToolOutcome, ToolFailure> {
        if text.len() > MAX_REPAIRED {
            let message = format!("the text has {} bytes, and a repair takes up to {MAX_REPAIRED}", text.len());
            return Err(refuse(message));
        }
        let prompt = ToolPrompt::RepairJson;
        let ToolModelAnswer { answer, model, usage } =
            asked::json(&self.workers, context, prompt, text, schema).await?;
        let data =
            fields([("success", json!(true)), ("data", answer), ("method", json!("repair")), ("model", json!(model))]);
        Ok(ToolOutcome { usage, ..ToolOutcome::new(data, format!("repaired by {model}")) })
    }
}

/// What reading a text came to.
enum JsonParseOutcome {
    Answer(Map<String, Value>),
    /// Nothing in it fits the schema, and a repair is asked for.
    Broken(Arc<Checker>),
}

/// The text without a byte order mark.
fn whole(args: &Map<String, Value>) -> Result<&str, ToolFailure> {
    let text = text(args, "text")?;
    if text.len() > MAX_TEXT {
        return Err(refuse(format!("the text has {} bytes, more than {MAX_TEXT}: give a part of it", text.len())));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Finds the JSON in the text, without asking anybody.
fn read(args: &Map<String, Value>, stop: &StopFlag) -> Result<JsonParseOutcome, ToolFailure> {
    let text = whole(args)?;
    let repairs = wants_repair(args);
    let checker = match args.get("schema") {
        None | Some(Value::Null) if repairs => {
            return Err(refuse("repair needs a schema: give what the value has to fit"));
        }
        None | Some(Value::Null) => None,
        Some(schema) => Some(Checker::new(schema)?),
    };
    let problem = match strict::parse(text) {
        Ok(parsed) => return answer(parsed, "direct_parse", checker.as_ref(), None).map(JsonParseOutcome::Answer),
        Err(problem) => problem,
    };
    let found = extract(text, checker.as_ref(), &problem, stop)?;
    match checker {
        Some(checker) if repairs && found["success"] == false => Ok(JsonParseOutcome::Broken(Arc::new(checker))),
        Some(_) | None => Ok(JsonParseOutcome::Answer(found)),
    }
}

fn wants_repair(args: &Map<String, Value>) -> bool {
    args.get("repair").and_then(Value::as_bool) == Some(true)
}

/// What stands somewhere in the text, or why there is nothing.
fn extract(
    text: &str,
    checker: Option<&Checker>,
    problem: &str,
    stop: &StopFlag,
) -> Result<Map<String, Value>, ToolFailure> {
    let mut first = None;
    let search = find::search(text, |parsed| {
        if stop.is_set() {
            return true;
        }
        let fits = checker.is_none_or(|checker| checker.fits(&parsed.value));
        if first.is_none() || fits {
            first = Some(parsed);
        }
        fits
    });
    stop.check()?;
    if let Some(parsed) = first {
        return answer(parsed, "extraction", checker, search.warning());
    }
    let mut error = format!("there is no complete JSON object or array in the text; as a whole it is none: {problem}");
    if let Some(warning) = search.warning() {
        error = format!("{error}; {warning}");
    }
    match checker {
        None => Ok(fields([("success", json!(false)), ("error", json!(error))])),
        Some(_) => {
            let error = format!("{error}. With repair: true a language model reads what it was meant to be");
            Ok(fields([("success", json!(false)), ("error", json!(error))]))
        }
    }
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
