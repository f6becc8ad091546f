//! What a longer message asks for. It tells of many things, so what it only names decides nothing: a sentence that asks
//! says for what, and one that points back (`can you get it for us?`) asks for what those before it tell of.

use std::sync::LazyLock;

use kybern_core::list;
use kybern_core::model::IntentSpec;

use super::acts::{self, SpeechAct};
use super::analyse::clip;
use super::message::Message;
use super::offers;
use super::phrases::Phrases;
use super::prepared::PreparedIntents;
use super::requests::{ranked, sentences};
use super::words::{folded, words};

/// What is looked at of a message, and its sentences.
const MAX_TEXT: usize = 8 * 1024;
const MAX_SENTENCES: usize = 60;
/// What must speak for an intent in a sentence, or in the words of it that are asked for.
const LEAST_SCORE: f64 = 1.2;
/// The share of the highest score among the sentences that an intent needs.
const LEAST_SHARE: f64 = 0.6;
/// By how much more must speak for it than for any other.
const LEAST_LEAD: f64 = 0.3;
/// So many sentences before it a sentence may point to.
const BACK: usize = 4;

/// Words that point to what was said before.
const POINTING: &[&str] = list!(
    "it, them, those, these, that, this, one, ones, copy, copies, set, some, same, me lo, me los, me la, me las, \
     nos lo, nos los, se lo, se los, lo puede, los puede, eso, ese, esa, conseguirlo, conseguirlos, pedirlo, pedirlos, \
     pedirla, solicitarlo, solicitarlos, solicitara, mandarlo, mandarlos, sacarlo, encargo, accordingly, pidelo, \
     pidelos, pidalo, pidalos, consiguelos, consigalos, solicitelo, solicitelos, mandelos, le faire, les faire, \
     le commander, les commander, l obtenir, les obtenir, ca, cela, en obtenir, le demande, les demander, le demander"
);

static POINTS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(POINTING.iter().copied()));

/// One sentence: what stands in it, and what of it is asked for.
struct IntentSentence {
    text: String,
    /// The words that are asked for.
    asked: String,
    /// Whether a word of it points to what was said before.
    points: bool,
}

impl IntentSentence {
    fn new(text: String) -> Self {
        let found = words(&text, 0);
        let acts = acts::acts(&found, &acts::borders(&text, &found));
        let asked = found.iter().zip(&acts).filter(|(_, act)| **act == SpeechAct::Asked);
        let asked = asked.map(|(word, _)| &text[word.start..word.end]).collect::<Vec<_>>().join(" ");
        let points = !POINTS.find_all(&folded(&found)).is_empty();
        Self { text, asked, points }
    }

    /// What it asks for with its own words.
    fn own<'i>(&self, intents: &'i PreparedIntents) -> Option<ScoredIntent<'i>> {
        if self.asked.is_empty() {
            return None;
        }
        // `If you need the reports, call me` asks for a call.
        let told = || if offers::is_offer(&self.text) { None } else { self.told(intents) };
        best(&Message::of_wish(&self.asked), intents, false).or_else(told)
    }

    /// What it tells of that can be asked for: an accident cannot.
    fn told<'i>(&self, intents: &'i PreparedIntents) -> Option<ScoredIntent<'i>> {
        best(&Message::of_wish(&self.text), intents, true)
    }
}

/// An intent and what speaks for it.
type ScoredIntent<'i> = (f64, &'i IntentSpec);

/// The intents that a text asks for, each once. What hardly anything speaks for beside another is none.
pub(super) fn intents<'i>(text: &str, intents: &'i PreparedIntents) -> Vec<&'i IntentSpec> {
    let all: Vec<IntentSentence> = sentences(clip(text, MAX_TEXT))
        .into_iter()
        .take(MAX_SENTENCES)
        .map(|(text, _)| IntentSentence::new(text))
        .collect();
    let before = |at: usize| {
        let before = all[at.saturating_sub(BACK)..at].iter().filter_map(|before| before.told(intents));
        before.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let of_sentence = |(at, sentence): (usize, &IntentSentence)| {
        let points = sentence.points && !sentence.asked.is_empty();
        sentence.own(intents).or_else(|| if points { before(at) } else { None })
    };
    let found: Vec<ScoredIntent<'_>> = all.iter().enumerate().filter_map(of_sentence).collect();
    let most = found.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    let mut known: Vec<&IntentSpec> = Vec::new();
    for (score, intent) in found {
        if score >= most * LEAST_SHARE && !known.iter().any(|other| other.key == intent.key) {
            known.push(intent);
        }
    }
    known
}

pub(super) fn tells<'i>(line: &str, intents: &'i PreparedIntents) -> Option<&'i IntentSpec> {
    best(&Message::of_sentence(line), intents, false).map(|(_, intent)| intent)
}

/// The intent for which most speaks; with `asks`, of those with something that can be asked for.
fn best<'i>(message: &Message, intents: &'i PreparedIntents, asks: bool) -> Option<ScoredIntent<'i>> {
    let mut scores = ranked(message, intents).into_iter().filter(|(_, can, _)| *can || !asks);
    let (score, _, intent) = scores.next()?;
    let second = scores.next().map_or(0.0, |second| second.0.max(0.0));
    (score >= LEAST_SCORE && score - second >= LEAST_LEAD).then_some((score, intent))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn asked(text: &str) -> Vec<String> {
        let intent = |key: &str, keywords: &[&str]| IntentSpec {
            key: key.to_owned(),
            description: String::new(),
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            examples: Vec::new(),
        };
        let known = [
            intent("report", &["ask:loss run|reportes de pérdidas^2.4", "loss run^0.5"]),
            intent("service", &["ask:certificate^2", "accident^2"]),
        ];
        let known = PreparedIntents::new(&Arc::from(known));
        intents(text, &known).iter().map(|intent| intent.key.clone()).collect()
    }

    #[test]
    fn a_sentence_that_points_back_asks_for_what_was_told() {
        for text in [
            "The bank wants to see five years of loss runs. Could you order those?",
            "He needs the loss runs before he looks at it. There is no hurry. Can you get it for us?",
            "Ya tiene todo menos los reportes de pérdidas. Pídelos otra vez porfa.",
            "We had an accident in May, as you know. Anyway, please order the loss runs.",
        ] {
            assert_eq!(asked(text), ["report"], "{text}");
        }
        assert_eq!(asked("The certificate was fine. Can you send it again?"), ["service"]);
        assert_eq!(asked("Please order loss runs. Please send a certificate, too."), ["report", "service"]);
    }

    #[test]
    fn what_is_only_named_is_not_asked_for() {
        for text in [
            "The loss runs came this morning. You are a marvel. Please come to the fair.",
            "I ordered our loss runs myself, so there is no need to order them.",
            "What is a loss run? Explain it to me.",
            "No one wants to read loss runs on a banner.",
            "We had an accident in May. Could you look at it?",
            "The loss runs are attached, so that you need not look for them.",
            "If you need the loss runs, call me.",
        ] {
            assert_eq!(asked(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_hardly_anything_speaks_for_is_none_beside_another() {
        let known = |weak: &str| {
            let intent = |key: &str, keyword: &str| IntentSpec {
                key: key.to_owned(),
                description: String::new(),
                keywords: vec![keyword.to_owned()],
                examples: Vec::new(),
            };
            PreparedIntents::new(&Arc::from([intent("a", "ask:loss run^2.4"), intent("b", weak)]))
        };
        let text = "Please order the loss runs. Please keep us insured.";
        assert_eq!(intents(text, &known("ask:insured^1.3")).len(), 1);
        assert_eq!(intents(text, &known("ask:insured^2")).len(), 2);
    }
}
