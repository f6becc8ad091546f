//! Embeddings, as OpenAI and as Gemini have them.

use bytes::Bytes;
use kybern_core::model::{EmbedRequest, Embedded, ModelFailure, ModelFailureKind, TokenUsage};
use serde::Deserialize;
use serde::Serialize;

use super::body::JsonBody;
use super::lenient::{Count, Text};
use super::{WireFormat, WireRequest, garbage, gemini, unsupported};
use crate::models::quirks::Quirks;

/// The request.
///
/// # Errors
/// `Unsupported` when the provider offers none.
pub fn encode(request: &EmbedRequest, format: WireFormat, quirks: &Quirks) -> Result<WireRequest, ModelFailure> {
    let Some(path) = quirks.embeddings.filter(|_| format != WireFormat::Anthropic) else {
        return Err(unsupported(format!("{} offers no embeddings", quirks.kind.as_str())));
    };
    let size: usize = request.texts.iter().map(|text| text.len() + 64).sum();
    let mut body = JsonBody::with_capacity(256 + size);
    let path = if format == WireFormat::Gemini {
        let model = gemini::model_path(&request.model);
        body.field("requests", &gemini_requests(request, model.trim_start_matches('/')))?;
        format!("{model}:batchEmbedContents")
    } else {
        body.field("model", &request.model)?;
        body.field("input", &request.texts)?;
        body.field("encoding_format", "float")?;
        body.maybe(quirks.dimensions, request.dimensions)?;
        if let Some(name) = quirks.chat.user {
            body.maybe(name, request.user.as_ref())?;
        }
        path.to_owned()
    };
    let body: Bytes = body.finish(&serde_json::Map::new())?;
    Ok(WireRequest { method: "POST", path, headers: Vec::new(), body })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiRequest<'a> {
    model: &'a str,
    content: GeminiContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimensionality: Option<u32>,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    parts: [GeminiText<'a>; 1],
}

#[derive(Serialize)]
struct GeminiText<'a> {
    text: &'a str,
}

fn gemini_requests<'a>(request: &'a EmbedRequest, model: &'a str) -> Vec<GeminiRequest<'a>> {
    let one = |text: &'a String| GeminiRequest {
        model,
        content: GeminiContent { parts: [GeminiText { text }] },
        output_dimensionality: request.dimensions,
    };
    request.texts.iter().map(one).collect()
}

#[derive(Deserialize)]
struct EmbeddingResponse<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    /// OpenAI's.
    #[serde(default)]
    data: Option<Vec<Datum>>,
    /// Gemini's.
    #[serde(default)]
    embeddings: Option<Vec<Values>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Datum {
    #[serde(default)]
    index: Count,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    total_tokens: Count,
}

/// The vectors, in the order of the texts.
///
/// # Errors
/// `Garbage` when they are not one for each text, of one length.
pub fn decode(body: &[u8], request: &EmbedRequest) -> Result<Embedded, ModelFailure> {
    let answer: EmbeddingResponse<'_> = serde_json::from_slice(body).map_err(|error| garbage("the answer", &error))?;
    let usage = answer
        .usage
        .map(|usage| TokenUsage { input: usage.prompt_tokens.0.max(usage.total_tokens.0), ..TokenUsage::default() });
    let usage = usage.filter(|usage| !usage.is_zero());
    let vectors: Vec<Vec<f32>> = match (answer.data, answer.embeddings) {
        (Some(mut data), _) => {
            data.sort_by_key(|datum| datum.index.0);
            data.into_iter().map(|datum| datum.embedding).collect()
        }
        (None, Some(embeddings)) => embeddings.into_iter().map(|values| values.values).collect(),
        (None, None) => Vec::new(),
    };
    let wrong = |message: String| Err(ModelFailure::new(ModelFailureKind::Garbage, message).usage(usage));
    if vectors.len() != request.texts.len() {
        return wrong(format!("{} vectors came for {} texts", vectors.len(), request.texts.len()));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return wrong("the vectors are not of one length".to_owned());
    }
    let model = answer.model.some().unwrap_or(&request.model).to_owned();
    Ok(Embedded { model, vectors, usage })
}
