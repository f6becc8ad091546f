//! Several wishes in one message: sentences that each ask, and each for something else.

use kybern_core::model::IntentSpec;

use super::analyse::clip;
use super::keywords::Message;
use super::words::fold;

/// What is looked at of a message, and its sentences.
const MAX_TEXT: usize = 8 * 1024;
const MAX_SENTENCES: usize = 40;
/// What must speak for an intent in one sentence, and by how much more than for any other.
const LEAST_SCORE: f64 = 1.9;
const LEAST_LEAD: f64 = 0.9;
/// Words by which a sentence asks, without accents.
const ASKS: &[&str] = &[
    "please",
    "pls",
    "plz",
    "kindly",
    "can you",
    "can u",
    "could you",
    "would you",
    "will you",
    "need",
    "needs",
    "we want",
    "i want",
    "would like",
    "looking for",
    "send",
    "issue",
    "order",
    "request",
    "add",
    "remove",
    "get me",
    "get us",
    "provide",
    "quote",
    "cancel",
    "por favor",
    "favor de",
    "necesito",
    "necesitamos",
    "quisiera",
    "quisieramos",
    "queremos",
    "quiero",
    "podria",
    "podrian",
    "puede",
    "pueden",
    "me ayuda",
    "nos ayuda",
    "solicito",
    "solicitamos",
    "mandar",
    "enviar",
    "s il vous plait",
    "svp",
    "merci de",
    "pourriez",
    "pouvez",
    "veuillez",
    "besoin",
    "j aimerais",
    "aimerions",
    "souhaitons",
    "voudrions",
    "je voudrais",
    "il nous faut",
    "il me faut",
    "bitte",
    "konnen sie",
    "konnten sie",
    "brauchen",
    "brauche",
    "benotigen",
    "benotige",
    "mochten",
];
/// Words that tie what follows to the wish before it.
const TIES: &[&str] = &[
    "so that",
    "in order to",
    "before they",
    "before we",
    "because",
    "so we can",
    "so they can",
    "for the quote",
    "to quote",
];

/// The intents that are asked for in sentences of their own, in their order; fewer than two are none.
pub(super) fn wishes<'i>(text: &str, intents: &'i [IntentSpec]) -> Vec<&'i IntentSpec> {
    let mut found: Vec<&IntentSpec> = Vec::new();
    for sentence in sentences(clip(text, MAX_TEXT)).into_iter().take(MAX_SENTENCES) {
        let plain = plain(&sentence);
        let asks = sentence.contains('?') || ASKS.iter().any(|ask| plain.contains(&format!(" {ask} ")));
        if !asks || TIES.iter().any(|tie| plain.contains(&format!(" {tie} "))) {
            continue;
        }
        let mut message = Message::of_text(&sentence);
        let mut scores: Vec<(f64, &IntentSpec)> = intents
            .iter()
            .map(|intent| (intent.keywords.iter().map(|keyword| message.weigh(keyword)).sum(), intent))
            .collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.key.cmp(&b.1.key)));
        let second = scores.get(1).map_or(0.0, |second| second.0.max(0.0));
        if let Some((score, intent)) = scores.first()
            && *score >= LEAST_SCORE
            && score - second >= LEAST_LEAD
            && !found.iter().any(|other| other.key == intent.key)
        {
            found.push(intent);
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

fn plain(sentence: &str) -> String {
    let words = fold(&sentence.to_lowercase());
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

/// Sentences, and the items of lists.
fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut last_blank = false;
    for line in text.lines() {
        let line = line.trim();
        let item = line.starts_with(['-', '*', '\u{2022}', '\u{b7}'])
            || line
                .split_once(['.', ')'])
                .is_some_and(|(n, _)| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()));
        if item || line.is_empty() || last_blank {
            found.push(String::new());
        }
        last_blank = line.is_empty();
        let mut rest = line;
        while let Some(at) = rest.find(['.', '!', '?', ';']) {
            let end = at + 1;
            // A full stop inside a number or a name ends nothing.
            let ends = rest[end..].is_empty() || rest[end..].starts_with(' ');
            add(&mut found, &rest[..end]);
            if ends && !(item && rest.len() == line.len() && at <= 2) {
                found.push(String::new());
            }
            rest = &rest[end..];
        }
        add(&mut found, rest);
        add(&mut found, " ");
    }
    found.retain(|sentence| !sentence.trim().is_empty());
    found
}

fn add(found: &mut [String], text: &str) {
    if let Some(last) = found.last_mut() {
        last.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(key: &str, keywords: &[&str]) -> IntentSpec {
        let keywords = keywords.iter().map(|word| (*word).to_owned()).collect();
        IntentSpec { key: key.to_owned(), description: String::new(), keywords, examples: Vec::new() }
    }

    #[test]
    fn wishes_in_sentences_of_their_own_are_several() {
        let intents = [intent("a", &["loss run^2"]), intent("b", &["certificate^2"])];
        let keys = |text: &str| wishes(text, &intents).iter().map(|intent| intent.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys("Please order loss runs. Also, can you send a certificate?"), ["a", "b"]);
        assert_eq!(keys("Two things:\n1. loss runs please\n2. certificate please\n"), ["a", "b"]);
        assert!(keys("Please order loss runs. The certificate was fine.").is_empty());
        assert!(keys("Please order the loss runs and the certificate.").is_empty());
        assert!(keys("Please order loss runs. We need no certificate.").is_empty());
        assert!(keys("Please order loss runs. Please order them today.").is_empty());
    }
}
