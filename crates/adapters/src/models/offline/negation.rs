//! Words that are only named to say that they are not wanted: "no need to order loss runs", "we do not want a quote".
//!
//! Such words count for nothing. Known here are turns that deny a request, in any trade, and "never had", behind which nothing
//! has happened; "no losses" or "could not deliver" deny a fact, and are what the message says.

use std::collections::HashSet;
use std::sync::LazyLock;

use smol_str::SmolStr;

/// How many words a turn denies at most, before a comma or full stop.
const REACH: usize = 6;
/// Turns, as words without accents in lower case.
const TURNS: &[&[&str]] = &[
    &["no", "need", "to"],
    &["no", "need", "for"],
    &["need", "no"],
    &["not", "need"],
    &["don", "t", "need"],
    &["doesn", "t", "need"],
    &["dont", "need"],
    &["not", "want"],
    &["don", "t", "want"],
    &["dont", "want"],
    &["not", "looking", "for"],
    &["not", "asking", "for"],
    &["not", "asking", "you"],
    &["not", "requesting"],
    &["not", "interested", "in"],
    &["not", "a", "request"],
    &["please", "do", "not"],
    &["please", "don", "t"],
    &["pls", "dont"],
    &["instead", "of"],
    &["rather", "than"],
    &["never", "had"],
    &["never", "been"],
    &["nunca", "un"],
    &["nunca", "he", "tenido"],
    &["nunca", "tuve"],
    &["jamais", "eu"],
    &["no", "hace", "falta"],
    &["no", "es", "necesario"],
    &["no", "necesito"],
    &["no", "necesitamos"],
    &["no", "quiero"],
    &["no", "queremos"],
    &["sin", "necesidad", "de"],
    &["en", "lugar", "de"],
    &["pas", "besoin"],
    &["inutile", "de"],
    &["ne", "voulons", "pas"],
    &["ne", "souhaitons", "pas"],
    &["ne", "cherchons", "pas"],
    &["au", "lieu"],
    &["nicht", "notig"],
    &["brauchen", "kein"],
    &["brauchen", "keine"],
    &["wollen", "kein"],
    &["wollen", "keine"],
];
/// Words after which what follows is wanted again.
const BUT: &[&str] = &["but", "just", "only", "pero", "solo", "sino", "mais", "seulement", "aber", "nur", "sondern"];
/// "No X needed": what may end such a turn.
const NEEDED: &[&str] = &["needed", "necessary", "required", "requested"];

/// The words that a turn may begin with, so that hardly any word is held against all of them.
static BEGINNINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| TURNS.iter().map(|turn| turn[0]).collect());

/// Which of the words are denied. `parts` says whether a comma, a full stop or the like stands before a word.
pub(super) fn denied(words: &[SmolStr], parts: &[bool]) -> Vec<bool> {
    let mut denied = vec![false; words.len()];
    let within = |from: usize, reach: usize| {
        let end = words.len().min(from.saturating_add(reach));
        let stop = (from..end).find(|at| parts[*at] || BUT.contains(&words[*at].as_str()));
        from..stop.unwrap_or(end)
    };
    for at in (0..words.len()).filter(|at| BEGINNINGS.contains(words[*at].as_str())) {
        let begins = |turn: &&&[&str]| {
            words
                .get(at..at + turn.len())
                .is_some_and(|there| there.iter().zip(**turn).all(|(word, part)| word == part))
                && !parts[at + 1..at + turn.len()].contains(&true)
        };
        if let Some(turn) = TURNS.iter().find(begins) {
            within(at + turn.len(), REACH).for_each(|at| denied[at] = true);
        }
        if words[at] == "no" {
            let range = within(at + 1, REACH);
            if let Some(end) = range.clone().find(|at| NEEDED.contains(&words[*at].as_str())) {
                (range.start..end).for_each(|at| denied[at] = true);
            }
        }
    }
    denied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> String {
        let words: Vec<SmolStr> = text.replace(',', " ,").split(' ').map(SmolStr::from).collect();
        let parts: Vec<bool> = words.iter().map(|word| word == ",").collect();
        let denied = denied(&words, &parts);
        words
            .iter()
            .zip(denied)
            .filter(|(_, denied)| !denied)
            .map(|(word, _)| word.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn what_is_denied_is_left_out_and_the_rest_stays() {
        assert_eq!(left("losses attached so no need to order anything"), "losses attached so no need to");
        assert_eq!(
            left("we do not want a quote, please send a certificate"),
            "we do not want , please send a certificate"
        );
        assert_eq!(left("we don t need loss runs but a certificate"), "we don t need but a certificate");
        assert_eq!(left("no loss runs needed"), "no needed");
        assert_eq!(left("nunca un accidente, gracias"), "nunca un , gracias");
        assert_eq!(left("no losses in five years"), "no losses in five years");
        assert_eq!(left("no necesitamos cotizacion, solo el certificado"), "no necesitamos , solo el certificado");
    }
}
