//! Names with their addresses beneath a line that says what they are for, of fields that may have several:
//!
//! ```text
//! Send our catalogue to the following:
//!   Fern Hollow Books, 12 Mill Row, Waco, TX 76701
//!   Copper Kettle Co. - 8 Dock St, Waco, TX 76702
//! ```
//!
//! The line has a word by which the field's section is known; without a colon it leads to two such lines at least.

use std::collections::HashSet;

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Cell;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// Lines of a list, and of one name with its address.
const MAX_LINES: usize = 60;
const MAX_BLOCK: usize = 4;
/// Blank lines between the heading and the list.
const MAX_GAP: usize = 2;
/// Words of a heading.
const MAX_HEADING: usize = 24;
/// Lines of a list without a colon above it.
const LEAST_LINES: usize = 2;

/// Adds the names of such lists, for fields that no label led to.
pub(super) fn names(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let led: HashSet<usize> = found.iter().map(|value| value.field).collect();
    for (field, pattern) in labels.fields.iter().enumerate() {
        let is_list = pattern.value == ValueKind::Name && pattern.many && pattern.group.is_none();
        if !is_list
            || led.contains(&field)
            || !page.lines.iter().any(|line| ends_an_address(page, line.start, line.end))
        {
            continue;
        }
        for (number, line) in page.lines.iter().enumerate() {
            let [cell] = line.cells.as_slice() else { continue };
            if page.used[number] || !heads(labels, field, page.cell(*cell)) {
                continue;
            }
            let named = beneath(page, number);
            let colon = page.cell(*cell).ends_with(':');
            if named.len() < if colon { 1 } else { LEAST_LINES } {
                continue;
            }
            found.extend(named.into_iter().map(|(line, start, read)| {
                let place = SearchPlace { field, page: index, line, at: start };
                Occurrence { many: true, ..Occurrence::new(place, read, start, sure::BENEATH) }
            }));
            break;
        }
    }
}

/// Whether a line of words leads to a field's names: it has a word of the field's section.
fn heads(labels: &Labels<'_>, field: usize, text: &str) -> bool {
    let count = text.split_whitespace().count();
    (2..=MAX_HEADING).contains(&count) && !values::ends_with_zip(text) && labels.is_of_section(text, field)
}

/// The names beneath a line, each with its address on its own line or on those that follow.
fn beneath(page: &Page<'_>, heading: usize) -> Vec<(usize, usize, ReadValue)> {
    let mut named = Vec::new();
    let (mut line, mut last) = (heading + 1, page.lines[heading].number);
    while let Some(row) =
        page.lines.get(line).filter(|row| row.number <= last + 1 + MAX_GAP && line <= heading + MAX_LINES)
    {
        let [cell] = row.cells.as_slice() else { break };
        let Some((read, lines)) = addressed(page, line, *cell) else { break };
        named.push((line, cell.start, read));
        line += lines;
        last = page.lines[line - 1].number;
    }
    named
}

/// A name with its address, and how many lines they take.
fn addressed(page: &Page<'_>, line: usize, cell: Cell) -> Option<(ReadValue, usize)> {
    let text = page.cell(cell);
    let skip = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || ".)-*•· ".contains(c)).len();
    // A house's number is no bullet.
    let skip = if text[..skip].contains(['.', ')', '-', '*', '•', '·']) { skip } else { 0 };
    let item = &text[skip..];
    let name = |text: &str| {
        let read = values::read(ValueKind::Name, text).filter(|read| read.start == 0)?;
        text.starts_with(char::is_uppercase).then_some(ReadValue { start: skip, end: skip + read.end, ..read })
    };
    if values::ends_with_zip(item) {
        let cut = [" - ", " – ", " — ", "; ", ", "].iter().filter_map(|mark| item.find(mark)).min()?;
        // A legal form behind a comma is part of the name.
        let form = item[cut..].strip_prefix(", ").and_then(|rest| rest.split([',', ' ']).next());
        let form = form.filter(|word| values::has_form(word)).map_or(0, |word| 2 + word.len());
        return Some((name(&item[..cut + form])?, 1));
    }
    let read = name(item)?;
    let adjacent = |at: usize| page.lines.get(at).filter(|next| next.number == page.lines[at - 1].number + 1);
    for lines in 2..=MAX_BLOCK {
        let next = adjacent(line + lines - 1)?;
        let [below] = next.cells.as_slice() else { return None };
        if values::ends_with_zip(page.cell(*below)) {
            return Some((read, lines));
        }
    }
    None
}

fn ends_an_address(page: &Page<'_>, start: usize, end: usize) -> bool {
    page.text.get(start..end).is_some_and(values::ends_with_zip)
}
