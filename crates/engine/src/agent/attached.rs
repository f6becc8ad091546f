//! The files that came with a message, as models are shown them: in its own turn whole, and in later ones as far as they
//! are kept.

use std::sync::Arc;

use kybern_core::context::Origin;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{ModelMessage, Part, Role};
use kybern_core::ports::Documents as _;
use kybern_core::task::Attachment;

use super::transcript::cut;
use crate::fence::fenced;
use crate::tools::documents::TaskDocuments;

/// Bytes of files that are kept of one message, for the turns after its own: some 8,000 tokens, as many as all knowledge
/// takes at most.
const MAX_KEPT: usize = 24_000;

/// The files of a message.
pub(crate) struct Files {
    texts: Vec<(Attachment, Arc<DocumentText>)>,
    pictures: Vec<Attachment>,
}

impl Files {
    /// Reads them; the pictures are not looked at.
    ///
    /// # Errors
    /// When the store fails, or what could be read cannot be read now.
    pub(crate) async fn of(documents: &TaskDocuments) -> Result<Self> {
        Ok(Self { texts: documents.texts().await?, pictures: documents.pictures().await? })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.pictures.is_empty()
    }

    /// The message: its words, behind them texts and names of files between their marks, and the pictures.
    ///
    /// # Errors
    /// When a picture cannot be had.
    pub(crate) async fn behind(self, words: &str, documents: &TaskDocuments) -> Result<ModelMessage> {
        let pictures = self.pictures.iter().zip(1..).map(|(file, n)| {
            document(format!("attached picture {}: it is picture {n} of this message", file.filename))
        });
        let all: Vec<(&'static str, String)> = self.texts.iter().map(told).map(document).chain(pictures).collect();
        let mut message = ModelMessage::text(Role::User, format!("{words}\n\n{}", fenced(&all)));
        for file in &self.pictures {
            message.parts.extend(documents.picture(file).await?.map(Part::Image));
        }
        Ok(message)
    }

    /// What later turns are shown of them. Short files leave to long ones what they do not need.
    pub(crate) fn kept(&self) -> ModelMessage {
        let mut texts: Vec<(usize, String)> = self.texts.iter().map(told).enumerate().collect();
        texts.sort_by_key(|(_, text)| text.len());
        let (mut left, mut rest) = (MAX_KEPT, texts.len());
        for (_, text) in &mut texts {
            let most = left / rest;
            left -= text.len().min(most);
            rest -= 1;
            if text.len() > most {
                *text = cut(text, text.floor_char_boundary(most));
            }
        }
        texts.sort_by_key(|(place, _)| *place);
        let pictures = self.pictures.iter().map(|file| {
            format!("attached picture {}: it was shown with the message, and is not shown again", file.filename)
        });
        let all: Vec<(&'static str, String)> =
            texts.into_iter().map(|(_, text)| text).chain(pictures).map(document).collect();
        ModelMessage::text(Role::User, fenced(&all))
    }
}

fn told((file, text): &(Attachment, Arc<DocumentText>)) -> String {
    format!("attached file {}:\n{}", file.filename, text.full_text())
}

fn document(text: String) -> (&'static str, String) {
    (Origin::Document.as_str(), text)
}
