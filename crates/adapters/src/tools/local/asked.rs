//! What the local tools ask a language model for: texts as they come, JSON held against a schema and put right once.
//!
//! Which model answers, what it may cost and who pays is not known here: [`kybern_core::ports::ModelDesk`] does.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::json::{self as bounded, Unreadable};
use kybern_core::money::Usage;
use kybern_core::ports::{ModelQuestion, ToolContext, ToolPrompt};
use kybern_core::tool::ToolFailure;
use serde_json::Value;

use super::json_parser::Checker;
use crate::workers::Workers;

/// The most tokens of an answer in JSON.
const MAX_JSON: u32 = 4_000;
/// Bytes of an answer that are shown to the model again when it has to put it right.
const MAX_SHOWN: usize = 16 * 1024;

/// An answer, with the model that gave it and what all tries took.
#[derive(Debug)]
pub(super) struct ToolModelAnswer<T> {
    pub(super) answer: T,
    pub(super) model: String,
    pub(super) usage: Usage,
}

pub(super) fn about(prompt: ToolPrompt, text: &str, max_output: u32) -> ModelQuestion {
    ModelQuestion {
        prompt,
        wishes: Vec::new(),
        material: vec![("text", text.to_owned())],
        schema: None,
        correction: None,
        max_output,
    }
}

/// A schema as it was given, which a model sees, and as answers are held against it.
#[derive(Debug)]
pub(super) struct Schema<'a> {
    pub(super) written: &'a Value,
    pub(super) checker: Arc<Checker>,
}

/// Asks for JSON that fits a schema; once more when the answer does not.
///
/// # Errors
/// Those of the desk; `MODEL_ERROR` when the second answer does not fit either.
pub(super) async fn json(
    workers: &Workers,
    context: &ToolContext,
    prompt: ToolPrompt,
    text: &str,
    Schema { written, checker }: Schema<'_>,
) -> Result<ToolModelAnswer<Value>, ToolFailure> {
    let desk = context.models()?;
    let mut question = ModelQuestion { schema: Some(written.clone()), ..about(prompt, text, MAX_JSON) };
    let mut usage = Usage::default();
    loop {
        let answered = desk.ask(&question).await?;
        usage = usage.plus(answered.usage);
        let (given, fits) = (answered.text.clone(), Arc::clone(&checker));
        let faults = match super::compute(workers, context, move |_| fitting(&given, &fits)).await?? {
            Ok(answer) => return Ok(ToolModelAnswer { answer, model: answered.model, usage }),
            Err(faults) => faults,
        };
        if question.correction.is_some() {
            let message = format!("{} gave no answer that fits the schema: {faults}", answered.model);
            return Err(ToolFailure::permanent(message).code(ErrorCode::Model));
        }
        let shown = answered.text.get(..answered.text.floor_char_boundary(MAX_SHOWN)).unwrap_or_default();
        question.correction = Some((shown.to_owned(), faults));
    }
}

/// The value that an answer is, or what is wrong with it.
///
/// # Errors
/// When it is too large to be held against the schema.
fn fitting(answer: &str, checker: &Checker) -> Result<Result<Value, String>, ToolFailure> {
    let value = match bounded::read(unfenced(answer).as_bytes()) {
        Err(Unreadable::TooMuch(fault)) => return Ok(Err(format!("- {fault}"))),
        Err(Unreadable::Syntax(problem)) => return Ok(Err(format!("- it is not JSON: {problem}"))),
        Ok(value) => value,
    };
    let faults = checker.faults(&value)?;
    if faults.is_empty() {
        return Ok(Ok(value));
    }
    let line = |(path, problem): &(String, String)| format!("- {path}: {problem}");
    Ok(Err(faults.iter().map(line).collect::<Vec<_>>().join("\n")))
}

/// The text without the fence that models like to put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}
