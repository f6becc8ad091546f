//! Lines of a letter that tell of one item, fact after fact: who, under which number, from when to when.
//!
//! `Full service: Some Leasing Company / LX-4401 / 5/1/2025-5/1/2026` has no label, and everybody understands it.

use std::collections::BTreeSet;

use kybern_core::model::{FieldPattern, ValueKind};

use super::analyse::clip;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{parties, terms};

/// Bytes of a line that are looked at.
const MAX_LINE: usize = 400;
/// Digits of a number that nobody labelled.
const LEAST_DIGITS: usize = 4;
/// The numbers of these rows begin here, so that they are none of the tables'.
const TABLE: usize = usize::MAX - 1;
/// What parts the facts of a line.
const PARTS: [&str; 12] = [" / ", " - ", " – ", " — ", " | ", ", ", "; ", ": ", " (", ") ", "\t", "  "];
/// How these begin: no two of them may stand at one place.
const BEGIN_PARTS: [char; 6] = [' ', ',', ';', ':', ')', '\t'];
/// What stands for the name of the line above.
const DITTO: [&str; 10] = ["same", "ditto", "do.", "\"", "''", "″", "〃", "idem", "lo mismo", "dito"];

/// Adds what such lines tell, outside tables: the number and what else of its group stands there.
///
/// Where a label leads to the number, only the name is added.
pub(super) fn lines(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &[Occurrence]) -> Vec<Occurrence> {
    let mut told = Vec::new();
    let group_of = |field: usize| &labels.fields[field].group;
    for (opener, pattern) in labels.fields.iter().enumerate() {
        let group = &pattern.group;
        let Some(name) = labels.name_of(opener) else { continue };
        if !(pattern.opens_item && values::is_strict(pattern.value) && group.is_some()) {
            continue;
        }
        let range = labels.in_group_of(opener, ValueKind::DateRange);
        let here = found.iter().filter(|value| value.page == index);
        let known: BTreeSet<(usize, usize)> = here.map(|value| (value.field, value.start)).collect();
        let mut above: Option<(usize, ReadValue)> = None;
        for (number, line) in page.lines.iter().enumerate().filter(|(number, _)| !page.used[*number]) {
            let text = clip(&page.text[line.start..line.end], MAX_LINE);
            let parts = parts(text);
            if parts.len() < 3 {
                above = None;
                continue;
            }
            let repeated = || above.take().and_then(|(before, who)| ditto(page, (before, number), &parts, who));
            let Some((at, who)) = the_name(labels, name, text, &parts).or_else(repeated) else { continue };
            above = Some((number, who.clone()));
            let is_known = |field| known.range((field, line.start)..(field, line.end)).next().is_some();
            let place = |field, at| SearchPlace { field, page: index, line: number, at: line.start + at };
            if is_known(opener) {
                if !is_known(name) {
                    told.push(Occurrence::new(place(name, at), who, line.start + at, sure::AMOUNT));
                }
                continue;
            }
            // What parts facts may also stand between the two dates.
            let dated = |(at, _): &(usize, &str)| Some((*at, values::read(ValueKind::DateRange, &text[*at..])?));
            let Some((term_at, term)) = parts.iter().find_map(dated) else { continue };
            let Some((from, read)) = the_number(labels, pattern, &parts) else { continue };
            let row = Some((TABLE, line.start));
            let mut add = |occurrence| told.push(Occurrence { row, ..occurrence });
            add(Occurrence::new(place(name, at), who, line.start + at, sure::AMOUNT));
            add(Occurrence::new(place(opener, from), read, line.start + from, sure::AMOUNT));
            if let Some(range) = range {
                add(Occurrence::new(place(range, term_at), term, line.start + term_at, sure::AMOUNT));
            }
            let all = labels.terms_in(page.text, line.start, line.start + text.len());
            let ours = all.iter().filter(|term| group_of(term.field) == group && !term.value.is_empty());
            for term in ours.filter(|term| !terms::is_small(page, term)) {
                let place = place(term.field, term.start - line.start);
                add(Occurrence::term(place, term.value, (term.start, term.end), sure::AMOUNT));
            }
        }
    }
    told
}

/// The facts of a line, with where each begins.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut add = |from: usize, to: usize| {
        if !text[from..to].trim().is_empty() {
            found.push((from, &text[from..to]));
        }
    };
    for (at, _) in text.match_indices(BEGIN_PARTS) {
        let mark = PARTS.iter().find(|mark| at >= from && text[at..].starts_with(**mark));
        if let Some(mark) = mark {
            add(from, at);
            from = at + mark.len();
        }
    }
    add(from, text.len());
    found
}

/// The only name of a field that a line tells, and where its part begins; a legal form behind a comma belongs to it.
fn the_name(labels: &Labels<'_>, field: usize, text: &str, parts: &[(usize, &str)]) -> Option<(usize, ReadValue)> {
    let mut named = parts.iter().filter_map(|(at, _)| {
        let read = parties::signed_name(labels, field, text[*at..].split(['/', '\t']).next()?.split("  ").next()?)?;
        Some((*at, read))
    });
    let first = named.next()?;
    named.next().is_none().then_some(first)
}

/// The name of the line right above, where a part says that it is the same; it stands where that part does.
fn ditto(
    page: &Page<'_>,
    (above, line): (usize, usize),
    parts: &[(usize, &str)],
    who: ReadValue,
) -> Option<(usize, ReadValue)> {
    let next = page.lines[above].number + 1 == page.lines[line].number;
    let says = |(_, part): &&(usize, &str)| DITTO.contains(&part.trim().to_lowercase().as_str());
    let (at, part) = parts.iter().find(says).filter(|_| next)?;
    let start = part.len() - part.trim_start().len();
    Some((*at, ReadValue { start, end: start + part.trim().len(), ..who }))
}

/// The only part of a line that is nothing but a number of that kind.
fn the_number(labels: &Labels<'_>, pattern: &FieldPattern, parts: &[(usize, &str)]) -> Option<(usize, ReadValue)> {
    let mut numbers = parts.iter().filter_map(|(at, part)| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let read = values::read(pattern, part).filter(|read| read.fit >= 1.0 && part[read.end..].trim().is_empty())?;
        let whole = part[..read.start].trim().is_empty();
        (whole && digits >= LEAST_DIGITS && !labels.is_no_number(part)).then_some((*at, read))
    });
    let first = numbers.next()?;
    numbers.next().is_none().then_some(first)
}
