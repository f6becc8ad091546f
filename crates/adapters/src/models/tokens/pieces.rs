//! Cutting a text into the pieces in which tokens are made: words with the space before them, numbers by threes, signs,
//! white space. The patterns are those of tiktoken's `openai_public.py`.

use std::sync::LazyLock;

use regex::Regex;

/// Without the pattern's `\s+(?!\S)`, which this kind of regex has not: see [`each`].
const CL100K: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
);

/// That of cl100k.
pub(super) static CL100K_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CL100K).ok());
/// That of o200k.
pub(super) static O200K_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(O200K).ok());

/// Gives the pieces of a text, in order.
pub(super) fn each(pattern: &Regex, text: &str, mut give: impl FnMut(&str)) {
    let mut begin = 0;
    while let Some(found) = pattern.find_at(text, begin) {
        let piece = found.as_str();
        // White space without a line's end leaves its last character to the word after it.
        let is_space = found.end() < text.len() && piece.trim().is_empty() && !piece.ends_with(['\r', '\n']);
        let kept = match piece.char_indices().next_back() {
            Some((at, _)) if is_space && at > 0 => at,
            _ => piece.len(),
        };
        give(&piece[..kept]);
        begin = found.start() + kept;
    }
}
