//! Companies' names and numbers in the form in which they are compared. Two spellings of one company meet here, and
//! nowhere else, so that every pack finds the same entity.

use kybern_core::list;
use kybern_core::record::Record;

use crate::args::{objects, text};

/// Words for firms that write for others.
pub(crate) const FIRMS: [&str; 9] =
    ["accountants", "cpa", "cpas", "attorneys", "solicitors", "contadores", "abogados", "comptables", "avocats"];

/// Words of companies that write for an insured and are none.
pub(crate) const OFFICES: &[&str] = list!(
    "insurance, assurance, assurances, seguros, underwriters, adjusters, adjusting, claims, brokerage, brokers, \
     agency, agents, courtiers, courtage, courtier, corredores, correduría, correduria, corretaje, underwriting, \
     wholesale"
);

/// Legal forms that say nothing about which company it is.
const LEGAL_FORMS: &[&str] =
    list!("llc, inc, incorporated, co, company, corp, corporation, ltd, limited, lp, llp, pllc, plc");

/// Words that are written in two ways.
const SAME_WORD: &[(&str, &str)] = &[
    ("ins", "insurance"),
    ("assn", "association"),
    ("bros", "brothers"),
    ("intl", "international"),
    ("natl", "national"),
];

/// Words that tell what a company does and not which one it is.
pub(crate) const TRADE_WORDS: &[&str] = list!(
    "and, carrier, carriers, cartage, delivery, enterprise, enterprises, express, fleet, freight, freightlines, group, \
     hauler, haulers, hauling, haulage, holdings, leasing, line, lines, logistics, motor, of, refrigerated, services, \
     service, solutions, systems, transit, transport, transportation, transports, transportes, transporte, truck, \
     truckers, trucking, trucklines, trucks, y"
);

/// The name as it is compared: lower case, no accents, no punctuation, no legal form at the end.
pub(crate) fn normal_name(name: &str) -> String {
    if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()) {
        // One word, as in most calls.
        return usual_word(&name.to_ascii_lowercase()).to_owned();
    }
    // Dots and apostrophes join (`L.L.C.`, `Joe's`), everything else separates.
    let mut spaced = String::with_capacity(name.len() + 8);
    for letter in name.chars().flat_map(plain_letter) {
        match letter {
            '.' | '\'' | '’' => {}
            '&' => spaced.push_str(" and "),
            other => spaced.push(other),
        }
    }
    let mut words: Vec<&str> = spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > 1 && words.first() == Some(&"the") {
        words.remove(0);
    }
    while words.len() > 1 && words.last().is_some_and(|word| LEGAL_FORMS.contains(word)) {
        words.pop();
    }
    words.iter().map(|word| usual_word(word)).collect::<Vec<_>>().join(" ")
}

fn usual_word(word: &str) -> &str {
    SAME_WORD.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| *long)
}

/// Whether the name ends in a legal form.
pub(crate) fn has_legal_form(name: &str) -> bool {
    let last = name.split_whitespace().last().unwrap_or_default().replace(['.', ','], "").to_lowercase();
    LEGAL_FORMS.contains(&last.as_str())
}

/// Whether a name has a word by which those who place insurance, and insurers, are known.
pub(crate) fn is_office(name: &str) -> bool {
    normal_name(name).split(' ').any(|word| OFFICES.contains(&word) || FIRMS.contains(&word))
}

/// A DOT number as digits without leading zeros; `None` when there are none, or more than eight.
pub(crate) fn dot_number(text: &str) -> Option<String> {
    digits(text, 1..=8)
}

/// A motor carrier number as digits, without `MC` and leading zeros.
pub(crate) fn mc_number(text: &str) -> Option<String> {
    digits(text, 1..=8)
}

/// An insurer's NAIC code: five digits, with leading zeros.
pub(crate) fn naic(text: &str) -> Option<String> {
    digits(text, 1..=5).map(|code| format!("{code:0>5}"))
}

/// A policy number as it is compared: letters and digits only, upper case.
pub(crate) fn policy_number(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// The number of that kind, DOT, MC or NAIC, under which a record knows a company.
pub(crate) fn recorded_number(company: &Record, kind: &str) -> Option<String> {
    let identifiers = objects(&company.props, "identifiers");
    let found = identifiers.iter().find(|identifier| text(identifier, "type").as_deref() == Some(kind))?;
    text(found, "value")
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<String> {
    let all: String = text.chars().filter(char::is_ascii_digit).collect();
    let bare = all.trim_start_matches('0');
    length.contains(&bare.len()).then(|| bare.to_owned())
}

/// A letter in lower case and without its accent, as far as names of companies here need it.
fn plain_letter(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' => 'c',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_company_meet() {
        for name in ["Juniper Flats Transport LLC", "JUNIPER FLATS TRANSPORT, L.L.C.", " juniper  flats transport "] {
            assert_eq!(normal_name(name), "juniper flats transport");
        }
        assert_eq!(normal_name("Côte Blanche Carriers LLC"), normal_name("Cote Blanche Carriers"));
        assert_eq!(normal_name("Northfield Ridge Ins. Co."), normal_name("Northfield Ridge Insurance Company"));
        assert_eq!(normal_name("The Company"), "company");
    }

    #[test]
    fn numbers_lose_what_is_no_part_of_them() {
        assert_eq!(mc_number("MC-0191832").as_deref(), Some("191832"));
        assert_eq!(dot_number("USDOT 9104417").as_deref(), Some("9104417"));
        assert_eq!(dot_number("none"), None);
        assert_eq!(dot_number("000"), None);
        assert_eq!(naic("1234").as_deref(), Some("01234"));
        assert_eq!(policy_number("bha 40-118265"), "BHA40118265");
    }
}
