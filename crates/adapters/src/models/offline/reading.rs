//! A message while its intent is looked for. What it asks for is wanted for the scores, for the doubts and for how sure the
//! answer is, and is found once.

use std::cell::OnceCell;

use kybern_core::model::{ClassifyInput, IntentSpec};

use super::analyse::clip;
use super::asked;
use super::message::{MAX_TEXT, hands_on};
use super::prepared::PreparedIntents;
use super::requests::SentenceRequests;
use super::words::{TextWords, Word, words};

/// A message with more words than this tells many things: what it only names says little about what it wants.
const MANY_WORDS: usize = 70;
/// A line with at least so many words is prose, and no line of a form or a list.
const FULL_LINE: usize = 8;
/// Words that point to what is handed on.
const BELOW: [&str; 6] = ["below", "forwarded", "abajo", "dessous", "reenviado", "unten"];

/// A message, and what is known by now of what it asks for.
pub(super) struct MessageReading<'r> {
    pub(super) input: &'r ClassifyInput,
    pub(super) intents: &'r PreparedIntents,
    tells_much: OnceCell<bool>,
    /// The subject and what is said now, in words.
    worded: OnceCell<[TextWords<'r>; 2]>,
    /// What the sentences of the newest words ask for, and of those together with what they hand on, or point to.
    newest: OnceCell<SentenceRequests<'r>>,
    beneath: OnceCell<Option<SentenceRequests<'r>>>,
    /// The intents that the newest words ask for where they tell much.
    asked: OnceCell<Vec<&'r IntentSpec>>,
    only_request: OnceCell<Option<&'r str>>,
}

impl<'r> MessageReading<'r> {
    pub(super) fn new(input: &'r ClassifyInput, intents: &'r PreparedIntents) -> Self {
        Self {
            input,
            intents,
            tells_much: OnceCell::new(),
            worded: OnceCell::new(),
            newest: OnceCell::new(),
            beneath: OnceCell::new(),
            asked: OnceCell::new(),
            only_request: OnceCell::new(),
        }
    }

    /// Whether the newest words are enough to tell of many things.
    pub(super) fn tells_much(&self) -> bool {
        *self.tells_much.get_or_init(|| tells_much(&self.input.text))
    }

    /// The key of the only intent for which the newest words ask.
    pub(super) fn only_request(&self) -> Option<&'r str> {
        let asked = || match self.asked_of_newest() {
            [one] => Some(one.key.as_str()),
            _ => None,
        };
        *self
            .only_request
            .get_or_init(|| if self.tells_much() { asked() } else { self.wishes_of_newest().only().or_else(asked) })
    }

    /// Whether the message only hands another one on, and asks for nothing itself.
    pub(super) fn only_hands_on(&self) -> bool {
        hands_on(self.input) && self.only_request().is_none()
    }

    /// What is said now: the newest words, or the message that they only hand on.
    pub(super) fn said(&self) -> &'r str {
        let text = if self.only_hands_on() { &self.input.forwarded } else { &self.input.text };
        clip(text, MAX_TEXT)
    }

    /// The subject and what is said now, in words.
    pub(super) fn worded(&self) -> &[TextWords<'r>; 2] {
        self.worded.get_or_init(|| [TextWords::of(&self.input.subject), TextWords::of(self.said())])
    }

    /// Whether what is said now is enough to tell of many things.
    pub(super) fn says_much(&self) -> bool {
        let is_newest = !self.only_hands_on() && self.input.text.len() <= MAX_TEXT;
        if is_newest { self.tells_much() } else { tells_much(self.said()) }
    }

    /// The intents that what is said now asks for.
    pub(super) fn asked(&self) -> Vec<&'r IntentSpec> {
        if self.only_hands_on() {
            return asked::intents(self.said(), self.intents);
        }
        self.asked_of_newest().to_vec()
    }

    /// What is asked for in the newest words, and in the message that they hand on, or point to.
    pub(super) fn wishes(&self) -> &SentenceRequests<'r> {
        let beneath = self.beneath.get_or_init(|| {
            let (text, forwarded) = (&self.input.text, &self.input.forwarded);
            let points = || words(text, 0).iter().any(|word| BELOW.contains(&word.text.as_str()));
            if forwarded.is_empty() || !(hands_on(self.input) || points()) {
                return None;
            }
            let both = format!("{}\n\n{}", clip(text, MAX_TEXT), clip(forwarded, MAX_TEXT));
            Some(SentenceRequests::of(&both, self.intents))
        });
        beneath.as_ref().unwrap_or_else(|| self.wishes_of_newest())
    }

    fn wishes_of_newest(&self) -> &SentenceRequests<'r> {
        self.newest.get_or_init(|| SentenceRequests::of(&self.input.text, self.intents))
    }

    fn asked_of_newest(&self) -> &[&'r IntentSpec] {
        self.asked.get_or_init(|| asked::intents(&self.input.text, self.intents))
    }
}

/// Whether a text is long enough to tell of many things, in sentences: the lines of a form or a list are short.
fn tells_much(text: &str) -> bool {
    let is_worded = |word: &Word| !word.text.bytes().any(|b| b.is_ascii_digit());
    let counts = text.lines().map(|line| words(line, 0).iter().filter(|word| is_worded(word)).count());
    counts.filter(|count| *count >= FULL_LINE).sum::<usize>() > MANY_WORDS
}
