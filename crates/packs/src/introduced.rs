//! Whoever sends somebody else to us: `I have a buyer for you: Ada Example, Fern Hollow Hauling LLC, cell 512-555-0171`.
//!
//! Then the message is about the one company that it names besides the sender's own, and not about the sender's.

use kybern_core::model::ExtractedField;

use crate::company;
use crate::field::COMPANIES;

/// Turns by which somebody is sent to us.
const TURNS: [&str; 27] = [
    "buyer for you",
    "customer for you",
    "client for you",
    "lead for you",
    "prospect for you",
    "referral for you",
    "a referral",
    "i am referring",
    "i'm referring",
    "like to refer",
    "like to introduce",
    "client of mine",
    "customer of mine",
    "friend of mine",
    "one of my clients",
    "on behalf of",
    "our customer ",
    "our client ",
    "en nombre de",
    "de la part de",
    "told him about you",
    "told her about you",
    "told them about you",
    "reach out to him",
    "reach out to her",
    "cliente para ustedes",
    "un client pour vous",
];

/// Whether a message says so.
pub(crate) fn sends_somebody(body: &str) -> bool {
    let body = body.to_lowercase();
    TURNS.iter().any(|turn| body.contains(turn))
}

/// The only company with a legal form that a message names besides those who are `refused`, and where it stands.
pub(crate) fn only_other(fields: &[ExtractedField], refused: impl Fn(&str) -> bool) -> Option<(&str, &ExtractedField)> {
    let named = fields.iter().filter(|field| field.group.as_deref() == Some(COMPANIES) && field.name == "name");
    let mut others = named.filter_map(|field| Some((field.value.as_str()?, field))).filter(|(name, _)| !refused(name));
    let first = others.next()?;
    let same = |(name, _): (&str, _)| company::normal_name(name) == company::normal_name(first.0);
    others.all(same).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sends_somebody_says_so() {
        assert!(sends_somebody("Got a buyer for you. Please call her."));
        assert!(sends_somebody("He is a client of mine and needs cover."));
        assert!(sends_somebody("On behalf of Red Fox Haulers LLC, please order it."));
        assert!(!sends_somebody("A customer of ours wants our certificate."));
    }
}
