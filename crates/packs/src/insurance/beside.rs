//! Which insurer a policy number belongs to in a text that names several: the one in its sentence.
//!
//! `Liability is with Harrow, LC-1, and cargo with Brindle, BB-2` names each insurer before its number, `LC-1 and LC-2 are
//! with Harrow, BB-3 is with Brindle` behind it. Where neither reading holds throughout a sentence, nobody knows. Of a
//! number whose sentence names none, it is the only one that its paragraph has named before: `Harrow insures the trucks.
//! The present policy is LC-1`.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use kybern_core::id::RecordId;
use kybern_core::list;

use super::insurers::{Names, only};
use super::policies::number_places;
use super::schema::TERMS;
use crate::company;
use crate::contact::STATES;
use crate::pattern::Pattern;
use crate::reading::{MESSAGE_NUMBER, ReadDocument};

/// Letters that an abbreviation such as `Co.` or `no.` may have.
const ABBREVIATED: usize = 3;

/// What is written like a policy's number: capitals, then digits, perhaps in groups, or digits, a dash, capitals, a dash
/// and digits. A short piece of both may stand before it.
static WRITTEN: Pattern = Pattern::new(
    r"(?:^|[\s(#:,/])((?:[A-Z]{1,4}[0-9]{1,2} )?[A-Z]{2,6}(?:[-/][A-Z]{1,4})?[-/ ]?[0-9][0-9A-Z]*(?:[-/][0-9A-Z]+)*|[0-9]{1,4}-[A-Z]{1,5}-[0-9]{4}[0-9A-Z]*)",
);
/// Digits of such a number.
const LEAST_DIGITS: usize = 4;
/// Letters before a number that say what else it is.
const OTHERS: [&str; 13] = ["DOT", "USDOT", "MC", "MX", "FF", "NAIC", "CDL", "VIN", "PO", "FEIN", "EIN", "UNIT", "FY"];
/// Months, between the digits of a day.
const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
/// Words before a number that say what else it is.
const OTHER_WORDS: &[&str] = list!(
    "claim, file, invoice, load, order, unit, quote, case, license, licence, truck, tractor, trailer, vehicle, plate, \
     tag, serial, ref, reference, acct, phone, tel, siniestro, sinistre"
);

/// Words by which a sentence speaks of policies, or of what is wanted of them.
const SPEAKS: &[&str] = list!(
    "policy, policies, pol, loss, losses, lrs, runs, claims, experience, póliza, pólizas, poliza, polizas, police, \
     siniestros, sinistres"
);
/// Words before a number of a list.
const MAX_LISTED: usize = 2;
/// Bytes before a sentence in which its paragraph is looked at.
const MAX_BEFORE: usize = 1024;

/// A policy number of a document with the insurer that is named beside it.
pub(super) struct PolicyInsurer {
    /// As it is written.
    pub(super) number: String,
    pub(super) insurer: RecordId,
    /// Whether nothing but the insurer beside it says that it is a policy's number.
    pub(super) is_loose: bool,
    /// Whether the insurer is named in its sentence, and not only before it in its paragraph.
    pub(super) in_sentence: bool,
}

/// Where numbers stand that nothing in a text calls a policy's number and that are written like one.
fn loose(text: &str) -> impl Iterator<Item = (usize, usize)> {
    WRITTEN.spans(text).into_iter().filter(|(start, end)| {
        let number = &text[*start..*end];
        let letters = number.split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or_default();
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        // `TX 76701` is a place and `OCT 2026` a month.
        let spaced = number[letters.len()..].starts_with(' ');
        let rest = number[letters.len()..].trim_start();
        let is_year = rest.len() == 4 && (rest.starts_with("19") || rest.starts_with("20"));
        let before = text[..*start].trim_end_matches(|c: char| !c.is_alphabetic());
        let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
        // `12-JAN-2026` is a day.
        let inner = number.split('-').nth(1).filter(|_| letters.is_empty());
        let is_day = inner.is_some_and(|inner| MONTHS.contains(&inner));
        let elsewhere = text[*end..].starts_with(|c: char| c.is_alphanumeric() || c == '@');
        digits >= LEAST_DIGITS
            && !elsewhere
            && !is_day
            && !OTHERS.contains(&letters)
            && !OTHER_WORDS.contains(&word.as_str())
            && !(spaced && (is_year || STATES.contains(&letters)))
    })
}

/// The policy numbers of a document with the insurers that are named beside them. In a message a number counts that
/// nobody calls one, too: `we are with Harrow, HPM93318`.
pub(super) fn named_beside(names: &Names, document: &ReadDocument) -> Vec<PolicyInsurer> {
    let mut found = Vec::new();
    let all = number_places(document);
    for page in &document.text.pages {
        let mut numbers: Vec<(usize, usize, bool, &str)> = Vec::new();
        for (source, number) in all.iter().filter(|(source, _)| source.page == page.number) {
            if page.text.get(source.start..source.end).is_some() {
                numbers.push((source.start, source.end, false, number));
            }
        }
        if document.n == MESSAGE_NUMBER {
            numbers.extend(loose(&page.text).map(|(start, end)| (start, end, true, &page.text[start..end])));
        }
        // Of two that overlap the one that was read as a policy's number counts.
        numbers.sort_unstable_by_key(|(start, _, is_loose, _)| (*start, *is_loose));
        // Where each begins that was read, and how far those reach that begin no later.
        let mut reach = 0;
        let read = numbers.iter().filter(|number| !number.2).map(|number| {
            reach = reach.max(number.1);
            (number.0, reach)
        });
        let read: Vec<(usize, usize)> = read.collect();
        let overlaps = |start: usize, end: usize| {
            let before = read.partition_point(|(from, _)| *from < end);
            before.checked_sub(1).and_then(|last| read.get(last)).is_some_and(|(_, reach)| *reach > start)
        };
        numbers.retain(|(start, end, is_loose, _)| !is_loose || !overlaps(*start, *end));
        numbers.dedup_by(|second, first| second.0 < first.1);
        let sole = LazyCell::new(|| only(&names.all_in(&page.text)));
        let forms: HashSet<String> = numbers.iter().filter(|number| !number.2).map(|number| form(number.3)).collect();
        for (from, to) in sentences(&page.text) {
            let begin = |at: usize| numbers.partition_point(|number| number.0 < at);
            let within: Vec<_> =
                numbers[begin(from)..begin(to)].iter().filter(|number| number.1 <= to).copied().collect();
            if !within.is_empty() {
                // What is written just like a policy's number of this text is one: `sorry, it is BA4402178`.
                let alike = within.iter().all(|number| number.2 && forms.contains(&form(number.3)));
                found.extend(in_sentence(names, &page.text, (from, to), (&within, alike), || *sole));
            }
        }
    }
    found
}

/// The numbers of a sentence, each with where it stands and whether it is loose, with their insurers; `sole` is the only
/// one that the whole text names, and `alike` says that they are written like others that are known.
fn in_sentence(
    names: &Names,
    text: &str,
    (from, to): (usize, usize),
    (within, alike): (&[(usize, usize, bool, &str)], bool),
    sole: impl Fn() -> Option<RecordId>,
) -> Vec<PolicyInsurer> {
    let mut at = from;
    let mut between = Vec::new();
    for end in within.iter().map(|number| number.0).chain([to]) {
        between.push(names.in_order(&text[at..end]));
        at = within.get(between.len() - 1).map_or(to, |number| number.1);
    }
    let in_sentence = between.iter().any(|named| !named.is_empty());
    let listed = !in_sentence && (alike || within.iter().all(|(start, end, ..)| is_listed(text, *start, *end)));
    if listed {
        // The only insurer that a letter names is that of the numbers that it lists.
        between[0] = sole().into_iter().collect();
    }
    let stand_between = between.first().is_some_and(Vec::is_empty) && between.last().is_some_and(Vec::is_empty);
    if stand_between {
        // What the paragraph has named before may go on: `We were with Harrow. LC-1, and then BB-2 of Brindle`.
        let first = within.first().map_or(from, |number| number.0);
        let before = names.all_in(&text[paragraph_of(text, first)..first]);
        between[0] = only(&before).into_iter().collect();
    }
    let speaks = in_sentence || listed || speaks_of_policies(&text[from..to], from, within);
    let pairs = within.iter().zip(owners(&between));
    let found = pairs.filter_map(|((_, _, is_loose, number), owner)| {
        let insurer = owner.filter(|_| speaks || !is_loose)?;
        Some(PolicyInsurer { number: (*number).to_owned(), insurer, is_loose: *is_loose, in_sentence })
    });
    found.collect()
}

/// Whether a number is all that its line says, but for a few words before it: `last year  LC-77812-A`, or a line of
/// coverage behind it.
fn is_listed(text: &str, start: usize, end: usize) -> bool {
    let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = text[end..].split('\n').next().unwrap_or_default();
    let words = text[from..start].split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    // A full stop ends a sentence, and no line of a list.
    let ends = !rest.contains(|c: char| c.is_alphanumeric() || c == '.');
    words == 0 && is_coverage(rest) || ends && words <= MAX_LISTED
}

/// Words behind a line of coverage that still belong to it: `responsabilidad civil de auto`. Longer texts are none.
const MAX_MORE: usize = 2;
const MAX_COVERAGE: usize = 80;

/// The phrases for lines of coverage, as names are compared.
static COVERAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let phrases = TERMS.iter().filter_map(|term| term.split_once('=')).filter(|(_, line)| !line.is_empty());
    phrases.map(|(phrase, _)| company::normal_name(phrase.trim_end_matches('?'))).collect()
});

/// Whether a text only names a line of coverage.
fn is_coverage(text: &str) -> bool {
    if text.len() > MAX_COVERAGE {
        return false;
    }
    let text = company::normal_name(text);
    COVERAGES.iter().any(|phrase| {
        let rest = text.strip_prefix(phrase.as_str()).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        rest.is_some_and(|rest| rest.split_whitespace().count() <= MAX_MORE)
    })
}

/// The form of a number: `AA9999999` of `BA4402178`.
fn form(number: &str) -> String {
    let alike = |c: char| match c {
        '0'..='9' => '9',
        'A'..='Z' => 'A',
        other => other,
    };
    number.chars().map(alike).collect()
}

/// Whether a sentence that names no insurer speaks of policies or of what is wanted of them, or says nothing but numbers.
fn speaks_of_policies(sentence: &str, from: usize, within: &[(usize, usize, bool, &str)]) -> bool {
    let is_number = |at: usize| {
        let begun = within.partition_point(|(start, ..)| *start <= from + at);
        begun.checked_sub(1).is_some_and(|last| from + at < within[last].1)
    };
    let mut says = false;
    let mut at = 0;
    for word in sentence.split(|c: char| !c.is_alphanumeric()) {
        let is_word = !is_number(at) && word.chars().any(char::is_alphabetic);
        if is_word && SPEAKS.contains(&word.to_lowercase().as_str()) {
            return true;
        }
        says |= is_word;
        at += word.len();
        at += sentence[at..].chars().next().map_or(0, char::len_utf8);
    }
    !says
}

/// Where the paragraph of a place begins, or what of it is looked at.
fn paragraph_of(text: &str, at: usize) -> usize {
    let mut start = text.ceil_char_boundary(at.saturating_sub(MAX_BEFORE));
    let mut end = start;
    for line in text[start..at].split_inclusive('\n') {
        end += line.len();
        if line.ends_with('\n') && line.trim().is_empty() {
            start = end;
        }
    }
    start
}

/// Whose each number is, from the insurers that are named before, between and behind the numbers.
fn owners(between: &[Vec<RecordId>]) -> Vec<Option<RecordId>> {
    let count = between.len() - 1;
    let only_of = |named: &[RecordId]| only(&named.iter().copied().collect());
    if let Some(one) = only_of(&between.concat()) {
        return vec![Some(one); count];
    }
    // As many insurers as numbers behind them: the first has the first.
    if between[0].len() == count && between[1..].iter().all(Vec::is_empty) {
        return between[0].iter().copied().map(Some).collect();
    }
    if between.iter().any(|named| only_of(named).is_none() && !named.is_empty()) {
        return vec![None; count];
    }
    // Each number has the insurer that was named last, or the one that is named next.
    let mut last = None;
    let follow = |named: &Vec<RecordId>| {
        last = only_of(named).or(last);
        last
    };
    match (between[0].is_empty(), between[count].is_empty()) {
        (false, true) => between[..count].iter().map(follow).collect(),
        (true, false) => {
            let mut next: Vec<_> = between[1..].iter().rev().map(follow).collect();
            next.reverse();
            next
        }
        _ => vec![None; count],
    }
}

/// Where the sentences of a text begin and end. An empty line ends one, a line's end does not: mail is wrapped.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut word = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            ';' => true,
            '\n' => rest.lines().next().is_some_and(|line| line.trim().is_empty()),
            '.' | '!' | '?' => {
                let follows = rest.trim_start().chars().next();
                (c != '.' || !(1..=ABBREVIATED).contains(&word))
                    && rest.starts_with(char::is_whitespace)
                    && follows.is_none_or(|next| next.is_uppercase() || next.is_numeric())
            }
            _ => false,
        };
        word = if c.is_alphabetic() { word + 1 } else { 0 };
        if ends {
            found.push((from, at));
            from = at + c.len_utf8();
        }
    }
    found.push((from, text.len()));
    found
}

#[cfg(test)]
mod tests;
