//! One thing that a model is asked about a message or a document. Its id follows from all that is asked, so the same
//! question has the same answer for as long as its task lives.

use kybern_core::model::{Image, ModelMessage, ModelRequest, OutputSchema, Part, Role};
use kybern_core::plan::StepId;
use serde_json::Value;

use crate::fence;
use crate::models::prompt::{OwnPrompt, TOOL_CORRECTION};

/// Digits of the digest in an id: 128 bits.
const DIGITS: usize = 32;

/// A question about a message or a document.
#[derive(Clone, Debug)]
pub(crate) struct Inquiry {
    pub(crate) prompt: OwnPrompt,
    /// What plans and packs say: what can be chosen, what is looked for.
    pub(crate) told: String,
    /// What strangers wrote, each with its label; it is fenced.
    pub(crate) material: Vec<(&'static str, String)>,
    /// A picture to look at.
    pub(crate) picture: Option<Image>,
    /// The schema of the answer.
    pub(crate) schema: Value,
    /// The most tokens of the answer.
    pub(crate) max_output: u32,
    /// An answer that did not fit, with what was wrong with it.
    pub(crate) correction: Option<(String, String)>,
}

impl Inquiry {
    /// Under what its answer stands in the journal.
    pub(crate) fn id(&self) -> StepId {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&bytes.len().to_le_bytes()).update(bytes);
        };
        add(self.prompt.name.as_bytes());
        add(self.told.as_bytes());
        add(self.schema.to_string().as_bytes());
        for (label, text) in &self.material {
            add(label.as_bytes());
            add(text.as_bytes());
        }
        match &self.picture {
            Some(Image::Data { data, .. }) => add(data.as_bytes()),
            Some(Image::Url { url, .. }) => add(url.as_bytes()),
            None => {}
        }
        if let Some((answer, wrong)) = &self.correction {
            add(answer.as_bytes());
            add(wrong.as_bytes());
        }
        let digest = hasher.finalize().to_hex();
        StepId::trusted(&format!("{}{}", StepId::ANSWER, digest.get(..DIGITS).unwrap_or_default()))
    }

    /// The same once more, because its answer did not fit.
    pub(crate) fn corrected(mut self, answer: String, wrong: String) -> Self {
        self.correction = Some((answer, wrong));
        self
    }

    /// What the model is sent.
    pub(crate) fn request(&self) -> ModelRequest {
        let said = format!("{}\n\n{}", self.told, fence::fenced(&self.material));
        let mut asked = ModelMessage::text(Role::User, said.trim_end());
        asked.parts.extend(self.picture.clone().map(Part::Image));
        let mut messages = vec![ModelMessage::text(Role::System, self.prompt.text), asked];
        if let Some((answer, wrong)) = &self.correction {
            messages.push(ModelMessage::text(Role::Assistant, answer.as_str()));
            messages.push(ModelMessage::text(Role::User, format!("{}{wrong}", TOOL_CORRECTION.text)));
        }
        ModelRequest {
            messages,
            output: Some(OutputSchema { name: "answer".to_owned(), schema: Some(self.schema.clone()), strict: false }),
            max_output_tokens: Some(self.max_output),
            temperature: Some(0.0),
            ..ModelRequest::default()
        }
    }
}
