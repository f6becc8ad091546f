//! Keywords: which of an intent's words a message has, and how much they weigh.
//!
//! A keyword is a phrase; between its words one other may stand but no comma or full stop, endings do not matter, and
//! a long word may have one slip. `phrase^2.5` gives a weight (1 without; below 0 it speaks against), `a & b` wants both, a keyword that begins
//! with neither letter nor digit is looked for letter by letter, `doc:CATEGORY` wants such a document, and `mail:KIND`
//! such a machine. `a|b` wants either, `=losses` wants the word as it is written, `ask:phrase` wants it asked for and
//! `give:phrase` handed over ([`super::acts`]), `a & !b` wants the one without the other. `phrase => reason` (after the weight) is a doubt: where the phrase is
//! there, a person is asked.
//! Accents do not matter, and words that are only named to be denied do not count.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::model::ClassifyInput;

use super::acts::{self, Act};
use super::analyse::clip;
use super::negation::{DENIED, denied};
use super::wishes::FOR;
use super::words::{fold, same, stem, words};

/// What is looked at of the message, and of the documents.
pub(super) const MAX_TEXT: usize = 32 * 1024;
const MAX_DOCUMENTS: usize = 8 * 1024;
/// What a word counts in the subject, in the message, and in a document.
const IN_SUBJECT: f64 = 1.25;
const IN_TEXT: f64 = 1.0;
const IN_DOCUMENTS: f64 = 0.3;
/// The same for the subject of an answer, which is of the first message; for a signature; for quoted text; and for
/// text that is handed on, by somebody who says much and by somebody who only says "see below".
const IN_OLD_SUBJECT: f64 = 0.6;
const IN_SIGNATURE: f64 = 0.3;
const IN_EARLIER: f64 = 0.2;
const IN_FORWARDED: f64 = 0.4;
/// Whoever hands a message on says no more than this many words about it.
const HANDS_ON: usize = 25;
/// Stands where a comma, a full stop or the like parts a text.
const BREAK: &str = "\n";
/// How keywords begin that want a phrase asked for, or handed over.
const ACTS: [(&str, Act); 2] = [("ask:", Act::Asked), ("give:", Act::Given)];
/// Begins a phrase that must not be there.
const ABSENT: char = '!';
/// Begins a word of a phrase that is wanted as it is written.
const EXACT: char = '=';
/// Bytes of phrases whose stems are kept, over all tenants.
const KEPT: usize = 16 * 1024 * 1024;
/// What a phrase and each of its stems take beside their letters, about.
const BESIDE: usize = 64;
/// Parts a keyword from the doubt that it raises.
const DOUBT: &str = " => ";
/// How each request token begins.
const TOKEN: &str = "[request:";
/// How the subject of an answer begins.
const ANSWERS: &[&str] = &["re:", "re :", "aw:", "antw:", "sv:", "ré:", "ré :", "rép:", "resp:"];
/// Other words that may stand between two of a phrase.
const MAX_GAP: usize = 1;

/// A part of a message.
#[derive(Debug, Default)]
struct Part {
    /// What a word counts here.
    factor: f64,
    stems: Vec<String>,
    /// The words as they are written, and what is done with each.
    exact: Vec<String>,
    acts: Vec<Act>,
}

/// A message, ready to be searched.
#[derive(Debug)]
pub(super) struct Message {
    parts: Vec<Part>,
    raw: String,
    kind: &'static str,
    documents: Vec<String>,
    known: HashMap<String, Vec<String>>,
    vocabulary: Vec<String>,
}

impl Message {
    /// Cuts a message into stems.
    pub(super) fn new(input: &ClassifyInput) -> Self {
        let subject = if is_answer(&input.subject) { IN_OLD_SUBJECT } else { IN_SUBJECT };
        let forwarded = if hands_on(input) { IN_TEXT } else { IN_FORWARDED };
        let parts = vec![
            Part::of(clip(&input.subject, MAX_TEXT), subject),
            Part::of(clip(&input.text, MAX_TEXT), IN_TEXT),
            Part::of(clip(&input.forwarded, MAX_TEXT), forwarded),
            Part::of(clip(&input.signature, MAX_DOCUMENTS), IN_SIGNATURE),
            Part::of(clip(&input.earlier, MAX_DOCUMENTS), IN_EARLIER),
            Part::of(clip(&input.document_text, MAX_DOCUMENTS), IN_DOCUMENTS),
        ];
        let raw = format!("{}\n{}", input.subject, clip(&input.text, MAX_TEXT)).to_lowercase();
        let raw = if input.answers_request { format!("{raw}\n{TOKEN}") } else { raw };
        let documents = input.document_categories.iter().map(|key| key.to_uppercase()).collect();
        Self { raw, kind: input.kind.name(), documents, ..Self::of_parts(parts) }
    }

    /// Words that are asked for, by themselves.
    pub(super) fn of_wish(text: &str) -> Self {
        let mut part = Part::of(text, IN_TEXT);
        part.acts.fill(Act::Asked);
        Self { raw: text.to_lowercase(), ..Self::of_parts(vec![part]) }
    }

    fn of_parts(parts: Vec<Part>) -> Self {
        let distinct: HashSet<&String> = parts.iter().flat_map(|part| &part.stems).collect();
        let mut vocabulary: Vec<String> = distinct.into_iter().cloned().collect();
        vocabulary.sort_unstable();
        Self { parts, raw: String::new(), kind: "", documents: Vec::new(), known: HashMap::new(), vocabulary }
    }

    /// Whether a phrase stands in what is said now, or in what is handed on.
    pub(super) fn says(&mut self, keyword: &str) -> bool {
        self.presence(split_weight(keyword).0) >= IN_OLD_SUBJECT
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
        if let Some(kind) = phrase.strip_prefix("mail:") {
            return f64::from(u8::from(self.kind == kind.trim()));
        }
        if phrase.starts_with(FOR) {
            return 0.0;
        }
        if phrase.contains(" & ") {
            return phrase.split(" & ").map(|part| self.presence(part)).fold(f64::INFINITY, f64::min);
        }
        if let Some(absent) = phrase.strip_prefix(ABSENT) {
            return f64::from(u8::from(self.presence(absent) <= 0.0));
        }
        if !phrase.starts_with(|c: char| c.is_alphanumeric() || c == EXACT) {
            return f64::from(u8::from(!phrase.is_empty() && self.raw.contains(&phrase.to_lowercase())));
        }
        let done = ACTS.iter().find_map(|(prefix, act)| Some((phrase.strip_prefix(prefix)?, *act)));
        let (phrases, act) = done.map_or((phrase, None), |(phrases, act)| (phrases, Some(act)));
        phrases.split('|').map(|phrase| self.presence_of(phrase.trim(), act)).fold(0.0, f64::max)
    }

    /// The most that a single phrase counts where it stands, or where that is done with it.
    fn presence_of(&mut self, phrase: &str, act: Option<Act>) -> f64 {
        if let Some(word) = phrase.strip_prefix(EXACT) {
            let word = fold(word);
            let there = |part: &&Part| {
                let mut of_word = part.exact.iter().zip(&part.acts).filter(|(other, _)| **other == word);
                of_word.any(|(_, done)| act.is_none_or(|act| done.is(act)))
            };
            return self.parts.iter().filter(there).map(|part| part.factor).fold(0.0, f64::max);
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
        let has = |part: &&Part| {
            let in_one = |word: &String| part.words_that(act).any(|(_, other)| other == word);
            self.has_phrase(part, &stems, act) || glued.as_ref().is_some_and(in_one)
        };
        self.parts.iter().filter(has).map(|part| part.factor).fold(0.0, f64::max)
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

    fn has_phrase(&self, part: &Part, stems: &[String], act: Option<Act>) -> bool {
        let Some((first, rest)) = stems.split_first() else { return false };
        if stems.iter().any(|stem| self.known.get(stem).is_none_or(Vec::is_empty)) {
            return false;
        }
        let text = &part.stems;
        part.words_that(act).filter(|(_, word)| self.is(word, first)).any(|(start, _)| {
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
    let stems: Arc<[String]> = words(phrase, 0).iter().map(|word| stem(&fold(&word.text))).collect();
    let bytes = phrase.len() + BESIDE + stems.iter().map(|stem| stem.len() + BESIDE).sum::<usize>();
    known.keep(phrase.to_owned(), Arc::clone(&stems), bytes);
    stems
}

impl Part {
    /// The words of a text, parted where it is; what is denied is no word.
    fn of(text: &str, factor: f64) -> Self {
        let found = words(text, 0);
        let plain: Vec<String> = found.iter().map(|word| fold(&word.text)).collect();
        let mut end = 0;
        let parts: Vec<bool> = found
            .iter()
            .map(|word| {
                let parted = text[end..word.start].contains([',', '.', ';', '!', '?']);
                end = word.end;
                parted
            })
            .collect();
        let denied = denied(&plain, &parts);
        let acts = acts::acts(&found, &acts::borders(text, &found));
        let mut part = Self { factor, ..Self::default() };
        for (((word, parted), denied), act) in plain.into_iter().zip(parts).zip(denied).zip(acts) {
            if parted {
                part.push(BREAK.to_owned(), String::new(), Act::Named);
            }
            match denied {
                true => part.push(DENIED.to_owned(), String::new(), Act::Named),
                false => part.push(stem(&word), word, act),
            }
        }
        part
    }

    fn push(&mut self, stem: String, exact: String, act: Act) {
        self.stems.push(stem);
        self.exact.push(exact);
        self.acts.push(act);
    }

    /// The stems with which that is done, and where they stand.
    fn words_that(&self, act: Option<Act>) -> impl Iterator<Item = (usize, &String)> {
        let done = self.stems.iter().zip(&self.acts).enumerate();
        done.filter(move |(_, (_, done))| act.is_none_or(|act| done.is(act))).map(|(at, (stem, _))| (at, stem))
    }
}

/// Whether a subject is that of an earlier message.
pub(super) fn is_answer(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    ANSWERS.iter().any(|prefix| subject.starts_with(prefix))
}

/// Whether a message only hands another one on.
pub(super) fn hands_on(input: &ClassifyInput) -> bool {
    !input.forwarded.is_empty() && input.text.split_whitespace().take(HANDS_ON + 1).count() <= HANDS_ON
}

/// A keyword's phrase and weight.
pub(super) fn split_weight(keyword: &str) -> (&str, f64) {
    let keyword = keyword.split_once(DOUBT).map_or(keyword, |(keyword, _)| keyword.trim_end());
    let parsed =
        keyword.rsplit_once('^').and_then(|(phrase, weight)| Some((phrase, weight.trim().parse::<f64>().ok()?)));
    parsed.filter(|(_, weight)| weight.is_finite()).unwrap_or((keyword, 1.0))
}

/// The doubt that a keyword raises.
pub(super) fn doubt_of(keyword: &str) -> Option<&str> {
    keyword.split_once(DOUBT).map(|(_, reason)| reason.trim())
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
            ..ClassifyInput::default()
        };
        Message::new(&input).weigh(keyword)
    }

    #[test]
    fn words_count_by_where_they_stand() {
        let weigh = |input: ClassifyInput, keyword: &str| Message::new(&input).weigh(keyword);
        let quoted = ClassifyInput { text: "thanks".into(), earlier: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(quoted, "loss run") < 0.3);
        let brief =
            ClassifyInput { text: "see below".into(), forwarded: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(brief, "loss run") > 0.9);
        let long =
            ClassifyInput { text: "word ".repeat(40), forwarded: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(long, "loss run") < 0.5);
        let answer = ClassifyInput { subject: "Re: loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(answer, "loss run") < 0.7);
        let denied = ClassifyInput { text: "we do not want a quote".into(), ..ClassifyInput::default() };
        assert!(weigh(denied, "quote") < 0.1);
        let plain = ClassifyInput { text: "una cotizacion, un relevé".into(), ..ClassifyInput::default() };
        assert!(weigh(plain.clone(), "cotización") > 0.9 && weigh(plain, "releve") > 0.9);
    }

    #[test]
    fn keywords_say_what_is_done_what_either_is_and_what_must_be_absent() {
        let text = "Please order the losses, dec pages attached. No injuries. A date of loss.";
        let input = ClassifyInput { text: text.into(), ..ClassifyInput::default() };
        let says = |keyword: &str| Message::new(&input).weigh(keyword) > 0.9;
        for keyword in ["ask:=losses", "give:dec page", "certificate|dec page", "injury & !no fault", "=loss"] {
            assert!(says(keyword), "{keyword}");
        }
        for keyword in ["give:=losses", "ask:dec page", "certificate|proof", "injury & !no injury", "=losse", "for:a.b"]
        {
            assert!(!says(keyword), "{keyword}");
        }
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
