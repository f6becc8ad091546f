//! A whole response.

use kybern_core::model::{ModelFailure, ModelFailureKind, ModelReply};

use super::item::{Item, Response};
use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::garbage;
use crate::models::wire::parts::ReplyPartsBuilder;

/// The reply.
///
/// # Errors
/// What the body reports; `Garbage` when it is no response.
pub fn decode(body: &[u8]) -> Result<ModelReply, ModelFailure> {
    let response: Response<'_> = serde_json::from_slice(body).map_err(|error| garbage("the answer", &error))?;
    let usage = response.usage();
    let Some(output) = &response.output else {
        let report = Report::parse(body);
        if response.error.is_some() || !report.message.is_empty() {
            return Err(of_report(report).usage(usage));
        }
        return Err(ModelFailure::new(ModelFailureKind::Garbage, "the answer holds no output").usage(usage));
    };
    let (mut parts, mut refused) = (ReplyPartsBuilder::default(), false);
    for item in output {
        take(item, &mut parts, &mut refused).map_err(|failure| failure.usage(usage))?;
    }
    let finish = response.finish(parts.calls() > 0, refused)?;
    Ok(ModelReply {
        logprobs: None,
        id: response.id.0.into_owned(),
        model: response.model.0.into_owned(),
        parts: parts.parts,
        finish,
        usage,
    })
}

fn take(item: &Item<'_>, parts: &mut ReplyPartsBuilder, refused: &mut bool) -> Result<(), ModelFailure> {
    match &*item.r#type {
        "message" => {
            for piece in item.content.iter().flatten() {
                parts.text(&piece.text);
                parts.text(&piece.refusal);
                *refused |= !piece.refusal.is_empty();
            }
        }
        "function_call" => parts.call(item.call_id.some().unwrap_or(&item.id), &item.name, &item.arguments)?,
        "reasoning" => {
            let summary = item.summary.iter().flatten().map(|piece| &*piece.text).collect::<Vec<_>>().join("\n\n");
            parts.reasoning(&summary, None);
            for piece in item.content.iter().flatten() {
                parts.reasoning(&piece.text, None);
            }
            parts.reasoning("", item.opaque());
        }
        // Searches and other tools that run at the provider.
        _ => {}
    }
    Ok(())
}
