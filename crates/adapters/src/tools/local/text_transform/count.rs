//! Counts.

use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::super::fields;

/// Words with a full stop that end no sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "ltd", "co", "corp", "vs", "etc", "e.g", "i.e", "no",
    "approx", "dept", "est", "fig", "vol", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct",
    "nov", "dec", "a.m", "p.m",
];

/// Characters as readers see them, words (what stands between blanks and has a letter or a digit), sentences,
/// paragraphs (apart by an empty line) and lines.
pub(super) fn count(text: &str) -> Map<String, Value> {
    fields([
        ("characters", json!(text.graphemes(true).count())),
        ("charactersWithoutSpaces", json!(text.graphemes(true).filter(|letter| !letter.trim().is_empty()).count())),
        ("words", json!(text.split_whitespace().filter(|word| is_word(word)).count())),
        ("sentences", json!(sentences(text))),
        ("paragraphs", json!(paragraphs(text))),
        ("lines", json!(text.lines().count())),
    ])
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

fn paragraphs(text: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    for line in text.lines() {
        let filled = !line.trim().is_empty();
        count += usize::from(filled && !inside);
        inside = filled;
    }
    count
}

/// A sentence ends with a mark at a word's end, or with its paragraph; it has a word in it.
fn sentences(text: &str) -> usize {
    let mut count = 0;
    let mut open = false;
    for line in text.lines() {
        if line.trim().is_empty() {
            count += usize::from(std::mem::take(&mut open));
            continue;
        }
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            open |= is_word(word);
            if ends_sentence(word, words.peek().copied()) || word.contains(['。', '！', '？']) {
                let marks = word.chars().filter(|c| matches!(c, '。' | '！' | '？')).count().max(1);
                count += if open { marks } else { 0 };
                open = false;
            }
        }
    }
    count + usize::from(open)
}

fn ends_sentence(word: &str, next: Option<&str>) -> bool {
    let word = word.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»']);
    if word.ends_with(['!', '?', '…']) {
        return true;
    }
    let Some(stem) = word.strip_suffix('.') else { return false };
    let stem = stem.trim_start_matches(['(', '[', '"', '\'']).to_lowercase();
    let initial = stem.chars().count() == 1 && stem.chars().all(char::is_alphabetic) && stem != "i";
    let abbreviated = ABBREVIATIONS.contains(&stem.as_str()) || initial;
    // At the end of the text even an abbreviation ends its sentence.
    !abbreviated || next.is_none()
}
