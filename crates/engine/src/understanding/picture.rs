//! What is written in a picture, as a model that sees copies it out. Nobody can look that up in the picture, so it counts
//! once a person has held it against the picture.

use kybern_core::document::{DocumentFormat, DocumentText, PageText, Scan, ScanPlace, ScannedWord};
use kybern_core::error::Error;
use kybern_core::json_schema::object;
use kybern_core::model::Image;
use kybern_core::money::Usage;
use serde_json::{Value, json};

use super::asking::{AskModel, NoAnswer, in_shape};
use super::inquiry::Inquiry;
use crate::models::prompt::UNDERSTAND_PICTURE;
use crate::tools::documents::Leaf;

/// Tokens of an answer: a page that is written full.
const MAX_OUTPUT: u32 = 6_000;

/// What a model reads in the pictures of a document.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Transcript {
    /// The writing. Nobody knows where on its page a word stands, nor how sure it is.
    pub(crate) text: DocumentText,
    /// `provider/model` that read it.
    pub(crate) model: String,
    /// What it took.
    pub(crate) usage: Usage,
}

/// Why there is no transcript: why no model was asked, or gave no answer that could be used; `None` where none is to be
/// asked, or nothing is written.
pub(crate) type WhyUnread = Option<String>;

/// Asks what is written in the pictures of a document's pages. Every page is one of the transcript: those at which
/// nobody looks are marked. None when no model reads anything, or does not read all that it is shown. `seen` grows by
/// the pages that a model has looked at, whether it has found anything or not.
///
/// # Errors
/// When whoever asks has to stop.
pub(crate) async fn transcript(
    asking: &mut dyn AskModel,
    leaves: Vec<Leaf>,
    seen: &mut usize,
) -> Result<Result<Transcript, WhyUnread>, Error> {
    let mut usage = Usage::default();
    let (mut pages, mut model) = (Vec::with_capacity(leaves.len()), String::new());
    for (number, leaf) in (1..).zip(leaves) {
        pages.push(match leaf {
            Leaf::Blank => PageText { number, ..PageText::default() },
            Leaf::Unseen => PageText::not_read(number),
            Leaf::Picture(picture) => match in_shape(asking, inquiry(picture), &mut usage).await {
                Ok(shaped) => {
                    *seen += 1;
                    model = shaped.model;
                    page(number, shaped.value["text"].as_str().unwrap_or_default())
                }
                Err(NoAnswer::No(why)) => return Ok(Err(Some(why))),
                Err(NoAnswer::Stopped(error)) => return Err(error),
            },
        });
    }
    let text = DocumentText { format: DocumentFormat::Picture, pages };
    Ok(if text.is_scanned() { Ok(Transcript { text, model, usage }) } else { Err(None) })
}

/// A page as one word, which stands somewhere in its picture; none where nothing is written.
fn page(number: u32, text: &str) -> PageText {
    let word = ScannedWord { start: 0, end: text.len(), place: ScanPlace::WHOLE_PICTURE };
    let words = if text.trim().is_empty() { Vec::new() } else { vec![word] };
    PageText { number, text: text.to_owned(), scan: Some(Scan { words }), ..PageText::default() }
}

fn inquiry(picture: Image) -> Inquiry {
    let text: Value = json!({"type": "string"});
    let schema = object(json!({"text": text}), ["text"]);
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
