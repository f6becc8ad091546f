//! Postal addresses, which take more than one line.

use super::labelled::ValueSpot;
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values;

use kybern_core::model::ValueKind;

/// Lines of an address, a name above it not counted.
const MAX_LINES: usize = 3;

/// The address at, and beneath, a spot. With `named` the spot holds the addressee, and the address follows.
pub(super) fn address(page: &Page<'_>, place: SearchPlace, spot: ValueSpot, named: bool) -> Option<Occurrence> {
    let mut rows = vec![(spot.start, spot.end)];
    let first =
        page.lines[spot.line].cells.iter().find(|cell| (cell.start..=cell.end).contains(&spot.start)).copied()?;
    let before = columns(page.text, first.start, spot.start);
    let width = first.width.saturating_sub(before);
    let value_cell =
        Cell { start: spot.start, end: spot.end, column: first.column + before, width, index: first.index };
    let mut number = page.lines[spot.line].number;
    for (index, line) in page.lines.iter().enumerate().skip(spot.line + 1) {
        let wanted = MAX_LINES + usize::from(named);
        let done = rows.last().is_some_and(|(start, end)| values::ends_with_zip(&page.text[*start..*end]));
        if done || rows.len() >= wanted || line.number > number + 1 || page.used[index] {
            break;
        }
        number = line.number;
        // A form's label in another column may come between two lines of an address.
        let Some(cell) = layout::in_column(value_cell, line).or_else(|| alone(page, spot, line)) else {
            continue;
        };
        if page.is_label(index, cell) || page.is_pair(index) && line.cells.len() == 1 {
            break;
        }
        rows.push((cell.start, cell.end));
    }
    if named {
        rows.remove(0);
    }
    if !rows.last().is_some_and(|(start, end)| values::ends_with_zip(&page.text[*start..*end])) {
        // Without a ZIP code nobody knows where it ends.
        rows.truncate(1);
    }
    let (start, mut end) = *rows.first()?;
    let joined: Vec<&str> = rows.iter().map(|(start, end)| page.text[*start..*end].trim()).collect();
    let read = values::read(ValueKind::Address, &joined.join("\n"))?;
    for pair in rows.windows(2) {
        if !page.text[pair[0].1..pair[1].0].trim().is_empty() {
            break;
        }
        end = pair[1].1;
    }
    let mut found = Occurrence::new(place, read, 0, if named { sure::BENEATH } else { spot.sure });
    let text = page.text[start..end].trim_end().trim_end_matches(['"', ',']);
    (found.start, found.end) = (start, start + text.len());
    Some(found)
}

fn columns(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |text| text.chars().count())
}

/// A line of one cell beneath a value that stands after its label.
fn alone(page: &Page<'_>, spot: ValueSpot, line: &layout::Line) -> Option<Cell> {
    let single = page.lines[spot.line].cells.len() == 1 && line.cells.len() == 1;
    line.cells.first().copied().filter(|_| single)
}
