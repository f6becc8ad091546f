//! Names that nobody labelled and that their words give away: an insurer in the letterhead or the footer.

use std::cell::LazyCell;

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Cell;
use super::occurrence::{Occurrence, Place, sure};
use super::page::Page;
use super::values::{self, Read};
use super::{legend, parties};

/// Businesses of one cell that are looked at.
const MOST: usize = 10;
/// Lines at the top and at the bottom of a page that may be a letterhead or a footer.
const EDGE: usize = 6;

/// Adds names by their words, for fields that no label led to.
pub(super) fn signed(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let is_wanted = |field: &usize| {
        let pattern = labels.fields[*field];
        let led_to = || found.iter().any(|value| value.field == *field);
        pattern.value == ValueKind::Name && !pattern.signs.is_empty() && !led_to()
    };
    let mut wanted: Vec<(usize, Vec<(bool, Occurrence)>)> =
        (0..labels.fields.len()).filter(is_wanted).map(|field| (field, Vec::new())).collect();
    if wanted.is_empty() {
        return;
    }
    for (index, page) in pages.iter().enumerate() {
        let explained = wanted.iter().flat_map(|(field, _)| legend::explanations(page, index, labels, *field));
        let explained: Vec<(usize, usize)> = explained.collect();
        for (number, line) in page.lines.iter().enumerate() {
            let edge = number < EDGE || number + EDGE >= page.lines.len();
            let explains = |cell: &&Cell| explained.iter().any(|(from, to)| cell.start < *to && cell.end > *from);
            for cell in line.cells.iter().filter(|cell| !explains(cell)) {
                let text = page.cell(*cell);
                let whole = parties::signed_by(labels, text);
                let inside = LazyCell::new(|| {
                    let with_fields = |read: Read| (labels.signed(read.value.as_str().unwrap_or_default()), read);
                    values::find_capitalised(text).into_iter().map(with_fields).collect::<Vec<_>>()
                });
                for (field, names) in &mut wanted {
                    let whole = whole.as_ref().filter(|(_, fields)| fields.contains(field)).map(|(read, _)| read);
                    let first = || inside.iter().find(|(fields, _)| fields.contains(field)).map(|(_, read)| read);
                    let Some(read) = whole.or_else(first) else { continue };
                    let place = Place { field: *field, page: index, line: number, at: cell.start };
                    names.push((edge, Occurrence::new(place, read.clone(), cell.start, sure::SIGNED)));
                }
            }
        }
    }
    for (field, mut names) in wanted {
        let spelt = |name: &Occurrence| letters(name.value.as_str().unwrap_or_default());
        let mut different: Vec<String> = names.iter().map(|(_, name)| spelt(name)).collect();
        different.sort();
        different.dedup();
        if different.len() > 1 && names.iter().any(|(edge, _)| *edge) && labels.fields[field].group.is_none() {
            names.retain(|(edge, _)| *edge);
        }
        found.extend(names.into_iter().map(|(_, name)| name));
    }
}

/// The letters and digits of a name, in lower case, by which names are compared.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Adds every business that is named by its legal form, for lists of companies that have no labels: who each of them is
/// is not seen here.
pub(super) fn businesses(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let unlabelled = |pattern: &kybern_core::model::FieldPattern| {
        pattern.value == ValueKind::Name && pattern.opens_item && pattern.labels.is_empty()
    };
    let Some(field) = labels.fields.iter().position(|pattern| unlabelled(pattern)) else { return };
    for (index, page) in pages.iter().enumerate() {
        for (number, line) in page.lines.iter().enumerate() {
            for cell in &line.cells {
                for read in values::find_businesses(page.cell(*cell)).into_iter().take(MOST) {
                    let place = Place { field, page: index, line: number, at: cell.start + read.start };
                    found.push(Occurrence::new(place, read, cell.start, sure::GUESS));
                }
            }
        }
    }
}
