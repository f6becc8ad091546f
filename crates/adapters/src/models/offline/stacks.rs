//! Blocks that tell of one item, a fact on each line, where nothing or an unknown label leads to its number:
//!
//! ```text
//! NIGHT SERVICE                 Number: LX-4401
//! Larch Leasing Company         Class: Night service
//! LX-4401                       Lessor: Larch Leasing Company
//! 05/01/2025 - 05/01/2026       In force: 1 May 2025 to 1 May 2026
//! ```
//!
//! A block is an item when exactly one of its lines is a number and two of term, name and dates stand in the others.

use std::collections::{BTreeMap, HashSet};

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Line;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{parties, terms};

/// The rows of these items, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 4;
/// Lines of a block.
const LINES: std::ops::RangeInclusive<usize> = 3..=14;
/// Cells of a line: a label and its value.
const MAX_CELLS: usize = 2;
/// Words of a label that nobody knows.
const MAX_LABEL: usize = 4;
/// Digits, and letters, of a number that nobody labelled.
const LEAST_DIGITS: usize = 4;
const LEAST_LETTERS: usize = 2;
/// Facts beside the number.
const LEAST_FACTS: usize = 2;

/// Adds the items, and gives them what was found on their lines.
pub(super) fn items(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (opener, pattern) in labels.openers() {
        let of_group = |field: usize| labels.fields[field].group == pattern.group;
        let here = |value: &Occurrence| value.page == index && of_group(value.field);
        // Where things of another kind have numbers too, such as losses, a block may tell of one of those.
        if found.iter().any(|value| value.page == index && labels.opens_others(opener, value.field)) {
            continue;
        }
        let mut opened = vec![false; page.lines.len()];
        let openers = found.iter().filter(|value| here(value) && labels.fields[value.field].opens_item);
        openers.filter_map(|value| page.line_at(value.start)).for_each(|line| opened[line] = true);
        let mut told: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for value in found.iter().filter(|value| here(value) && value.row.is_none()) {
            if let Some(line) = page.line_at(value.start) {
                told.entry(line).or_default().push(value.field);
            }
        }
        let (name, period) = (labels.name_of(opener), labels.in_group_of(opener, ValueKind::DateRange));
        let mut items = Vec::new();
        let cards = blocks(page).flat_map(|run| cards(page, labels, opener, run));
        for (first, last) in cards.filter(|(first, last)| !opened[*first..=*last].contains(&true)) {
            let mut numbers = Vec::new();
            let (mut term, mut who, mut dates) = (None, None, None);
            for line in first..=last {
                let (start, end) = value_of(page, &page.lines[line]);
                let text = &page.text[start..end];
                let place = |field| SearchPlace { field, page: index, line, at: page.lines[first].start };
                // What stands behind the label of something else is that.
                let others = page.hits[line].iter().any(|hit| hit.fills && !hit.fields.contains(&opener));
                if let Some(read) = number(labels, opener, text).filter(|_| !others) {
                    numbers.push(Occurrence::new(place(opener), read, start, sure::AMOUNT));
                } else if let (None, Some(cell)) = (&term, page.lines[line].cells.last()) {
                    let found = labels.expected_terms(page.text, start, end);
                    let fills =
                        found.first().is_some_and(|term| term.start == start) && terms::fills(page, *cell, labels);
                    let alone = found.first().is_some_and(|term| (term.start, term.end) == (start, end));
                    let ours = found.into_iter().find(|term| of_group(term.field) && !term.value.is_empty());
                    term = ours.filter(|_| fills || alone).map(|term| {
                        Occurrence::term(place(term.field), term.value, (term.start, term.end), sure::AMOUNT)
                    });
                }
                if let (None, Some(field)) = (&who, name) {
                    let read = parties::signed_name(labels, field, text).filter(|read| read.start == 0);
                    who = read.map(|read| Occurrence::new(place(field), read, start, sure::SIGNED));
                }
                if let (None, Some(field)) = (&dates, period) {
                    let read = values::read(ValueKind::DateRange, text).filter(|read| read.start == 0);
                    dates = read.map(|read| Occurrence::new(place(field), read, start, sure::AMOUNT));
                }
            }
            let labelled = |kinds: &[ValueKind]| {
                told.range(first..=last)
                    .any(|(_, fields)| fields.iter().any(|field| kinds.contains(&labels.fields[*field].value)))
            };
            let who_is_told = who.is_some() || labelled(&[ValueKind::Name]);
            let dates_are_told = dates.is_some() || labelled(&[ValueKind::Date, ValueKind::DateRange]);
            let facts = usize::from(term.is_some()) + usize::from(who_is_told) + usize::from(dates_are_told);
            let [number] = numbers.as_slice() else { continue };
            if facts < LEAST_FACTS {
                continue;
            }
            items.push((first, last, [term, who, dates], number.clone()));
        }
        // What was found already on the lines of a block is the block's.
        let mut owners: Vec<Option<usize>> = vec![None; page.lines.len()];
        for (item, (first, last, ..)) in items.iter().enumerate() {
            owners[*first..=*last].fill(Some(item));
        }
        let row = |first: usize| Some((TABLE - index, first));
        let mut has: HashSet<(usize, usize)> = HashSet::new();
        for value in found.iter_mut().filter(|value| here(value) && value.row.is_none()) {
            if let Some(item) = page.line_at(value.start).and_then(|line| owners[line]) {
                let first = items[item].0;
                (value.row, value.at) = (row(first), page.lines[first].start);
                has.insert((item, value.field));
            }
        }
        for (item, (first, _, facts, number)) in items.into_iter().enumerate() {
            let missing = facts.into_iter().flatten().filter(|value| !has.contains(&(item, value.field)));
            found.extend(missing.chain([number]).map(|value| Occurrence { row: row(first), ..value }));
        }
    }
}

/// The first and last lines of runs of lines that may have a fact each.
fn blocks(page: &Page<'_>) -> impl Iterator<Item = (usize, usize)> {
    let fits = |line: usize| !page.used[line] && page.lines[line].cells.len() <= MAX_CELLS;
    let mut found: Vec<(usize, usize)> = Vec::new();
    for line in (0..page.lines.len()).filter(|line| fits(*line)) {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == line && page.lines[*last].number + 1 == page.lines[line].number => {
                *last = line
            }
            _ => found.push((line, line)),
        }
    }
    found.into_iter()
}

/// The blocks of a run of lines: one, or as many as it has numbers, where each number stands on the same line of its
/// block or right beneath a heading.
fn cards(page: &Page<'_>, labels: &Labels<'_>, opener: usize, (first, last): (usize, usize)) -> Vec<(usize, usize)> {
    let is_number = |line: &usize| {
        let (start, end) = value_of(page, &page.lines[*line]);
        number(labels, opener, &page.text[start..end]).is_some()
    };
    let numbers: Vec<usize> =
        if last - first < *LINES.start() { Vec::new() } else { (first..=last).filter(is_number).collect() };
    let heads = |line: usize| {
        page.lines[line].cells.first().is_some_and(|cell| {
            let terms = labels.expected_terms(page.text, cell.start, cell.end);
            page.lines[line].cells.len() == 1 && terms.first().is_some_and(|term| term.start == cell.start)
        })
    };
    let headed = numbers.iter().all(|line| *line > first && heads(*line - 1));
    let lead = numbers.first().map_or(0, |line| if headed { 1 } else { *line - first });
    let apart = numbers.windows(2).all(|pair| pair[1] - pair[0] > lead);
    let runs = if numbers.len() < 2 || !apart {
        vec![(first, last)]
    } else {
        let ends = numbers.iter().skip(1).map(|next| next - lead - 1).chain([last]);
        numbers.iter().map(|line| line - lead).zip(ends).collect()
    };
    runs.into_iter().filter(|(first, last)| LINES.contains(&(last - first + 1))).collect()
}

/// Where the value of a line lies: its second cell, what stands behind a short label and a colon, or all of it.
fn value_of(page: &Page<'_>, line: &Line) -> (usize, usize) {
    let Some(cell) = line.cells.last() else { return (line.start, line.start) };
    let text = page.cell(*cell);
    let behind =
        text.split_once(": ").filter(|(label, _)| line.cells.len() == 1 && label.split(' ').count() <= MAX_LABEL);
    let start =
        behind.map_or(cell.start, |(label, rest)| cell.start + label.len() + 2 + rest.len() - rest.trim_start().len());
    (start, cell.end)
}

/// A number that is all of a text and can hardly be anything else.
pub(super) fn number(labels: &Labels<'_>, opener: usize, text: &str) -> Option<ReadValue> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_uppercase).count();
    let read = values::read(labels.fields[opener], text).filter(|read| (read.start, read.end) == (0, text.len()))?;
    let plain = digits >= LEAST_DIGITS && letters >= LEAST_LETTERS && read.fit >= 1.0;
    (plain && !labels.is_no_number(text)).then_some(read)
}
