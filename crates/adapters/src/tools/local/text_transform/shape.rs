//! Blanks, order and length.

use kybern_core::tool::ToolFailure;
use unicode_segmentation::UnicodeSegmentation;

use super::super::refuse;
use super::options::Options;

/// One blank between words, no blanks at the ends of lines, and at most one empty line between paragraphs.
pub(super) fn normalize_whitespace(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut gap = false;
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_none() {
            gap = !result.is_empty();
            continue;
        }
        if !result.is_empty() {
            result.push_str(if gap { "\n\n" } else { "\n" });
        }
        gap = false;
        for (index, word) in words.enumerate() {
            if index > 0 {
                result.push(' ');
            }
            result.push_str(word);
        }
    }
    result
}

/// The characters from the last to the first.
pub(super) fn reverse(text: &str) -> String {
    text.graphemes(true).rev().collect()
}

/// At most so many characters, with a mark where it was cut; between words when there is a place in the second half.
///
/// # Errors
/// When it is not said how many, or the mark has no room.
pub(super) fn truncate(text: &str, options: &Options<'_>) -> Result<String, ToolFailure> {
    let most = options.number("maxLength").ok_or_else(|| refuse("truncate needs options.maxLength: give a number"))?;
    if text.graphemes(true).nth(most).is_none() {
        return Ok(text.to_owned());
    }
    cut(text, most, options.text("ellipsis").unwrap_or("…"))
}

/// The same of a text that has more.
///
/// # Errors
/// When the mark has no room.
pub(super) fn cut(text: &str, most: usize, mark: &str) -> Result<String, ToolFailure> {
    let room = most.checked_sub(mark.graphemes(true).count());
    let room = room.ok_or_else(|| refuse("options.ellipsis is longer than options.maxLength: make it shorter"))?;
    let cut = text.grapheme_indices(true).nth(room).map_or(text.len(), |(cut, _)| cut);
    let kept = &text[..cut];
    let kept = match kept.rfind(char::is_whitespace) {
        Some(blank) if !text[cut..].starts_with(char::is_whitespace) && blank * 2 >= cut => &kept[..blank],
        _ => kept,
    };
    Ok(format!("{}{mark}", kept.trim_end()))
}
