//! What a sentence says about a company: a name that ends in a legal form, numbers after their abbreviation, a state
//! behind a comma. For messages that have no labels.

use crate::pattern::Pattern;
use crate::{company, contact};

/// Capitalised words, and then a legal form.
static COMPANY: Pattern = Pattern::new(
    r"((?:[\p{Lu}\d][\p{L}\d&'’.\-]*[ \t]+){1,6}(?:LLC|L\.L\.C\.|Inc\b\.?|Incorporated|Corp\b\.?|Corporation|Ltd\b\.?|LLP|LP|Company)\b)",
);
static DOT: Pattern = Pattern::new(r"(?i)\b(?:US[ -]?)?DOT(?:[ \t]*(?:number|no\.?|num\.?|#|is))*[ \t:#]*(\d{4,8})\b");
static MC: Pattern = Pattern::new(r"(?i)\bMC(?:[ \t]*(?:number|no\.?|num\.?|#|is))*[ \t:#\-]*(\d{4,8})\b");
static EMAIL: Pattern = Pattern::new(r"([A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+\.[A-Za-z]{2,})");
static PHONE: Pattern = Pattern::new(r"((?:\+?1[ .\-]?)?\(?\d{3}\)?[ .\-]?\d{3}[ .\-]\d{4})\b");

/// Capitalised words that begin sentences rather than names.
const NOT_A_NAME: &[&str] = &[
    "a", "an", "at", "company", "dear", "for", "from", "hello", "hi", "insured", "need", "new", "of", "our", "please",
    "quote", "the", "this", "to", "we", "with", "i", "my", "and", "no", "any", "your", "without",
];

/// The first company that is named and is not `us`.
pub(super) fn company(text: &str, us: &str) -> Option<String> {
    let us = company::normal_name(us);
    COMPANY.groups(text).into_iter().map(without_first_words).find(|name| {
        let normal = company::normal_name(name);
        let none = name.split_once(' ').is_none_or(|(first, rest)| !rest.contains(' ') && begins_sentence(first));
        company::has_legal_form(name) && !none && !normal.is_empty() && normal != us
    })
}

/// The first DOT number.
pub(super) fn dot_number(text: &str) -> Option<String> {
    DOT.group(text).and_then(company::dot_number)
}

/// The first motor carrier number.
pub(super) fn mc_number(text: &str) -> Option<String> {
    MC.group(text).and_then(company::mc_number)
}

/// The first e-mail address.
pub(super) fn email(text: &str) -> Option<String> {
    EMAIL.group(text).and_then(contact::email)
}

/// The first telephone number.
pub(super) fn phone(text: &str) -> Option<String> {
    PHONE.group(text).and_then(contact::phone)
}

fn without_first_words(name: &str) -> String {
    let mut words: Vec<&str> = name.split_whitespace().collect();
    while words.len() > 2 && words.first().is_some_and(|word| begins_sentence(word)) {
        words.remove(0);
    }
    words.join(" ")
}

fn begins_sentence(word: &str) -> bool {
    NOT_A_NAME.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMS: &str = "Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX. 3 trucks, auto liability and cargo.";

    #[test]
    fn every_pattern_compiles() {
        assert!([&COMPANY, &DOT, &MC, &EMAIL, &PHONE].iter().all(|pattern| pattern.is_sound()));
    }

    #[test]
    fn a_sentence_says_who_it_is() {
        assert_eq!(company(SMS, "").as_deref(), Some("Dry Creek Hauling LLC"));
        assert_eq!(dot_number(SMS).as_deref(), Some("9228815"));
        assert_eq!(mc_number("our MC# is MC-1920115"), Some("1920115".to_owned()));
        assert_eq!(phone("call (229) 555-0136 today").as_deref(), Some("2295550136"));
    }

    #[test]
    fn the_tenant_itself_and_sentences_are_no_company() {
        let text = "Dear Ironwood Lane Insurance Agency LLC,\nThe Pecan Shoals Trucking LLC needs a quote.";
        assert_eq!(company(text, "Ironwood Lane Insurance Agency").as_deref(), Some("Pecan Shoals Trucking LLC"));
        assert_eq!(company("We need a quote for our trucks", ""), None);
        assert_eq!(company("Starting out alone. No LLC or DOT yet, and My Company is only a plan.", ""), None);
    }
}
