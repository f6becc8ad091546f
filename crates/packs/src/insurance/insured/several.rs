//! Whether a message and its papers are about several companies: then a person says which one is meant.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kybern_core::list;
use kybern_core::model::ExtractedField;

use super::super::policies;
use super::{FIELDS, SAID, SURE, said_in_message};
use crate::args::as_text;
use crate::field::COMPANIES;
use crate::reading::{MESSAGE_NUMBER, ReadDocument};
use crate::{company, named};

/// From this confidence on, a paper says plainly whom it insures.
const PLAIN: f64 = 0.92;

/// From this confidence on, a message names somebody behind a label: `loss runs for Fern Hollow LLC`.
const LED: f64 = 0.9;

/// Words of the names of insurers that no haulier has.
const INSURERS: [&str; 8] =
    ["insurance", "assurance", "casualty", "indemnity", "surety", "underwriters", "reinsurance", "lloyds"];

/// The companies that papers insure, that a message lists, that rows name, or for which it is signed, when they are
/// several.
pub(super) fn several(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    let ways = [of_papers, listed, in_rows, signed, spoken_of];
    ways.into_iter().map(|way| way(read, refused)).find(|names| !names.is_empty()).unwrap_or_default()
}

/// Whether a message has the number of a policy in its own words.
pub(super) fn numbers_policies(message: &ReadDocument) -> bool {
    !policies::number_places(message).is_empty()
}

/// Words of each of two names that the other has not, from which on a common word makes no company of them.
const APART: usize = 2;

/// Whether two names may be one company's: they share a word, and not each goes on with words of its own, as in
/// `Fern Bros. Aggregates` and `Fern Equipment Transport`.
pub(super) fn may_be_one(one: &[&str], other: &[&str]) -> bool {
    let beyond = |name: &[&str], other: &[&str]| name.iter().filter(|word| !other.contains(word)).count();
    let shared = one.len() > beyond(one, other);
    shared && (beyond(one, other) < APART || beyond(other, one) < APART)
}

/// Letters that may be wrong in a word.
const SLIPS: usize = 2;

/// Whether two names with their legal forms are two companies': each has words that the other has not. A word that is
/// only written otherwise, such as `Transp` or `Truckng`, is none.
fn are_two((one, words): (&str, &[&str]), (other, others): (&str, &[&str])) -> bool {
    let own = |words: &[&str], others: &[&str]| {
        let alike = |word: &str, other: &str| {
            let slip = word.len().min(other.len()) > 2 * SLIPS && strsim::osa_distance(word, other) <= SLIPS;
            slip || other.starts_with(word) || word.starts_with(other)
        };
        words.iter().any(|word| word.len() > SLIPS && !others.iter().any(|other| alike(word, other)))
    };
    [one, other].iter().all(|name| company::has_legal_form(name)) && own(words, others) && own(others, words)
}

/// The companies that papers with policies insure, when they cannot be one.
fn of_papers(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    let mut found: Vec<(String, String)> = Vec::new();
    // A message that names whom it is about with a DOT number is as plain as a paper.
    let numbered = said_in_message(read).is_some();
    let papers = read.iter().filter(|document| {
        document.n == MESSAGE_NUMBER && numbered
            || document.n > MESSAGE_NUMBER && !document.items("policies").is_empty()
    });
    for document in papers {
        let names = document.single().filter(|field| FIELDS[0].1.contains(&field.name.as_str()));
        let least = if document.n == MESSAGE_NUMBER { LED } else { PLAIN };
        let sure = names.filter(|field| field.confidence >= least).filter_map(|field| as_text(&field.value));
        for name in sure {
            let normal = company::normal_name(&name);
            let words: Vec<&str> = normal.split(' ').collect();
            let alike = |(known, other): &(String, String)| {
                let others: Vec<&str> = other.split(' ').collect();
                may_be_one(&words, &others) && !are_two((&name, &words), (known, &others))
            };
            if !refused.contains(&normal) && !found.iter().any(alike) {
                found.push((name, normal));
            }
        }
    }
    if found.len() > 1 { found.into_iter().map(|(name, _)| name).collect() } else { Vec::new() }
}

/// The companies that a message lists with a DOT number of its own each, when they are several.
fn listed(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    let Some(message) = read.iter().find(|document| document.n == MESSAGE_NUMBER) else { return Vec::new() };
    let text = message.text.full_text();
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for line in text.lines() {
        let mut numbers = SAID.groups(line).into_iter().filter_map(company::dot_number);
        let (Some(number), None) = (numbers.next(), numbers.next()) else { continue };
        let named = named::formed(line).find(|name| !refused.contains(&company::normal_name(name)));
        let Some(named) = named else { continue };
        if known.insert(number) {
            found.push(named);
        }
    }
    if found.len() > 1 { found } else { Vec::new() }
}

/// The companies that a line of a message names beside each other, as a signature does: `Fern Hollow LLC | Fern Lease Inc.`.
/// Where the message says behind a label which one it is about, that is it.
fn signed(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    let Some(message) = read.iter().find(|document| document.n == MESSAGE_NUMBER) else { return Vec::new() };
    if said_in_message(read).is_some()
        || message.single().any(|field| FIELDS[0].1.contains(&field.name.as_str()) && field.confidence >= LED)
    {
        return Vec::new();
    }
    let is_other = |name: &String| {
        let normal = company::normal_name(name);
        !refused.contains(&normal) && !normal.split(' ').any(|word| INSURERS.contains(&word))
    };
    let text = message.text.full_text();
    let beside = text.lines().filter(|line| line.contains('|')).map(|line| {
        let whole = |piece: &str| named::formed(piece).max_by_key(String::len).filter(is_other);
        let named: BTreeMap<String, String> =
            line.split('|').filter_map(whole).map(|name| (company::normal_name(&name), name)).collect();
        named.into_values().collect::<Vec<_>>()
    });
    beside.into_iter().find(|named| named.len() > 1).unwrap_or_default()
}

/// Turns by which a message speaks of several companies as one. `Our other company` is none: it may have its own insurance.
const PLURALS: &[&str] = list!(
    "both companies, both of our companies, both our companies, both of the companies, our two companies, \
     my two companies, all of our companies, each of our companies, nuestras dos empresas, las dos empresas, \
     nos deux compagnies"
);

/// The companies that a message names with their legal forms behind such a turn, within two lines, when they are several.
fn spoken_of(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    let Some(message) = read.iter().find(|document| document.n == MESSAGE_NUMBER) else { return Vec::new() };
    let text = message.text.full_text();
    let lines: Vec<&str> = text.lines().collect();
    let speaks = |line: &str| {
        let line = format!(" {} ", company::normal_name(line));
        PLURALS.iter().any(|turn| line.contains(&format!(" {turn} ")))
    };
    let at = lines.iter().position(|line| speaks(line));
    let behind = at.map_or(&[][..], |at| &lines[at..lines.len().min(at + 2)]);
    let named = behind.iter().flat_map(|line| named::formed(line)).filter(|name| {
        let normal = company::normal_name(name);
        let is_insurers = normal.split(' ').any(|word| INSURERS.contains(&word));
        !refused.contains(&normal) && !is_insurers && !company::is_office(name)
    });
    let found: BTreeMap<String, String> = named.map(|name| (company::normal_name(&name), name)).collect();
    // `Hollow LLC` is only the end of `Fern Hollow LLC`.
    let ends: HashSet<&str> =
        found.keys().flat_map(|name| name.match_indices(' ').map(|(at, _)| &name[at + 1..])).collect();
    let whole = found.iter().filter(|(normal, _)| !ends.contains(normal.as_str()));
    let whole: Vec<String> = whole.map(|(_, name)| name.clone()).collect();
    if whole.len() > 1 { whole } else { Vec::new() }
}

/// The company that a message is about, where that is another one than the papers name: that of whoever writes and numbers
/// a policy, or one behind a label.
pub(super) fn own_company(read: &[ReadDocument], papers: &str, refused: &[String]) -> Option<String> {
    let message = read.iter().find(|document| document.n == MESSAGE_NUMBER)?;
    let papers = company::normal_name(papers);
    let papers: Vec<&str> = papers.split(' ').collect();
    let names = message.single().filter(|field| FIELDS[0].1.contains(&field.name.as_str()) && field.confidence >= SURE);
    let numbers = numbers_policies(message);
    // `Loss runs for Fern Hollow LLC` is about that company, whatever paper comes along.
    let is_plain = |field: &&ExtractedField| {
        let name = as_text(&field.value).unwrap_or_default();
        numbers || field.confidence >= LED && company::has_legal_form(&name)
    };
    let mut others = names.filter(is_plain).filter_map(|field| as_text(&field.value)).filter(|name| {
        let normal = company::normal_name(name);
        !refused.contains(&normal) && !may_be_one(&papers, &normal.split(' ').collect::<Vec<_>>())
    });
    others.next()
}

/// The companies with a legal form that a list names in the rows of its policies, one in each, when they are several.
fn in_rows(read: &[ReadDocument], refused: &[String]) -> Vec<String> {
    read.iter().map(|document| rows_of(document, refused)).find(|names| names.len() > 1).unwrap_or_default()
}

fn rows_of(document: &ReadDocument, refused: &[String]) -> Vec<String> {
    let of = |group: &'static str, name: &'static str| {
        let fields = document.extraction.fields.iter();
        let fields = fields.filter(move |field| field.group.as_deref() == Some(group) && field.name == name);
        fields.filter_map(|field| Some(((field.source.page, field.source.start), as_text(&field.value)?)))
    };
    let insurers: HashSet<String> = of("policies", "insurer").map(|(_, name)| company::normal_name(&name)).collect();
    let companies: BTreeMap<(u32, usize), String> = of(COMPANIES, "name").collect();
    let numbers: BTreeSet<(u32, usize)> =
        policies::number_places(document).iter().map(|(source, _)| (source.page, source.start)).collect();
    let is_insured = |name: &&String| {
        let normal = company::normal_name(name);
        let is_insurers = normal.split(' ').any(|word| INSURERS.contains(&word)) || insurers.contains(&normal);
        !refused.contains(&normal) && !is_insurers
    };
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for page in &document.text.pages {
        let mut at = 0;
        for line in page.text.split_inclusive('\n') {
            let row = (page.number, at)..(page.number, at + line.len());
            at += line.len();
            if numbers.range(row.clone()).next().is_none() {
                continue;
            }
            let mut named = companies.range(row).map(|(_, name)| name).filter(is_insured);
            let (Some(name), None) = (named.next(), named.next()) else { continue };
            if known.insert(company::normal_name(name)) {
                found.push(name.clone());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kybern_testkit::growth;

    use super::*;
    use crate::reading::as_document;
    use crate::tests::listing;

    fn message(text: String) -> ReadDocument {
        ReadDocument { n: MESSAGE_NUMBER, text: Arc::new(as_document(text)), ..listing(0, |_| Vec::new()) }
    }

    #[test]
    fn companies_without_an_end_take_no_more_than_their_share() {
        let row = |n: usize| {
            vec![
                ("policies", "policy_number", format!("CP-{n}")),
                (COMPANIES, "name", format!("Fern {} Hauling", n % 400)),
            ]
        };
        assert_eq!(in_rows(&[listing(3, row)], &[]).len(), 3);
        assert!(growth(200, |rows| drop(in_rows(&[listing(rows, row)], &[]))) < 24.0);
        let numbered = |count: usize| {
            let lines = (0..count).map(|n| format!("Fern {n} Hauling LLC, DOT {}\n", 9_000_000 + n));
            listed(&[message(lines.collect())], &[]).len()
        };
        assert_eq!(numbered(3), 3);
        assert!(growth(200, |count| assert!(numbered(count) > 0)) < 24.0);
        let spoken = |count: usize| {
            let names = (0..count).map(|n| format!("Fern {n} Hauling LLC, Hauling LLC, "));
            spoken_of(&[message(format!("Both companies, {}", names.collect::<String>()))], &[])
        };
        assert_eq!(spoken(2), ["Fern 0 Hauling LLC", "Fern 1 Hauling LLC"]);
        assert!(growth(100, |count| assert!(!spoken(count).is_empty())) < 24.0);
    }
}
