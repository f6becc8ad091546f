//! Names of people.

use kybern_core::list;

use super::{ReadValue, indent};

/// Words of a person's name.
const WORDS: std::ops::RangeInclusive<usize> = 2..=5;
/// Bytes of a person's name.
const MAX: usize = 60;
/// Parts of names that are written small.
const PARTICLES: [&str; 16] =
    ["de", "del", "la", "las", "los", "y", "van", "von", "der", "den", "da", "di", "du", "le", "al", "bin"];
/// Words that no person's name has.
const OTHERS: &[&str] = list!(
    "bank, savings, credit, union, finance, financial, leasing, county, department, dept, foods, supply, llc, inc, \
     corp, ltd, company, insurance, agency, transport, trucking, freight, logistics, carriers, services, class, \
     driver, license, number, date, name, status, active, none, state, phone, policy, unit, hauling, haulage, service, \
     lines, express, cartage, flatbed, delivery, brokerage, advisors, associates, group, manager, director, president, \
     schedule, record, list, partners, partnership, lease, leases, rentals, rental, haulers, holdings, enterprises, \
     trust"
);

/// A person's name: two to five words of letters. `LAST, First` is turned round.
pub(super) fn person(text: &str) -> Option<ReadValue> {
    let start = indent(text);
    let line = text[start..].split(['\n', '\t', '(', ';', '/', '|', ':']).next().unwrap_or_default();
    let line = line.split("  ").next().unwrap_or_default().split(" - ").next().unwrap_or_default();
    let mut line = line.trim_end();
    // What follows a name behind a comma is a role or a place, unless it is the name's other half.
    let (before, after) = line.split_once(',').map_or((line, None), |(before, after)| (before, Some(after)));
    let one = before.split_whitespace().count() == 1;
    if !one {
        line = before.trim_end();
    }
    let value = match after {
        Some(first) if one => {
            let first = first.split(',').next().unwrap_or_default();
            line = &line[..before.len() + 1 + first.len()];
            format!("{} {}", first.trim(), before.trim())
        }
        _ => line.to_owned(),
    };
    let words: Vec<&str> = value.split_whitespace().collect();
    let capital = words
        .iter()
        .all(|word| word.starts_with(char::is_uppercase) || PARTICLES.contains(&word.to_lowercase().as_str()));
    let letters = value.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | '\'' | '’' | '-'));
    let other = words.iter().any(|word| OTHERS.contains(&word.trim_end_matches('.').to_lowercase().as_str()));
    let fits = WORDS.contains(&words.len()) && capital && letters && !other && value.len() <= MAX;
    fits.then(|| ReadValue::new(words.join(" "), start, start + line.trim_end().len(), 0.95))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        person(text).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn names_of_people_are_read_in_either_order() {
        assert_eq!(value("Ada B. Example, Safety Director"), "Ada B. Example");
        assert_eq!(value("EXAMPLE, ADA"), "ADA EXAMPLE");
        assert_eq!(value("Ana de la Muestra (555-0100)"), "Ana de la Muestra");
        assert_eq!(value("Ada Example / ada@sample.example"), "Ada Example");
        for text in ["Sample Freight LLC", "Ada", "Class A", "03/01/2026", "one of ours", "Fern Hollow Lease Partners"]
        {
            assert_eq!(value(text), "", "{text}");
        }
    }
}
