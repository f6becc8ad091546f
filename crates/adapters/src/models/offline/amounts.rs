//! Amounts of money beside the term that they belong to: the limit and the deductible of a line of coverage.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::labels::Labels;
use super::layout::Line;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// Amounts of one line that are looked at.
const MAX_AMOUNTS: usize = 12;
/// Bytes behind a term in which amounts are looked for.
const MAX_BESIDE: usize = 400;
/// Bytes on either side of an amount in which a word says what it is.
const BESIDE: usize = 32;
/// Words between an amount and the term that it is the limit of.
const LEADS_ON: [&str; 7] = ["", "of", "in", "for", "de", "d'", "en"];
/// Smaller amounts are counts, percentages or years.
const LEAST: i64 = 100 * 1_000_000_000;

/// The first amount in a text.
pub(super) fn first(text: &str) -> Option<ReadValue> {
    all(clip(text, MAX_BESIDE)).into_iter().next()
}

/// Whether a text is an amount and nothing else, but for a word that leads on from it.
pub(super) fn is_one(text: &str) -> bool {
    one(text).is_some()
}

fn one(text: &str) -> Option<ReadValue> {
    let read = all(clip(text, MAX_BESIDE)).into_iter().next()?;
    let rest = text.get(read.end..)?.trim();
    (text[..read.start].trim().is_empty() && LEADS_ON.contains(&rest)).then_some(read)
}

/// Every amount in a text: with a sign or name of a currency, or with commas.
fn all(text: &str) -> Vec<ReadValue> {
    let mut found: Vec<ReadValue> = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let begins = (letter == '$' || letter.is_ascii_digit())
            && !before.is_alphanumeric()
            && !matches!(before, '-' | '/' | '.' | ',' | '$' | '#' | ':')
            || letter == '$' && before != '$';
        before = letter;
        if !begins || found.last().is_some_and(|last| last.end > at) || found.len() >= MAX_AMOUNTS {
            continue;
        }
        let Some(mut read) = values::read(ValueKind::Money, &text[at..]) else { continue };
        let currency = values::currency_before(&text[..at], &text[at..]);
        if let Some(currency) = currency {
            read = values::in_currency(read, currency);
        }
        let is_amount = currency.is_some() || values::is_marked(&text[at..at + read.end]);
        if is_amount && read.value.as_i64().is_some_and(|nanos| nanos >= LEAST) {
            found.push(read.moved(at));
        }
    }
    found
}

/// Adds the amounts that stand behind the terms of a line, outside tables.
pub(super) fn beside_terms(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let is_amount = |value: &&Occurrence| labels.fields[value.field].value == ValueKind::Money;
    let here = || found.iter().filter(|value| value.page == index);
    let mut terms: BTreeMap<usize, &Occurrence> = BTreeMap::new();
    let mut starts: BTreeSet<usize> = BTreeSet::new();
    for term in here().filter(|value| labels.has_terms(value.field) && labels.fields[value.field].group.is_some()) {
        let Some(line) = page.line_at(term.start).filter(|line| !page.used[*line]) else { continue };
        starts.insert(term.start);
        let first = terms.entry(line).or_insert(term);
        if term.start < first.start {
            *first = term;
        }
    }
    let taken: HashSet<usize> = here().filter(is_amount).map(|value| value.start).collect();
    let mut added = Vec::new();
    for (number, term) in terms {
        let line = &page.lines[number];
        let base = term.end;
        let mut limits = 0;
        let mut before = base;
        for read in all(clip(&page.text[base..line.end.max(base)], MAX_BESIDE)) {
            let start = base + read.start;
            // Behind the next term of the line stands that one's amount.
            if starts.range(before..start).next().is_some() {
                limits = 0;
            }
            before = base + read.end;
            if taken.contains(&start) {
                continue;
            }
            let Some(field) = whose(page, line, (start, base + read.end), term, labels, limits) else { continue };
            limits += 1;
            let place = SearchPlace { field, page: index, line: number, at: term.at };
            let many = labels.fields[field].many;
            added.push(Occurrence { many, row: term.row, ..Occurrence::new(place, read, base, sure::AMOUNT) });
        }
        let before = line.cells.iter().find(|cell| (cell.start..cell.end).contains(&term.start));
        let ahead = before.and_then(|cell| Some((cell.start, one(page.text.get(cell.start..term.start)?)?)));
        if let Some((start, read)) = ahead.filter(|(start, read)| limits == 0 && !taken.contains(&(start + read.start)))
            && let Some(field) = usual(term, labels)
        {
            let place = SearchPlace { field, page: index, line: number, at: term.at };
            let many = labels.fields[field].many;
            added.push(Occurrence { many, row: term.row, ..Occurrence::new(place, read, start, sure::AMOUNT) });
        }
    }
    found.extend(added);
}

/// The amounts of a term's list.
fn of_term<'l>(term: &Occurrence, labels: &'l Labels<'_>) -> impl Iterator<Item = usize> + use<'l> {
    let group = labels.fields[term.field].group.clone();
    (0..labels.fields.len()).filter(move |field| {
        let pattern = labels.fields[*field];
        pattern.group == group && pattern.value == ValueKind::Money && pattern.many
    })
}

/// The first of them.
fn usual(term: &Occurrence, labels: &Labels<'_>) -> Option<usize> {
    of_term(term, labels).next()
}

/// The amount's field: by a word beside it, else the group's first amount, once a line.
fn whose(
    page: &Page<'_>,
    line: &Line,
    span: (usize, usize),
    term: &Occurrence,
    labels: &Labels<'_>,
    before: usize,
) -> Option<usize> {
    let mut amounts = of_term(term, labels);
    let usual = usual(term, labels)?;
    let left = page.text.floor_char_boundary(span.0.saturating_sub(BESIDE).max(term.end));
    let right = page.text.floor_char_boundary((span.1 + BESIDE).min(line.end));
    // What follows an amount counts only up to the next one, and what stands before it only from the last one on.
    let after = page.text[span.1..right].split(['/', ';', ',', '\t']).next().unwrap_or_default();
    let after = after.split("  ").next().unwrap_or_default();
    // What stands in brackets behind other words belongs to what comes next.
    let after = if after.trim_start().starts_with('(') { after } else { after.split('(').next().unwrap_or_default() };
    // A word between two amounts says what the second one is.
    let after = if after.contains(|c: char| c == '$' || c.is_ascii_digit()) { "" } else { after };
    let ahead = page.text[left..span.0].rsplit([';', '/', ')']).next().unwrap_or_default();
    let ahead = ahead.rsplit(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    let named =
        amounts.find(|field| *field != usual && [ahead, after].iter().any(|text| labels.signed(text).contains(field)));
    named.or_else(|| (before == 0).then_some(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_known_by_their_sign_or_their_commas() {
        let found = |text: &str| {
            all(text).iter().filter_map(|read| read.value.as_i64()).map(|n| n / 1_000_000_000).collect::<Vec<_>>()
        };
        assert_eq!(found("$1,000,000 CSL  ded. $2,500"), [1_000_000, 2_500]);
        assert_eq!(found("1,000,000 each occurrence / 2,000,000 aggregate"), [1_000_000, 2_000_000]);
        assert_eq!(found("05/01/2025 2021 #12,000 T680 36ft"), Vec::<i64>::new());
    }
}
