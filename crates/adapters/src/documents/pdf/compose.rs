//! Lines into text: cells of a table stand under one another, and gaps between paragraphs become blank lines.

use kybern_core::document::LineBox;

use super::geometry::Rect;
use super::lines::{Cell, Line};

/// Spaces between two cells.
const BETWEEN: usize = 2;
/// A gap between baselines that is larger than this (in font sizes) is a blank line.
const PARAGRAPH: f32 = 2.1;
/// How far a ruled table may begin under the line that names its columns, in font sizes.
const ROW_BELOW_HEAD: f32 = 4.0;
/// The widest that a table is drawn; wider ones are not padded.
const MAX_WIDTH: usize = 400;
/// Rows of a table that are looked at together.
const MAX_ROWS: usize = 200;

/// Adds lines to the text of a page, with their places counted from the lower left corner of `bounds`.
pub(super) fn compose(page: &[Line], bounds: Rect, text: &mut String, places: &mut Vec<LineBox>) {
    let mut before: Option<&Line> = None;
    let mut from = 0;
    while from < page.len() {
        let mut to = from + 1;
        while to < page.len() && to - from < MAX_ROWS && belongs(&page[from..to], &page[to]) {
            to += 1;
        }
        let rows = &page[from..to];
        for (line, written) in rows.iter().zip(align(rows)) {
            if !text.is_empty() {
                let apart = before.is_none_or(|before| {
                    let gap = before.y - line.y;
                    let in_grid = before.grid == line.grid && line.grid != 0;
                    !in_grid && (gap < -before.size || gap > PARAGRAPH * before.size.max(line.size))
                });
                text.push_str(if apart { "\n\n" } else { "\n" });
            }
            let start = text.len();
            text.push_str(&written);
            places.push(LineBox { start, end: text.len(), x: line.x0() - bounds.x0, y: line.y - bounds.y0 });
            before = Some(line);
        }
        from = to;
    }
}

/// Whether a line is the next row of the table that these rows are.
fn belongs(rows: &[Line], next: &Line) -> bool {
    let Some(last) = rows.last() else { return false };
    let gap = last.y - next.y;
    if last.grid == next.grid && next.grid != 0 {
        return true;
    }
    if last.grid == 0 && next.grid != 0 && heads(last, next) {
        return gap < ROW_BELOW_HEAD * last.size.max(next.size);
    }
    if last.grid != next.grid || gap < 0.0 || gap > PARAGRAPH * 1.4 * last.size.max(next.size) {
        return false;
    }
    let row = rows.iter().rev().find(|row| row.cells.len() > 1);
    match (row, next.cells.len()) {
        (Some(_), 2..) => true,
        // The rest of a cell that was too long for its line stands under a later cell of the row.
        (Some(row), 1) => {
            let left = rows.iter().map(Line::x0).fold(f32::MAX, f32::min);
            let under =
                row.cells.iter().any(|cell| (cell.x0 - next.x0()).abs() < 2.5 || (cell.x1 - next.x1()).abs() < 2.5);
            under && next.x0() > left + 12.0 && gap < PARAGRAPH * last.size
        }
        (None, 2..) => next.cells.iter().skip(1).any(|cell| (cell.x0 - last.x0()).abs() < 2.5),
        _ => false,
    }
}

/// Whether a line that stands over a ruled table names its columns.
fn heads(line: &Line, row: &Line) -> bool {
    let over = |cell: &&Cell| row.cells.iter().any(|under| under.x0 <= cell.x1 && cell.x0 <= under.x1);
    line.cells.len() > 2 && line.cells.iter().filter(over).count() * 2 > line.cells.len()
}

/// The rows with their cells padded, so that what stands in one column stands under one another.
fn align(rows: &[Line]) -> Vec<String> {
    let columns = columns(rows);
    let column_of = |x0: f32, x1: f32| columns.iter().position(|(from, to)| *from <= x1 && x0 <= *to).unwrap_or(0);
    let mut widths = vec![0usize; columns.len()];
    let placed: Vec<Vec<(usize, &str)>> = rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| (column_of(cell.x0, cell.x1), cell.text.as_str())).collect())
        .collect();
    let collides = |row: &Vec<(usize, &str)>| row.windows(2).any(|pair| pair[0].0 == pair[1].0);
    if rows.len() > 1 && placed.iter().any(collides) {
        return by_place(rows);
    }
    for row in &placed {
        for (column, text) in row {
            widths[*column] = widths[*column].max(text.chars().count());
        }
    }
    let starts: Vec<usize> = widths
        .iter()
        .scan(0, |at, width| {
            let start = *at;
            *at += width + BETWEEN;
            Some(start)
        })
        .collect();
    let padded = rows.len() > 1 && starts.last().is_some_and(|last| *last < MAX_WIDTH);
    placed
        .iter()
        .map(|row| pad(row.iter().map(|(column, text)| (if padded { starts[*column] } else { 0 }, *text))))
        .collect()
}

/// Rows that have no columns in common, each cell as far from the left as it is on the page: so narrow that no text
/// pushes the next one away, where the widest line allows it.
fn by_place(rows: &[Line]) -> Vec<String> {
    let left = rows.iter().map(Line::x0).fold(f32::MAX, f32::min);
    let right = rows.iter().flat_map(|row| &row.cells).map(|cell| cell.x0).fold(f32::MIN, f32::max);
    #[expect(clippy::cast_precision_loss, reason = "a line has a few hundred characters")]
    let room = |pair: &[Cell]| (pair[1].x0 - pair[0].x0) / (pair[0].text.chars().count() + BETWEEN) as f32;
    let narrowest = rows.iter().flat_map(|row| row.cells.windows(2)).map(room).fold(f32::MAX, f32::min);
    #[expect(clippy::cast_precision_loss, reason = "the number is small")]
    let unit = narrowest.max((right - left) / MAX_WIDTH as f32).max(0.5);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the widest line")]
    let start = |cell: &Cell| ((cell.x0 - left) / unit).round() as usize;
    rows.iter().map(|row| pad(row.cells.iter().map(|cell| (start(cell), cell.text.as_str())))).collect()
}

/// One line out of cells with the places where they should begin.
fn pad<'a>(cells: impl Iterator<Item = (usize, &'a str)>) -> String {
    let mut line = String::new();
    let mut length = 0;
    for (n, (start, text)) in cells.enumerate() {
        let start = start.max(if n == 0 { 0 } else { length + BETWEEN });
        line.extend(std::iter::repeat_n(' ', start - length));
        line.push_str(text);
        length = start + text.chars().count();
    }
    line
}

/// The columns of a table: where cells of different rows overlap, they are one column.
fn columns(rows: &[Line]) -> Vec<(f32, f32)> {
    let mut spans: Vec<(f32, f32)> = rows.iter().flat_map(|row| &row.cells).map(|cell| (cell.x0, cell.x1)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<(f32, f32)> = Vec::new();
    for (x0, x1) in spans {
        match columns.last_mut() {
            Some(last) if x0 <= last.1 => last.1 = last.1.max(x1),
            _ => columns.push((x0, x1)),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Rect = Rect { x0: 0.0, y0: 0.0, x1: 600.0, y1: 800.0 };

    fn line(y: f32, cells: &[(f32, &str)]) -> Line {
        let cells = cells
            .iter()
            .map(|(x, text)| Cell { x0: *x, x1: *x + text.len() as f32 * 5.0, text: (*text).to_owned() })
            .collect();
        Line { y, size: 10.0, cells, grid: 0 }
    }

    fn text(lines: &[Line]) -> String {
        let mut text = String::new();
        compose(lines, PAGE, &mut text, &mut Vec::new());
        text
    }

    #[test]
    fn cells_of_a_column_stand_under_one_another() {
        let rows = [
            line(100.0, &[(10.0, "Line"), (100.0, "Policy"), (200.0, "Premium")]),
            line(88.0, &[(10.0, "Auto Liability"), (200.0, "$1")]),
        ];
        assert_eq!(text(&rows), "Line            Policy  Premium\nAuto Liability          $1");
    }

    #[test]
    fn paragraphs_are_set_apart() {
        assert_eq!(text(&[line(100.0, &[(10.0, "one")]), line(70.0, &[(10.0, "two")])]), "one\n\ntwo");
    }

    #[test]
    fn places_name_the_bytes_of_their_line() {
        let mut text = String::new();
        let mut places = Vec::new();
        compose(&[line(100.0, &[(10.0, "é")]), line(88.0, &[(30.0, "two")])], PAGE, &mut text, &mut places);
        assert_eq!(&text[places[1].start..places[1].end], "two");
        assert_eq!((places[1].x, places[1].y), (30.0, 88.0));
    }
}
