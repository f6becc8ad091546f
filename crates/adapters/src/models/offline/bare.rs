//! Values that nobody labelled, but whose kind shows by itself.

use std::collections::HashSet;

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::occurrence::{Occurrence, Place, sure};
use super::page::Page;
use super::values::{self, Read};

/// Bare names that are looked at; a text with more is a list of somebody's customers.
const MAX_NAMES: usize = 50;

/// Vehicle identification numbers that no label led to, with what stands beside them on their line.
pub(super) fn vins(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let Some(field) = labels.fields.iter().position(|field| field.value == ValueKind::Vin) else { return };
    let taken: HashSet<usize> =
        found.iter().filter(|value| value.page == index && value.field == field).map(|value| value.start).collect();
    for (number, line) in page.lines.iter().enumerate() {
        let vins = values::find_vins(&page.text[line.start..line.end]);
        let alone = vins.len() == 1;
        for read in vins.into_iter().filter(|read| !taken.contains(&(line.start + read.start))) {
            let at = line.start + read.start;
            let place = Place { field, page: index, line: number, at: if alone { line.start } else { at } };
            let row = Some((usize::MAX, at));
            found.push(Occurrence { row, ..Occurrence::new(place, read, line.start, sure::BARE) });
            if alone && !page.used[number] {
                beside(page, place, at, labels, found);
            }
        }
    }
}

/// The other fields of a bare opener's group, when the cells beside it are as many as the fields want.
fn beside(page: &Page<'_>, place: Place, opener: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let line = &page.lines[place.line];
    let group = labels.fields[place.field].group;
    let cells: Vec<_> = line.cells.iter().filter(|cell| !(cell.start..cell.end).contains(&opener)).collect();
    let mates = labels
        .fields
        .iter()
        .enumerate()
        .filter(|(index, field)| *index != place.field && group.is_some() && field.group == group);
    let (mut years, mut texts) = (Vec::new(), Vec::new());
    for (index, field) in mates {
        match field.value {
            ValueKind::Year => years.push(index),
            ValueKind::Text => texts.push(index),
            _ => {}
        }
    }
    let (year_cells, text_cells): (Vec<_>, Vec<_>) =
        cells.iter().partition(|cell| values::read(ValueKind::Year, page.cell(***cell)).is_some());
    let mut add = |fields: &[usize], cells: &[&&super::layout::Cell]| {
        if fields.len() == cells.len() {
            for (field, cell) in fields.iter().zip(cells) {
                let read = values::read(labels.fields[*field].value, page.cell(***cell));
                let at = Place { field: *field, ..place };
                found.extend(read.map(|read| Occurrence {
                    row: Some((usize::MAX, opener)),
                    ..Occurrence::new(at, read, cell.start, sure::GUESS)
                }));
            }
        }
    };
    add(&years, &year_cells);
    if year_cells.len() == years.len() {
        add(&texts, &text_cells);
    }
}

/// For single fields that no label led to: an e-mail address, a telephone number, a business's name.
pub(super) fn contacts(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for kind in [ValueKind::Email, ValueKind::Phone, ValueKind::Name] {
        let Some(field) = labels.fields.iter().position(|field| field.value == kind && field.group.is_none()) else {
            continue;
        };
        if found.iter().any(|value| value.field == field) {
            continue;
        }
        let mut reads: Vec<(usize, usize, usize, Read)> = Vec::new();
        for (index, page) in pages.iter().enumerate() {
            for (number, line) in page.lines.iter().enumerate() {
                if page.used[number] || reads.len() > MAX_NAMES {
                    continue;
                }
                let row = &page.text[line.start..line.end];
                let here = match kind {
                    ValueKind::Email => values::find_emails(row),
                    ValueKind::Phone => values::find_phones(row),
                    _ => line
                        .cells
                        .iter()
                        .flat_map(|cell| shifted(values::find_businesses(page.cell(*cell)), cell.start - line.start))
                        .collect(),
                };
                reads.extend(here.into_iter().take(MAX_NAMES).map(|read| (index, number, line.start, read)));
            }
        }
        let taken = |page: usize, at: usize| {
            found.iter().any(|value| value.page == page && value.start <= at && at < value.end)
        };
        reads.retain(|(page, _, base, read)| !taken(*page, base + read.start));
        let different: HashSet<String> = reads.iter().map(|(_, _, _, read)| read.value.to_string()).collect();
        let sure = if different.len() == 1 { sure::GUESS } else { sure::GUESS * 0.6 };
        if let Some((page, line, base, read)) = reads.into_iter().next() {
            let place = Place { field, page, line, at: base + read.start };
            found.push(Occurrence::new(place, read, base, sure));
        }
    }
}

fn shifted(reads: Vec<Read>, by: usize) -> Vec<Read> {
    reads.into_iter().map(|read| Read { start: read.start + by, end: read.end + by, ..read }).collect()
}
