//! Columns of a table whose label is not known, or says little: known by what stands in them, and by what is missing.

use kybern_core::model::ValueKind;

use super::columns;
use super::labels::Labels;
use super::layout::Cell;
use super::page::Page;

/// Lines beneath a row of labels that are looked at.
const MAX_ROWS: usize = 8;
/// What the column of an amount is called when its kind goes without saying.
const AMOUNTS: [&str; 8] = ["amount", "amounts", "importe", "monto", "montant", "montants", "betrag", "summe"];

/// Finds the column of a closed list, where no label names it: the first unknown column in which every row begins with one
/// of its terms.
pub(super) fn terms(page: &Page<'_>, line: usize, labels: &Labels<'_>, group: &str, columns: &mut [Option<usize>]) {
    let closed = |field: &usize| labels.has_terms(*field);
    let ours = |field: &usize| labels.fields[*field].group.as_deref() == Some(group);
    if columns.iter().flatten().any(closed) {
        return;
    }
    let Some(wanted) = (0..labels.fields.len()).filter(ours).find(closed) else { return };
    let head = &page.lines[line];
    let mut rows: Vec<Vec<(usize, Cell)>> = Vec::new();
    for row in page.lines.iter().skip(line + 1).take(MAX_ROWS) {
        let alike = row.tabbed == head.tabbed && (row.tabbed || row.cells.len() == head.cells.len());
        if !alike || row.number != head.number + 1 + rows.len() {
            break;
        }
        rows.push(columns::assign(row, head));
    }
    for (place, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.is_none()) {
        let cells = rows.iter().filter_map(|row| row.iter().find(|(at, _)| *at == place));
        let begins = |cell: &Cell| {
            let terms = labels.expected_terms(page.text, cell.start, cell.end);
            terms.first().is_some_and(|term| term.field == wanted && term.start == cell.start && !term.value.is_empty())
        };
        let reads: Vec<bool> = cells.map(|(_, cell)| begins(cell)).collect();
        if !reads.is_empty() && reads.iter().all(|begins| *begins) {
            *column = Some(wanted);
            return;
        }
    }
}

/// Finds the column that is called an amount and nothing more: beside the terms of a closed list it is the first amount that
/// such an item has.
pub(super) fn amounts(page: &Page<'_>, line: usize, labels: &Labels<'_>, group: &str, columns: &mut [Option<usize>]) {
    let named: Vec<usize> = columns.iter().flatten().copied().collect();
    let wanted = |field: &usize| {
        let pattern = labels.fields[*field];
        pattern.group.as_deref() == Some(group) && pattern.value == ValueKind::Money && pattern.many
    };
    let first = (0..labels.fields.len()).find(wanted).filter(|field| !named.contains(field));
    let Some(first) = first.filter(|_| named.iter().any(|field| labels.has_terms(*field))) else { return };
    let called = |cell: &Cell| AMOUNTS.contains(&page.cell(*cell).trim().to_lowercase().as_str());
    let head = page.lines[line].cells.iter().zip(columns.iter_mut());
    if let Some((_, column)) = head.into_iter().find(|(cell, column)| column.is_none() && called(cell)) {
        *column = Some(first);
    }
}
