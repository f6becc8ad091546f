//! What a message asks for without naming it: `could you pull these?`, `please request from both carriers`.
//!
//! What is fetched without a name is what the subject names. Whoever wants it from somebody else (`get them from …`, `ask
//! … for it`, `request from …`) has named it just before, too: `they will not quote without the reports. Can you get
//! them from the insurer?`

use kybern_core::list;

use super::acts::{SpeechAct, WordBorder};
use super::words::Word;

/// Words that point at what was named.
const POINTING: [&str; 11] = ["it", "them", "em", "these", "those", "this", "esto", "estos", "los", "ceux", "celui"];
/// Words behind such a word that name nothing.
const AFTER: &[&str] = list!(
    "for, from, to, up, over, please, pls, asap, by, today, tomorrow, and, when, ordered, requested, pulled, run, \
     done, back, soon"
);
/// Words between such a word and the order for it.
const MAX_POINTED: usize = 1;
/// Words that are ordered with what follows: `pull these`, `get them`.
const FETCHES: [&str; 23] = [
    "pull", "get", "need", "obtain", "order", "request", "send", "email", "mail", "provide", "issue", "run", "gather",
    "fetch", "round", "produce", "pidan", "pedir", "mandar", "enviar", "consiga", "obtenir", "envoyer",
];
/// Words that are ordered from somebody with nothing between, and the word that leads to whom: `request from both`.
const BARE: [(&str, &str); 9] = [
    ("request", "from"),
    ("order", "from"),
    ("get", "from"),
    ("obtain", "from"),
    ("pull", "from"),
    ("gather", "from"),
    ("pedir", "a"),
    ("solicitar", "a"),
    ("demander", "a"),
];
/// Words before them that make them a noun: `your request from Monday`.
const BEFORE_NOUNS: [&str; 10] = ["the", "a", "an", "your", "our", "my", "this", "that", "his", "their"];
/// Words behind which somebody's name stands who is to be asked for what is pointed at, and the words between.
const ASKS: [&str; 6] = ["ask", "contact", "call", "bug", "chase", "pida"];
const MAX_NAMED: usize = 7;

/// Words by which a sentence hands over what it names: that is here, and not wanted from anybody.
const HANDS: &[&str] =
    list!("attached, attaching, enclosed, enclosing, here, heres, find, sending, adjunto, adjuntos, anexo, joint");

/// What points at something named elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pointer {
    /// Whether the subject names it.
    pub(super) by_subject: bool,
    /// The words before that may name it, from and to, in order.
    pub(super) before: Vec<(usize, usize)>,
}

/// What a text asks for by pointing at it.
pub(super) fn pointed(text: &str, words: &[Word], acts: &[SpeechAct], borders: &[WordBorder]) -> Pointer {
    let mut found = Pointer::default();
    for at in (0..words.len()).filter(|at| acts[*at] == SpeechAct::Asked) {
        let is_pointing = POINTING.contains(&words[at].text.as_str());
        let fetched = is_pointing && is_fetched(words, at) && is_end(text, words, at);
        let elsewhere = is_pointing && (from_somebody(words, at) || asked_of_somebody(words, borders, at))
            || is_bare(words, borders, at);
        found.by_subject |= fetched || elsewhere;
        if elsewhere {
            let own = sentence_of(borders, at);
            let earlier = own.checked_sub(1).map_or(0, |last| sentence_of(borders, last));
            let hands_over = words[earlier..own].iter().any(|word| HANDS.contains(&word.text.as_str()));
            found.before.push((if hands_over { own } else { earlier }, at));
        }
    }
    found
}

/// Whether a word that points is fetched: `pull these`.
fn is_fetched(words: &[Word], at: usize) -> bool {
    let from = at.saturating_sub(MAX_POINTED + 1);
    words[from..at].iter().any(|word| FETCHES.contains(&word.text.as_str()))
}

/// Whether what follows a word that points names nothing.
fn is_end(text: &str, words: &[Word], at: usize) -> bool {
    words.get(at + 1).is_none_or(|next| {
        text[words[at].end..next.start].contains(['.', '?', '!', ',', '\n']) || AFTER.contains(&next.text.as_str())
    })
}

/// Whether it is to be fetched from somebody: `get them from the insurer`.
fn from_somebody(words: &[Word], at: usize) -> bool {
    is_fetched(words, at) && words.get(at + 1).is_some_and(|next| next.text == "from")
}

/// Whether somebody is to be asked for it: `ask the insurer for them`.
fn asked_of_somebody(words: &[Word], borders: &[WordBorder], at: usize) -> bool {
    let leads = at.checked_sub(1).is_some_and(|before| words[before].text == "for");
    let from = at.saturating_sub(MAX_NAMED + 2).max(sentence_of(borders, at));
    leads && words[from..at].iter().any(|word| ASKS.contains(&word.text.as_str()))
}

/// Whether nothing stands between an order and whom it is wanted from: `please request from both`.
fn is_bare(words: &[Word], borders: &[WordBorder], at: usize) -> bool {
    let is_noun = at
        .checked_sub(1)
        .is_some_and(|before| BEFORE_NOUNS.contains(&words[before].text.as_str()) && borders[at] == WordBorder::Open);
    let is_bare = words.get(at + 1).is_some_and(|next| BARE.contains(&(words[at].text.as_str(), next.text.as_str())));
    is_bare && !is_noun && borders.get(at + 1) == Some(&WordBorder::Open)
}

/// Where the sentence of a word begins.
fn sentence_of(borders: &[WordBorder], at: usize) -> usize {
    (1..=at).rev().find(|place| matches!(borders[*place], WordBorder::Sentence | WordBorder::Question)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::acts;
    use super::super::words::words;
    use super::*;

    fn of(text: &str) -> (bool, Vec<String>) {
        let found = words(text, 0);
        let borders = acts::borders(text, &found);
        let pointed = pointed(text, &found, &acts::acts(&found, &borders), &borders);
        let named = |(from, to): &(usize, usize)| {
            found[*from..*to].iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
        };
        (pointed.by_subject, pointed.before.iter().map(named).collect())
    }

    #[test]
    fn what_is_fetched_without_a_name_is_what_the_subject_names() {
        for text in [
            "Could your office pull these?",
            "need em by Friday",
            "Need these ordered today",
            "Please get it for me",
            "can you send it",
        ] {
            assert_eq!(of(text), (true, Vec::new()), "{text}");
        }
        for text in ["These are attached.", "Please pull these policies.", "We got them.", "your request from Monday"] {
            assert_eq!(of(text), (false, Vec::new()), "{text}");
        }
    }

    #[test]
    fn what_is_wanted_from_somebody_was_named_just_before() {
        for text in [
            "The market wants reports. Can you get em from Fern Hollow?",
            "The market wants reports. Please request from Fern Hollow and Oak Bend.",
            "The market wants reports. Could you ask Fern Hollow Casualty for them?",
        ] {
            let (by_subject, before) = of(text);
            assert!(by_subject && before[0].starts_with("the market wants reports"), "{text}: {before:?}");
        }
        assert!(of("We have the reports. Please send them to Fern Hollow.").1.is_empty());
        assert!(of("The reports came. Thank you for them.").1.is_empty());
        assert!(of("The market wants reports. Could you get a price?").1.is_empty());
    }
}
