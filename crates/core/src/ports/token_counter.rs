//! Counting tokens before anybody is asked.

/// Tokenizers of models.
///
/// A count is exact for the texts and says nothing about what stands around them. Where there is no tokenizer the caller
/// estimates, and marks that as an estimate.
pub trait TokenCounter: Send + Sync {
    /// How many tokens these texts are to that model, each taken by itself; `None` when its tokenizer is not here.
    /// Then no text is read.
    ///
    /// The model is named as its provider names it; a name that a router or a host has put a path before, for instance
    /// `openai/gpt-4o`, is known by its last part.
    ///
    /// It computes without waiting, and brings a table of some megabytes into memory: ask only where an estimate is
    /// near a limit.
    fn count(&self, model: &str, texts: &mut dyn Iterator<Item = &str>) -> Option<u64>;

    /// The text that these tokens are to that model, which is named as for [`TokenCounter::count`].
    ///
    /// # Errors
    /// When its tokenizer is not here, or when they are no text.
    fn text(&self, _model: &str, _tokens: &[u32]) -> Result<String, NoText> {
        Err(NoText::Unknown)
    }
}

/// Why tokens are no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoText {
    /// The model's tokenizer is not here.
    Unknown,
    /// It has no such token, or one that stands for no text.
    NoToken(u32),
    /// Together they are no text: one of its letters is cut off.
    Cut,
}
