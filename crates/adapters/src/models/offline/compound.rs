//! Labels that announce several values, one after the other: `Contract No. / Term`, with both beside or beneath it.

use kybern_core::model::ValueKind;

use super::label_text::{is_time, past_item};
use super::labels::{LabelHit, Labels};
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::sides::{LabelSide, SideVotes, neighbour};
use super::values::{self, ReadValue};

/// Bytes of such a label.
const MAX_LABEL: usize = 120;
/// Digits that no label has.
const LEAST_DIGITS: usize = 3;
/// Lines beneath the first value on which the others may stand.
const MAX_BENEATH: usize = 2;
/// What parts labels, and values.
const STROKES: [char; 6] = ['/', '|', '&', ',', ';', '\t'];
/// Words that part labels.
const JOINTS: [&str; 5] = [" and ", " y ", " et ", " und ", " + "];

/// A stretch of one line in which values are looked for.
#[derive(Clone, Copy, Debug)]
struct Span {
    line: usize,
    start: usize,
    end: usize,
}

/// The fields of each label in a text that is nothing but several labels of different values, all of them checked
/// narrowly; one part may be a word that nobody knows. Empty when it is none.
pub(super) fn parts(labels: &Labels<'_>, text: &str) -> Vec<Vec<usize>> {
    let text = past_item(text.trim()).trim_end_matches([':', '=']);
    if text.len() > MAX_LABEL || !(text.contains(STROKES) || JOINTS.iter().any(|joint| text.contains(joint))) {
        return Vec::new();
    }
    // A time of the day may stand in brackets; other digits are of a value.
    let untimed = text.split('(').enumerate().map(|(at, part)| match part.split_once(')') {
        Some((time, after)) if at > 0 && is_time(time) => after,
        _ => part,
    });
    if untimed.flat_map(str::bytes).filter(u8::is_ascii_digit).count() >= LEAST_DIGITS {
        return Vec::new();
    }
    let pieces = text.split(STROKES).flat_map(|piece| split_at_joints(piece));
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut unknown = 0;
    for piece in pieces.filter(|piece| piece.chars().any(char::is_alphabetic)) {
        let Some(fields) = exactly(labels, piece) else {
            unknown += 1;
            continue;
        };
        // The same label in another language.
        if found.iter().any(|known| known.iter().any(|field| fields.contains(field))) {
            continue;
        }
        if !fields.iter().all(|field| is_narrow(labels.fields[*field].value)) {
            return Vec::new();
        }
        found.push(fields);
    }
    if found.len() >= 2 && unknown <= 1 { found } else { Vec::new() }
}

fn split_at_joints(piece: &str) -> Vec<&str> {
    let mut pieces = vec![piece];
    for joint in JOINTS {
        pieces = pieces.into_iter().flat_map(|piece| piece.split(joint)).collect();
    }
    pieces
}

/// The fields of a label, with or without a remark in brackets.
fn exactly(labels: &Labels<'_>, piece: &str) -> Option<Vec<usize>> {
    let piece = piece.trim();
    labels.exactly(piece).or_else(|| {
        let (before, rest) = piece.split_once('(')?;
        let inside = rest.split(')').next()?;
        labels.exactly(before).or_else(|| labels.exactly(inside))
    })
}

/// Amounts stand in columns of their own, and words beside them say what they are.
const fn is_narrow(kind: ValueKind) -> bool {
    values::is_strict(kind) && !matches!(kind, ValueKind::Money)
}

/// The labels that a hit's label consists of, when it is such a label.
pub(super) fn parts_of(page: &Page<'_>, line: usize, hit: &LabelHit, labels: &Labels<'_>) -> Vec<Vec<usize>> {
    if !hit.parts.is_empty() {
        return hit.parts.clone();
    }
    let cell = page.lines[line].cells[hit.cell];
    // A piece of a broken label leads to nothing by itself.
    if !(hit.fills || hit.colon) || hit.words == 0 {
        return Vec::new();
    }
    let text = page.text.get(cell.start..hit.after.clamp(cell.start, cell.end)).unwrap_or_default();
    parts(labels, text)
}

/// The values of the labels of a hit; `None` when it is the label of one value.
pub(super) fn values(
    page: &Page<'_>,
    index: usize,
    (line, place): (usize, usize),
    labels: &Labels<'_>,
    sides: &SideVotes,
) -> Option<Vec<Occurrence>> {
    let hit = &page.hits[line][place];
    let parts = parts_of(page, line, hit, labels);
    if parts.is_empty() {
        return None;
    }
    let ways = if hit.fills { sides.order(line) } else { vec![LabelSide::Right] };
    let mut best: Vec<Occurrence> = Vec::new();
    for side in ways {
        // `USDOT / MC   USDOT 2211887`: what stands beside it has its own label, and says what it is.
        if hit.fills && side == LabelSide::Right && names_itself(page, (line, hit), &parts) {
            break;
        }
        let Some(spans) = spans(page, (line, place), side) else { continue };
        let sure = match (hit.fills, side) {
            (false, _) => sure::COLON,
            (true, LabelSide::Right) => sure::BESIDE,
            (true, _) => sure::BENEATH,
        };
        let found = read(page, index, &parts, &spans, labels, (hit.start, sure));
        if found.len() > best.len() {
            best = found;
        }
    }
    Some(best)
}

/// Whether the cell beside a label begins with a label of one of its values.
fn names_itself(page: &Page<'_>, (line, hit): (usize, &LabelHit), parts: &[Vec<usize>]) -> bool {
    let Some((at, cell)) = neighbour(page, line, hit.cell, LabelSide::Right) else { return false };
    page.hits[at].iter().any(|other| {
        other.start == cell.start
            && !other.fills
            && other.fields.iter().any(|field| parts.iter().any(|part| part.contains(field)))
    })
}

/// Where the values of a label may stand on one of its sides: its first line, and what goes on beneath in its column.
fn spans(page: &Page<'_>, (line, place): (usize, usize), side: LabelSide) -> Option<Vec<Span>> {
    let hit = &page.hits[line][place];
    let row = &page.lines[line];
    let next = page.hits[line].get(place + 1).map(|next| next.start).filter(|next| *next > hit.after);
    let (mut at, mut column, end) = if hit.fills {
        let (at, cell) = neighbour(page, line, hit.cell, side)?;
        if page.is_label(at, cell) || page.used[at] {
            return None;
        }
        (at, cell, if side == LabelSide::Right { next.unwrap_or(row.end) } else { cell.end })
    } else {
        let cell = row.cells[hit.cell];
        let before = page.text.get(cell.start..hit.after)?.chars().count();
        let width = cell.width.saturating_sub(before);
        let column = Cell { start: hit.after, column: cell.column + before, width, ..cell };
        (line, column, next.unwrap_or(row.end))
    };
    let mut spans = vec![Span { line: at, start: column.start, end }];
    for _ in 0..MAX_BENEATH {
        let below = page.lines.get(at + 1).filter(|below| below.number == page.lines[at].number + 1);
        let Some(cell) = below.and_then(|below| layout::in_column(column, below)) else { break };
        if page.is_label(at + 1, cell) || page.used[at + 1] {
            break;
        }
        spans.push(Span { line: at + 1, start: cell.start, end: cell.end });
        (at, column) = (at + 1, cell);
    }
    Some(spans)
}

/// Reads the values of the parts in their order, as far as they are there.
fn read(
    page: &Page<'_>,
    index: usize,
    parts: &[Vec<usize>],
    spans: &[Span],
    labels: &Labels<'_>,
    (label, sure): (usize, f64),
) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut left = parts;
    for span in spans {
        let text = page.text.get(span.start..span.end).unwrap_or_default();
        let (reads, read) = in_text(labels, left, text);
        left = &left[read..];
        found.extend(reads.into_iter().map(|(field, read)| {
            let place = SearchPlace { field, page: index, line: span.line, at: label };
            Occurrence { many: labels.fields[field].many, ..Occurrence::new(place, read, span.start, sure) }
        }));
    }
    found
}

/// The values in a text, in the order of their labels, and of how many labels they are.
pub(super) fn in_text(labels: &Labels<'_>, parts: &[Vec<usize>], text: &str) -> (Vec<(usize, ReadValue)>, usize) {
    let (mut found, mut part, mut at) = (Vec::new(), 0, 0);
    while part < parts.len() {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || "/|&,;()–—-".contains(c)).len();
        at += blank;
        let rest = &text[at..];
        let first = next(labels, &parts[part..], rest).map(|(count, field, read)| (part + count, field, read));
        let later = || alternative(labels, parts, rest).filter(|_| found.is_empty());
        if let Some((past, field, read)) = first.or_else(later) {
            part = past;
            let read = read.moved(at);
            at = read.end;
            found.push((field, read));
        } else if let Some(stroke) = rest.find(STROKES) {
            at += stroke + 1;
        } else {
            break;
        }
    }
    (found, part)
}

/// The value of a later label at the beginning of a text, where the labels before it have none: of two names of a value
/// the paper may have filled in only one, as in `Reference / Contract No.` Before it, how many labels are past then.
fn alternative(labels: &Labels<'_>, parts: &[Vec<usize>], text: &str) -> Option<(usize, usize, ReadValue)> {
    (1..parts.len()).find_map(|later| {
        let (_, field, read) = next(labels, &parts[later..=later], text)?;
        Some((later + 1, field, read))
    })
}

/// The value of the first label at the beginning of a text; two labels of dates may have a range.
fn next(labels: &Labels<'_>, parts: &[Vec<usize>], text: &str) -> Option<(usize, usize, ReadValue)> {
    let kind = |field: usize| labels.fields[field].value;
    let date = |part: &Vec<usize>| part.iter().copied().find(|field| kind(*field) == ValueKind::Date);
    let first = parts.first()?;
    if let (Some(start), Some(_)) = (date(first), parts.get(1).and_then(date))
        && let Some(range) = labels.in_group_of(start, ValueKind::DateRange)
        && let Some(read) = values::read(ValueKind::DateRange, text)
    {
        return Some((2, range, read));
    }
    let mut fields = first.clone();
    fields.sort_by_key(|field| kind(*field) != ValueKind::DateRange);
    // A day is no number, though a part of it may look like one.
    if values::read(ValueKind::Date, text).is_some_and(|read| read.start == 0) {
        fields.retain(|field| kind(*field) != ValueKind::PolicyNumber);
    }
    fields.into_iter().find_map(|field| values::read(labels.fields[field], text).map(|read| (1, field, read)))
}
