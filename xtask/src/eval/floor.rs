//! How good understanding must stay.
//!
//! The rules give the same answer to the same mail, so no run is unlucky. The floor lies a few points beneath what was
//! seen, so that a change that trades a little of one for more of another is not held up.

use super::score::{Score, share};

/// How good the understanding of a set of mails must be, each as a share from 0 to 1.
pub(super) struct Floor {
    /// Of the intents that nobody is asked about, so many are right.
    intents: f64,
    /// Of the values that are claimed, so many are right.
    precision: f64,
    /// Of the values that stand there, so many are found.
    recall: f64,
    /// The mean of the mails' F1.
    mean_f1: f64,
    /// Of the loss-run requests that are expected, so many are made.
    requests: f64,
    /// Of the mails that a person must see, so many may pass unseen.
    missed: f64,
    /// Of all mails, so many may be shown to a person without need.
    needless: f64,
}

/// The sets whose mails may be looked at, by their folder, each with its floor. The rules were written with the first in
/// sight, and the others come from writers who knew nothing of the rules.
pub(super) const SETS: &[(&str, Floor)] = &[
    (
        super::SET,
        Floor {
            intents: 0.95,
            precision: 0.96,
            recall: 0.90,
            mean_f1: 0.75,
            requests: 0.85,
            missed: 0.10,
            needless: 0.10,
        },
    ),
    (
        "samples/understanding/second",
        Floor {
            intents: 0.95,
            precision: 0.96,
            recall: 0.85,
            mean_f1: 0.75,
            requests: 0.80,
            missed: 0.10,
            needless: 0.10,
        },
    ),
    (
        "samples/understanding/fourth",
        Floor {
            intents: 0.95,
            precision: 0.95,
            recall: 0.80,
            mean_f1: 0.75,
            requests: 0.60,
            missed: 0.15,
            needless: 0.10,
        },
    ),
    (
        "samples/understanding/fifth",
        Floor {
            intents: 0.95,
            precision: 0.95,
            recall: 0.80,
            mean_f1: 0.75,
            requests: 0.65,
            missed: 0.10,
            needless: 0.12,
        },
    ),
];

/// What is worse than it must be, a line each.
pub(super) fn beneath(score: &Score, floor: &Floor) -> Vec<String> {
    let requests = &score.requests;
    let mut beneath = Vec::new();
    let mut at_least = |what: &str, seen: Option<f64>, least: f64| {
        if seen.is_none_or(|seen| seen < least) {
            let seen = seen.map_or_else(|| "nothing".to_owned(), |seen| format!("{:.1} %", 100.0 * seen));
            beneath.push(format!("{what}: {seen}, and it must be {:.0} % at least", 100.0 * least));
        }
    };
    at_least("intents right where nobody was asked", share(score.right, score.decided), floor.intents);
    at_least("precision of fields", score.all.precision(), floor.precision);
    at_least("recall of fields", score.all.recall(), floor.recall);
    at_least("mean F1 of a mail", score.mean_f1(), floor.mean_f1);
    at_least("loss-run requests made", share(requests.made, requests.expected), floor.requests);
    let seen = share(score.reviews_needed - score.missed.len(), score.reviews_needed);
    at_least("needed reviews that were held", seen, 1.0 - floor.missed);
    let spared = share(score.mails - score.needless.len(), score.mails);
    at_least("mails without a needless review", spared, 1.0 - floor.needless);
    let unwanted = requests.unwanted.len() + requests.twice;
    if unwanted > 0 {
        beneath.push(format!("loss-run requests that nobody wanted, or twice: {unwanted}, and there must be none"));
    }
    beneath
}

#[cfg(test)]
mod tests {
    use super::super::score::Counts;
    use super::*;

    #[test]
    fn what_is_worse_than_it_must_be_is_named() {
        let mut score = Score::default();
        (score.mails, score.decided, score.right, score.reviews_needed) = (20, 20, 20, 10);
        score.all = Counts { wanted: 100, found: 90, claimed: 92, wrong: 1, traps: 0 };
        score.f1.push(0.8);
        (score.requests.expected, score.requests.made) = (10, 9);
        let floor = &SETS[0].1;
        assert_eq!(beneath(&score, floor), Vec::<String>::new());
        score.right = 18;
        score.all.wrong = 10;
        score.requests.twice = 1;
        let said = beneath(&score, floor);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("intents right where nobody was asked: 90.0 %"), "{said:?}");
        assert_eq!(beneath(&Score::default(), floor).len(), 7, "nothing is not good");
    }
}
