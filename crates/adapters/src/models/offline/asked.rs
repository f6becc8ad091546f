//! What a longer message asks for. It tells of many things, so what it only names decides nothing: a sentence that asks
//! says for what, and one that points back (`can you get it for us?`) asks for what those before it tell of.

use kybern_core::model::IntentSpec;

use super::acts::{self, Act};
use super::analyse::clip;
use super::keywords::Keyword;
use super::message::{Message, Search};
use super::phrases::Phrases;
use super::prepared::PreparedIntents;
use super::wishes::sentences;
use super::words::words;

/// What is looked at of a message, and its sentences.
const MAX_TEXT: usize = 8 * 1024;
const MAX_SENTENCES: usize = 60;
/// What must speak for an intent in a sentence, or in the words of it that are asked for.
const LEAST_SCORE: f64 = 1.2;
/// What must speak for it of what speaks for the one that most speaks for.
const LEAST_SHARE: f64 = 0.6;
/// By how much more must speak for it than for any other.
const LEAST_LEAD: f64 = 0.3;
/// So many sentences before it a sentence may point to.
const BACK: usize = 4;

/// Words that point to what was said before.
const POINTING: &[&str] = &[
    "it",
    "them",
    "those",
    "these",
    "that",
    "this",
    "one",
    "ones",
    "copy",
    "copies",
    "set",
    "some",
    "same",
    "me lo",
    "me los",
    "me la",
    "me las",
    "nos lo",
    "nos los",
    "se lo",
    "se los",
    "lo puede",
    "los puede",
    "eso",
    "ese",
    "esa",
    "conseguirlo",
    "conseguirlos",
    "pedirlo",
    "pedirlos",
    "pedirla",
    "solicitarlo",
    "solicitarlos",
    "solicitara",
    "mandarlo",
    "mandarlos",
    "sacarlo",
    "encargo",
    "accordingly",
    "pidelo",
    "pidelos",
    "pidalo",
    "pidalos",
    "consiguelos",
    "consigalos",
    "solicitelo",
    "solicitelos",
    "mandelos",
    "le faire",
    "les faire",
    "le commander",
    "les commander",
    "l obtenir",
    "les obtenir",
    "ça",
    "cela",
    "en obtenir",
    "le demande",
    "les demander",
    "le demander",
];

static POINTS: std::sync::LazyLock<Phrases> = std::sync::LazyLock::new(|| Phrases::of(POINTING.iter().copied()));

/// One sentence: what stands in it, and what of it is asked for.
struct Sentence {
    text: String,
    /// The words that are asked for, and those that somebody else wants.
    asked: String,
    wanted: String,
    points: bool,
}

impl Sentence {
    fn new(text: String) -> Self {
        let found = words(&text, 0);
        let acts = acts::acts(&found, &acts::borders(&text, &found));
        let of = |act: Act| {
            let marked = found.iter().zip(&acts).filter(|(_, other)| **other == act);
            marked.map(|(word, _)| &text[word.start..word.end]).collect::<Vec<_>>().join(" ")
        };
        let (asked, wanted) = (of(Act::Asked), of(Act::Wanted));
        let points = !POINTS.find_all(&found).is_empty();
        Self { text, asked, wanted, points }
    }

    /// What it asks for with its own words.
    fn own<'i>(&self, intents: &'i PreparedIntents) -> Option<Found<'i>> {
        if self.asked.is_empty() {
            return None;
        }
        best(&Message::of_wish(&self.asked), intents).or_else(|| self.told(intents))
    }

    /// What it tells of.
    fn told<'i>(&self, intents: &'i PreparedIntents) -> Option<Found<'i>> {
        best(&Message::of_sentence(&self.text), intents)
    }

    /// What somebody else wants.
    fn wanted<'i>(&self, intents: &'i PreparedIntents) -> Option<Found<'i>> {
        if self.wanted.is_empty() { None } else { best(&Message::of_wish(&self.wanted), intents) }
    }
}

/// An intent and what speaks for it.
type Found<'i> = (f64, &'i IntentSpec);

/// The intents that a text asks for, each once; where it asks for none itself, those that somebody else wants something of.
/// What hardly anything speaks for beside another is none.
pub(super) fn intents<'i>(text: &str, intents: &'i PreparedIntents) -> Vec<&'i IntentSpec> {
    let all: Vec<Sentence> =
        sentences(clip(text, MAX_TEXT)).into_iter().take(MAX_SENTENCES).map(|(text, _)| Sentence::new(text)).collect();
    let before = |at: usize| {
        let before = all[at.saturating_sub(BACK)..at].iter().rev();
        before.clone().find_map(|before| before.wanted(intents).or_else(|| before.told(intents)))
    };
    let of_sentence = |(at, sentence): (usize, &Sentence)| {
        let points = sentence.points && !sentence.asked.is_empty();
        sentence.own(intents).or_else(|| before(at).filter(|_| points))
    };
    let mut found: Vec<Found<'_>> = all.iter().enumerate().filter_map(of_sentence).collect();
    if found.is_empty() {
        found = all.iter().filter_map(|sentence| sentence.wanted(intents)).collect();
    }
    let most = found.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    let mut known: Vec<&IntentSpec> = Vec::new();
    for (score, intent) in found {
        if score >= most * LEAST_SHARE && !known.iter().any(|other| other.key == intent.key) {
            known.push(intent);
        }
    }
    known
}

/// The intent of which a line by itself tells.
pub(super) fn tells<'i>(line: &str, intents: &'i PreparedIntents) -> Option<&'i IntentSpec> {
    best(&Message::of_sentence(line), intents).map(|(_, intent)| intent)
}

/// The intent for which most speaks.
fn best<'i>(message: &Message, intents: &'i PreparedIntents) -> Option<Found<'i>> {
    let search = Search::new(message, &intents.keywords.stems);
    let score = |keywords: &Vec<Keyword>| keywords.iter().map(|keyword| search.weigh(keyword)).sum::<f64>();
    let of_intents = intents.keywords.of_intents.iter().zip(intents.specs.iter());
    let mut scores: Vec<Found<'_>> = of_intents.map(|(keywords, intent)| (score(keywords), intent)).collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.key.cmp(&b.1.key)));
    let second = scores.get(1).map_or(0.0, |second| second.0.max(0.0));
    scores.first().copied().filter(|(score, _)| *score >= LEAST_SCORE && score - second >= LEAST_LEAD)
}
