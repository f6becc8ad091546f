//! Whose a value is: the insured's, the agent's, the insurer's. A paper names several, each with an address and a
//! telephone, and the label `Phone` says nothing about which.
//!
//! A value belongs to the party that is named last before it: to the left on its line, or above it in its column, as far
//! as the lines go on without a gap.

use std::collections::BTreeSet;

use kybern_core::model::{FieldPattern, ValueKind};

use super::analyse::clip;
use super::labels::{LabelHit, Labels};
use super::layout::{self, Cell};
use super::page::Page;
use super::values;

/// Lines that a party's block may have above a value.
const MAX_ABOVE: usize = 7;

/// Labels of one line that are looked at for whose a value is.
const MAX_HITS: usize = 8;

/// What departments are called.
const DEPARTMENTS: [&str; 8] = ["unit", "department", "dept", "desk", "division", "team", "services", "section"];

/// Bytes of a cell in which the name at its beginning is looked for.
const MAX_NAME: usize = 1024;

/// Bytes before a value, in its cell, that say whose it is.
const BEFORE: usize = 160;

/// The family of a dotted name: what stands before the last dot.
pub(super) fn family(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(family, _)| family)
}

/// The party that a field is of: its family, or its own name when names of it are known by their words.
fn party(pattern: &FieldPattern) -> Option<&str> {
    family(&pattern.name).or_else(|| (!pattern.signs.is_empty()).then_some(&pattern.name))
}

/// Whether a value of that field, led by that label, stands in the block of another party.
pub(super) fn is_of_another(page: &Page<'_>, labels: &Labels<'_>, line: usize, hit: &LabelHit, field: usize) -> bool {
    let pattern = labels.fields[field];
    if matches!(pattern.value, ValueKind::DotNumber | ValueKind::McNumber) {
        return is_named_with_another(page, labels, line, hit, pattern);
    }
    let Some(own) = family(&pattern.name) else { return false };
    if pattern.value == ValueKind::Person && labels.writer == Some(own) && hit.words == 1 {
        return is_office_of(page, labels, line, hit);
    }
    // A number that only one kind of party has needs no heading.
    let anybodys = matches!(pattern.value, ValueKind::Phone | ValueKind::Email | ValueKind::Address);
    if !anybodys || hit.words > 1 && names_party(labels, hit, own) {
        return false;
    }
    let cell = page.lines[line].cells[hit.cell];
    owner(page, labels, line, cell, hit.start).is_some_and(|party| party != own)
}

/// Whether a number stands in one cell behind the name of another party: `Dealer: Corner Lot Motors, MC 123456`.
fn is_named_with_another(
    page: &Page<'_>,
    labels: &Labels<'_>,
    line: usize,
    hit: &LabelHit,
    pattern: &FieldPattern,
) -> bool {
    if hit.start == page.lines[line].cells[hit.cell].start {
        return false;
    }
    let before = page.hits[line].partition_point(|other| other.start < hit.start);
    let before = page.hits[line][..before].iter().rev().take(MAX_HITS);
    let named = before.take_while(|other| other.cell + 1 >= hit.cell).find_map(|other| leads(labels, other));
    let named = named.or_else(|| head(page, labels, line, hit.cell));
    named.is_some_and(|named| family(&pattern.name) != Some(named))
}

/// The party that the label right above a cell names.
fn head<'s>(page: &Page<'_>, labels: &Labels<'s>, line: usize, cell: usize) -> Option<&'s str> {
    let row = &page.lines[line];
    let (at, above) = line.checked_sub(1).and_then(|at| Some((at, page.lines.get(at)?)))?;
    let column = layout::under(row, row.cells[cell], above).filter(|_| above.number + 1 == row.number)?;
    let fills = |hit: &&LabelHit| hit.fills && !hit.colon && above.cells[hit.cell] == column;
    page.hits[at].iter().find(fills).and_then(|hit| leads(labels, hit))
}

/// Whether whoever a label such as `Contact` leads to works for a party whose names are known by their words, such as the
/// agency that made a paper: it is named last above the label, be there blank lines between.
fn is_office_of(page: &Page<'_>, labels: &Labels<'_>, line: usize, hit: &LabelHit) -> bool {
    let cell = page.lines[line].cells[hit.cell];
    let named = (0..line).rev().take(MAX_ABOVE).find_map(|above| {
        let column = layout::in_column(cell, &page.lines[above])?;
        let here = |hit: &&LabelHit| (column.start..column.end).contains(&hit.start);
        let led = page.hits[above].iter().rev().filter(here).take(MAX_HITS).find_map(|hit| leads(labels, hit));
        led.or_else(|| signed(labels, page.cell(column)))
    });
    let has_signs = |pattern: &&FieldPattern| !pattern.signs.is_empty();
    named.is_some_and(|named| labels.fields.iter().copied().filter(has_signs).any(|field| party(field) == Some(named)))
}

/// Whether a label names its party itself, as `agent's phone` does: then no other party's field has it.
fn names_party(labels: &Labels<'_>, hit: &LabelHit, own: &str) -> bool {
    hit.fields.iter().all(|field| family(&labels.fields[*field].name) == Some(own)) && hit.words > 2
}

/// The party that is named last before a place.
pub(super) fn owner<'s>(
    page: &Page<'_>,
    labels: &Labels<'s>,
    line: usize,
    cell: Cell,
    before: usize,
) -> Option<&'s str> {
    let row = &page.lines[line];
    let beside = page.hits[line].iter().rev().filter(|hit| hit.start < before).find_map(|hit| leads(labels, hit));
    if beside.is_some() {
        return beside;
    }
    if let Some(party) = row
        .cells
        .iter()
        .rev()
        .filter(|other| other.start < before)
        .find_map(|other| signed(labels, before_in(page.text, other.start, other.end.min(before))))
    {
        return Some(party);
    }
    let mut number = row.number;
    for above in (0..line).rev().take(MAX_ABOVE) {
        let other = &page.lines[above];
        if number - other.number > 1 {
            return None;
        }
        number = other.number;
        let Some(column) = layout::in_column(cell, other) else { continue };
        let here = |hit: &&LabelHit| (column.start..column.end).contains(&hit.start);
        if let Some(party) = page.hits[above].iter().rev().filter(here).find_map(|hit| leads(labels, hit)) {
            return Some(party);
        }
        if let Some(party) = signed(labels, page.cell(column)) {
            return Some(party);
        }
    }
    None
}

/// What stands in a cell before a place, as far as it matters whose place it is.
fn before_in(text: &str, start: usize, end: usize) -> &str {
    let from = text.ceil_char_boundary(start.max(end.saturating_sub(BEFORE)));
    text.get(from..end).unwrap_or_default()
}

/// The parties that pages name, by a label or by the words of a name.
pub(super) fn named<'s>(pages: &[Page<'_>], labels: &Labels<'s>) -> BTreeSet<&'s str> {
    let led = pages.iter().flat_map(|page| page.hits.iter().flatten()).filter_map(|hit| leads(labels, hit));
    let cells =
        pages.iter().flat_map(|page| page.lines.iter().flat_map(|line| &line.cells).map(|cell| page.cell(*cell)));
    led.chain(cells.filter_map(|text| signed(labels, text))).collect()
}

/// The party that a label names, when it names one only.
fn leads<'s>(labels: &Labels<'s>, hit: &LabelHit) -> Option<&'s str> {
    let names = |field: &&usize| matches!(labels.fields[**field].value, ValueKind::Name | ValueKind::Person);
    let mut parties = hit.fields.iter().filter(names).filter_map(|field| party(labels.fields[*field]));
    let first = parties.next()?;
    parties.all(|other| other == first).then_some(first)
}

/// The party that a name belongs to by its words, when it is a name.
pub(super) fn signed<'s>(labels: &Labels<'s>, text: &str) -> Option<&'s str> {
    let named = labels.signed(text).into_iter().find(|field| labels.fields[*field].value == ValueKind::Name)?;
    party(labels.fields[named])
}

/// A name in a cell that belongs to a field by its words: the beginning of the cell, as far as it is written like a name.
pub(super) fn signed_name(labels: &Labels<'_>, field: usize, text: &str) -> Option<values::ReadValue> {
    signed_by(labels, text).filter(|(_, fields)| fields.contains(&field)).map(|(read, _)| read)
}

/// A name at the beginning of a cell, as far as it is written like one, with the fields that it belongs to by its words.
pub(super) fn signed_by(labels: &Labels<'_>, text: &str) -> Option<(values::ReadValue, Vec<usize>)> {
    let text = clip(text, MAX_NAME);
    let cut = ['(', ')', '•', '·', '|', '/', ';', ':'].into_iter().filter_map(|mark| text.find(mark)).min();
    let text = text.get(..cut.unwrap_or(text.len()))?;
    let text = text.split(" - ").next()?.split(" – ").next()?.split(" NAIC").next()?;
    // Without such a word nobody's name need be read out of it.
    if !labels.known.lexicon.signs.speak(text) {
        return None;
    }
    let read = past_department(values::read(ValueKind::Name, text)?);
    let name = read.value.as_str()?;
    if labels.is_label(name) {
        // `Leasing Company` is a label and nobody's name.
        return None;
    }
    let all: Vec<&str> = name.split_whitespace().collect();
    let joins = |word: &&str| matches!(*word, "of" | "and" | "the" | "de" | "des" | "y" | "et" | "d’assurance");
    let small = all.iter().filter(|word| word.starts_with(char::is_lowercase) && !joins(word)).count();
    let fields = if (2..=9).contains(&all.len()) && small == 0 { labels.signed(name) } else { Vec::new() };
    (!fields.is_empty()).then_some((read, fields))
}

/// A name without the department before it: `Billing Desk, Larch Leasing Company`.
fn past_department(read: values::ReadValue) -> values::ReadValue {
    let name = read.value.as_str().unwrap_or_default();
    let Some((department, business)) = name.split_once(", ") else { return read };
    let last = department.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let several = department.contains(' ') && business.contains(' ');
    if several && DEPARTMENTS.contains(&last.as_str()) {
        return values::ReadValue { start: read.start + department.len() + 2, value: business.into(), ..read };
    }
    read
}
