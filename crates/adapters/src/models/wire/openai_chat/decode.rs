//! A whole answer.

use kybern_core::model::{FinishReason, ModelFailure, ModelFailureKind, ModelReply};

use super::chunk::{Chunk, Delta, finish, settle};
use crate::models::wire::failure::{Report, of_report, without};
use crate::models::wire::garbage;
use crate::models::wire::parts::ReplyPartsBuilder;

/// The reply.
///
/// # Errors
/// What the body reports; `Garbage` when it is no chat completion.
pub fn decode(body: &[u8]) -> Result<ModelReply, ModelFailure> {
    let answer: Chunk<'_> = serde_json::from_slice(body).map_err(|error| garbage("the answer", &error))?;
    let usage =
        answer.usage.or(answer.x_groq.as_ref().and_then(|groq| groq.usage)).and_then(super::usage::Usage::counts);
    if let Some(error) = answer.error {
        return Err(of_report(Report::parse(error.get().as_bytes())).usage(usage));
    }
    let choice = answer.choices.iter().flatten().find(|choice| choice.index.0 == 0);
    let Some((choice, message)) = choice.and_then(|choice| Some((choice, choice.message.as_ref()?))) else {
        return Err(without(body, "message").usage(usage));
    };
    let mut parts = ReplyPartsBuilder::default();
    take(message, &mut parts).map_err(|failure| failure.usage(usage))?;
    let end = if choice.finish_reason.is_empty() { Ok(FinishReason::Stop) } else { finish(&choice.finish_reason) };
    let end = end.map_err(|failure| failure.usage(usage))?;
    let refused = !message.refusal.is_empty();
    Ok(ModelReply {
        id: answer.id.0.into_owned(),
        model: answer.model.0.into_owned(),
        finish: settle(end, parts.calls() > 0, refused),
        logprobs: choice.logprobs(),
        parts: parts.parts,
        usage,
    })
}

fn take(message: &Delta<'_>, parts: &mut ReplyPartsBuilder) -> Result<(), ModelFailure> {
    parts.reasoning(message.reasoning(), None);
    message.content.each(&mut |text, thought| if thought { parts.reasoning(text, None) } else { parts.text(text) });
    parts.text(&message.refusal);
    for call in message.tool_calls.iter().flatten() {
        let function = call.function.as_ref();
        let Some(name) = function.and_then(|function| function.name.some()) else {
            return Err(ModelFailure::new(ModelFailureKind::Garbage, "a tool call has no name"));
        };
        let arguments = function.map(super::chunk::Function::arguments).unwrap_or_default();
        parts.call(&call.id, name, &arguments)?;
    }
    Ok(())
}
