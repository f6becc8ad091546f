//! Rows of a certificate that take several lines, beneath a head whose columns are not above them: the number of each
//! row stands before its two dates, and may be broken over the lines around them; its term stands above.
//!
//! Only rows with a whole term between their dates are read, and only where a line of coverage or a code says that they
//! are rows.

use std::collections::HashSet;

use jiff::civil::Date;
use kybern_core::model::ValueKind;
use serde_json::Value;

use super::labels::Labels;
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::pieces::is_piece;
use super::values::{self, ReadValue};

/// The rows of these lists, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 2;
/// Lines above its dates on which the heading of a row may stand.
const MAX_ABOVE: usize = 8;
/// Lines above and below its dates on which a number goes on.
const MAX_PIECES: usize = 2;
/// Rows of one page.
const MAX_ROWS: usize = 100;
/// Letters of a code.
const MAX_CODE: usize = 2;
/// Days by which a term may miss its whole months.
const SLACK: i32 = 3;

/// A row by the line on which its dates stand.
struct Row {
    line: usize,
    /// The cell of its number on that line.
    number: Cell,
    start: ReadValue,
    end: ReadValue,
    coded: bool,
}

/// The lines of a row.
struct Band {
    /// The line that begins with its term.
    head: Option<usize>,
    /// Its first line.
    first: usize,
    /// The line on which its dates stand.
    line: usize,
    /// Byte by which it is ordered.
    at: usize,
    /// Where the column of numbers begins.
    column: usize,
}

/// Adds the rows, and gives them what was found on their lines.
pub(super) fn rows(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (opener, pattern) in labels.openers() {
        let Some(period) = labels.in_group_of(opener, ValueKind::DateRange) else { continue };
        let rows = (0..page.lines.len()).filter_map(|line| row(page, line));
        let rows: Vec<Row> = rows.take(MAX_ROWS).collect();
        let anchors: Vec<usize> = rows.iter().map(|row| row.line).collect();
        let mut bands: Vec<Band> = Vec::new();
        let mut added: Vec<Occurrence> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let above = place.checked_sub(1).map_or(0, |before| anchors[before] + 1);
            let head = heading(page, row, above, labels, pattern.group.as_deref());
            if head.is_none() && !row.coded {
                continue;
            }
            let Some(read) = number(page, row, &anchors, pattern) else { continue };
            let at = page.lines[row.line].start;
            let key = Some((TABLE - index, row.line));
            let place = |field| SearchPlace { field, page: index, line: row.line, at };
            let value = serde_json::json!({"start": row.start.value, "end": row.end.value});
            let whole = ReadValue { value, end: row.end.end, fit: row.start.fit.min(row.end.fit), ..row.start.clone() };
            added.push(Occurrence { row: key, ..Occurrence::new(place(opener), read, 0, sure::BENEATH) });
            added.push(Occurrence { row: key, ..Occurrence::new(place(period), whole, 0, sure::BENEATH) });
            bands.push(Band { head, first: head.unwrap_or(row.line), line: row.line, at, column: row.number.column });
        }
        if bands.is_empty() {
            continue;
        }
        let lines: HashSet<usize> = bands.iter().map(|band| band.line).collect();
        found.retain(|value| {
            let ours = value.page == index && (value.field == opener || value.field == period);
            !(ours && page.line_at(value.start).is_some_and(|line| lines.contains(&line)))
        });
        found.extend(added);
        give(page, index, &bands, labels, pattern.group.as_deref(), found);
    }
}

/// Whether a line has a number and two dates in cells of their own.
fn row(page: &Page<'_>, line: usize) -> Option<Row> {
    let row = page.lines.get(line).filter(|_| !page.used[line])?;
    let whole = |cell: &Cell| {
        let text = page.cell(*cell);
        let read = values::read(ValueKind::Date, text)?;
        let base = cell.start;
        (read.start == 0 && read.end == text.len()).then(|| ReadValue { start: base, end: base + read.end, ..read })
    };
    let dated = |pair: &[Cell]| Some((whole(&pair[0])?, whole(&pair[1])?));
    let (place, (start, end)) = row.cells.windows(2).enumerate().find_map(|(at, pair)| Some((at, dated(pair)?)))?;
    let number = *row.cells.get(place.checked_sub(1)?)?;
    let is_code = |text: &str| (1..=MAX_CODE).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase());
    let coded = row.cells.iter().any(|cell| is_code(page.cell(*cell)));
    let hit = page.hits[line].iter().any(|hit| hit.start == number.start);
    (is_term(&start.value, &end.value) && !hit).then_some(Row { line, number, start, end, coded })
}

/// Whether two dates are so many half years apart.
pub(super) fn is_term(start: &Value, end: &Value) -> bool {
    let date = |value: &Value| value.as_str().and_then(|text| text.parse::<Date>().ok());
    let (Some(start), Some(end)) = (date(start), date(end)) else { return false };
    let months = i32::from(end.year() - start.year()) * 12 + i32::from(end.month() - start.month());
    let days = i32::from(end.day()) - i32::from(start.day());
    (6..=36).contains(&months) && months % 6 == 0 && days.abs() <= SLACK
}

/// The line at or above a row's dates that begins with a term.
fn heading(page: &Page<'_>, row: &Row, above: usize, labels: &Labels<'_>, group: Option<&str>) -> Option<usize> {
    let nearest = above.max(row.line.saturating_sub(MAX_ABOVE));
    let says = |line: usize| {
        let cell = heads(page, line, row.number.column, labels, group)?;
        labels.expected_terms(page.text, cell.start, cell.end).first().map(|term| term.value)
    };
    let head = (nearest..=row.line).rev().find(|line| says(*line).is_some())?;
    // A row may have two headings of one meaning.
    (nearest..=head).rev().take_while(|line| says(*line) == says(head)).last()
}

/// The cell of a line, to the left of a column, that begins with a term of the list.
fn heads(page: &Page<'_>, line: usize, column: usize, labels: &Labels<'_>, group: Option<&str>) -> Option<Cell> {
    let ahead = page.lines[line].cells.iter().filter(|cell| cell.column < column);
    ahead.copied().find(|cell| {
        let terms = labels.expected_terms(page.text, cell.start, cell.end);
        terms.first().is_some_and(|term| {
            term.start == cell.start && !term.value.is_empty() && labels.fields[term.field].group.as_deref() == group
        })
    })
}

/// Whether a number goes on in its column on the line above or below.
pub(super) fn goes_on(page: &Page<'_>, line: usize, number: Cell) -> bool {
    [line.checked_sub(1), Some(line + 1)].into_iter().flatten().any(|beside| {
        let near = page.lines.get(beside).filter(|near| near.number.abs_diff(page.lines[line].number) == 1);
        let cell = near.and_then(|near| layout::in_column(number, near));
        // What stands before two dates is a number of its own.
        cell.is_some_and(|cell| {
            is_piece(page.cell(cell))
                && cell.column.abs_diff(number.column) <= number.width
                && row(page, beside).is_none()
        })
    })
}

/// The number of a row, with the pieces of it above and below.
fn number(
    page: &Page<'_>,
    row: &Row,
    anchors: &[usize],
    pattern: &kybern_core::model::FieldPattern,
) -> Option<ReadValue> {
    let beside = |line: usize| -> Option<&str> {
        let (near, here) = (page.lines.get(line)?, &page.lines[row.line]);
        if near.number.abs_diff(here.number) != line.abs_diff(row.line) || page.used[line] {
            return None;
        }
        // What is as near to another row's dates may be that row's.
        let other = |anchor: &&usize| **anchor != row.line && anchor.abs_diff(line) <= line.abs_diff(row.line);
        if anchors.iter().any(|anchor| other(&anchor)) {
            return None;
        }
        let cell = layout::in_column(row.number, near)?;
        let text = page.cell(cell);
        (is_piece(text) && cell.column.abs_diff(row.number.column) <= row.number.width).then_some(text)
    };
    let mut pieces = vec![page.cell(row.number)];
    for step in 1..=MAX_PIECES {
        let Some(text) = row.line.checked_sub(step).and_then(beside) else { break };
        pieces.insert(0, text);
    }
    for step in 1..=MAX_PIECES {
        let Some(text) = beside(row.line + step) else { break };
        pieces.push(text);
    }
    let mut whole = String::new();
    for piece in pieces {
        if !whole.is_empty() && !whole.ends_with(['-', '/']) && !piece.starts_with(['-', '/']) {
            whole.push(' ');
        }
        whole.push_str(piece);
    }
    let read = values::read(pattern, &whole).filter(|read| read.start == 0 && read.end == whole.len())?;
    let plain = read.fit >= 1.0 || whole.bytes().filter(u8::is_ascii_digit).count() >= 4;
    // The whole of it stands around the row's dates; the piece beside them is its place.
    plain.then(|| ReadValue { start: row.number.start, end: row.number.end, ..read })
}

/// Gives each row what was found between its heading and the next one, and takes away the terms that do not head it.
fn give(
    page: &Page<'_>,
    index: usize,
    bands: &[Band],
    labels: &Labels<'_>,
    group: Option<&str>,
    found: &mut Vec<Occurrence>,
) {
    let (Some(first), Some(last)) = (bands.first(), bands.last()) else { return };
    let mut owners: Vec<Option<usize>> = vec![None; page.lines.len()];
    let (mut owner, mut next) = (None, 0);
    let over = (last.line + MAX_PIECES + 1).min(page.lines.len());
    for (line, owned) in owners.iter_mut().enumerate().take(over).skip(first.first) {
        if bands.get(next).is_some_and(|band| band.first == line) {
            (owner, next) = (Some(next), next + 1);
        } else if owner.is_some_and(|band: usize| {
            bands[band].line < line && heads(page, line, bands[band].column, labels, group).is_some()
        }) {
            // The heading of a row without a number begins a row of its own.
            owner = None;
        }
        *owned = owner;
    }
    let ours = |value: &Occurrence| {
        value.page == index && labels.fields[value.field].group.as_deref() == group && value.row.is_none()
    };
    let line_of = |value: &Occurrence| page.line_at(value.start).filter(|line| (first.first..over).contains(line));
    found.retain(|value| {
        let Some(line) = line_of(value).filter(|_| ours(value)) else { return true };
        owners[line].is_some() && !labels.has_terms(value.field)
    });
    for value in found.iter_mut().filter(|value| ours(value)) {
        if let Some(band) = page.line_at(value.start).and_then(|line| owners[line]) {
            (value.row, value.at) = (Some((TABLE - index, bands[band].line)), bands[band].at);
        }
    }
    for band in bands {
        let Some(cell) = band.head.and_then(|head| heads(page, head, band.column, labels, group)) else { continue };
        let terms = labels.expected_terms(page.text, cell.start, cell.end);
        if let Some(term) = terms.into_iter().find(|term| labels.fields[term.field].group.as_deref() == group) {
            let place = SearchPlace { field: term.field, page: index, line: band.line, at: band.at };
            let value = Occurrence::term(place, term.value, (term.start, term.end), sure::AMOUNT);
            found.push(Occurrence { row: Some((TABLE - index, band.line)), ..value });
        }
    }
}
