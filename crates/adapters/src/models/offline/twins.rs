//! Items side by side, each with all of its labels: the labels of a line are the same ones again and again, with their
//! values beside or right beneath them.
//!
//! ```text
//! Lessor: Larch Leasing Company     Lessor: Fern Rentals          Lessor                   Lessor
//! Number: LX-4401                   Number: FR-7720               Larch Leasing Company    Fern Rentals
//! From:   05/01/2025                From:   07/01/2025            Number                   Number
//!                                                                 LX-4401                  FR-7720
//! ```

use kybern_core::model::ValueKind;

use super::labelled::{ValueSpot, whole_name};
use super::labels::{LabelHit, Labels};
use super::layout::Cell;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values;

/// The numbers of these tables begin here, so that they are none of the others'.
const FIRST: usize = 1 << 21;
/// Lines of such labels without which nothing is side by side.
const LEAST_LINES: usize = 2;
/// Lines between two lines of the same items.
const MAX_GAP: usize = 3;
/// Items side by side.
const MAX_ITEMS: usize = 6;

/// A line of equal labels, with where the value of each stands.
struct EqualLabels {
    line: usize,
    fields: Vec<usize>,
    /// The last line that its values take.
    last: usize,
    /// Nothing where there is none.
    values: Vec<Option<ValueSpot>>,
}

/// Reads such items; their lines are marked as used.
pub(super) fn items(pages: &mut [Page<'_>], labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut table = FIRST;
    for (index, page) in pages.iter_mut().enumerate() {
        let mut line = 0;
        while line < page.lines.len() {
            let run = run(page, line, labels);
            let Some(last) = run.last().map(|twins| twins.last) else {
                line += 1;
                continue;
            };
            let read = read(page, index, &run, labels, table);
            if !read.is_empty() {
                table += 1;
                for twins in &run {
                    (twins.line..=twins.last).for_each(|line| page.used[line] = true);
                }
                found.extend(read);
            }
            line = last + 1;
        }
    }
    found
}

/// The lines of equal labels from here on, of as many items.
fn run(page: &Page<'_>, from: usize, labels: &Labels<'_>) -> Vec<EqualLabels> {
    let Some(first) = twins(page, from, labels) else { return Vec::new() };
    let count = first.values.len();
    let mut run = vec![first];
    let mut at = run[0].last + 1;
    while let Some(next) = page.lines.get(at) {
        let last = run.last().map_or(from, |twins| twins.last);
        if next.number - page.lines[last].number > MAX_GAP {
            break;
        }
        match twins(page, at, labels).filter(|twins| twins.values.len() == count) {
            Some(twins) => {
                at = twins.last + 1;
                run.push(twins);
            }
            None => at += 1,
        }
    }
    run
}

/// The equal labels of a line that belong to a list, with the places of their values.
fn twins(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> Option<EqualLabels> {
    let hits: Vec<&LabelHit> = page.hits[line].iter().filter(|hit| hit.words > 0).collect();
    let first = hits.first().filter(|_| !page.used[line] && (2..=MAX_ITEMS).contains(&hits.len()))?;
    let fields: Vec<usize> =
        first.fields.iter().copied().filter(|field| labels.fields[*field].group.is_some()).collect();
    // A label whose value is blank fills its cell.
    let as_first = |hit: &LabelHit| hit.fills == first.fills || hit.colon && first.colon;
    let alike = hits.iter().all(|hit| hit.fields == first.fields && hit.parts.is_empty() && as_first(hit));
    if fields.is_empty() || !alike {
        return None;
    }
    let row = &page.lines[line];
    let beside = |(place, hit): (usize, &&LabelHit)| {
        let next = hits.get(place + 1).map_or(row.end, |next| next.start);
        if !hit.fills {
            let end = next.min(row.cells[hit.cell].end);
            return (hit.after < end).then_some(ValueSpot { line, start: hit.after, end, sure: sure::COLON });
        }
        let cell = row.cells.get(hit.cell + 1).filter(|cell| cell.start < next)?;
        (cell.start >= hit.after).then_some(ValueSpot { line, start: cell.start, end: cell.end, sure: sure::BESIDE })
    };
    let values: Vec<Option<ValueSpot>> = hits.iter().enumerate().map(beside).collect();
    if values.iter().any(Option::is_some) {
        return Some(EqualLabels { line, fields, last: line, values });
    }
    let below = page.lines.get(line + 1).filter(|below| below.number == row.number + 1)?;
    let heads = row.cells.len() == hits.len() && below.cells.len() == hits.len() && first.fills && !first.colon;
    let free = !page.used[line + 1] && !below.cells.iter().any(|cell| page.is_label(line + 1, *cell));
    let spot = |cell: &Cell| ValueSpot { line: line + 1, start: cell.start, end: cell.end, sure: sure::BENEATH };
    (heads && free).then(|| EqualLabels {
        line,
        fields,
        last: line + 1,
        values: below.cells.iter().map(spot).map(Some).collect(),
    })
}

/// The values of the items: each has a number of its own, and something beside it.
fn read(page: &Page<'_>, index: usize, run: &[EqualLabels], labels: &Labels<'_>, table: usize) -> Vec<Occurrence> {
    let opens = |twins: &&EqualLabels| {
        let opener = |field: &&usize| labels.fields[**field].opens_item;
        let number = |field: &usize, spot: &ValueSpot| {
            values::read(labels.fields[*field], &page.text[spot.start..spot.end]).map(|read| read.value.to_string())
        };
        twins.fields.iter().find(opener).is_some_and(|field| {
            let mut numbers: Vec<String> =
                twins.values.iter().flatten().filter_map(|spot| number(field, spot)).collect();
            numbers.sort();
            numbers.dedup();
            numbers.len() == twins.values.len()
        })
    };
    let Some(opener) = run.iter().find(opens).filter(|_| run.len() >= LEAST_LINES) else { return Vec::new() };
    let mut found = headings(page, index, run, opener, labels, table);
    for twins in run {
        for (column, spot) in twins.values.iter().enumerate() {
            let (Some(spot), Some(first)) = (spot, &opener.values[column]) else { continue };
            let at = first.start;
            let row = Some((table, column));
            let text = &page.text[spot.start..spot.end];
            for field in &twins.fields {
                let place = SearchPlace { field: *field, page: index, line: spot.line, at };
                let pattern = labels.fields[*field];
                if labels.has_terms(*field) {
                    let terms = labels.expected_terms(page.text, spot.start, spot.end).into_iter();
                    found.extend(terms.filter(|term| term.field == *field).map(|term| Occurrence {
                        row,
                        ..Occurrence::term(place, term.value, (term.start, term.end), spot.sure)
                    }));
                    break;
                }
                let Some(read) = values::read(pattern, text) else { continue };
                let read = match pattern.value {
                    ValueKind::Name => whole_name(page, labels, *field, *spot, read),
                    _ => read,
                };
                found.push(Occurrence {
                    row,
                    many: pattern.many,
                    ..Occurrence::new(place, read, spot.start, spot.sure)
                });
                break;
            }
        }
    }
    found
}

/// The terms that head the items, one in each cell of the line above them.
fn headings(
    page: &Page<'_>,
    index: usize,
    run: &[EqualLabels],
    opener: &EqualLabels,
    labels: &Labels<'_>,
    table: usize,
) -> Vec<Occurrence> {
    let Some(first) = run.first() else { return Vec::new() };
    let near = |line: &usize| page.lines[*line].number + 1 == page.lines[first.line].number && !page.used[*line];
    let Some(line) = first.line.checked_sub(1).filter(near) else { return Vec::new() };
    let cells = &page.lines[line].cells;
    let group = first.fields.first().and_then(|field| labels.fields[*field].group.clone());
    let term = |(column, cell): (usize, &Cell)| {
        let terms = labels.expected_terms(page.text, cell.start, cell.end);
        let mut ours =
            terms.into_iter().filter(|term| labels.fields[term.field].group == group && !term.value.is_empty());
        let (term, None) = (ours.next()?, ours.next()) else { return None };
        let place = SearchPlace { field: term.field, page: index, line, at: opener.values[column].as_ref()?.start };
        let value = Occurrence::term(place, term.value, (term.start, term.end), sure::COLUMN);
        Some(Occurrence { row: Some((table, column)), ..value })
    };
    let found: Option<Vec<Occurrence>> =
        if cells.len() == opener.values.len() { cells.iter().enumerate().map(term).collect() } else { None };
    found.unwrap_or_default()
}
