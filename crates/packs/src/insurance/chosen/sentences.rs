//! The sentences of a message as words that can be compared, without the rows of tables.

use crate::company;

/// Bytes of a message that are looked at, and its sentences.
const MAX_TEXT: usize = 16 * 1024;
const MAX_SENTENCES: usize = 200;
/// Bytes of a sentence that are shown to a person.
const MAX_SHOWN: usize = 120;
/// A line that is shorter than this goes on in the next one only where that begins small.
const FULL_LINE: usize = 48;

/// What stands before a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WordBorder {
    Open,
    /// A comma or a stroke.
    Comma,
    /// A colon, a bracket or a dash, or the beginning of the sentence.
    Clause,
}

/// A word in the form in which it is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SentenceWord {
    pub(super) text: String,
    /// The same in the number in which it is written.
    pub(super) written: String,
    /// Whether it is written in capitals: `AL`, which in small letters is a word of Spanish.
    pub(super) capitals: bool,
    /// Whether it begins with a capital.
    pub(super) capital: bool,
    pub(super) before: WordBorder,
    /// Whether nothing but a dash or a stroke stands before it, without a blank.
    pub(super) joined: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sentence {
    pub(super) words: Vec<SentenceWord>,
    /// As it is written, in one line.
    pub(super) shown: String,
}

impl Sentence {
    /// The words of a text.
    pub(super) fn of(text: &str) -> Self {
        let plain = unelided(text).replace(['\'', '\u{2019}'], "").replace(['&', '+'], " and ");
        let mut words = Vec::new();
        let mut between = String::from(":");
        let mut word = String::new();
        for c in plain.chars().chain([' ']) {
            if c.is_alphanumeric() {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                let written = company::normal_name(&word);
                let capitals = !word.chars().any(char::is_lowercase);
                let capital = word.starts_with(char::is_uppercase);
                let joined = matches!(between.as_str(), "-" | "/");
                words.push(SentenceWord {
                    text: singular(&written),
                    written,
                    capitals,
                    capital,
                    before: border(&between),
                    joined,
                });
                word.clear();
                between.clear();
            }
            between.push(c);
        }
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = match shown.char_indices().nth(MAX_SHOWN) {
            Some((at, _)) => format!("{}\u{2026}", &shown[..at]),
            None => shown,
        };
        Self { words, shown }
    }

    /// Whether these words stand there.
    pub(super) fn has(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut end = at;
        for part in phrase.split(' ') {
            let goes_on = |word: &&SentenceWord| end == at || word.before != WordBorder::Clause;
            self.words.get(end).filter(goes_on).filter(|word| word.is(part))?;
            end += 1;
        }
        Some(end)
    }

    /// The longest of these phrases that begins there, as the place behind it.
    pub(super) fn any(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.has(at, phrase)).max()
    }

    /// Whether any of these phrases stands in it.
    pub(super) fn has_turn(&self, phrases: &[&str]) -> bool {
        (0..self.words.len()).any(|at| self.any(at, phrases).is_some())
    }

    /// Whether the word there is one of these.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        self.words.get(at).is_some_and(|word| words.iter().any(|other| word.is(other)))
    }

    /// Whether any of its words is one of these.
    pub(super) fn has_any(&self, words: &[&str]) -> bool {
        (0..self.words.len()).any(|at| self.is(at, words))
    }
}

/// A text whose French articles stand apart: `l umbrella`.
fn unelided(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = [' ', ' '];
    for c in text.chars() {
        let article = matches!(before[1], 'l' | 'L' | 'd' | 'D') && !before[0].is_alphanumeric();
        out.push(if matches!(c, '\'' | '\u{2019}') && article { ' ' } else { c });
        before = [before[1], c];
    }
    out
}

impl SentenceWord {
    fn is(&self, word: &str) -> bool {
        self.text == word || self.written == word
    }
}

/// A word as it is compared: small, without accents, a long one in the singular.
pub(super) fn compared(word: &str) -> String {
    singular(&company::normal_name(word))
}

fn singular(word: &str) -> String {
    let one = word.strip_suffix('s').filter(|one| one.len() > 3 && !one.ends_with('s'));
    one.filter(|one| one.bytes().all(|b| b.is_ascii_alphabetic())).unwrap_or(word).to_owned()
}

fn border(between: &str) -> WordBorder {
    if between.contains([':', '(', ')', '\u{2014}', '\u{2013}', '|'])
        || between.contains(" - ")
        || between.contains("--")
    {
        WordBorder::Clause
    } else if between.contains([',', '/']) {
        WordBorder::Comma
    } else {
        WordBorder::Open
    }
}

pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found: Vec<String> = vec![String::new()];
    let mut last = "";
    for line in text[..text.floor_char_boundary(MAX_TEXT)].lines() {
        let goes_on = last.len() >= FULL_LINE || line.trim_start().starts_with(char::is_lowercase);
        let item = line.trim_start().starts_with(['-', '*', '\u{2022}', '\u{b7}']);
        if line.trim().is_empty() || is_row(line) || item || !goes_on {
            found.push(String::new());
        }
        last = line.trim();
        if last.is_empty() || is_row(line) {
            continue;
        }
        let mut rest = last;
        while let Some(at) = rest.find(['.', '!', '?', ';']) {
            let after = &rest[at + 1..];
            add(&mut found, &rest[..at]);
            if after.is_empty() || after.starts_with([' ', ')', '"']) {
                found.push(String::new());
            } else {
                add(&mut found, &rest[at..=at]);
            }
            rest = after;
        }
        add(&mut found, rest);
        add(&mut found, " ");
    }
    let told = found.iter().filter(|sentence| !sentence.trim().is_empty());
    told.take(MAX_SENTENCES).map(|sentence| Sentence::of(sentence)).collect()
}

fn add(found: &mut [String], text: &str) {
    if let Some(last) = found.last_mut() {
        last.push_str(text);
    }
}

/// Whether a line is a row of a table and no words of its writer.
pub(super) fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.matches(['|', '\t']).count() + line.matches("   ").count() >= 2
}
