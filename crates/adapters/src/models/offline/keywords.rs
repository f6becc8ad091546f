//! Keywords: which of an intent's words a message has, and how much they weigh.
//!
//! A keyword is a phrase; between its words one other may stand but no comma or full stop, endings do not matter, and
//! a long word may have one slip. `phrase^2.5` gives a weight (1 without; below 0 it speaks against), `a & b` wants both, a keyword that begins
//! with neither letter nor digit is looked for letter by letter, and `doc:CATEGORY` wants such a document.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::model::ClassifyInput;

use super::analyse::clip;
use super::words::{same, stem, words};

/// What is looked at of the message, and of the documents.
pub(super) const MAX_TEXT: usize = 32 * 1024;
const MAX_DOCUMENTS: usize = 8 * 1024;
/// What a word counts in the subject, in the message, and in a document.
const IN_SUBJECT: f64 = 1.25;
const IN_TEXT: f64 = 1.0;
const IN_DOCUMENTS: f64 = 0.3;
/// Stands where a comma, a full stop or the like parts a text.
const BREAK: &str = "\n";
/// Bytes of phrases whose stems are kept, over all tenants.
const KEPT: usize = 16 * 1024 * 1024;
/// What a phrase and each of its stems take beside their letters, about.
const BESIDE: usize = 64;
/// Other words that may stand between two of a phrase.
const MAX_GAP: usize = 1;

/// A message, ready to be searched.
#[derive(Debug)]
pub(super) struct Message {
    parts: Vec<(Vec<String>, f64)>,
    raw: String,
    documents: Vec<String>,
    known: HashMap<String, Vec<String>>,
    vocabulary: Vec<String>,
}

impl Message {
    /// Cuts a message into stems.
    pub(super) fn new(input: &ClassifyInput) -> Self {
        let parts = vec![
            (stems(clip(&input.subject, MAX_TEXT)), IN_SUBJECT),
            (stems(clip(&input.text, MAX_TEXT)), IN_TEXT),
            (stems(clip(&input.document_text, MAX_DOCUMENTS)), IN_DOCUMENTS),
        ];
        let distinct: HashSet<&String> = parts.iter().flat_map(|(stems, _)| stems).collect();
        let mut vocabulary: Vec<String> = distinct.into_iter().cloned().collect();
        vocabulary.sort_unstable();
        let raw = format!("{}\n{}", input.subject, clip(&input.text, MAX_TEXT)).to_lowercase();
        let documents = input.document_categories.iter().map(|key| key.to_uppercase()).collect();
        Self { parts, raw, documents, known: HashMap::new(), vocabulary }
    }

    /// What a keyword weighs here; 0 when it is not there.
    pub(super) fn weigh(&mut self, keyword: &str) -> f64 {
        let (phrase, weight) = split_weight(keyword);
        if weight < 0.0 {
            weight * f64::from(u8::from(self.presence(phrase) >= IN_TEXT))
        } else {
            weight * self.presence(phrase)
        }
    }

    fn presence(&mut self, phrase: &str) -> f64 {
        let phrase = phrase.trim();
        if let Some(category) = phrase.strip_prefix("doc:") {
            return f64::from(u8::from(self.documents.iter().any(|other| other.eq_ignore_ascii_case(category.trim()))));
        }
        if phrase.contains(" & ") {
            return phrase.split(" & ").map(|part| self.presence(part)).fold(f64::INFINITY, f64::min);
        }
        if !phrase.starts_with(char::is_alphanumeric) {
            return f64::from(u8::from(!phrase.is_empty() && self.raw.contains(&phrase.to_lowercase())));
        }
        let stems = stems_of(phrase);
        for stem in stems.iter() {
            self.learn(stem);
        }
        let glued = (stems.len() == 2).then(|| stems.concat());
        let glued = glued.filter(|word| self.vocabulary.binary_search(word).is_ok());
        if glued.is_none() && stems.iter().any(|stem| self.known.get(stem).is_none_or(Vec::is_empty)) {
            return 0.0;
        }
        let has = |text: &Vec<String>| {
            self.has_phrase(text, &stems) || glued.as_ref().is_some_and(|word| text.contains(word))
        };
        let found = self.parts.iter().filter(|(text, _)| has(text));
        found.map(|(_, factor)| *factor).fold(0.0, f64::max)
    }

    /// Remembers which words of the message are a keyword's word.
    fn learn(&mut self, stem: &str) {
        if !self.known.contains_key(stem) {
            // Words that are alike begin alike, and the vocabulary is in order.
            let first = |word: &str| word.bytes().next();
            let from = self.vocabulary.partition_point(|word| first(word) < first(stem));
            let begins_alike = self.vocabulary.iter().skip(from).take_while(|word| first(word) == first(stem));
            let alike = begins_alike.filter(|word| same(word, stem)).cloned().collect();
            self.known.insert(stem.to_owned(), alike);
        }
    }

    fn is(&self, word: &str, stem: &str) -> bool {
        self.known.get(stem).is_some_and(|alike| alike.iter().any(|other| other == word))
    }

    fn has_phrase(&self, text: &[String], stems: &[String]) -> bool {
        let Some((first, rest)) = stems.split_first() else { return false };
        if stems.iter().any(|stem| self.known.get(stem).is_none_or(Vec::is_empty)) {
            return false;
        }
        text.iter().enumerate().filter(|(_, word)| self.is(word, first)).any(|(start, _)| {
            let mut at = start;
            rest.iter().all(|stem| {
                let window =
                    text.iter().enumerate().skip(at + 1).take(MAX_GAP + 1).take_while(|(_, word)| *word != BREAK);
                let next = window.filter(|(_, word)| self.is(word, stem)).map(|(place, _)| place).next();
                at = next.unwrap_or(at);
                next.is_some()
            })
        })
    }
}

/// The stems of a keyword's phrase. Keywords come again with every message.
fn stems_of(phrase: &str) -> Arc<[String]> {
    static KNOWN: LazyLock<Mutex<ByteCache<String, Arc<[String]>>>> =
        LazyLock::new(|| Mutex::new(ByteCache::new(KEPT)));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stems) = known.get(phrase) {
        return stems;
    }
    let stems: Arc<[String]> = words(phrase, 0).iter().map(|word| stem(&word.text)).collect();
    let bytes = phrase.len() + BESIDE + stems.iter().map(|stem| stem.len() + BESIDE).sum::<usize>();
    known.keep(phrase.to_owned(), Arc::clone(&stems), bytes);
    stems
}

/// The stems of a text, parted where it is.
fn stems(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut end = 0;
    for word in words(text, 0) {
        if text[end..word.start].contains([',', '.', ';', '!', '?']) {
            found.push(BREAK.to_owned());
        }
        end = word.end;
        found.push(stem(&word.text));
    }
    found
}

/// A keyword's phrase and weight.
pub(super) fn split_weight(keyword: &str) -> (&str, f64) {
    let parsed =
        keyword.rsplit_once('^').and_then(|(phrase, weight)| Some((phrase, weight.trim().parse::<f64>().ok()?)));
    parsed.filter(|(_, weight)| weight.is_finite()).unwrap_or((keyword, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(keyword: &str) -> f64 {
        let input = ClassifyInput {
            subject: "RE: [Request:77]".to_owned(),
            text: "pls get lossruns, reqest the policies' copies".to_owned(),
            document_categories: vec!["DEC_PAGE".to_owned()],
            document_text: "premium".to_owned(),
        };
        Message::new(&input).weigh(keyword)
    }

    #[test]
    fn keywords_forgive_and_weigh() {
        assert!(weigh("loss run") > 0.9);
        assert!(weigh("request policy copy^2") > 1.9);
        assert!(weigh("[request:^3") > 2.9);
        assert!(weigh("doc:dec_page") > 0.9);
        assert!(weigh("doc:COI") < 0.1);
        assert!(weigh("loss run & copy^-2") < -1.9);
        assert!((0.1..0.5).contains(&weigh("premium")));
        assert!(weigh("certificate") < 0.1);
        assert!(weigh("loss run reqest") < 0.1);
    }
}
