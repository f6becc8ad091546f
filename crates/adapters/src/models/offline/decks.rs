//! Blocks beside each other that tell of one item each, a fact on each line and nothing labelled:
//!
//! ```text
//! Full service                  Night service
//! #LX-4401                      #LX-4402
//! Larch Leasing Company         Rowan Leasing Company
//! 05/01/2025 – 05/01/2026       05/01/2025 – 05/01/2026
//! ```

use std::ops::Range;

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Cell;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{parties, stacks};

/// The rows of these items, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 6;
/// Rows of blocks on a page.
const MAX_DECKS: usize = 50;
/// Blocks beside each other.
const MOST: usize = 6;
/// Lines of a block above and below its number.
const MAX_LINES: usize = 8;
/// Characters by which the lines of a block may begin apart.
const SLACK: usize = 2;
/// Facts beside the number.
const LEAST_FACTS: usize = 2;
/// Digits of a line without which it has no two numbers.
const LEAST_DIGITS: usize = 8;

/// Adds the items, and gives them what was found in their blocks.
pub(super) fn items(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (opener, _) in labels.openers() {
        let (mut over, mut decks) = (0, 0);
        for line in 0..page.lines.len() {
            if line < over || decks == MAX_DECKS {
                continue;
            }
            let numbers = numbers(page, labels, opener, line);
            if numbers.len() < 2 {
                continue;
            }
            decks += 1;
            let lines = run(page, line, over);
            over = lines.end;
            let known = |value: &Occurrence| {
                let inside = page.line_at(value.start).is_some_and(|line| lines.contains(&line));
                value.page == index && value.field == opener && inside
            };
            if found.iter().any(known) {
                continue;
            }
            for (place, number) in numbers {
                card(page, index, labels, (opener, number), (lines.clone(), line, place), found);
            }
        }
    }
}

/// The numbers of a line that has nothing else, each with its cell's place.
fn numbers(page: &Page<'_>, labels: &Labels<'_>, opener: usize, line: usize) -> Vec<(usize, ReadValue)> {
    let row = &page.lines[line];
    let digits = || page.text[row.start..row.end].bytes().filter(u8::is_ascii_digit).count();
    if page.used[line] || !(2..=MOST).contains(&row.cells.len()) || digits() < LEAST_DIGITS {
        return Vec::new();
    }
    let read = |cell: &Cell| {
        let text = page.cell(*cell);
        let bare = text.trim_start_matches(['#', ' ']);
        let base = cell.start + text.len() - bare.len();
        let read = stacks::number(labels, opener, bare)?;
        Some(read.moved(base))
    };
    let all: Option<Vec<ReadValue>> = row.cells.iter().map(read).collect();
    all.unwrap_or_default().into_iter().enumerate().collect()
}

/// The lines around a line of numbers whose cells stand in the same columns.
fn run(page: &Page<'_>, line: usize, from: usize) -> Range<usize> {
    let head = &page.lines[line];
    let fits = |at: usize, before: usize| {
        let row = &page.lines[at];
        let aligned = |cell: &Cell| head.cells.iter().any(|head| head.column.abs_diff(cell.column) <= SLACK);
        row.number.abs_diff(page.lines[before].number) == 1 && !page.used[at] && row.cells.iter().all(aligned)
    };
    let above = (from.max(line.saturating_sub(MAX_LINES))..line).rev().take_while(|at| fits(*at, at + 1)).last();
    let below = (line + 1..page.lines.len().min(line + 1 + MAX_LINES)).take_while(|at| fits(*at, at - 1)).last();
    above.unwrap_or(line)..below.unwrap_or(line) + 1
}

/// Adds one block's item, when it has facts enough.
fn card(
    page: &Page<'_>,
    index: usize,
    labels: &Labels<'_>,
    (opener, number): (usize, ReadValue),
    (lines, line, place): (Range<usize>, usize, usize),
    found: &mut Vec<Occurrence>,
) {
    let group = &labels.fields[opener].group;
    let column = page.lines[line].cells[place].column;
    let mine = |at: usize| page.lines[at].cells.iter().find(|cell| cell.column.abs_diff(column) <= SLACK).copied();
    let (name, period) = (labels.name_of(opener), labels.in_group_of(opener, ValueKind::DateRange));
    let at = page.lines[lines.start].start + place;
    let new = |field: usize, line: usize, read: ReadValue, base: usize, sure: f64| {
        Occurrence::new(SearchPlace { field, page: index, line, at }, read, base, sure)
    };
    let (mut term, mut who, mut dates) = (None, None, None);
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for at in lines.clone() {
        let Some(cell) = mine(at) else { continue };
        spans.push((cell.start, cell.end));
        let text = page.cell(cell);
        if term.is_none() && at < line {
            let terms = labels.expected_terms(page.text, cell.start, cell.end);
            let ours =
                terms.into_iter().find(|term| labels.fields[term.field].group == *group && !term.value.is_empty());
            term = ours.filter(|term| term.start == cell.start).map(|term| {
                let place =
                    SearchPlace { field: term.field, page: index, line: at, at: page.lines[lines.start].start + place };
                Occurrence::term(place, term.value, (term.start, term.end), sure::AMOUNT)
            });
        }
        if let (None, Some(field)) = (&who, name) {
            // A narrow block may break a name before its legal form.
            let below = page.lines.get(at + 1).filter(|_| lines.contains(&(at + 1))).and_then(|_| mine(at + 1));
            let form = below.map(|cell| page.cell(cell)).filter(|rest| rest.split_whitespace().all(values::has_form));
            let whole = form.map_or_else(|| text.to_owned(), |form| format!("{text} {form}"));
            let read = parties::signed_name(labels, field, &whole).filter(|read| read.start == 0);
            who = read.map(|read| {
                new(field, at, ReadValue { end: read.end.min(text.len()), ..read }, cell.start, sure::SIGNED)
            });
        }
        if let (None, Some(field)) = (&dates, period) {
            let last = text.rsplit(['·', '•', '|', ':']).next().unwrap_or_default();
            let base = cell.end - last.len();
            let read = values::read(ValueKind::DateRange, last.trim_start()).filter(|read| read.start == 0);
            let base = base + last.len() - last.trim_start().len();
            dates = read.map(|read| new(field, at, read, base, sure::AMOUNT));
        }
    }
    let facts = [term, who, dates];
    if facts.iter().flatten().count() < LEAST_FACTS {
        return;
    }
    let inside = |value: &Occurrence| {
        let ours = value.page == index && value.row.is_none() && labels.fields[value.field].group == *group;
        ours && spans.iter().any(|(start, end)| (*start..*end).contains(&value.start))
    };
    found.retain(|value| !(inside(value) && facts.iter().flatten().any(|fact| fact.field == value.field)));
    let key = Some((TABLE - index, at));
    for value in found.iter_mut().filter(|value| inside(value)) {
        (value.row, value.at) = (key, at);
    }
    let number = new(opener, line, number, 0, sure::AMOUNT);
    found.extend(facts.into_iter().flatten().chain([number]).map(|value| Occurrence { row: key, ..value }));
}
