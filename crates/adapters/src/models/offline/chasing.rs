//! Who asks again and does not say for what: `any word from Northfield yet?`

use kybern_core::list;

use smol_str::SmolStr;

use super::acts;
use super::words::{fold, words};

/// Whether a message asks again and does not say for what: `any word from Northfield yet?`
pub(super) fn asks_again(text: &str) -> bool {
    let found = words(text, 0);
    let borders = acts::borders(text, &found);
    let plain: Vec<SmolStr> = found.iter().map(|word| fold(&word.text)).collect();
    let ends = (1..=found.len()).filter(|end| {
        *end == found.len() || matches!(borders[*end], acts::WordBorder::Sentence | acts::WordBorder::Question)
    });
    let mut start = 0;
    for end in ends {
        let sentence = start..end;
        start = end;
        let turn = sentence.clone().find_map(|at| {
            let stands = |turn: &&str| {
                turn.starts_with(plain[at].as_str())
                    && turn.split(' ').enumerate().all(|(n, word)| plain.get(at + n).is_some_and(|w| w == word))
            };
            AGAIN.iter().find(|turn| stands(turn)).map(|turn| at..at + turn.split(' ').count())
        });
        let Some(turn) = turn else { continue };
        let is_name = |at: usize| text[found[at].start..].starts_with(char::is_uppercase);
        let idle = |at: usize| turn.contains(&at) || is_name(at) || AGAIN_IDLE.contains(&plain[at].as_str());
        if sentence.clone().all(idle) {
            return true;
        }
    }
    false
}

/// How somebody asks again.
const AGAIN: &[&str] = list!(
    "any word, any news, any update, any updates, any luck, any progress, any movement, anything yet, heard back, \
     hear back, heard anything, hear anything, still waiting, still nothing, where are we, where do we stand, \
     checking in, following up, alguna noticia, alguna novedad, des nouvelles, toujours rien"
);
/// Words beside that which do not say for what.
const AGAIN_IDLE: [&str; 56] = [
    "yet", "from", "on", "with", "about", "back", "today", "at", "please", "this", "these", "those", "it", "them",
    "that", "em", "you", "guys", "i", "we", "have", "had", "has", "did", "anybody", "anyone", "ever", "the", "our",
    "my", "so", "far", "there", "hi", "hello", "just", "am", "is", "are", "m", "re", "ve", "and", "again", "here",
    "of", "de", "sobre", "esto", "eso", "ya", "avez", "vous", "a", "ce", "sujet",
];
