//! Orders on a condition: `order the reports once she has signed`. Whoever writes so does not want it done now.

use kybern_core::list;

use smol_str::SmolStr;

use super::acts::{THEN, WordBorder, borders};
use super::analyse::clip;
use super::words::{Word, fold, words};

/// Words that begin a condition anywhere in a sentence, and those that do only at its beginning.
const BEGIN: &[&str] = list!(
    "if, once, unless, provided, in case, as soon as, as long as, only after, en cuanto, una vez que, siempre que, \
     a menos que, des que, une fois que, a condition que, falls, sobald"
);
const BEGIN_FIRST: &[&str] = &["should", "si"];
/// How a condition begins, or what it has, that leaves the time to whoever is asked, or speaks of what comes afterwards.
const IDLE_FIRST: &[&str] = list!(
    "you, u, possible, needed, necessary, any, anything, applicable, required, so, not, they, a, per, again, more, \
     usted, ustedes, puede, pueden, posible, es, vous, besoin, necesario, necesitan, necesita"
);
const IDLE: &[&str] = list!(
    "you, your, them, those, these, losses, loss, runs, run, lrs, report, reports, questions, question, need, needs, \
     chance, convenient, helps, ok, okay, wrong, vous, ustedes, usted, pueden, puede, preguntas, works, allowed, \
     available, they, received, back, possible"
);
/// Behind `if` whoever writes speaks of what else to do: `tell us if we are short`.
const OWN: &[&str] = &["we", "i", "there"];
/// What compares, as no courtesy does: `if it comes in over 90 thousand`.
const COMPARES: &[&str] = &[
    "over", "above", "under", "below", "exceeds", "exceed", "higher", "lower", "cheaper", "dearer", "beats", "beat",
    "mayor", "menor", "superior", "inferior", "depasse",
];
/// Words of a condition that are looked at, and bytes that a person is shown.
const REACH: usize = 12;
const MAX_SHOWN: usize = 80;

/// The condition of a sentence that asks for something, as it is written; `None` when it has none that matters.
pub(super) fn of_sentence(text: &str) -> Option<String> {
    let found = words(text, 0);
    let borders = borders(text, &found);
    let plain: Vec<SmolStr> = found.iter().map(|word| fold(&word.text)).collect();
    let stands = |at: usize, turn: &str| {
        // Hardly any word begins a turn, so the turn is taken apart only behind one that does.
        turn.starts_with(plain[at].as_str())
            && turn.split(' ').enumerate().all(|(n, word)| plain.get(at + n).is_some_and(|w| w == word))
    };
    // `Sí` agrees, `si` sets a condition.
    let is_yes = |at: usize| text[found[at].start..found[at].end].to_lowercase() == "sí";
    let begins = |at: usize| {
        let first = at == 0;
        let anywhere = BEGIN.iter().find(|turn| stands(at, turn));
        let turn = anywhere.or_else(|| BEGIN_FIRST.iter().find(|turn| first && stands(at, turn) && !is_yes(at)))?;
        Some(at + turn.split(' ').count())
    };
    (0..found.len()).find_map(|at| {
        let from = begins(at)?;
        let inside = |next: &usize| {
            *next == from || !matches!(borders[*next], WordBorder::Clause | WordBorder::Sentence | WordBorder::Question)
        };
        let reach = (from..found.len().min(from + REACH)).take_while(inside);
        let end = reach.take_while(|at| !THEN.contains(&plain[*at].as_str())).last().map_or(from, |last| last + 1);
        let clause = plain.get(from..end).filter(|clause| clause.len() > 1)?;
        let numbered = found[from..end].iter().any(|word| word.text.starts_with(|c: char| c.is_ascii_digit()));
        if numbered && clause.iter().any(|word| COMPARES.contains(&word.as_str())) {
            return Some(shown(text, &found[at..end]));
        }
        let is_theirs = plain[at] == "if" && OWN.contains(&clause[0].as_str());
        let idle = is_theirs
            || IDLE_FIRST.contains(&clause[0].as_str())
            || clause.iter().any(|word| IDLE.contains(&word.as_str()));
        (!idle).then(|| shown(text, &found[at..end]))
    })
}

fn shown(text: &str, clause: &[Word]) -> String {
    let (first, last) = (clause.first().map_or(0, |word| word.start), clause.last().map_or(0, |word| word.end));
    clip(&text[first..last], MAX_SHOWN).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_on_a_condition_has_one() {
        for text in [
            "If the renewal is above 90 thousand, order the reports.",
            "Please order the reports once Ines has signed.",
            "If they come in over 95 thousand then pull the loss runs and shop me.",
            "Should it land above ninety thousand, order the reports.",
            "Order them as soon as Dana agrees.",
            "Si la renovación sale en más de 90 mil, pidan los reportes.",
            "Pidan los reportes en cuanto Inés haya firmado.",
            "Merci de commander les rapports dès que Inès aura signé.",
        ] {
            assert!(of_sentence(text).is_some(), "{text}");
        }
    }

    #[test]
    fn courtesies_are_no_conditions() {
        for text in [
            "Please order the reports as soon as possible.",
            "Order the reports, and call me if you have questions.",
            "If you need anything else, let me know.",
            "Can you order the reports if possible?",
            "Please order the reports so that once we have them the market can quote.",
            "Sí, por favor pidan los reportes.",
            "Si necesitan algo más, avísenme.",
            "Order them once a year.",
            "Please get the reports, if they are available.",
        ] {
            assert_eq!(of_sentence(text), None, "{text}");
        }
    }
}
