//! Values that stand apart from their label: on the line before or after it, at its middle, or in the block above it.

use kybern_core::model::ValueKind;

use super::super::labels::{LabelHit, Labels};
use super::super::layout::Cell;
use super::super::occurrence::sure;
use super::super::page::Page;
use super::super::values::{self, ValueShape};
use super::{ValueSpot, fits, is_foreign};

/// Lines of a name with its address.
const MAX_BLOCK: usize = 4;

/// The line right above a label that stands alone on its line, where labels stand behind their values and the label found
/// no room behind a long one.
pub(super) fn wrapped_before(
    page: &Page<'_>,
    (line, hit): (usize, &LabelHit),
    shape: ValueShape<'_>,
    labels: &Labels<'_>,
) -> Option<ValueSpot> {
    let row = &page.lines[line];
    let at = line.checked_sub(1).filter(|at| page.lines[*at].number + 1 == row.number && !page.used[*at])?;
    let [cell] = page.lines[at].cells.as_slice() else { return None };
    let alone = row.cells.len() == 1 && hit.fills && !hit.colon;
    let free = alone && !page.is_label(at, *cell) && !is_foreign(page, at, *cell, shape.kind, labels);
    let fits = free && fits(page, shape, cell.start, cell.end);
    fits.then_some(ValueSpot { line: at, start: cell.start, end: cell.end, sure: sure::BESIDE })
}

/// The beginning of the next line, where a line of several labels with their values ends with a label and a colon.
pub(super) fn wrapped(
    page: &Page<'_>,
    (line, hit): (usize, &LabelHit),
    shape: ValueShape<'_>,
    labels: &Labels<'_>,
) -> Option<ValueSpot> {
    let (row, next) = (&page.lines[line], page.lines.get(line + 1)?);
    let ends = hit.colon && row.cells.len() >= 2 && hit.cell + 1 == row.cells.len() && !row.tabbed;
    let cell = *next.cells.first().filter(|_| ends && next.number == row.number + 1 && !page.used[line + 1])?;
    let text = page.cell(cell);
    let read = values::read(shape, text).filter(|read| read.start == 0 && values::is_strict(shape.kind))?;
    let whole = text[read.end..].trim_start_matches([',', ';', '.']).trim().is_empty();
    let free = !page.is_label(line + 1, cell) && !is_foreign(page, line + 1, cell, shape.kind, labels);
    (whole && free).then_some(ValueSpot { line: line + 1, start: cell.start, end: cell.end, sure: sure::COLON })
}

/// The name above what stands beside a label, where the label stands at the middle of a name with its address.
pub(super) fn centred(page: &Page<'_>, line: usize, beside: Cell) -> Option<ValueSpot> {
    let above = page.lines.get(line.checked_sub(1)?)?;
    let [cell] = above.cells.as_slice() else { return None };
    let near = above.number + 1 == page.lines[line].number && cell.column.abs_diff(beside.column) <= 1;
    let free = !page.used[line - 1] && !page.is_label(line - 1, *cell);
    let name = values::read(ValueKind::Name, page.cell(*cell)).is_some_and(|read| read.fit > 0.9);
    let spot = ValueSpot { line: line - 1, start: cell.start, end: cell.end, sure: sure::BESIDE };
    (near && free && name).then_some(spot)
}

/// The name in the block that ends right above a label, such as one with its address: its line with a legal form, else its
/// first one; at most so many lines above.
pub(super) fn name_of_block(page: &Page<'_>, line: usize, cell: Cell) -> Option<(usize, Cell)> {
    let mut block: Vec<(usize, Cell)> = Vec::new();
    for at in (0..line).rev().take(MAX_BLOCK) {
        let next = block.last().map_or(line, |(next, _)| *next);
        let over = page.lines[at].cells.iter().find(|over| over.column.abs_diff(cell.column) <= 1);
        let free = |over: Cell| !page.is_label(at, over) || !values::find_phones(page.cell(over)).is_empty();
        let over = over.filter(|over| page.lines[at].number + 1 == page.lines[next].number && free(**over));
        let Some(over) = over else { break };
        block.push((at, *over));
    }
    let formed = block.iter().rev().find(|(_, over)| values::has_form(page.cell(*over)));
    formed.or(block.last()).copied()
}
