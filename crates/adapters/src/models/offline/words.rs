//! Words: how text is cut into them, reduced to a stem, and compared with one slip of the finger allowed.

use std::borrow::Cow;

use smol_str::{SmolStr, SmolStrBuilder, StrExt};

/// A word of a text, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Lower case.
    pub(super) text: SmolStr,
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
}

/// A text and its words.
pub(super) struct TextWords<'t> {
    pub(super) text: &'t str,
    pub(super) words: Vec<Word>,
}

impl<'t> TextWords<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, words: words(text, 0) }
    }
}

/// Words shorter than this must be spelt right.
const MIN_TYPO_LETTERS: usize = 6;
/// A shorter prefix of letters, such as `MC` in `MC1234567`, is a word of its own before this many digits.
const MIN_GLUED_DIGITS: usize = 4;
const MAX_GLUED_LETTERS: usize = 5;
/// Letters that must stand before `ing` or `ed` for it to be an ending.
const MIN_HEAD_LETTERS: usize = 3;
/// Bytes that a word takes with the blank behind it, rather too few, so that a list of words seldom has to grow.
const BYTES_A_WORD: usize = 5;

/// The words of `text`: runs of letters and digits, and `#`. `camelCase` is two words; `base` is added to positions.
pub(super) fn words(text: &str, base: usize) -> Vec<Word> {
    let mut found = Vec::with_capacity(text.len() / BYTES_A_WORD + 1);
    let mut run: Option<usize> = None;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let is_inside = letter.is_alphanumeric();
        if let Some(start) = run
            && (!is_inside || (letter.is_uppercase() && before.is_lowercase()))
        {
            push(&mut found, text, start, at, base);
            run = None;
        }
        if is_inside {
            run.get_or_insert(at);
        } else if letter == '#' {
            found.push(Word { text: SmolStr::new_static("#"), start: base + at, end: base + at + 1 });
        }
        before = letter;
    }
    if let Some(start) = run {
        push(&mut found, text, start, text.len(), base);
    }
    found
}

fn push(found: &mut Vec<Word>, text: &str, start: usize, end: usize, base: usize) {
    let run = &text[start..end];
    let letters = run.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = &run.as_bytes()[letters..];
    let glued = (1..=MAX_GLUED_LETTERS).contains(&letters)
        && digits.len() >= MIN_GLUED_DIGITS
        && digits.iter().all(u8::is_ascii_digit);
    let mut add =
        |from: usize, to: usize| found.push(Word { text: lower(&text[from..to]), start: base + from, end: base + to });
    if glued {
        add(start, start + letters);
        add(start + letters, end);
    } else {
        add(start, end);
    }
}

/// A word in small letters. Most are plain ASCII, for which the tables of Unicode need not be asked.
fn lower(word: &str) -> SmolStr {
    if word.is_ascii() { word.to_ascii_lowercase_smolstr() } else { word.to_lowercase_smolstr() }
}

/// A word in which no letter stands more than twice in a row, as in `lossses`; digits stay.
fn twice(text: SmolStr) -> SmolStr {
    if !text.as_bytes().windows(3).any(|three| three[0] == three[1] && three[1] == three[2]) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let again = out.chars().rev().take(2).filter(|before| *before == letter).count() == 2;
        if !again || !letter.is_ascii_alphabetic() {
            out.push(letter);
        }
    }
    out.into()
}

/// A word of a text as it is written, but for accents and letters that were struck again and again.
pub(super) fn as_written(word: &str) -> SmolStr {
    twice(fold(word))
}

/// The text without the accents of Western Europe: people leave them out as they like.
pub(super) fn fold(text: &str) -> SmolStr {
    if text.is_ascii() {
        return text.into();
    }
    let mut folded = SmolStrBuilder::new();
    for letter in text.chars() {
        match letter {
            'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => folded.push('a'),
            'é' | 'è' | 'ê' | 'ë' => folded.push('e'),
            'í' | 'ì' | 'î' | 'ï' => folded.push('i'),
            'ó' | 'ò' | 'ô' | 'ö' | 'õ' => folded.push('o'),
            'ú' | 'ù' | 'û' | 'ü' => folded.push('u'),
            'ñ' => folded.push('n'),
            'ç' => folded.push('c'),
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ß' => folded.push_str("ss"),
            other => folded.push(other),
        }
    }
    folded.finish()
}

/// Words without those accents; of most texts they are as they were.
pub(super) fn folded(words: &[Word]) -> Cow<'_, [Word]> {
    if words.iter().all(|word| word.text.is_ascii()) {
        return Cow::Borrowed(words);
    }
    words.iter().map(|word| Word { text: fold(&word.text), start: word.start, end: word.end }).collect()
}

/// The word without the endings that English hangs on it. Only good for comparing.
pub(super) fn stem(word: &str) -> SmolStr {
    if word.len() <= 3 || !word.is_ascii() {
        return word.into();
    }
    match word.strip_suffix("ies") {
        Some(head) => SmolStr::from_iter([head, "y"]),
        None => without_endings(word).into(),
    }
}

/// The word without the endings that only take letters away.
fn without_endings(word: &str) -> &str {
    let doubled = ["sses", "xes", "zes", "ches", "shes"];
    let word = match word {
        _ if doubled.iter().any(|end| word.ends_with(end)) => &word[..word.len() - 2],
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            &word[..word.len() - 1]
        }
        _ => word,
    };
    for ending in ["ing", "ed"] {
        if let Some(head) = word.strip_suffix(ending).filter(|head| head.len() >= MIN_HEAD_LETTERS) {
            let last_two = &head.as_bytes()[head.len() - 2..];
            let twin = head.len() > 3 && last_two[0] == last_two[1] && !head.ends_with("ss") && !head.ends_with("ll");
            return &head[..head.len() - usize::from(twin)];
        }
    }
    if word.len() > 4 { word.strip_suffix('e').unwrap_or(word) } else { word }
}

/// Whether a stem is long enough to have one slip.
pub(super) fn is_long(stem: &str) -> bool {
    stem.len() >= MIN_TYPO_LETTERS - 1
}

/// Whether two stems are the same word: equal, or one letter apart when both are long.
pub(super) fn same(left: &str, right: &str) -> bool {
    left == right
        || (is_long(left)
            && is_long(right)
            && left.len().max(right.len()) >= MIN_TYPO_LETTERS
            && left.as_bytes()[0] == right.as_bytes()[0]
            && !left.bytes().chain(right.bytes()).any(|b| b.is_ascii_digit())
            && one_edit(left.as_bytes(), right.as_bytes()))
}

/// Whether one insertion, deletion, replacement or swap of neighbours leads from one to the other.
fn one_edit(left: &[u8], right: &[u8]) -> bool {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    if long.len() - short.len() > 1 {
        return false;
    }
    let same_head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[same_head..], &long[same_head..]);
    if short.len() < long.len() {
        return *short == long[1..];
    }
    match short.len() {
        0 => true,
        1 => true,
        _ => short[1..] == long[1..] || (short[0] == long[1] && short[1] == long[0] && short[2..] == long[2..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<SmolStr> {
        words(text, 0).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_know_camel_case_number_signs_and_glued_numbers() {
        assert_eq!(texts("companyName: X"), ["company", "name", "x"]);
        assert_eq!(texts("DOT# 12 MC1904417"), ["dot", "#", "12", "mc", "1904417"]);
        assert_eq!(texts("1FUJGLDR0NL914208"), ["1fujgldr0nl914208"]);
        assert_eq!(texts("Côte 年次点検!"), ["côte", "年次点検"]);
    }

    #[test]
    fn words_say_where_they_stand() {
        let found = words("ü Policy No.", 10);
        assert_eq!((found[1].start, found[1].end), (13, 19));
    }

    #[test]
    fn endings_are_dropped() {
        for (one, other) in
            [("policies", "policy"), ("runs", "run"), ("quoting", "quote"), ("shipped", "ship"), ("boxes", "box")]
        {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("loss"), stem("lose"));
    }

    #[test]
    fn long_words_forgive_one_slip() {
        assert!(same("request", "reqest"));
        assert!(same("request", "reqeust"));
        assert!(same("attach", "atach"));
        assert!(!same("load", "road"));
        assert!(!same("request", "requisite"));
    }
}
