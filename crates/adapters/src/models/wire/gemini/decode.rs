//! A whole answer.

use kybern_core::model::{ModelFailure, ModelReply};

use super::answer::{AnswerPart, GenerateResponse, finish};
use crate::models::wire::failure::without;
use crate::models::wire::parts::ReplyPartsBuilder;
use crate::models::wire::{garbage, opaque};

/// The reply.
///
/// # Errors
/// What the body reports, a blocked prompt included; `Garbage` when it is no answer.
pub fn decode(body: &[u8]) -> Result<ModelReply, ModelFailure> {
    let answer: GenerateResponse<'_> = serde_json::from_slice(body).map_err(|error| garbage("the answer", &error))?;
    let usage = answer.usage();
    answer.check().map_err(|failure| failure.usage(usage))?;
    let Some(candidate) = answer.candidates.iter().flatten().find(|candidate| candidate.index.0 == 0) else {
        return Err(without(body, "candidate").usage(usage));
    };
    let mut parts = ReplyPartsBuilder::default();
    for piece in candidate.pieces() {
        take(piece, &mut parts).map_err(|failure| failure.usage(usage))?;
    }
    let finish = finish(&candidate.finish_reason, parts.calls() > 0).map_err(|failure| failure.usage(usage))?;
    Ok(ModelReply {
        logprobs: None,
        id: answer.response_id.to_string(),
        model: answer.model_version.to_string(),
        finish,
        parts: parts.parts,
        usage,
    })
}

fn take(piece: &AnswerPart<'_>, parts: &mut ReplyPartsBuilder) -> Result<(), ModelFailure> {
    let signature = piece.thought_signature.some();
    let signature = signature.map(|signature| opaque::mark(opaque::GEMINI_SIGNATURE, signature));
    if piece.thought == Some(true) {
        parts.reasoning(&piece.text, signature);
        return Ok(());
    }
    parts.reasoning("", signature);
    parts.text(&piece.text);
    if let Some(call) = &piece.function_call {
        parts.call(&call.id, &call.name, call.arguments())?;
    }
    Ok(())
}
