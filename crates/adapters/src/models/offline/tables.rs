//! Tables: a row of labels with rows of values beneath it. Each row is an item of a group.

use super::labels::{Hit, Labels};
use super::layout::{Cell, Line};
use super::occurrence::{Occurrence, Place, sure};
use super::page::Page;
use super::values;

/// Blank lines that a table may have between two rows.
const MAX_GAP: usize = 3;
/// Lines without a valid row that a table may have before it is over: wrapped cells, subtotals.
const MAX_MISSES: usize = 2;

/// A row of labels.
#[derive(Clone, Debug)]
struct Header {
    line: Line,
    /// For each cell its field.
    columns: Vec<Option<usize>>,
    opener: usize,
}

/// Reads all tables of all pages; their lines are marked as used.
pub(super) fn tables(pages: &mut [Page<'_>], labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut table = 0;
    let mut open: Option<Header> = None;
    for (index, page) in pages.iter_mut().enumerate() {
        if let Some(header) = open.take()
            && rows(page, index, 0, &header, labels, table, &mut found) == page.lines.len()
        {
            // The table fills the page and may go on.
            open = Some(header);
            continue;
        }
        let mut line = 0;
        while line < page.lines.len() {
            let Some(header) = header(page, line, labels) else {
                line += 1;
                continue;
            };
            table += 1;
            let before = found.len();
            let next = rows(page, index, line + 1, &header, labels, table, &mut found);
            if found.len() > before {
                page.used[line] = true;
                open = (next >= page.lines.len().saturating_sub(MAX_MISSES)).then_some(header);
                line = next.max(line + 1);
            } else {
                line += 1;
            }
        }
    }
    found
}

/// The header that a line is: labels of one group, the one that opens an item among them.
fn header(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> Option<Header> {
    let row = &page.lines[line];
    let fills: Vec<&Hit> = page.hits[line].iter().filter(|hit| hit.fills && !hit.colon).collect();
    if row.cells.len() < 2 || fills.len() < 2 {
        return None;
    }
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for hit in &fills {
        let mut seen: Vec<&str> = Vec::new();
        for group in hit.fields.iter().filter_map(|field| labels.fields[*field].group) {
            if seen.contains(&group) {
                continue;
            }
            seen.push(group);
            match groups.iter_mut().find(|(other, _)| *other == group) {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    groups.iter().filter(|(_, count)| *count >= 2).find_map(|(group, _)| {
        let mut columns = vec![None; row.cells.len()];
        for hit in &fills {
            let field = hit.fields.iter().find(|field| labels.fields[**field].group == Some(*group));
            if let (Some(field), Some(column)) = (field, columns.get_mut(hit.cell))
                && column.is_none()
            {
                *column = Some(*field);
            }
        }
        let opener = columns.iter().flatten().find(|field| labels.fields[**field].opens_item).copied()?;
        let repeated = |field: &usize| columns.iter().flatten().filter(|other| *other == field).count() > 1;
        (!repeated(&opener)).then(|| Header { line: row.clone(), columns, opener })
    })
}

/// Reads rows from a line on; answers with the first line that is no row any more.
fn rows(
    page: &mut Page<'_>,
    index: usize,
    from: usize,
    header: &Header,
    labels: &Labels<'_>,
    table: usize,
    found: &mut Vec<Occurrence>,
) -> usize {
    let mut misses = 0;
    let mut line = from;
    let mut over = from;
    let mut number = page.lines.get(from.wrapping_sub(1)).filter(|_| from > 0).map_or(0, |line| line.number);
    while line < page.lines.len() && misses <= MAX_MISSES {
        let row = &page.lines[line];
        let labels_here = page.hits[line].iter().any(|hit| hit.fills || hit.colon);
        if (from > 0 || line > 0) && row.number - number > MAX_GAP
            || (labels_here && !is_data(page, line, header, labels))
        {
            break;
        }
        number = row.number;
        let place = Place { field: header.opener, page: index, line, at: row.start };
        let values = row_values(page, row, header, labels, place);
        if values.iter().any(|value| value.field == header.opener) {
            found.extend(values.into_iter().map(|value| Occurrence { row: Some((table, line)), ..value }));
            for between in over..=line {
                page.used[between] = true;
            }
            over = line + 1;
            misses = 0;
        } else {
            misses += 1;
        }
        line += 1;
    }
    over
}

/// Whether a line has a valid opener in its column although a label stands on it.
fn is_data(page: &Page<'_>, line: usize, header: &Header, labels: &Labels<'_>) -> bool {
    let row = &page.lines[line];
    let cells = assign(row, header);
    cells.iter().any(|(column, cell)| {
        header.columns[*column] == Some(header.opener)
            && values::read(labels.fields[header.opener].value, page.cell(*cell)).is_some()
    })
}

/// Which column each cell of a row belongs to.
fn assign(row: &Line, header: &Header) -> Vec<(usize, Cell)> {
    let by_index = row.tabbed && header.line.tabbed;
    let equal = row.cells.len() == header.line.cells.len();
    let mut assigned: Vec<(usize, Cell)> = Vec::new();
    for (place, cell) in row.cells.iter().enumerate() {
        let column = if by_index {
            header.line.cells.iter().position(|head| head.index == cell.index)
        } else if equal {
            Some(place)
        } else {
            nearest(*cell, header)
        };
        if let Some(column) = column
            && !assigned.iter().any(|(other, _)| *other == column)
        {
            assigned.push((column, *cell));
        }
    }
    assigned
}

/// The column whose edges are nearest to a cell's.
fn nearest(cell: Cell, header: &Header) -> Option<usize> {
    let end = cell.column + cell.width;
    let apart = |head: &Cell| head.column.abs_diff(cell.column).min((head.column + head.width).abs_diff(end));
    header.line.cells.iter().enumerate().min_by_key(|(_, head)| apart(head)).map(|(index, _)| index)
}

fn row_values(page: &Page<'_>, row: &Line, header: &Header, labels: &Labels<'_>, place: Place) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for (column, cell) in assign(row, header) {
        let Some(field) = header.columns[column] else { continue };
        let at = Place { field, ..place };
        if labels.has_terms(field) {
            let terms = labels.terms_in(page.text, cell.start, cell.end).into_iter().filter(|term| term.field == field);
            found.extend(terms.map(|term| Occurrence::term(at, term.value, (term.start, term.end), sure::COLUMN)));
        } else if let Some(read) = values::read(labels.fields[field].value, page.cell(cell)) {
            found.push(Occurrence::new(at, read, cell.start, sure::COLUMN));
        }
    }
    if !found.iter().any(|value| value.field == header.opener) && values::is_strict(labels.fields[header.opener].value)
    {
        // The columns may be out of line; a value that can only be the opener still opens the item.
        let kind = labels.fields[header.opener].value;
        let lost = row.cells.iter().find_map(|cell| {
            values::read(kind, page.cell(*cell)).filter(|read| read.fit > 0.9).map(|read| (cell, read))
        });
        if let Some((cell, read)) = lost
            && kind == kybern_core::model::ValueKind::Vin
        {
            found.retain(|value| value.start != cell.start);
            found.push(Occurrence::new(place, read, cell.start, sure::GLUED));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_go_to_the_nearest_column_when_one_is_missing() {
        let text = "Unit   Year   Make        VIN\n1             Kenworth    1XKYD49X5MJ914201";
        let page = kybern_core::document::PageText {
            number: 1,
            label: String::new(),
            text: text.to_owned(),
            lines: Vec::new(),
        };
        let schema = kybern_core::model::ExtractionSchema::default();
        let labels = Labels::new(&schema, &[]);
        let page = Page::new(&page, &labels);
        let header = Header { line: page.lines[0].clone(), columns: vec![None; 4], opener: 0 };
        let columns: Vec<usize> = assign(&page.lines[1], &header).into_iter().map(|(column, _)| column).collect();
        assert_eq!(columns, [0, 2, 3]);
    }
}
