//! Several requests in one message: sentences that each ask, or their parts, and each for something else.

use kybern_core::list;
use kybern_core::model::IntentSpec;

use super::acts::{self, SpeechAct};
use super::analyse::clip;
use super::conditions;
use super::keywords::ASKED;
use super::message::Message;
use super::prepared::PreparedIntents;
use super::search::Search;
use super::words::{Word, words};

/// What is looked at of a message, and its sentences.
const MAX_TEXT: usize = 8 * 1024;
const MAX_SENTENCES: usize = 40;
/// What must speak for an intent in one sentence, and by how much more than for any other.
const LEAST_SCORE: f64 = 1.9;
const LEAST_LEAD: f64 = 0.9;
/// What is enough where one of the intent's keywords wants to be asked for, and is.
const LEAST_ASKED: f64 = 1.5;
/// How a keyword begins that names an intent for whose sake this one is requested: of the two, it is no request of its own.
pub(super) const FOR: &str = "for:";

/// Letters of a request that are shown to a person.
const MAX_SHOWN: usize = 80;

/// What one sentence asks for.
#[derive(Debug)]
pub(super) struct Request<'i> {
    pub(super) intent: &'i IntentSpec,
    /// The words that ask.
    asked: String,
}

impl Request<'_> {
    /// The beginning of the words that ask, for a person to read.
    pub(super) fn said(&self) -> &str {
        clip(self.asked.trim(), MAX_SHOWN)
    }
}

/// What each sentence of a text asks for.
#[derive(Debug)]
pub(super) struct SentenceRequests<'i>(Vec<(RequestSentence, Vec<(&'i IntentSpec, String)>)>);

impl<'i> SentenceRequests<'i> {
    /// What a text asks for.
    pub(super) fn of(text: &str, intents: &'i PreparedIntents) -> Self {
        let sentences = asking(clip(text, MAX_TEXT));
        let nothing = RequestSentence::default();
        let befores = std::iter::once(&nothing).chain(&sentences);
        let asked: Vec<_> =
            sentences.iter().zip(befores).map(|(sentence, before)| sentence.requests(before, intents)).collect();
        Self(sentences.into_iter().zip(asked).collect())
    }

    /// What is asked for in sentences of their own, or in parts of one that `and` joins, each intent once, in their order;
    /// fewer than two are none.
    pub(super) fn several(&self) -> Vec<Request<'i>> {
        let mut found = self.all();
        let keys: Vec<&String> = found.iter().map(|request| &request.intent.key).collect();
        let of_another = |request: &Request<'_>| {
            let mut sakes = request.intent.keywords.iter().filter_map(|keyword| keyword.strip_prefix(FOR));
            sakes.any(|key| keys.iter().any(|other| *other == key))
        };
        let own: Vec<bool> = found.iter().map(|request| !of_another(request)).collect();
        let mut own = own.into_iter();
        found.retain(|_| own.next().unwrap_or(true));
        if found.len() < 2 { Vec::new() } else { found }
    }

    /// The key of the intent that everything has which the text asks for.
    pub(super) fn only(&self) -> Option<&'i str> {
        match self.all().as_slice() {
            [one] => Some(&one.intent.key),
            _ => None,
        }
    }

    /// The condition on which the text asks for an intent, as it is written.
    pub(super) fn condition(&self, key: &str) -> Option<String> {
        let mut asking = self.0.iter().filter(|(_, requests)| requests.iter().any(|(intent, _)| intent.key == key));
        asking.find_map(|(sentence, _)| conditions::of_sentence(&sentence.text))
    }

    /// What is asked for, each intent once, in their order.
    fn all(&self) -> Vec<Request<'i>> {
        let mut found: Vec<Request<'i>> = Vec::new();
        for (intent, asked) in self.0.iter().flat_map(|(_, requests)| requests) {
            if !found.iter().any(|other| other.intent.key == intent.key) {
                found.push(Request { intent, asked: asked.clone() });
            }
        }
        found
    }
}

/// A sentence, or an item of a list, and what it asks for.
#[derive(Debug, Default)]
struct RequestSentence {
    text: String,
    is_item: bool,
    /// The words that are asked for, in the parts that `and` joins.
    asked: Vec<String>,
    /// Whether it hands anything over.
    gives: bool,
}

impl RequestSentence {
    fn new(text: String, is_item: bool) -> Self {
        let words = words(&text, 0);
        let acts = acts::acts(&words, &acts::borders(&text, &words));
        let mut asked: Vec<String> = vec![String::new()];
        for (word, _) in words.iter().zip(&acts).filter(|(_, act)| **act == SpeechAct::Asked) {
            if AND.contains(&word.text.as_str()) {
                asked.push(String::new());
            } else if let Some(part) = asked.last_mut() {
                part.push_str(&text[word.start..word.end]);
                part.push(' ');
            }
        }
        asked.retain(|part| !part.is_empty());
        let gives = acts.contains(&SpeechAct::Given);
        Self { text, is_item, asked, gives }
    }

    /// Whether it only adds to the one before: `And the certificate for Oak Bend, as last year.`
    fn goes_on(&self) -> bool {
        let words = words(&self.text, 0);
        let is = |word: &Word, any: &[&str]| any.contains(&word.text.as_str());
        words.first().is_some_and(|first| is(first, AND)) && !self.gives && !words.iter().any(|word| is(word, TELLS))
    }

    /// The intents for which its words surely ask, with those words.
    fn requests<'i>(&self, before: &Self, intents: &'i PreparedIntents) -> Vec<(&'i IntentSpec, String)> {
        let sure = |asked: &String| only_one(asked, intents).map(|intent| (intent, asked.clone()));
        let whole = self.asked.join(" ");
        let parts: Vec<_> = self.asked.iter().filter_map(sure).collect();
        if !parts.is_empty() || whole.is_empty() {
            return parts;
        }
        // The only part is the whole.
        let of_whole = || Some(&whole).filter(|_| self.asked.len() > 1).and_then(sure);
        let points = || {
            let whole = whole.to_lowercase();
            POINTS.iter().any(|turn| whole.contains(turn))
        };
        let told = || {
            let tells = before.asked.is_empty() && !before.gives && points();
            Some(&before.text).filter(|_| tells).and_then(sure)
        };
        let found = of_whole().or_else(|| Some((of_sentence(&self.text, intents)?, whole.clone()))).or_else(told);
        found.into_iter().collect()
    }
}

/// The sentences of a text, the first [`MAX_SENTENCES`], with what they ask for where what stands before them does: the
/// items of a list for which something is asked, and sentences that go on.
fn asking(text: &str) -> Vec<RequestSentence> {
    let all =
        sentences(text).into_iter().take(MAX_SENTENCES).map(|(text, is_item)| RequestSentence::new(text, is_item));
    let mut all: Vec<RequestSentence> = all.collect();
    let mut at = 0;
    while at < all.len() {
        let end = (at..all.len()).find(|end| !all[*end].is_item).unwrap_or(all.len());
        if end > at {
            // What stands before a list asks for its items, and so does one of them for the others.
            let lead = at.checked_sub(1).map(|before| &all[before]);
            let leads = lead.is_some_and(|lead| !lead.asked.is_empty() || lead.text.trim_end().ends_with(':'));
            if leads || all[at..end].iter().any(|item| !item.asked.is_empty()) {
                all[at..end].iter_mut().for_each(|item| item.asked = vec![item.text.clone()]);
            }
        } else if at > 0 && all[at].asked.is_empty() && !all[at - 1].asked.is_empty() && all[at].goes_on() {
            all[at].asked = vec![all[at].text.clone()];
        }
        at = end.max(at + 1);
    }
    all
}

/// Words that join what is asked for.
const AND: &[&str] = &["and", "also", "plus", "y", "tambien", "también", "et", "aussi", "und"];
/// Words of a sentence that tells something and adds to no request.
const TELLS: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "has", "have", "had", "will", "would", "came", "got", "did", "does",
    "do", "es", "son", "está", "fue", "est", "sont", "a", "ont",
];
/// Turns that ask for what the sentence before tells of.
const POINTS: &[&str] = list!(
    "look into, check into, check on this, take care of, sort out, sort this, sort it, straighten, fix, handle this, \
     handle it, advise, what do we do, what do i do, what should, revisar esto, revisarlo, vérifier cela"
);

/// The intent for which these words surely ask.
fn only_one<'i>(asked: &str, intents: &'i PreparedIntents) -> Option<&'i IntentSpec> {
    surely(&Message::of_wish(asked), intents, false)
}

/// The intent for which a sentence surely speaks with all its words, where one of them asks for it.
fn of_sentence<'i>(sentence: &str, intents: &'i PreparedIntents) -> Option<&'i IntentSpec> {
    surely(&Message::of_sentence(sentence), intents, true)
}

/// The intent for which a message surely speaks; with `asked`, one of which something must be asked for.
fn surely<'i>(message: &Message, intents: &'i PreparedIntents, asked: bool) -> Option<&'i IntentSpec> {
    let scores = ranked(message, intents);
    let second = scores.get(1).map_or(0.0, |second| second.0.max(0.0));
    let (score, asks, intent) = scores.first()?;
    let least = if *asks && !asked { LEAST_ASKED } else { LEAST_SCORE };
    ((*asks || !asked) && *score >= least && score - second >= LEAST_LEAD).then_some(intent)
}

/// What speaks for each intent, and whether any of it is something that can be asked for; the most first.
pub(super) fn ranked<'i>(message: &Message, intents: &'i PreparedIntents) -> Vec<(f64, bool, &'i IntentSpec)> {
    let search = Search::new(message, &intents.keywords.stems);
    let possible = intents.keywords.possible(&search);
    let mut scores: Vec<(f64, bool, &IntentSpec)> = possible
        .iter()
        .zip(intents.specs.iter())
        .map(|(keywords, intent)| {
            let (mut score, mut asks) = (0.0, false);
            for keyword in keywords {
                let weight = search.weigh(keyword);
                score += weight;
                asks |= weight > 0.0 && keyword.phrase.starts_with(ASKED);
            }
            (score, asks, intent)
        })
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.key.cmp(&b.2.key)));
    scores
}

/// Sentences, and the items of lists.
pub(super) fn sentences(text: &str) -> Vec<(String, bool)> {
    let mut found = vec![(String::new(), false)];
    let mut last_blank = false;
    for line in text.lines() {
        let line = line.trim();
        let marked = |line: &str| line.starts_with(['-', '*', '\u{2022}', '\u{b7}']);
        // A row of dashes parts things, and begins no item.
        let item = marked(line) && !line.chars().nth(1).is_some_and(|c| "-*_=".contains(c))
            || line
                .split_once(['.', ')'])
                .is_some_and(|(n, _)| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()));
        if item || line.is_empty() || last_blank {
            found.push((String::new(), item));
        }
        last_blank = line.is_empty();
        let mut rest = line;
        while let Some(at) = rest.find(['.', '!', '?', ';']) {
            let end = at + 1;
            // A full stop inside a number or a name ends nothing.
            let ends = rest[end..].is_empty() || rest[end..].starts_with(' ');
            add(&mut found, &rest[..end]);
            if ends && !(item && rest.len() == line.len() && at <= 2) {
                found.push((String::new(), item));
            }
            rest = &rest[end..];
        }
        add(&mut found, rest);
        add(&mut found, " ");
    }
    found.retain(|(sentence, _)| !sentence.trim().is_empty());
    found
}

fn add(found: &mut [(String, bool)], text: &str) {
    if let Some((last, _)) = found.last_mut() {
        last.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn intent(key: &str, keywords: &[&str]) -> IntentSpec {
        let keywords = keywords.iter().map(|word| (*word).to_owned()).collect();
        IntentSpec { key: key.to_owned(), description: String::new(), keywords, examples: Vec::new() }
    }

    #[test]
    fn wishes_in_sentences_of_their_own_are_several() {
        let known = |intents: [IntentSpec; 2]| PreparedIntents::new(&Arc::from(intents));
        let intents = known([intent("a", &["loss run^2"]), intent("b", &["certificate^2"])]);
        let keys = |text: &str| {
            SentenceRequests::of(text, &intents)
                .several()
                .iter()
                .map(|request| request.intent.key.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(keys("Please order loss runs. Also, can you send a certificate?"), ["a", "b"]);
        assert_eq!(keys("Two things:\n1. loss runs please\n2. certificate please\n"), ["a", "b"]);
        assert!(keys("Please order loss runs. The certificate was fine.").is_empty());
        assert_eq!(keys("Please order the loss runs and the certificate."), ["a", "b"]);
        assert_eq!(keys("We need loss runs for Oak Bend, and please send a certificate to Acme."), ["a", "b"]);
        assert_eq!(keys("Hello,\n\n- loss runs from both\n- send the certificate"), ["a", "b"]);
        assert_eq!(keys("Please order loss runs. And the certificate for Acme, as last year."), ["a", "b"]);
        assert!(keys("Please order loss runs. And the certificate was fine.").is_empty());
        assert!(keys("Please order loss runs and claims lists from both and send them.").is_empty());
        assert!(keys("Hello,\n\n- loss runs from both\n- the certificate").is_empty(), "nothing asks");
        assert!(keys("Please order loss runs. We need no certificate.").is_empty());
        assert!(keys("Please order loss runs. Please order them today.").is_empty());
        assert_eq!(keys("A few things:\n- certificate for Acme\n- loss runs from both"), ["b", "a"]);
        assert!(keys("Please order loss runs so that a certificate can be made.").is_empty());
        let purpose = known([intent("a", &["loss run^2"]), intent("b", &["quote^2", "for:a"])]);
        let said =
            SentenceRequests::of("Please order loss runs. Please send the certificate, thanks.", &intents).several();
        assert_eq!(said[1].said(), "Please send the certificate thanks");
        assert!(
            SentenceRequests::of("Please quote. Please order loss runs.", &purpose).several().is_empty(),
            "the quote is what they are for"
        );
    }

    #[test]
    fn what_asks_by_its_whole_sentence_or_by_the_one_before_is_a_wish() {
        let intents =
            [intent("a", &["loss run^2"]), intent("b", &["rear ended^1.5", "ask:claim^1.4", "drafted twice^2"])];
        let intents = PreparedIntents::new(&Arc::from(intents));
        let keys = |text: &str| {
            SentenceRequests::of(text, &intents)
                .several()
                .iter()
                .map(|request| request.intent.key.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(keys("Please order loss runs. We were rear ended today, how do we turn in a claim?"), ["a", "b"]);
        assert!(keys("Please order loss runs. We were rear ended in May, please be quick.").is_empty());
        assert_eq!(keys("Please order loss runs. We were drafted twice. Can you look into it?"), ["a", "b"]);
        assert!(keys("Please order loss runs. We were drafted twice. Thank you.").is_empty());
    }
}
