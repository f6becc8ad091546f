//! Large and small letters, and names made of words.

use kybern_core::tool::ToolFailure;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::super::refuse;
use super::options::Options;

/// Letters that are no accented form of another.
const PLAIN: &[(char, &str)] =
    &[('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('đ', "d"), ('ð', "d"), ('ł', "l"), ('þ', "th"), ('ı', "i")];

/// Every word with a large first letter and small others.
pub(super) fn title(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut inside = false;
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            push(&mut result, letter, !inside);
            inside = true;
        } else {
            // An apostrophe inside a word begins no new one.
            inside &= matches!(letter, '\'' | '’');
            result.push(letter);
        }
    }
    result
}

/// Small letters, and a large one where a sentence begins.
pub(super) fn sentence(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut begins = true;
    let mut ended = false;
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            push(&mut result, letter, begins);
            (begins, ended) = (false, false);
        } else {
            ended = matches!(letter, '.' | '!' | '?') || ended && !letter.is_whitespace();
            begins |= letter == '\n'
                || letter.is_whitespace() && result.trim_end_matches(['"', ')', '”']).ends_with(['.', '!', '?']);
            result.push(letter);
        }
    }
    result
}

fn push(result: &mut String, letter: char, large: bool) {
    if large { result.extend(letter.to_uppercase()) } else { result.extend(letter.to_lowercase()) }
}

/// The words of a text: apart by what is no letter or digit, and where a small letter meets a large one.
fn words(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        if matches!(letter, '\'' | '’') && !word.is_empty() {
            continue;
        }
        if !letter.is_alphanumeric() && !is_combining_mark(letter) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let hump = letter.is_uppercase()
            && letter.to_lowercase().next() != Some(letter)
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if hump {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        word.extend(letter.to_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// `snake_case`, `kebab-case`.
///
/// # Errors
/// When the text has no word.
pub(super) fn joined(text: &str, between: &str) -> Result<String, ToolFailure> {
    let words = words(text);
    if words.is_empty() { Err(no_words()) } else { Ok(words.join(between)) }
}

/// `camelCase`.
///
/// # Errors
/// When the text has no word.
pub(super) fn camel(text: &str) -> Result<String, ToolFailure> {
    let words = words(text);
    let (first, others) = words.split_first().ok_or_else(no_words)?;
    let mut result = first.clone();
    for word in others {
        let mut letters = word.chars();
        result.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        result.push_str(letters.as_str());
    }
    Ok(result)
}

/// Whether accents may be taken off that letter. In other scripts a mark is a vowel, or makes another letter.
fn is_latin(letter: char) -> bool {
    matches!(letter, 'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{2b8}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}' | '\u{ff21}'..='\u{ff5a}')
}

/// Small Latin letters without accents, digits and single dashes, for an address; other scripts keep their letters and
/// the marks of these.
///
/// # Errors
/// When nothing is left.
pub(super) fn slug(text: &str, options: &Options<'_>) -> Result<String, ToolFailure> {
    let mut result = String::new();
    let mut keeps_marks = false;
    let mut kept = |letter: &char| {
        if is_combining_mark(*letter) {
            return keeps_marks;
        }
        keeps_marks = letter.is_alphabetic() && !is_latin(*letter);
        true
    };
    for letter in text.nfd().filter(|letter| kept(letter)).flat_map(char::to_lowercase) {
        match PLAIN.iter().find(|(special, _)| *special == letter) {
            Some((_, plain)) => result.push_str(plain),
            None if letter.is_alphanumeric() || is_combining_mark(letter) => result.push(letter),
            None if matches!(letter, '\'' | '’') => {}
            None if !result.is_empty() && !result.ends_with('-') => result.push('-'),
            None => {}
        }
    }
    let result: String = result.nfc().collect();
    let mut result = result.trim_end_matches('-');
    if let Some(most) = options.number("maxLength")
        && let Some((cut, _)) = result.grapheme_indices(true).nth(most)
    {
        // Cut between words where there is a place.
        let inside = !result[cut..].starts_with('-');
        result = &result[..cut];
        if let Some(dash) = result.rfind('-').filter(|_| inside) {
            result = &result[..dash];
        }
    }
    if result.is_empty() { Err(no_words()) } else { Ok(result.trim_end_matches('-').to_owned()) }
}

fn no_words() -> ToolFailure {
    refuse("the text has no letters or digits to make a name of: give some")
}
