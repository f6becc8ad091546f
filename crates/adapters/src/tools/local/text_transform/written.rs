//! The operations that write prose or understand it: a language model does them.

use std::sync::Arc;

use kybern_core::ports::{ModelDesk, ToolContext, ToolPrompt};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::super::asked::{self, Schema, ToolModelAnswer};
use super::super::json_parser::Checker;
use super::super::{compute, fields, refuse};
use super::options::Options;
use super::{Operation, shape};
use crate::workers::Workers;

/// Bytes of a text that a model reads.
const MAX_READ: usize = 200 * 1024;
/// Bytes of a text that is translated: its translation has to fit into one answer.
const MAX_TRANSLATED: usize = 24 * 1024;
/// Characters of a summary when nothing is said.
const USUAL_LENGTH: usize = 1_000;
/// The most tokens of a summary, and of a translation.
const MAX_SUMMARY: u32 = 2_000;
const MAX_TRANSLATION: u32 = 16_000;

/// Does an operation that has no rule.
///
/// # Errors
/// When the options or the text are not usable, or the model fails.
pub(super) async fn write(
    workers: &Workers,
    context: &ToolContext,
    Operation { name, text, options, .. }: &Operation<'_>,
) -> Result<ToolOutcome, ToolFailure> {
    let (name, text) = (*name, *text);
    let desk = context.models()?;
    let most = if name == "translate" { MAX_TRANSLATED } else { MAX_READ };
    if text.len() > most {
        let message = format!("the text has {} bytes, and {name} takes up to {most}: give a part of it", text.len());
        return Err(refuse(message));
    }
    if text.trim().is_empty() {
        return Err(refuse(format!("there is nothing to {name}: the text is empty")));
    }
    let (mut data, model, usage) = match name {
        "summarize" => summarize(desk, text, options).await?,
        "translate" => translate(desk, text, options).await?,
        _ => extract(workers, context, text, options).await?,
    };
    data.shift_insert(0, "operation".to_owned(), json!(name));
    data.insert("model".to_owned(), json!(model));
    Ok(ToolOutcome { usage, ..ToolOutcome::new(data, format!("did {name} by {model}")) })
}

type WrittenText = (Map<String, Value>, String, kybern_core::money::Usage);

/// A summary no longer than it may be: asked for again when it is, and cut when it still is.
async fn summarize(desk: &dyn ModelDesk, text: &str, options: &Options<'_>) -> Result<WrittenText, ToolFailure> {
    let most = options.number("maxLength").unwrap_or(USUAL_LENGTH);
    let mut question = asked::about(ToolPrompt::Summarize, text, MAX_SUMMARY);
    question.wishes.push(("maxLength", most.to_string()));
    let first = desk.ask(&question).await?;
    let (mut answered, mut usage) = (first.clone(), first.usage);
    let length = |text: &str| text.trim().graphemes(true).count();
    if length(&first.text) > most {
        let wrong = format!("- it has {} characters, at most {most} were wished", length(&first.text));
        question.correction = Some((first.text, wrong));
        answered = desk.ask(&question).await?;
        usage = usage.plus(answered.usage);
    }
    let cut = length(&answered.text) > most;
    let result = if cut { shape::cut(answered.text.trim(), most, "…")? } else { answered.text.trim().to_owned() };
    let mut data = fields([("result", json!(result))]);
    if cut {
        data.insert("truncated".to_owned(), json!(true));
    }
    Ok((data, answered.model, usage))
}

async fn translate(desk: &dyn ModelDesk, text: &str, options: &Options<'_>) -> Result<WrittenText, ToolFailure> {
    let language = options.text("targetLanguage").map(str::trim).unwrap_or_default();
    if language.is_empty() {
        return Err(refuse("translate needs options.targetLanguage: give a language, as in German or pt-BR"));
    }
    let mut question = asked::about(ToolPrompt::Translate, text, MAX_TRANSLATION);
    question.wishes.push(("targetLanguage", language.to_owned()));
    let answered = desk.ask(&question).await?;
    Ok((fields([("result", json!(answered.text.trim()))]), answered.model, answered.usage))
}

async fn extract(
    workers: &Workers,
    context: &ToolContext,
    text: &str,
    options: &Options<'_>,
) -> Result<WrittenText, ToolFailure> {
    let schema = options.value("schema").filter(|schema| schema.is_object());
    let schema =
        schema.ok_or_else(|| refuse("extract needs options.schema: give the JSON Schema of what to take out"))?;
    let given = schema.clone();
    let checker = Arc::new(compute(workers, context, move |_| Checker::new(&given)).await??);
    let schema = Schema { written: schema, checker };
    let ToolModelAnswer { answer, model, usage } =
        asked::json(workers, context, ToolPrompt::Extract, text, schema).await?;
    Ok((fields([("data", answer)]), model, usage))
}
