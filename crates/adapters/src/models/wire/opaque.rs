//! What a provider wants back unchanged, marked with whose it is: a turn may go on at another provider, and nobody
//! else's signature may be sent there.

/// Signs a block of Anthropic's thinking.
pub(super) const ANTHROPIC_SIGNATURE: &str = "anthropic.signature:";
/// Anthropic's thinking that is hidden.
pub(super) const ANTHROPIC_REDACTED: &str = "anthropic.redacted:";
/// A reasoning item of OpenAI's responses: its id, a space, its encrypted content.
pub(super) const OPENAI_ITEM: &str = "openai.item:";
/// A signature of Gemini, for the part that follows.
pub(super) const GEMINI_SIGNATURE: &str = "gemini.signature:";

pub(super) fn mark(whose: &str, what: &str) -> String {
    format!("{whose}{what}")
}

/// It, when it is of that kind.
pub(super) fn of<'a>(whose: &str, opaque: Option<&'a str>) -> Option<&'a str> {
    opaque?.strip_prefix(whose)
}
