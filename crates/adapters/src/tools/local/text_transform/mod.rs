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
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::options::Options;
use super::{refuse, text};
use crate::workers::{StopFlag, Workers};

/// Bytes of a text.
const MAX_TEXT: usize = 1024 * 1024;
/// Bytes of a result.
const MAX_RESULT: usize = 4 * 1024 * 1024;

/// What an operation makes of a text.
type Rule = fn(&str, &Options<'_>, &StopFlag) -> Result<Map<String, Value>, ToolFailure>;

/// The operations, with the options that each takes, and its rule; those without one are a language model's.
const OPERATIONS: &[(&str, &[&str], Option<Rule>)] = &[
    ("word_count", &[], Some(|text, _, _| Ok(count::count(text)))),
    ("uppercase", &[], Some(|text, _, _| answer(text.to_uppercase()))),
    ("lowercase", &[], Some(|text, _, _| answer(text.to_lowercase()))),
    ("title_case", &[], Some(|text, _, _| answer(case::title(text)))),
    ("sentence_case", &[], Some(|text, _, _| answer(case::sentence(text)))),
    ("snake_case", &[], Some(|text, _, _| answer(case::joined(text, "_")?))),
    ("camel_case", &[], Some(|text, _, _| answer(case::camel(text)?))),
    ("kebab_case", &[], Some(|text, _, _| answer(case::joined(text, "-")?))),
    ("slugify", &["maxLength"], Some(|text, options, _| answer(case::slug(text, options)?))),
    ("trim", &[], Some(|text, _, _| answer(text.trim().to_owned()))),
    ("normalize_whitespace", &[], Some(|text, _, _| answer(shape::normalize_whitespace(text)))),
    ("reverse", &[], Some(|text, _, _| answer(shape::reverse(text)))),
    ("truncate", &["maxLength", "ellipsis"], Some(|text, options, _| answer(shape::truncate(text, options)?))),
    ("replace", &["find", "with", "regex", "ignoreCase"], Some(replace::replace)),
    ("split_lines", &["separator"], Some(|text, options, _| lines::split(text, options))),
    ("join_lines", &["separator"], Some(|text, options, _| answer(lines::join(text, options)?))),
    ("sort_lines", &["descending", "ignoreCase"], Some(|text, options, _| answer(lines::sort(text, options)))),
    ("unique_lines", &["ignoreCase"], Some(|text, options, _| answer(lines::unique(text, options)))),
    ("extract_entities", &["kinds"], Some(|text, options, _| entities::extract(text, options))),
    ("keywords", &["count"], Some(|text, options, _| Ok(keywords::keywords(text, options)))),
    ("sentiment", &[], Some(|text, _, _| Ok(sentiment::sentiment(text)))),
    ("base64_encode", &["urlSafe"], Some(|text, options, _| answer(encode::base64(text, options)))),
    ("base64_decode", &[], Some(|text, _, _| answer(encode::from_base64(text)?))),
    ("url_encode", &[], Some(|text, _, _| answer(encode::url(text)))),
    ("url_decode", &[], Some(|text, _, _| answer(encode::from_url(text)?))),
    ("strip_html", &[], Some(|text, _, stop| answer(crate::documents::html_to_text(text, stop)))),
    ("summarize", &["maxLength"], None),
    ("translate", &["targetLanguage"], None),
    ("extract", &["schema"], None),
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
        let operations: Vec<&str> = OPERATIONS.iter().map(|(name, ..)| *name).collect();
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
                needs: ToolNeeds { language_model: true, ..ToolNeeds::default() },
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

    fn needs_of(&self, args: &Map<String, Value>) -> ToolNeeds {
        let name = args.get("operation").and_then(Value::as_str).unwrap_or_default();
        let language_model = OPERATIONS.iter().any(|(known, _, rule)| *known == name && rule.is_none());
        ToolNeeds { language_model, ..self.spec.needs }
    }

    fn computes(&self, args: &Map<String, Value>) -> bool {
        let option = |name: &str| args.get("options").and_then(|options| options.get(name));
        super::is_large(args)
            || option("regex").is_some_and(|regex| regex == true)
            || option("schema").is_some_and(Value::is_object)
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let operation = Operation::of(&args)?;
        let Some(rule) = operation.rule else {
            return written::write(&self.workers, context, &operation).await;
        };
        if !self.computes(&args) {
            return operation.outcome(rule, &StopFlag::default());
        }
        super::compute(&self.workers, context, move |stop| Operation::of(&args)?.outcome(rule, stop)).await?
    }
}

/// What a call asks for.
struct Operation<'a> {
    name: &'static str,
    /// `None` of those that a language model does.
    rule: Option<Rule>,
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
        let known = OPERATIONS.iter().find(|(known, ..)| *known == name);
        let (name, allowed, rule) = known.ok_or_else(|| {
            let names: Vec<&str> = OPERATIONS.iter().map(|(name, ..)| *name).collect();
            refuse(format!("there is no operation {:?}: use {}", super::short(name), names.join(", ")))
        })?;
        Ok(Self { name, rule: *rule, text, options: Options::of(args, name, allowed)? })
    }

    fn outcome(self, rule: Rule, stop: &StopFlag) -> Result<ToolOutcome, ToolFailure> {
        let mut data = rule(self.text, &self.options, stop)?;
        data.shift_insert(0, "operation".to_owned(), json!(self.name));
        Ok(ToolOutcome::new(data, format!("did {}", self.name)))
    }
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
