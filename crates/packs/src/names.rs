//! Names in a line of text: runs of words with capitals.

use crate::company;

/// Words of a company's name.
pub(crate) const MAX_WORDS: usize = 9;
/// What parts a line into names.
const PARTS: [char; 10] = ['|', ',', '\t', ':', ';', '•', '·', '(', ')', '"'];
/// Small words inside a name.
const INNER: [&str; 12] = ["&", "and", "of", "y", "e", "et", "de", "del", "du", "des", "la", "le"];
/// Labels of numbers that stand behind a name.
const LABELS: [&str; 6] = ["DOT", "USDOT", "US-DOT", "MC", "FEIN", "EIN"];
/// Letters of a word with a full stop that ends no sentence, and longer ones.
const MAX_ABBREVIATED: usize = 3;
const ABBREVIATED: [&str; 12] =
    ["bros", "intl", "natl", "svcs", "serv", "trans", "transp", "trkg", "assoc", "dist", "hldgs", "logis"];

/// A name in a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NameInText {
    /// As it is written.
    pub(crate) name: String,
    /// Its first byte.
    pub(crate) start: usize,
}

/// The runs of words with capitals on a line, from each word on; a legal form behind a comma belongs to its name.
pub(crate) fn names(line: &str) -> impl Iterator<Item = NameInText> {
    let mut found = Vec::new();
    let mut from = 0;
    for part in line.split(PARTS) {
        let start = from;
        from += part.len();
        from += line[from..].chars().next().map_or(0, char::len_utf8);
        let words: Vec<(usize, &str)> = words(part).collect();
        let Some((at, last)) = words.last() else { continue };
        let ends = start + at + last.len();
        for (place, (first, _)) in
            words.iter().enumerate().filter(|(_, (_, word))| word.starts_with(char::is_uppercase))
        {
            let (mut formed, mut stopped) = (false, false);
            let run = words[place..].iter().take(MAX_WORDS).take_while(|(_, word)| {
                if stopped || is_label(word) {
                    return false;
                }
                stopped = ends_sentence(word);
                // Behind its legal form a name has nothing more but another one: `Co., Inc.`
                let ends = formed && !company::has_legal_form(word);
                formed = company::has_legal_form(word);
                let capital = word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
                (capital || INNER.contains(word)) && !ends && !is_telephone(word)
            });
            let Some((at, word)) = run.filter(|(_, word)| !INNER.contains(word)).last() else { continue };
            let mut end = start + at + word.len();
            if end == ends {
                end += form_behind(&line[end..]);
            }
            let name = &line[start + first..end];
            let name = name.trim_end_matches(['-', '–', '!', '?']);
            let name = if company::has_legal_form(name) { name } else { name.trim_end_matches('.') };
            // The full stop of `Inc.` at the end of a sentence may be written twice.
            let name = if name.ends_with("..") { name.trim_end_matches('.') } else { name };
            if name.contains(' ') {
                found.push(NameInText { name: name.to_owned(), start: start + first });
            }
        }
    }
    found.into_iter()
}

/// Whether a word leads to a number that is no part of a name: `DOT`, `MC#`.
fn is_label(word: &str) -> bool {
    LABELS.contains(&word.trim_end_matches(|c: char| !c.is_ascii_alphabetic()))
}

/// Whether a sentence ends with a word, which is no abbreviation.
fn ends_sentence(word: &str) -> bool {
    let Some(bare) = word.strip_suffix(['.', '!', '?']) else { return false };
    let abbreviated = ABBREVIATED.contains(&bare.to_lowercase().as_str()) || bare.chars().count() <= MAX_ABBREVIATED;
    !(word.ends_with('.') && (abbreviated || bare.contains('.') || company::has_legal_form(word)))
}

/// Whether a word is a telephone number, or the half of one behind an area code.
fn is_telephone(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    digits >= 7 && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '+' | '/'))
}

/// The words of a part of a line, with where they begin.
fn words(part: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = part.split(' ').scan(0, |at, word| {
        let start = *at;
        *at += word.len() + 1;
        Some((start, word))
    });
    all.filter(|(_, word)| !word.is_empty())
}

/// How many bytes a comma and a legal form behind it take; 0 when there are none.
fn form_behind(rest: &str) -> usize {
    let Some(after) = rest.strip_prefix(", ") else { return 0 };
    let word = after.split([' ', '|', ',', '\t']).next().unwrap_or_default();
    if company::has_legal_form(word) { 2 + word.len() } else { 0 }
}
