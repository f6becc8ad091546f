//! Tables that lie on their side: labels in the first column, and an item in each of the others.

use kybern_core::model::ValueKind;

use super::labelled::{ValueSpot, whole_name};
use super::labels::Labels;
use super::layout::{Cell, Line};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values;

/// Lines of labels without which nothing is a table.
const LEAST_LINES: usize = 3;
/// Blank lines, or lines of something else, between two lines of such a table.
const MAX_GAP: usize = 2;
/// The numbers of these tables begin here, so that they are none of the others'.
const FIRST: usize = 1 << 20;

/// Reads such tables; their lines are marked as used.
pub(super) fn tables(pages: &mut [Page<'_>], labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut table = FIRST;
    for (index, page) in pages.iter_mut().enumerate() {
        let mut line = 0;
        while line < page.lines.len() {
            let lines = run(page, line, labels);
            let Some(last) = lines.last().copied() else {
                line += 1;
                continue;
            };
            let read = items(page, index, &lines, labels, table);
            if !read.is_empty() {
                table += 1;
                lines.iter().for_each(|line| page.used[*line] = true);
                found.extend(read);
            }
            line = last + 1;
        }
    }
    found
}

/// The lines from here on that begin with a label of one group and have two cells more.
fn run(page: &Page<'_>, from: usize, labels: &Labels<'_>) -> Vec<usize> {
    let Some(group) = group_of(page, from, labels) else { return Vec::new() };
    let mut lines = vec![from];
    let mut last = from;
    for line in from + 1..page.lines.len() {
        if page.lines[line].number - page.lines[last].number > MAX_GAP + 1 {
            break;
        }
        if labelled(page, line, labels, group).is_some() {
            lines.push(line);
            last = line;
        }
    }
    lines
}

fn group_of<'s>(page: &Page<'_>, line: usize, labels: &Labels<'s>) -> Option<&'s str> {
    let hit = page.hits[line].first()?;
    let groups: Vec<&'s str> = hit.fields.iter().filter_map(|field| labels.fields[*field].group.as_deref()).collect();
    groups.into_iter().find(|group| labelled(page, line, labels, group).is_some())
}

/// The field of a group that labels a line of a table on its side.
fn labelled(page: &Page<'_>, line: usize, labels: &Labels<'_>, group: &str) -> Option<usize> {
    let row = &page.lines[line];
    let hit = page.hits[line].first().filter(|hit| hit.cell == 0 && hit.fills && row.cells.len() >= 3)?;
    let labels_on_line = page.hits[line].iter().filter(|hit| hit.fills || hit.colon).count();
    let field = hit.fields.iter().find(|field| labels.fields[**field].group.as_deref() == Some(group)).copied()?;
    (labels_on_line == 1).then_some(field)
}

/// The items of a table on its side: one for each value in the line of the field that opens an item.
fn items(page: &Page<'_>, index: usize, lines: &[usize], labels: &Labels<'_>, table: usize) -> Vec<Occurrence> {
    let Some(group) = lines.first().and_then(|line| group_of(page, *line, labels)) else { return Vec::new() };
    let field_of = |line: usize| labelled(page, line, labels, group);
    let opener = lines.iter().copied().find(|line| {
        field_of(*line).is_some_and(|field| {
            let pattern = labels.fields[field];
            let fits = |cell: &&Cell| values::read(pattern, page.cell(**cell)).is_some();
            pattern.opens_item && page.lines[*line].cells.iter().skip(1).filter(fits).count() >= 2
        })
    });
    let Some(opener) = opener.filter(|_| lines.len() >= LEAST_LINES) else { return Vec::new() };
    let columns = &page.lines[opener];
    let mut found = headings(page, index, (lines[0], opener), labels, group, table);
    for line in lines {
        let Some(field) = field_of(*line) else { continue };
        for cell in page.lines[*line].cells.iter().skip(1) {
            let Some(column) = column(columns, &page.lines[*line], *cell) else { continue };
            let place = SearchPlace { field, page: index, line: *line, at: columns.cells[column].start };
            let row = Some((table, column));
            if labels.has_terms(field) {
                let terms = labels.expected_terms(page.text, cell.start, cell.end).into_iter();
                found.extend(terms.filter(|term| term.field == field).map(|term| Occurrence {
                    row,
                    ..Occurrence::term(place, term.value, (term.start, term.end), sure::COLUMN)
                }));
            } else if let Some((field, read)) = read(page, *line, *cell, labels, group) {
                let spot = ValueSpot { line: *line, start: cell.start, end: cell.end, sure: sure::COLUMN };
                let is_name = labels.fields[field].value == ValueKind::Name;
                let read = if is_name { whole_name(page, labels, field, spot, read) } else { read };
                let many = labels.fields[field].many;
                let place = SearchPlace { field, ..place };
                found.push(Occurrence { row, many, ..Occurrence::new(place, read, cell.start, sure::COLUMN) });
            }
        }
    }
    found
}

/// The terms that head the columns of such a table, on the line above it: each but perhaps one of its cells is one.
fn headings(
    page: &Page<'_>,
    index: usize,
    (first, opener): (usize, usize),
    labels: &Labels<'_>,
    group: &str,
    table: usize,
) -> Vec<Occurrence> {
    let near = |line: &usize| page.lines[first].number == page.lines[*line].number + 1 && !page.used[*line];
    let Some(line) = first.checked_sub(1).filter(near) else { return Vec::new() };
    let columns = &page.lines[opener];
    let mut found = Vec::new();
    for cell in &page.lines[line].cells {
        let terms = labels.expected_terms(page.text, cell.start, cell.end);
        let ours = |term: &&super::vocabulary::Term<'_>| {
            let pattern = labels.fields[term.field];
            pattern.group.as_deref() == Some(group) && term.start == cell.start && !term.value.is_empty()
        };
        let Some(term) = terms.iter().find(ours) else { continue };
        let Some(column) = column(columns, &page.lines[line], *cell) else { continue };
        let place = SearchPlace { field: term.field, page: index, line, at: columns.cells[column].start };
        let value = Occurrence::term(place, term.value, (term.start, term.end), sure::COLUMN);
        found.push(Occurrence { row: Some((table, column)), ..value });
    }
    let cells = page.lines[line].cells.len();
    if found.len() >= 2 && found.len() + 1 >= cells { found } else { Vec::new() }
}

/// The value of a cell for the first field of its line's label that it fits: a range of dates, else a date.
fn read(
    page: &Page<'_>,
    line: usize,
    cell: Cell,
    labels: &Labels<'_>,
    group: &str,
) -> Option<(usize, values::ReadValue)> {
    let fields = page.hits[line].first()?.fields.iter().copied();
    fields
        .filter(|field| labels.fields[*field].group.as_deref() == Some(group) && !labels.has_terms(*field))
        .find_map(|field| values::read(labels.fields[field], page.cell(cell)).map(|read| (field, read)))
}

/// The column of a cell: the same place on lines with as many cells, else the one it stands in.
fn column(columns: &Line, line: &Line, cell: Cell) -> Option<usize> {
    if line.tabbed && columns.tabbed {
        return columns.cells.iter().position(|other| other.index == cell.index).filter(|column| *column > 0);
    }
    if line.cells.len() == columns.cells.len() {
        return line.cells.iter().position(|other| *other == cell).filter(|column| *column > 0);
    }
    let nearest = columns.cells.iter().enumerate().skip(1).min_by_key(|(_, other)| other.column.abs_diff(cell.column));
    nearest.map(|(column, _)| column)
}
