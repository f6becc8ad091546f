//! `text_transform`: what can be done with a text by rules alone; and, by a language model, to summarise it, to
//! translate it and to take facts out of it.
//!
//! A character is what a reader sees as one (a grapheme cluster), so a reversed or shortened text keeps its accents
//! and its emoji whole.

mod case;
mod count;
mod encode;
mod entities;
mod keywords;
mod lines;
mod options;
mod replace;
mod sentiment;
mod shape;
mod written;

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::time::Millis;
use kybern_core::tool::{Needs, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::options::Options;
use super::{refuse, text};
use crate::workers::{Stop, Workers};

/// Bytes of a text.
const MAX_TEXT: usize = 1024 * 1024;
/// Bytes of a result.
const MAX_RESULT: usize = 4 * 1024 * 1024;

/// The operations, with the options that each takes.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("word_count", &[]),
    ("uppercase", &[]),
    ("lowercase", &[]),
    ("title_case", &[]),
    ("sentence_case", &[]),
    ("snake_case", &[]),
    ("camel_case", &[]),
    ("kebab_case", &[]),
    ("slugify", &["maxLength"]),
    ("trim", &[]),
    ("normalize_whitespace", &[]),
    ("reverse", &[]),
    ("truncate", &["maxLength", "ellipsis"]),
    ("replace", &["find", "with", "regex", "ignoreCase"]),
    ("split_lines", &["separator"]),
    ("join_lines", &["separator"]),
    ("sort_lines", &["descending", "ignoreCase"]),
    ("unique_lines", &["ignoreCase"]),
    ("extract_entities", &["kinds"]),
    ("keywords", &["count"]),
    ("sentiment", &[]),
    ("base64_encode", &["urlSafe"]),
    ("base64_decode", &[]),
    ("url_encode", &[]),
    ("url_decode", &[]),
    ("strip_html", &[]),
    ("summarize", &["maxLength"]),
    ("translate", &["targetLanguage"]),
    ("extract", &["schema"]),
];

/// The tool.
#[derive(Debug)]
pub(super) struct TextTransform {
    spec: ToolSpec,
    workers: Workers,
}

impl TextTransform {
    /// The tool with its spec.
    pub(super) fn new(workers: Workers) -> Self {
        let operations: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text, up to 1 MiB."},
                "operation": {
                    "type": "string",
                    "enum": operations,
                    "description": "What to do. word_count, extract_entities, keywords and sentiment answer with \
                                    fields of their own, split_lines with lines, extract with data; all others with \
                                    result, a text. summarize, translate and extract ask a language model, which \
                                    costs money."
                },
                "options": options::schema()
            },
            "required": ["text", "operation"],
            "additionalProperties": false
        });
        let description = "Counts, changes, takes apart, encodes and decodes text by fixed rules: letter case, blanks, \
                           lines, replacements, e-mail addresses, URLs, phones, dates and amounts, keywords, the mood \
                           of English words. By a language model: summarises, translates, takes what a JSON Schema \
                           asks for out of a text.";
        Self {
            spec: ToolSpec {
                timeout: Millis::from_secs(60),
                needs: Needs { language_model: true, ..Needs::default() },
                ..ToolSpec::read("text_transform", description, schema).shown(
                    &["text", "words", "translate", "summary"],
                    json!({"text": "Hello world", "operation": "word_count"}),
                )
            },
            workers,
        }
    }
}

#[async_trait]
impl Tool for TextTransform {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_of(&self, args: &Map<String, Value>) -> Needs {
        let name = args.get("operation").and_then(Value::as_str).unwrap_or_default();
        Needs { language_model: written::OPERATIONS.contains(&name), ..self.spec.needs }
    }

    fn computes(&self, args: &Map<String, Value>) -> bool {
        let option = |name: &str| args.get("options").and_then(|options| options.get(name));
        super::is_large(args)
            || option("regex").is_some_and(|regex| regex == true)
            || option("schema").is_some_and(Value::is_object)
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let operation = Operation::of(&args)?;
        if written::OPERATIONS.contains(&operation.name) {
            return written::write(&self.workers, context, &operation).await;
        }
        if !self.computes(&args) {
            return operation.outcome(&Stop::default());
        }
        super::compute(&self.workers, context, move |stop| Operation::of(&args)?.outcome(stop)).await?
    }
}

/// What a call asks for.
struct Operation<'a> {
    name: &'static str,
    text: &'a str,
    options: Options<'a>,
}

impl<'a> Operation<'a> {
    /// The operation, when there is one of that name and its options belong to it.
    ///
    /// # Errors
    /// When there is none, the text is too long, or an option belongs to another operation.
    fn of(args: &'a Map<String, Value>) -> Result<Self, ToolFailure> {
        let text = text(args, "text")?;
        if text.len() > MAX_TEXT {
            return Err(refuse(format!("the text has {} bytes, more than {MAX_TEXT}: give a part of it", text.len())));
        }
        let name = super::text(args, "operation")?;
        let known = OPERATIONS.iter().find(|(known, _)| *known == name);
        let (name, allowed) = known.ok_or_else(|| {
            let names: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
            refuse(format!("there is no operation {:?}: use {}", super::short(name), names.join(", ")))
        })?;
        Ok(Self { name, text, options: Options::of(args, name, allowed)? })
    }

    fn outcome(self, stop: &Stop) -> Result<ToolOutcome, ToolFailure> {
        let mut data = transform(self.text, self.name, &self.options, stop)?;
        data.shift_insert(0, "operation".to_owned(), json!(self.name));
        Ok(ToolOutcome::new(data, format!("did {}", self.name)))
    }
}

fn transform(text: &str, name: &str, options: &Options<'_>, stop: &Stop) -> Result<Map<String, Value>, ToolFailure> {
    let result = match name {
        "word_count" => return Ok(count::count(text)),
        "extract_entities" => return entities::extract(text, options),
        "keywords" => return Ok(keywords::keywords(text, options)),
        "sentiment" => return Ok(sentiment::sentiment(text)),
        "split_lines" => return lines::split(text, options),
        "uppercase" => text.to_uppercase(),
        "lowercase" => text.to_lowercase(),
        "title_case" => case::title(text),
        "sentence_case" => case::sentence(text),
        "snake_case" => case::joined(text, "_")?,
        "kebab_case" => case::joined(text, "-")?,
        "camel_case" => case::camel(text)?,
        "slugify" => case::slug(text, options)?,
        "trim" => text.trim().to_owned(),
        "normalize_whitespace" => shape::normalize_whitespace(text),
        "reverse" => shape::reverse(text),
        "truncate" => shape::truncate(text, options)?,
        "replace" => return replace::replace(text, options, stop),
        "join_lines" => lines::join(text, options)?,
        "sort_lines" => lines::sort(text, options),
        "unique_lines" => lines::unique(text, options),
        "base64_encode" => encode::base64(text, options),
        "base64_decode" => encode::from_base64(text)?,
        "url_encode" => encode::url(text),
        "url_decode" => encode::from_url(text)?,
        "strip_html" => crate::documents::html_to_text(text, stop),
        _ => return Err(refuse(format!("there is no operation {name:?}"))),
    };
    answer(result)
}

/// A text as the answer.
fn answer(result: String) -> Result<Map<String, Value>, ToolFailure> {
    if result.len() > MAX_RESULT {
        return Err(too_long());
    }
    Ok(super::fields([("result", Value::String(result))]))
}

fn too_long() -> ToolFailure {
    refuse(format!("the result has more than {MAX_RESULT} bytes: do it with a part of the text"))
}
