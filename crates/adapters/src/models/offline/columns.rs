//! Which column of a table each cell of a row belongs to.

use kybern_core::model::ValueKind;

use super::layout::{Cell, Line};
use super::page::Page;
use super::values;

/// The columns of a row's cells, by their places beneath the head.
pub(super) fn assign(row: &Line, head: &Line) -> Vec<(usize, Cell)> {
    let by_index = row.tabbed && head.tabbed;
    let equal = row.cells.len() == head.cells.len();
    let mut assigned: Vec<(usize, Cell)> = Vec::new();
    for (place, cell) in row.cells.iter().enumerate() {
        let column = if by_index {
            head.cells.iter().position(|head| head.index == cell.index)
        } else if equal {
            Some(place)
        } else {
            nearest(*cell, head)
        };
        // The last column may have several cells, such as what an amount is and the amount.
        let last = column.is_some_and(|column| column + 1 == head.cells.len());
        if let Some(column) = column
            && (last || !assigned.iter().any(|(other, _)| *other == column))
        {
            assigned.push((column, *cell));
        }
    }
    assigned
}

/// The column whose edges are nearest to a cell's.
fn nearest(cell: Cell, head: &Line) -> Option<usize> {
    let end = cell.column + cell.width;
    let apart = |head: &Cell| head.column.abs_diff(cell.column).min((head.column + head.width).abs_diff(end));
    head.cells.iter().enumerate().min_by_key(|(_, head)| apart(head)).map(|(index, _)| index)
}

/// The columns of a row that is out of line with its head, by its two dates: what stands before them belongs to the
/// column before theirs when it `fits` there, and the cells behind them to the columns behind. `first` is the column of
/// the first date. `None` where the row is in line, or has no two dates.
pub(super) fn by_dates(
    page: &Page<'_>,
    row: &Line,
    head: &Line,
    first: usize,
    fits: impl Fn(usize, Cell) -> bool,
) -> Option<Vec<(usize, Cell)>> {
    if row.cells.len() == head.cells.len() || row.tabbed && head.tabbed {
        return None;
    }
    let dated = |cell: &Cell| {
        let text = page.cell(*cell);
        text.bytes().any(|b| b.is_ascii_digit())
            && values::read(ValueKind::Date, text).is_some_and(|read| (read.start, read.end) == (0, text.len()))
    };
    let at = row.cells.windows(2).position(|pair| pair.iter().all(dated))?;
    let (before, number) = (first.checked_sub(1)?, at.checked_sub(1)?);
    // A head whose columns are bunched at the left stands above none of them.
    let bunched = head.cells.last().is_some_and(|last| last.column + last.width < row.cells[at].column);
    if bunched || !fits(before, row.cells[number]) {
        return None;
    }
    let last = head.cells.len() - 1;
    let mut assigned: Vec<(usize, Cell)> = Vec::new();
    for (place, cell) in row.cells.iter().enumerate() {
        let column = if place < number {
            covered(*cell, &head.cells[..before]).filter(|column| !assigned.iter().any(|(other, _)| other == column))
        } else {
            Some((before + place - number).min(last))
        };
        assigned.extend(column.map(|column| (column, *cell)));
    }
    Some(assigned)
}

/// The column of which a cell covers the most, else the nearest one.
fn covered(cell: Cell, heads: &[Cell]) -> Option<usize> {
    let covers = |head: &Cell| {
        let end = (head.column + head.width).min(cell.column + cell.width);
        end.saturating_sub(head.column.max(cell.column))
    };
    let apart = |head: &Cell| head.column.abs_diff(cell.column);
    let by_cover = heads.iter().enumerate().max_by_key(|(_, head)| (covers(head), std::cmp::Reverse(apart(head))));
    by_cover.map(|(column, _)| column)
}

#[cfg(test)]
mod tests {
    use super::super::layout::lines;
    use super::*;

    #[test]
    fn cells_go_to_the_nearest_column_when_one_is_missing() {
        let lines = lines("Unit   Year   Make        VIN\n1             Kenworth    1XKYD49X5MJ914201");
        let columns: Vec<usize> = assign(&lines[1], &lines[0]).into_iter().map(|(column, _)| column).collect();
        assert_eq!(columns, [0, 2, 3]);
    }
}
