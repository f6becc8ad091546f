//! How much a message is like an intent's examples: overlap of stems and pairs of stems, rare ones counting more.

use std::collections::{HashMap, HashSet};

use kybern_core::model::{ClassifyInput, IntentSpec};

use super::analyse::clip;
use super::words::{stem, words};

/// What is looked at of a message: what somebody wants is said early.
const MAX_TEXT: usize = 1_500;
/// Examples of one intent that are looked at.
const MAX_EXAMPLES: usize = 200;
/// What a pair of neighbours counts beside a single stem.
const PAIR: f64 = 1.3;
/// The best example and the average of the best three share the score so.
const BEST: f64 = 0.7;
/// Words that every message has.
const STOP: &str = "a an and are as at be been but by can could did do does for from had has have he hello hi her him his i if in is it its \
    me my no not of on or our please pls she so some than thank thanks that the their them there these they this those to too us was we were \
    what when which who will with would you your dear good morning day best regards all also am any just let know more new now one only out \
    up re fw fwd";

type Vector = HashMap<String, f64>;

/// The similarity of a message to each intent, from 0 to 1.
pub(super) fn similarities(input: &ClassifyInput, intents: &[IntentSpec]) -> Vec<f64> {
    let stop: HashSet<String> = STOP.split_whitespace().map(stem).collect();
    let examples: Vec<Vec<Vec<String>>> = intents
        .iter()
        .map(|intent| intent.examples.iter().take(MAX_EXAMPLES).map(|example| terms(example, &stop)).collect())
        .collect();
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    let mut total = 1.0;
    for example in examples.iter().flatten() {
        total += 1.0;
        let mut seen: Vec<&str> = example.iter().map(String::as_str).collect();
        seen.sort_unstable();
        seen.dedup();
        for term in seen {
            *frequency.entry(term).or_insert(0.0) += 1.0;
        }
    }
    let weight = |term: &str| {
        frequency.get(term).map_or(0.0, |count| (total / count).ln() * if term.contains(' ') { PAIR } else { 1.0 })
    };
    let text = format!("{}\n{}", input.subject, clip(&input.text, MAX_TEXT));
    let message = vector(&terms(&text, &stop), &weight);
    let of_intent = |examples: &Vec<Vec<String>>| {
        let mut scores: Vec<f64> = examples.iter().map(|example| cosine(&message, &vector(example, &weight))).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let best = scores.first().copied().unwrap_or_default();
        let three: f64 = scores.iter().take(3).sum::<f64>() / 3.0;
        BEST * best + (1.0 - BEST) * three
    };
    examples.iter().map(of_intent).collect()
}

/// Stems and pairs of stems; numbers and common words left out.
fn terms(text: &str, stop: &HashSet<String>) -> Vec<String> {
    let found = words(text, 0);
    let kept = found.iter().filter(|word| !word.text.bytes().any(|b| b.is_ascii_digit()) && word.text != "#");
    let stems: Vec<String> = kept.map(|word| stem(&word.text)).filter(|stem| !stop.contains(stem)).collect();
    let pairs: Vec<String> = stems.windows(2).map(|pair| pair.join(" ")).collect();
    stems.into_iter().chain(pairs).collect()
}

fn vector(terms: &[String], weight: &impl Fn(&str) -> f64) -> Vector {
    let mut found = Vector::new();
    for term in terms {
        let worth = weight(term);
        if worth > 0.0 {
            found.insert(term.clone(), worth);
        }
    }
    found
}

/// Sums run in the order of the terms, so that the same message has the same score on every run.
fn cosine(left: &Vector, right: &Vector) -> f64 {
    let mut shared: Vec<f64> =
        right.iter().filter_map(|(term, worth)| left.get(term).map(|other| worth * other)).collect();
    shared.sort_by(f64::total_cmp);
    let norm = |vector: &Vector| {
        let mut squares: Vec<f64> = vector.values().map(|worth| worth * worth).collect();
        squares.sort_by(f64::total_cmp);
        squares.iter().sum::<f64>().sqrt()
    };
    let length = norm(left) * norm(right);
    if length > 0.0 { shared.iter().sum::<f64>() / length } else { 0.0 }
}
