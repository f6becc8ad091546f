//! Offers: `let me know if you need the reports` has them to give, and asks for none.

use kybern_core::model::IntentSpec;
use smol_str::SmolStr;

use super::analyse::clip;
use super::asked;
use super::prepared::PreparedIntents;
use super::requests::sentences;
use super::words::{fold, words};

/// What is looked at of a message.
const MAX_TEXT: usize = 8 * 1024;
/// How it is said that whoever reads may want something.
const TURNS: [&[&str]; 20] = [
    &["if", "you", "need"],
    &["if", "you", "want"],
    &["if", "you", "require"],
    &["if", "you", "d", "like"],
    &["if", "you", "would", "like"],
    &["if", "you", "still", "need"],
    &["if", "you", "still", "want"],
    &["if", "you", "ever", "need"],
    &["if", "u", "need"],
    &["if", "u", "want"],
    &["should", "you", "need"],
    &["should", "you", "want"],
    &["should", "you", "require"],
    &["si", "necesita"],
    &["si", "necesitan"],
    &["si", "quiere"],
    &["si", "quieren"],
    &["si", "vous", "avez", "besoin"],
    &["si", "vous", "voulez"],
    &["falls", "sie"],
];

/// Whether a sentence says that whoever reads may want something.
pub(super) fn is_offer(sentence: &str) -> bool {
    let said: Vec<SmolStr> = words(sentence, 0).iter().map(|word| fold(&word.text)).collect();
    TURNS.iter().any(|turn| said.windows(turn.len()).any(|run| run == *turn))
}

/// Whether a sentence of the text offers what an intent is about, should whoever reads want it.
pub(super) fn offers(text: &str, intent: &IntentSpec, intents: &PreparedIntents) -> bool {
    let mut sentences = sentences(clip(text, MAX_TEXT)).into_iter();
    sentences.any(|(sentence, _)| {
        is_offer(&sentence) && asked::tells(&sentence, intents).is_some_and(|told| told.key == intent.key)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_is_there_for_whoever_needs_it_is_offered() {
        let intent = IntentSpec {
            key: "report".to_owned(),
            description: String::new(),
            keywords: vec!["loss run^2".to_owned()],
            examples: Vec::new(),
        };
        let intents = PreparedIntents::new(&Arc::from([intent.clone()]));
        for text in [
            "Let me know if you need the loss runs.",
            "If you'd like the loss runs, tell me.",
            "The renewal is in May. Should you need loss runs, call.",
            "Si necesitan los loss runs, me avisan.",
        ] {
            assert!(offers(text, &intent, &intents), "{text}");
        }
        for text in
            ["We need the loss runs. Let me know if you need anything else.", "If you can, order the loss runs.", ""]
        {
            assert!(!offers(text, &intent, &intents), "{text}");
        }
    }
}
