//! Several wishes in one message: sentences that each ask, and each for something else.

use kybern_core::model::IntentSpec;

use super::acts::{self, Act};
use super::analyse::clip;
use super::message::{Message, Search};
use super::prepared::PreparedIntents;
use super::words::words;

/// What is looked at of a message, and its sentences.
const MAX_TEXT: usize = 8 * 1024;
const MAX_SENTENCES: usize = 40;
/// What must speak for an intent in one sentence, and by how much more than for any other.
const LEAST_SCORE: f64 = 1.9;
const LEAST_LEAD: f64 = 0.9;
/// How a keyword begins that names an intent for whose sake this one is wished: of the two, it is no wish of its own.
pub(super) const FOR: &str = "for:";

/// Letters of a wish that are shown to a person.
const MAX_SHOWN: usize = 80;

/// What one sentence asks for.
#[derive(Debug)]
pub(super) struct Wish<'i> {
    /// The intent that it has.
    pub(super) intent: &'i IntentSpec,
    /// The words that ask.
    asked: String,
}

impl Wish<'_> {
    /// The beginning of the words that ask, for a person to read.
    pub(super) fn said(&self) -> &str {
        clip(self.asked.trim(), MAX_SHOWN)
    }
}

/// What is asked for in sentences of their own, each intent once, in their order; fewer than two are none.
pub(super) fn wishes<'i>(text: &str, intents: &'i PreparedIntents) -> Vec<Wish<'i>> {
    let mut found: Vec<Wish<'i>> = Vec::new();
    // Whether what stands before a list asks for its items.
    let mut list_asks = false;
    for (sentence, is_item) in sentences(clip(text, MAX_TEXT)).into_iter().take(MAX_SENTENCES) {
        let asked = if is_item && list_asks { sentence.clone() } else { asked_in(&sentence) };
        if !is_item {
            list_asks = !asked.is_empty() || sentence.trim_end().ends_with(':');
        }
        if asked.is_empty() {
            continue;
        }
        if let Some(intent) = only_one(&asked, intents)
            && !found.iter().any(|other| other.intent.key == intent.key)
        {
            found.push(Wish { intent, asked });
        }
    }
    let keys: Vec<&String> = found.iter().map(|wish| &wish.intent.key).collect();
    let of_another = |wish: &Wish<'_>| {
        let mut sakes = wish.intent.keywords.iter().filter_map(|keyword| keyword.strip_prefix(FOR));
        sakes.any(|key| keys.iter().any(|other| *other == key))
    };
    let own: Vec<bool> = found.iter().map(|wish| !of_another(wish)).collect();
    let mut own = own.into_iter();
    found.retain(|_| own.next().unwrap_or(true));
    if found.len() < 2 { Vec::new() } else { found }
}

/// The intent for which these words surely ask.
fn only_one<'i>(asked: &str, intents: &'i PreparedIntents) -> Option<&'i IntentSpec> {
    let message = Message::of_wish(asked);
    let search = Search::new(&message, &intents.keywords.stems);
    let of_intents = intents.keywords.of_intents.iter().zip(intents.specs.iter());
    let mut scores: Vec<(f64, &IntentSpec)> = of_intents
        .map(|(keywords, intent)| (keywords.iter().map(|keyword| search.weigh(keyword)).sum(), intent))
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.key.cmp(&b.1.key)));
    let second = scores.get(1).map_or(0.0, |second| second.0.max(0.0));
    let (score, intent) = scores.first()?;
    (*score >= LEAST_SCORE && score - second >= LEAST_LEAD).then_some(intent)
}

/// The words of a sentence that are asked for.
fn asked_in(sentence: &str) -> String {
    let words = words(sentence, 0);
    let acts = acts::acts(&words, &acts::borders(sentence, &words));
    let asked = words.iter().zip(acts).filter(|(_, act)| *act == Act::Asked).map(|(word, _)| word);
    asked.map(|word| &sentence[word.start..word.end]).collect::<Vec<_>>().join(" ")
}

/// Sentences, and the items of lists.
fn sentences(text: &str) -> Vec<(String, bool)> {
    let mut found = vec![(String::new(), false)];
    let mut last_blank = false;
    for line in text.lines() {
        let line = line.trim();
        let item = line.starts_with(['-', '*', '\u{2022}', '\u{b7}'])
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
        let keys = |text: &str| wishes(text, &intents).iter().map(|wish| wish.intent.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys("Please order loss runs. Also, can you send a certificate?"), ["a", "b"]);
        assert_eq!(keys("Two things:\n1. loss runs please\n2. certificate please\n"), ["a", "b"]);
        assert!(keys("Please order loss runs. The certificate was fine.").is_empty());
        assert!(keys("Please order the loss runs and the certificate.").is_empty());
        assert!(keys("Please order loss runs. We need no certificate.").is_empty());
        assert!(keys("Please order loss runs. Please order them today.").is_empty());
        assert_eq!(keys("A few things:\n- certificate for Acme\n- loss runs from both"), ["b", "a"]);
        assert!(keys("Please order loss runs so that a certificate can be made.").is_empty());
        let purpose = known([intent("a", &["loss run^2"]), intent("b", &["quote^2", "for:a"])]);
        let said = wishes("Please order loss runs. Please send the certificate, thanks.", &intents);
        assert_eq!(said[1].said(), "Please send the certificate thanks");
        assert!(wishes("Please quote. Please order loss runs.", &purpose).is_empty(), "the quote is what they are for");
    }
}
