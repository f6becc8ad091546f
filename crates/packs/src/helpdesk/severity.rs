//! How severe a ticket is: a pure rule over its words, what its requester says of it, and what else of theirs is open.

use kybern_core::list;

kybern_core::named! {
    /// How severe, the least first.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Severity {
        Low = "low",
        Normal = "normal",
        High = "high",
        Critical = "critical",
    }
}

/// Everybody is hit, something is lost, or somebody broke in.
const CRITICAL: &[&str] = list!(
    "outage, nobody can, no one can, none of us can, everybody is, everyone is, whole office, whole company, all users, \
     production is down, system is down, data loss, lost data, data is gone, breach, hacked, ransomware, malware, virus"
);
/// Somebody cannot work, or it will not keep.
const HIGH: &[&str] = list!(
    "urgent, urgently, asap, immediately, cannot work, can t work, blocked, locked out, is down, deadline, customers are \
     waiting, phishing"
);
/// It will keep.
const CALM: &[&str] = list!("not urgent, no rush, no hurry, whenever you can, when you have time, low priority");
/// Words of a requester's own choice, as forms offer them.
const SAID_HIGH: &[&str] = list!("high, urgent, critical, highest, 1, p1, emergency");
const SAID_LOW: &[&str] = list!("low, lowest, minor, 4, p4");

/// So many other open tickets of one requester in one category raise the next one by a step.
pub(super) const MANY_OPEN: usize = 2;

impl Severity {
    fn raised(self) -> Self {
        match self {
            Self::Low => Self::Normal,
            Self::Normal => Self::High,
            Self::High | Self::Critical => Self::Critical,
        }
    }
}

/// What the rule goes by.
pub(super) struct TicketFacts<'a> {
    pub(super) category: &'a str,
    /// Subject and text.
    pub(super) words: &'a str,
    /// What the requester says under a label such as `Priority`.
    pub(super) said: Option<&'a str>,
    /// Other open tickets of the requester in that category.
    pub(super) others_open: usize,
}

/// How severe it is, and why. What a requester says raises to high at most: only the words make it critical.
pub(super) fn severity(facts: &TicketFacts<'_>) -> (Severity, Vec<String>) {
    let words = plain(facts.words);
    let said = facts.said.map(|said| plain(said).trim().to_owned()).unwrap_or_default();
    let has = |phrases: &[&'static str]| phrases.iter().find(|phrase| words.contains(&format!(" {phrase} "))).copied();
    let says = |choices: &[&str]| choices.contains(&said.as_str());
    let first = if facts.category == "incident" { Severity::Normal } else { Severity::Low };
    let mut reasons = vec![format!("category {}", facts.category)];
    let mut severity = first;
    // "Not urgent" holds the word that it denies.
    if let Some(calm) = has(CALM) {
        reasons.push(format!("the message says {calm:?}"));
        severity = Severity::Low;
    } else if let Some(high) = has(HIGH) {
        reasons.push(format!("the message says {high:?}"));
        severity = Severity::High;
    } else if says(SAID_LOW) {
        reasons.push("the requester calls it low".to_owned());
        severity = Severity::Low;
    }
    if says(SAID_HIGH) {
        reasons.push("the requester calls it high".to_owned());
        severity = severity.max(Severity::High);
    }
    if let Some(critical) = has(CRITICAL).filter(|_| facts.category == "incident") {
        reasons.push(format!("the message says {critical:?}"));
        severity = Severity::Critical;
    }
    if facts.others_open >= MANY_OPEN {
        reasons.push(format!("{} other open tickets of this requester", facts.others_open));
        severity = severity.raised();
    }
    (severity, reasons)
}

/// The words in small letters with one space around each.
fn plain(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words: Vec<String> = spaced.split_whitespace().map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(category: &str, words: &str, said: Option<&str>, others_open: usize) -> Severity {
        severity(&TicketFacts { category, words, said, others_open }).0
    }

    #[test]
    fn words_say_how_severe_an_incident_is() {
        for (words, expected) in [
            ("The printer jams.", Severity::Normal),
            ("It is not urgent, but the printer jams", Severity::Low),
            ("I am locked out and can't work", Severity::High),
            ("Nobody can open the booking system", Severity::Critical),
            ("We have an outrageous printer", Severity::Normal),
        ] {
            assert_eq!(of("incident", words, None, 0), expected, "{words}");
        }
    }

    #[test]
    fn a_requester_raises_to_high_at_most_and_a_question_is_never_critical_by_its_words() {
        assert_eq!(of("incident", "The printer jams", Some("P1"), 0), Severity::High);
        assert_eq!(of("question", "What do we do in an outage?", None, 0), Severity::Low);
        assert_eq!(of("incident", "The printer jams", Some("low"), 0), Severity::Low);
    }

    #[test]
    fn whoever_has_several_open_tickets_goes_up_a_step() {
        assert_eq!(of("incident", "The printer jams", None, MANY_OPEN - 1), Severity::Normal);
        assert_eq!(of("incident", "The printer jams", None, MANY_OPEN), Severity::High);
        assert_eq!(of("incident", "an outage", None, 9), Severity::Critical);
    }
}
