//! A conversation as contents of two roles with parts.

use std::borrow::Cow;

use kybern_core::model::{Image, ModelMessage, Part, ToolCall, ToolResult};
use serde_json::value::RawValue;

use crate::models::wire::parts::is_made;
use crate::models::wire::{object_of, opaque, turns};

#[derive(serde::Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<RequestPart<'a>>,
}

/// All messages but the system's.
pub(super) fn contents(messages: &[ModelMessage]) -> Vec<Content<'_>> {
    turns(messages, "model", pieces).map(|(role, parts)| Content { role, parts }).collect()
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestPart<'a> {
    #[serde(flatten)]
    what: PartData<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
enum PartData<'a> {
    Text(&'a str),
    InlineData(InlineData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(serde::Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Cow<'a, RawValue>,
}

#[derive(serde::Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Response<'a>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

fn pieces(parts: &[Part]) -> Vec<RequestPart<'_>> {
    let mut pieces = Vec::with_capacity(parts.len());
    // A signature belongs to the part that follows it. Thoughts themselves do not go back.
    let mut signature = None;
    for part in parts {
        let what = match part {
            Part::Reasoning(reasoning) => {
                let known = opaque::of(opaque::GEMINI_SIGNATURE, reasoning.opaque.as_deref());
                if let Some(lonely) = known.and(signature) {
                    pieces.push(RequestPart { what: PartData::Text(""), thought_signature: Some(lonely) });
                }
                signature = known.or(signature);
                continue;
            }
            Part::Text { text } if text.is_empty() => continue,
            Part::Text { text } => PartData::Text(text),
            Part::Image(Image::Data { media_type, data, .. }) => {
                PartData::InlineData(InlineData { mime_type: media_type, data })
            }
            // Refused before.
            Part::Image(Image::Url { .. }) => continue,
            Part::ToolCall(ToolCall { id, name, arguments }) => {
                PartData::FunctionCall(FunctionCall { id: given(id), name, args: object_of(arguments, "invalidJson") })
            }
            Part::ToolAnswer(ToolResult { call_id, name, content, is_error }) => {
                let response = if *is_error { Response::Error(content) } else { Response::Output(content) };
                PartData::FunctionResponse(FunctionResponse { id: given(call_id), name, response })
            }
        };
        pieces.push(RequestPart { what, thought_signature: signature.take() });
    }
    if let Some(lonely) = signature {
        pieces.push(RequestPart { what: PartData::Text(""), thought_signature: Some(lonely) });
    }
    pieces
}

/// An id that the provider gave; one that was made here means nothing there.
fn given(id: &str) -> Option<&str> {
    Some(id).filter(|id| !is_made(id))
}
