//! Lists of models, as providers give them.

use kybern_core::model::{ModelFailure, ModelFailureKind};
use serde::Deserialize;

use super::lenient::Text;
use super::{WireFormat, anthropic, bounded, garbage};

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer<'a> {
    /// OpenAI, Anthropic and most others.
    Data {
        #[serde(borrow)]
        data: Vec<Entry<'a>>,
    },
    /// Gemini; also Ollama's own.
    Models {
        #[serde(borrow)]
        models: Vec<Entry<'a>>,
    },
    /// Together.
    Bare(#[serde(borrow)] Vec<Entry<'a>>),
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
}

/// The headers of the request.
#[must_use]
pub fn headers(format: WireFormat) -> Vec<(&'static str, &'static str)> {
    match format {
        WireFormat::Anthropic => vec![("anthropic-version", anthropic::VERSION)],
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses | WireFormat::Gemini => Vec::new(),
    }
}

/// The models' names.
///
/// # Errors
/// `Garbage` when the body is no such list.
pub fn decode(body: &[u8]) -> Result<Vec<String>, ModelFailure> {
    bounded(body)?;
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|error| garbage("the list", &error))?;
    let (Answer::Data { data: entries } | Answer::Models { models: entries } | Answer::Bare(entries)) = answer;
    let names = entries.iter().map(|entry| entry.id.some().unwrap_or(&entry.name));
    let names: Vec<String> = names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(ModelFailure::new(ModelFailureKind::Garbage, "the list holds a model without a name"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_list_is_read() {
        let shapes = [
            r#"{"object":"list","data":[{"id":"a","object":"model"},{"id":"b"}]}"#,
            r#"{"models":[{"name":"models/a"},{"name":"models/b"}],"nextPageToken":""}"#,
            r#"[{"id":"a","type":"chat"},{"id":"b"}]"#,
        ];
        for shape in shapes {
            assert_eq!(decode(shape.as_bytes()).unwrap(), ["a", "b"], "{shape}");
        }
        assert_eq!(decode(b"{}").unwrap_err().kind, ModelFailureKind::Garbage);
        assert_eq!(decode(br#"{"data":[{}]}"#).unwrap_err().kind, ModelFailureKind::Garbage);
    }
}
