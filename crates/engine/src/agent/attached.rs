//! The files that came with a message, as models are shown them: in its own turn whole, and in later ones as far as they
//! are kept.

use std::sync::Arc;

use kybern_core::context::Origin;
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::model::{Image, ModelMessage, Part, Role};
use kybern_core::ports::Documents as _;
use kybern_core::task::Attachment;

use super::transcript::cut;
use crate::context::fence::fenced;
use crate::tools::documents::TaskDocuments;

/// Characters of files that are kept of one message, for the turns after its own: some 8,000 tokens, as many as all
/// knowledge takes at most.
const MAX_KEPT: usize = 24_000;

/// The files of a message.
pub(crate) struct Files {
    texts: Vec<(Attachment, Arc<DocumentText>)>,
    pictures: Vec<(Attachment, Image)>,
}

impl Files {
    /// Reads them.
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
    pub(crate) fn behind(self, words: &str) -> ModelMessage {
        let mut all: Vec<(&'static str, String)> = self.texts.iter().map(told).collect();
        all.extend(self.pictures.iter().zip(1..).map(|((file, _), n)| {
            let text = format!("attached picture {}: it is picture {n} of this message", file.filename);
            (Origin::Document.as_str(), text)
        }));
        let mut message = ModelMessage::text(Role::User, format!("{words}\n\n{}", fenced(&all)));
        message.parts.extend(self.pictures.into_iter().map(|(_, image)| Part::Image(image)));
        message
    }

    /// What later turns are shown of them.
    pub(crate) fn kept(&self) -> ModelMessage {
        let each = MAX_KEPT / self.texts.len().max(1);
        let texts = self.texts.iter().map(|one| {
            let (label, text) = told(one);
            (label, cut(text, each))
        });
        let pictures = self.pictures.iter().map(|(file, _)| {
            let text =
                format!("attached picture {}: it was shown with the message, and is not shown again", file.filename);
            (Origin::Document.as_str(), text)
        });
        let all: Vec<(&'static str, String)> = texts.chain(pictures).collect();
        ModelMessage::text(Role::User, fenced(&all))
    }
}

fn told((file, text): &(Attachment, Arc<DocumentText>)) -> (&'static str, String) {
    (Origin::Document.as_str(), format!("attached file {}:\n{}", file.filename, text.full_text()))
}
