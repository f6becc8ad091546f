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

/// Lines between a name that heads an item and the number of the item.
const MAX_HEADED: usize = 3;

/// Adds names that stand alone on a line above the number of an item which they head, where labels or lists lead to the
/// names of other items.
pub(super) fn heading_items(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (field, pattern) in labels.fields.iter().enumerate() {
        let named = found.iter().any(|value| value.field == field);
        if pattern.value != ValueKind::Name || pattern.signs.is_empty() || pattern.group.is_none() || !named {
            continue;
        }
        let mut added = Vec::new();
        for (index, page) in pages.iter().enumerate() {
            let (mut opened, mut told) = (vec![false; page.lines.len()], vec![false; page.lines.len()]);
            for value in found.iter().filter(|value| value.page == index) {
                let Some(line) = page.line_at(value.start) else { continue };
                opened[line] |= labels.fields[value.field].opens_item
                    && labels.fields[value.field].group == pattern.group
                    && value.row.is_none();
                told[line] |= value.field == field;
            }
            let adjacent = |line: usize| page.lines[line - 1].number + 1 == page.lines[line].number;
            for line in (0..page.lines.len()).filter(|line| !told[*line] && !page.used[*line]) {
                let [cell] = page.lines[line].cells.as_slice() else { continue };
                let mut beneath = (line + 1..page.lines.len()).take(MAX_HEADED);
                let heads = beneath.find(|next| opened[*next] || told[*next] || page.used[*next]);
                let tails = line > 0 && adjacent(line) && opened[line - 1];
                if tails || !heads.is_some_and(|next| opened[next] && !told[next]) {
                    continue;
                }
                let Some(read) = parties::signed_name(labels, field, page.cell(*cell)) else { continue };
                let rest = page.cell(*cell).get(read.end..).unwrap_or_default().trim_start();
                if read.start == 0 && (rest.is_empty() || rest.starts_with('(')) {
                    let place = Place { field, page: index, line, at: cell.start };
                    added.push(Occurrence::new(place, read, cell.start, sure::SIGNED));
                }
            }
        }
        found.extend(added);
    }
}

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
