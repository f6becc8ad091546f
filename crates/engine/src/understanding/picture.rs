//! What is written in a picture, as a model that sees copies it out. Nobody can look that up in the picture, so it is a
//! suggestion: it counts once a person has held it against the picture.

use kybern_core::error::Error;
use kybern_core::model::Image;
use kybern_core::money::Usage;
use serde_json::{Value, json};

use super::asking::{Asking, Unasked, in_shape};
use super::inquiry::Inquiry;
use crate::models::prompt::UNDERSTAND_PICTURE;

/// Tokens of an answer: a page that is written full.
const MAX_OUTPUT: u32 = 6_000;

/// What a model reads in a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Transcript {
    /// The writing; never blank.
    pub(crate) text: String,
    /// `provider/model` that read it.
    pub(crate) model: String,
    /// What it took.
    pub(crate) usage: Usage,
}

/// Asks what is written in a picture; nothing when no model reads anything.
///
/// # Errors
/// When whoever asks has to stop.
pub(crate) async fn transcript(asking: &mut dyn Asking, picture: Image) -> Result<Option<Transcript>, Error> {
    let mut usage = Usage::default();
    match in_shape(asking, inquiry(picture), &mut usage).await {
        Ok(shaped) => {
            let text = shaped.value["text"].as_str().unwrap_or_default().to_owned();
            let is_there = !text.trim().is_empty();
            Ok(is_there.then_some(Transcript { text, model: shaped.model, usage }))
        }
        Err(Unasked::No(_)) => Ok(None),
        Err(Unasked::Stopped(error)) => Err(error),
    }
}

fn inquiry(picture: Image) -> Inquiry {
    let text: Value = json!({"type": "string"});
    let schema = json!({
        "type": "object",
        "properties": {"text": text},
        "required": ["text"],
        "additionalProperties": false
    });
    Inquiry {
        prompt: UNDERSTAND_PICTURE,
        told: "What is written in this picture?".to_owned(),
        material: Vec::new(),
        picture: Some(picture),
        schema,
        max_output: MAX_OUTPUT,
        correction: None,
    }
}
