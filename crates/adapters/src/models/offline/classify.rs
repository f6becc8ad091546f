//! Which intent a message has: keywords and likeness to examples, less what speaks for noise, made a probability.
//!
//! What a machine wrote is known by its structure, so no words of it decide. Beside the intent stand doubts: why a
//! person must look although the intent may be sure.

use std::cell::LazyCell;

use kybern_core::list;
use kybern_core::mail::MailKind;
use kybern_core::model::{Classification, ClassifyInput, IntentSpec};
use smol_str::SmolStr;

use super::analyse::{clip, round};
use super::keywords::{ASKED, GIVEN, Keyword, UNASKED};
use super::message::{MAX_TEXT, Message, hands_on};
use super::prepared::PreparedIntents;
use super::reading::MessageReading;
use super::search::Search;
use super::words::{fold, words};
use super::{MODEL, acts, asked, covering, doubts, examples, letter, noise, offers};

/// What full likeness to an example counts beside a keyword's 1.
const EXAMPLES: f64 = 4.0;
/// Below this nothing matches.
const LEAST_SCORE: f64 = 0.6;
/// What a word's place must count for the word to be said: papers and signatures count less.
const IS_SAID: f64 = 0.35;
/// What it counts at least in the message's own words and in its subject.
const IN_OWN_WORDS: f64 = 0.5;
/// Without any keyword a message must be this much like an example.
const LEAST_LIKENESS: f64 = 0.5;
/// Alternatives that are named.
const MAX_ALTERNATIVES: usize = 3;
/// More than this adds no certainty.
const MAX_SCORE: f64 = 6.0;
const MAX_MARGIN: f64 = 4.0;

/// What the next best intent counts where the newest words ask for the best and for nothing else.
const BESIDE_REQUEST: f64 = 0.5;

/// How sure an intent is that only words speak for, when a machine wrote them; and one that only papers speak for.
const WORDS_OF_MACHINE: f64 = 0.4;
const ONLY_PAPERS: f64 = 0.5;
/// From this confidence on, words ask for something.
const ASKS: f64 = 0.9;
/// With fewer telling words a message only points at its papers.
const SAYS_LITTLE: usize = 3;
/// What the kinds of papers must weigh to speak for an intent of which the message says nothing. Words inside papers never
/// do: every certificate says that it is one, whatever its sender wants.
const KIND_SPEAKS: f64 = 1.0;
/// From this likeness to an example on, a message is a little like it.
const A_LITTLE_LIKE: f64 = 0.2;
/// The share of the highest score that the only request of such a message needs to come first.
const LEAST_SHARE: f64 = 0.3;
/// The least score of the only request of such a message.
const LEAST_WISHED: f64 = 2.0;
/// How sure an intent is at most that a message only names or offers, or that stands beneath a request for something else:
/// no sentence asks for it, or hands anything over.
const ONLY_NAMED: f64 = 0.6;
/// How keywords begin that the papers which came along meet, and the kind of a machine.
const TOLD: [&str; 2] = ["doc:", "mail:"];
/// How sure the kind of a machine is.
const BY_STRUCTURE: f64 = 0.95;

/// Rules are never surer than this.
const MOST_SURE: f64 = 0.99;

/// Bias, and what score, margin and noise weigh, in the map to a probability: fitted on the train half of
/// `samples/intents/labelled.jsonl` by `crates/kybern/tests/it/offline/fit.rs`, which fails when they are stale.
pub const CALIBRATION: [f64; 4] = [-1.31, 1.87, 1.20, -1.90];

fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

/// What speaks for the best intent, before it is made a probability.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Evidence {
    /// The best intent; `None` when there are none.
    pub intent: Option<String>,
    /// Its score, limited.
    pub score: f64,
    /// How far the next one is behind, limited.
    pub margin: f64,
    /// How much speaks for noise.
    pub noise: f64,
}

impl Evidence {
    /// The probability that the best intent is right: that the message asks for anything of this kind, times that it
    /// asks for the best rather than the next. Of two intents with the same score each is right half the time.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let [bias, score, margin, noise] = CALIBRATION;
        let asks = logistic(bias + score * self.score + noise * self.noise);
        (asks * logistic(margin * self.margin)).min(MOST_SURE)
    }
}

/// An intent's score and the keywords behind it.
struct IntentScore<'i> {
    intent: &'i IntentSpec,
    score: f64,
    words: Vec<(&'i str, f64)>,
    /// The most that a place counts in which one of these words stands, papers' categories aside.
    nearest: f64,
    likeness: f64,
    doubts: Vec<&'i str>,
    /// Whether the newest words ask for it, and for nothing else.
    is_requested: bool,
}

impl IntentScore<'_> {
    /// Whether anything but a chance likeness speaks for the intent.
    fn matches(&self) -> bool {
        let words = self.words.iter().any(|(_, weight)| *weight > 0.0);
        self.score >= LEAST_SCORE && (words || self.likeness >= LEAST_LIKENESS)
    }

    fn has(&self, prefix: &str) -> bool {
        self.words.iter().any(|(word, weight)| *weight > 0.0 && word.starts_with(prefix))
    }

    /// Whether anything speaks for the intent but words inside papers: their kinds, or a message a little like its examples.
    fn is_backed(&self) -> bool {
        let kinds = self.words.iter().filter(|(word, _)| word.starts_with("doc:"));
        kinds.map(|(_, weight)| weight).sum::<f64>() >= KIND_SPEAKS || self.likeness > A_LITTLE_LIKE
    }

    /// Whether somebody said anything that speaks for the intent, beside the papers.
    fn is_said(&self) -> bool {
        self.likeness >= LEAST_LIKENESS / 2.0 || self.nearest >= IS_SAID
    }
}

fn scores<'i>(reading: &MessageReading<'i>) -> Vec<IntentScore<'i>> {
    let (input, intents) = (reading.input, reading.intents);
    let requested = reading.only_request();
    let requests = requested.is_some();
    let tells_much = reading.tells_much();
    let message = Message::new(input, hands_on(input) && !requests, requests);
    let search = Search::new(&message, &intents.keywords.stems);
    let likenesses = intents.examples.similarities(input);
    let anything = LazyCell::new(|| asks_anything(&input.subject) || asks_anything(reading.said()));
    let of_intents = intents.specs.iter().zip(intents.keywords.possible(&search)).zip(likenesses);
    let mut found: Vec<IntentScore<'_>> = of_intents
        .map(|((intent, keywords), likeness)| {
            let (mut words, mut nearest): (Vec<(&str, f64)>, f64) = (Vec::new(), 0.0);
            for keyword in &keywords {
                let weight = search.weigh(keyword);
                if weight != 0.0 {
                    words.push((&keyword.phrase, weight));
                }
                if weight > 0.0 && !keyword.phrase.starts_with("doc:") {
                    nearest = nearest.max(weight / keyword.weight);
                }
            }
            let is_requested = requested == Some(intent.key.as_str());
            let score = words.iter().map(|(_, weight)| weight).sum::<f64>() + EXAMPLES * likeness;
            // What the one sentence asks for that asks, the others need not name.
            let score = if is_requested && tells_much { score.max(LEAST_WISHED) } else { score };
            let asks = || *anything || words.iter().any(|(word, weight)| *weight > 0.0 && word.starts_with(ASKED));
            let raised = |keyword: &'i Keyword| {
                let is_raised = || search.says(keyword) || keyword.phrase == UNASKED && !is_requested && !asks();
                keyword.doubt.as_deref().filter(|_| is_raised())
            };
            let doubts = keywords.into_iter().filter_map(raised).collect();
            IntentScore { intent, score, words, nearest, likeness, doubts, is_requested }
        })
        .collect();
    // What everything else speaks for comes first all the same, and is then unsure.
    let most = found.iter().map(|scored| scored.score).fold(0.0, f64::max);
    let first = |scored: &IntentScore<'_>| scored.is_requested && tells_much && scored.score >= most * LEAST_SHARE;
    found.sort_by(|a, b| {
        let order = first(b).cmp(&first(a)).then(b.score.total_cmp(&a.score));
        order.then_with(|| a.intent.key.cmp(&b.intent.key))
    });
    found
}

/// Whether a text asks for anything at all, or says that somebody wants something: `Our broker asked for reports.`
fn asks_anything(text: &str) -> bool {
    let found = words(text, 0);
    let acts = acts::acts(&found, &acts::borders(text, &found));
    let folded: Vec<SmolStr> = found.iter().map(|word| fold(&word.text)).collect();
    let denies = |at: usize| at > 0 && NOT.contains(&folded[at - 1].as_str());
    let is_wish = |(at, word): (usize, &SmolStr)| WISHES.contains(&word.as_str()) && !denies(at);
    acts.iter().any(|act| matches!(act, acts::SpeechAct::Asked | acts::SpeechAct::Wanted))
        || folded.iter().enumerate().any(is_wish)
}

/// Words before one of [`WISHES`] that say that nobody wishes it: `We do not want loss runs.`
const NOT: [&str; 8] = ["not", "t", "dont", "doesnt", "no", "never", "nobody", "nunca"];

/// Words by which somebody tells of a request.
const WISHES: &[&str] = list!(
    "ask, asks, asked, asking, need, needs, needed, want, wants, wanted, require, requires, required, request, \
     requests, requested, pide, piden, pidio, necesita, necesitan, solicita, demande, demandent, exige, braucht"
);

fn evidence_of(found: &[IntentScore<'_>], noise: f64) -> Evidence {
    let Some(best) = found.first() else { return Evidence::default() };
    let second = found.get(1).map_or(0.0, |scored| scored.score.max(0.0));
    // What is only named beside the one thing that is asked for is hardly another request.
    let second = if best.is_requested { second * BESIDE_REQUEST } else { second };
    Evidence {
        intent: Some(best.intent.key.clone()),
        score: best.score.clamp(0.0, MAX_SCORE),
        margin: (best.score - second).clamp(0.0, MAX_MARGIN),
        noise,
    }
}

/// What speaks for the best intent.
pub(super) fn evidence(input: &ClassifyInput, intents: &PreparedIntents) -> Evidence {
    let reading = MessageReading::new(input, intents);
    evidence_of(&scores(&reading), noise::noise(reading.worded()).0)
}

/// The intent of a message, or none.
pub(super) fn classify(input: &ClassifyInput, intents: &PreparedIntents) -> Classification {
    let with_letter = letter::read_out(input);
    let input = with_letter.as_ref().unwrap_or(input);
    let reading = MessageReading::new(input, intents);
    let found = scores(&reading);
    let said = reading.said();
    let (noise, sign) = noise::noise(reading.worded());
    let mut confidence = evidence_of(&found, noise).confidence();
    let best = found.first().filter(|best| best.matches());
    let of_machine = input.kind != MailKind::Personal;
    if of_machine && !best.is_some_and(|best| decides_for_machine(input.kind, best)) {
        // A list may carry a request all the same: a person gets to see which.
        let asks = input.kind == MailKind::Bulk && best.is_some_and(|best| !best.has("mail:")) && confidence >= ASKS;
        if let Some(by_structure) = found.iter().find(|scored| scored.has("mail:") && !asks) {
            return of_structure(by_structure, input.kind);
        }
        confidence = confidence.min(WORDS_OF_MACHINE);
    }
    let doubts = doubts_about(&reading, best);
    let model = MODEL.to_owned();
    let Some(best) = best else {
        let confidence = round(confidence);
        let reasoning = "no intent's words match this message, and no example is like it".to_owned();
        let nearest = found.first().filter(|nearest| nearest.score >= LEAST_SCORE);
        let alternatives = nearest.map(|nearest| (nearest.intent.key.clone(), confidence)).into_iter().collect();
        return Classification { intent: None, confidence: 0.0, reasoning, alternatives, doubts, model };
    };
    if !best.is_said() && (!best.is_backed() || examples::telling(said) < SAYS_LITTLE) {
        confidence = confidence.min(ONLY_PAPERS);
    }
    // What nobody has to ask for is told by the subject and the papers, too.
    let is_request = best.intent.keywords.iter().any(|keyword| keyword.starts_with(ASKED) && !keyword.contains("^-"));
    let of_subject = || asked::tells(&input.subject, intents).is_some_and(|intent| intent.key == best.intent.key);
    let of_papers = || TOLD.iter().any(|told| best.has(told));
    let is_told = || best.has(GIVEN) || reading.only_hands_on() || !is_request && (of_subject() || of_papers());
    let is_asked = || reading.asked().iter().any(|intent| intent.key == best.intent.key);
    let is_elsewhere = || {
        let is_others = best.nearest < IN_OWN_WORDS && best.likeness < A_LITTLE_LIKE && !best.has("doc:");
        is_others && !reading.only_hands_on() && asks_anything(clip(&input.text, MAX_TEXT))
    };
    let asks_for_other = || !best.is_requested && covering::asks_for_other(input);
    let is_offered = || !best.has(GIVEN) && offers::offers(reading.said(), best.intent, intents) && !is_asked();
    let is_named = || reading.says_much() && !best.is_requested && !is_told() && !is_asked();
    if is_named() || is_elsewhere() || asks_for_other() || is_offered() {
        confidence = confidence.min(ONLY_NAMED);
    }
    let confidence = round(confidence);
    let alternatives = found.iter().skip(1).take(MAX_ALTERNATIVES).filter(|other| other.score >= LEAST_SCORE);
    // What is left of the certainty is shared among the others by their scores.
    let share = |score: f64| round((1.0 - confidence) * score / (score + best.score));
    Classification {
        intent: Some(best.intent.key.clone()),
        confidence,
        reasoning: reasoning(best, found.get(1), sign),
        alternatives: alternatives.map(|other| (other.intent.key.clone(), share(other.score))).collect(),
        doubts,
        model,
    }
}

/// Whether papers speak for an intent although a machine wrote: an insurer's system may send a report by itself. What
/// a bounce encloses is one's own mail.
fn decides_for_machine(kind: MailKind, best: &IntentScore<'_>) -> bool {
    kind != MailKind::Bounce && best.has("doc:") && best.is_said()
}

/// The answer for what a machine wrote.
fn of_structure(found: &IntentScore<'_>, kind: MailKind) -> Classification {
    Classification {
        intent: Some(found.intent.key.clone()),
        confidence: BY_STRUCTURE,
        reasoning: format!("its structure says that it is {}", described(kind)),
        alternatives: Vec::new(),
        doubts: Vec::new(),
        model: MODEL.to_owned(),
    }
}

const fn described(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Personal => "written by a person",
        MailKind::Bounce => "a mail server's report that something was not delivered",
        MailKind::AutomaticReply => "an automatic answer",
        MailKind::Bulk => "mail to many",
        MailKind::Invitation => "a calendar's invitation",
    }
}

/// Why a person must look at the message.
fn doubts_about(reading: &MessageReading<'_>, best: Option<&IntentScore<'_>>) -> Vec<String> {
    let mut found = doubts::of_manner(reading.worded());
    let Some(best) = best else { return found };
    for reason in &best.doubts {
        if !found.iter().any(|known| known == reason) {
            found.push((*reason).to_owned());
        }
    }
    let wishes = reading.wishes();
    if let Some(condition) = wishes.condition(&best.intent.key) {
        found.push(format!("it asks on a condition: {condition:?}"));
    }
    let several = wishes.several();
    if !several.is_empty() {
        let told: Vec<String> =
            several.iter().map(|request| format!("{} ({:?})", request.intent.key, request.said())).collect();
        found.push(format!("it asks for several things: {}", told.join(", ")));
    }
    found
}

/// A keyword as it is shown: of phrases of which either will do, the first.
fn shown(keyword: &str) -> String {
    keyword.split_once('|').map_or_else(|| keyword.to_owned(), |(first, _)| format!("{first} …"))
}

fn reasoning(best: &IntentScore<'_>, second: Option<&IntentScore<'_>>, sign: Option<&str>) -> String {
    let mut words: Vec<&(&str, f64)> = best.words.iter().filter(|(_, weight)| *weight > 0.0).collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let named: Vec<String> = words.iter().take(4).map(|(word, _)| format!("\"{}\"", shown(word))).collect();
    let mut parts = vec![match named.len() {
        0 => "no keyword".to_owned(),
        _ => format!("matched {}", named.join(", ")),
    }];
    if best.likeness > A_LITTLE_LIKE {
        parts.push(format!("{:.0} % like its examples", best.likeness * 100.0));
    }
    if let Some(second) = second.filter(|second| second.score >= LEAST_SCORE) {
        parts.push(format!("next is {} ({:.1} against {:.1})", second.intent.key, second.score, best.score));
    }
    if let Some(sign) = sign {
        parts.push(format!("\"{sign}\" speaks for no request at all"));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn sure(text: &str, document_text: &str, category: &str) -> f64 {
        let intent = |key: &str, keywords: &[&str]| IntentSpec {
            key: key.to_owned(),
            description: String::new(),
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            examples: Vec::new(),
        };
        let intents = [
            intent("certificate", &["certificate of insurance^4", "certificate holder^4", "doc:COI^0.4"]),
            intent("report", &["loss report^2", "doc:REPORT^3"]),
        ];
        let input = ClassifyInput {
            text: text.to_owned(),
            document_text: document_text.to_owned(),
            document_categories: vec![category.to_owned()],
            ..ClassifyInput::default()
        };
        classify(&input, &PreparedIntents::new(&Arc::from(intents))).confidence
    }

    #[test]
    fn words_inside_papers_decide_nothing_of_which_the_message_says_nothing() {
        let packet = "Certificate of Insurance. Certificate Holder: whom it may concern.";
        let set_up = "We saw your posting and would like to be set up, our truck stands empty in Waco tonight.";
        assert!(sure(set_up, packet, "COI") <= ONLY_PAPERS);
        assert!(sure("Please send us a certificate of insurance with a new certificate holder.", packet, "COI") > 0.8);
        // What kind of paper came says something all the same.
        let hello = "Good morning from the desk, have a quiet week and call whenever something is wrong.";
        assert!(sure(hello, "Loss report", "REPORT") > 0.8);
    }

    #[test]
    fn what_nobody_wishes_is_no_request() {
        for asks in ["We need loss runs.", "Our broker asked for reports.", "We do not mind, they want reports."] {
            assert!(asks_anything(asks), "{asks}");
        }
        for tells in ["We do not want loss runs.", "They don't need loss runs.", "Loss runs are attached."] {
            assert!(!asks_anything(tells), "{tells}");
        }
    }
}
