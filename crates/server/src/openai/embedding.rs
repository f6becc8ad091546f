//! Texts to be embedded, as OpenAI's clients write them.

use kybern_core::error::Detail;
use kybern_core::model::EmbedRequest;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::request::MAX_NAME;
use crate::error::{ApiResult, Problem};
use crate::extract::check_text;
use crate::schema::model::{EmbeddingInputSchema, MAX_TEXTS};
use crate::schema::words::EncodingSchema;

/// Texts to be embedded.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(expecting = "an object")]
#[schema(as = EmbeddingRequest, example = json!({"model": "openai/text-embedding-3-small", "input": "a text"}))]
pub(crate) struct EmbeddingBody {
    /// `provider/model`.
    #[serde(default)]
    #[schema(max_length = 256)]
    pub(crate) model: String,
    /// A text, or a list of up to 2,048; or the tokens of one text, or lists of them, where the model's tokenizer is
    /// known here.
    #[schema(value_type = EmbeddingInputSchema)]
    input: InputBody,
    /// How vectors are written; `float` when not given.
    #[schema(value_type = Option<EncodingSchema>)]
    encoding_format: Option<String>,
    /// How many dimensions, where the model lets one choose.
    #[schema(minimum = 1)]
    dimensions: Option<u32>,
    /// An opaque name of the end user.
    #[schema(max_length = 256)]
    user: Option<String>,
    /// Whatever else: refused, unless it is null.
    #[serde(flatten)]
    #[schema(ignore)]
    rest: Map<String, Value>,
}

/// What is embedded.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text, a list of texts, or tokens")]
enum InputBody {
    /// A text.
    One(String),
    /// Up to 2,048 texts.
    Many(Vec<String>),
    /// The tokens of a text.
    Tokens(Vec<u32>),
    /// The tokens of up to 2,048 texts.
    ManyTokens(Vec<Vec<u32>>),
}

/// What is to be embedded.
pub(crate) struct EmbeddingCall {
    /// The request in words of no provider. Its texts are missing where there are tokens.
    pub(crate) request: EmbedRequest,
    /// The texts as tokens.
    pub(crate) tokens: Option<Vec<Vec<u32>>>,
    /// Whether vectors are wanted as base64.
    pub(crate) as_base64: bool,
}

impl EmbeddingBody {
    /// What is asked for.
    ///
    /// # Errors
    /// Every fault at once, with its place.
    pub(crate) fn request(self) -> ApiResult<EmbeddingCall> {
        let (texts, tokens) = match self.input {
            InputBody::One(text) => (vec![text], None),
            InputBody::Many(texts) => (texts, None),
            InputBody::Tokens(tokens) => (Vec::new(), Some(vec![tokens])),
            InputBody::ManyTokens(tokens) => (Vec::new(), Some(tokens)),
        };
        let mut faults: Vec<Detail> = Vec::new();
        faults.extend(check_text("/model", &self.model, MAX_NAME));
        faults.extend(self.user.as_deref().and_then(|user| check_text("/user", user, MAX_NAME)));
        if self.dimensions == Some(0) {
            faults.push(Detail::new("/dimensions", "a vector has at least one dimension"));
        }
        for (name, _) in self.rest.iter().filter(|(_, value)| !value.is_null()) {
            let shown: String = name.chars().take(64).collect();
            let message = format!("{shown:?} is not taken: leave it out, or ask the provider itself");
            faults.push(Detail::new(format!("/{shown}"), message));
        }
        let count = tokens.as_ref().map_or(texts.len(), Vec::len);
        if count == 0 || count > MAX_TEXTS {
            faults.push(Detail::new("/input", format!("1 to {MAX_TEXTS} texts are embedded at once")));
        }
        if texts.iter().any(String::is_empty) || tokens.iter().flatten().any(Vec::is_empty) {
            faults.push(Detail::new("/input", "a text to be embedded is not empty"));
        }
        let as_base64 = match self.encoding_format.as_deref() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(other) => {
                let message = format!("{other:?} is no format: use float or base64");
                faults.push(Detail::new("/encoding_format", message));
                false
            }
        };
        Problem::refuse(faults)?;

        let (dimensions, user) = (self.dimensions, self.user);
        let request = EmbedRequest { texts, dimensions, user, ..EmbedRequest::default() };
        Ok(EmbeddingCall { request, tokens, as_base64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::shaped;
    use serde_json::json;

    fn asked(body: Value) -> Result<EmbeddingCall, Vec<String>> {
        let body: EmbeddingBody = shaped(body).ok().unwrap();
        body.request().map_err(|problem| problem.0.details().iter().map(|detail| detail.path.clone()).collect())
    }

    #[test]
    fn what_clients_send_is_taken_and_the_rest_refused() {
        let known = json!({"input": "a", "encoding_format": "base64", "dimensions": 256, "user": "ada", "extra": null});
        let wanted = asked(known).ok().unwrap();
        assert!(wanted.as_base64);
        assert_eq!((wanted.request.dimensions, wanted.request.user.as_deref()), (Some(256), Some("ada")));
        let unknown = json!({"input": "a", "dimensions": 0, "input_type": "query", "truncate": false});
        assert_eq!(asked(unknown).err().unwrap(), ["/dimensions", "/input_type", "/truncate"]);
    }
}
