//! Names in a list with a row of labels, where each row is one of several values of a field and not an item: the holders of
//! certificates, each with an address.

use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::columns;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values;
use super::words::words;

/// Rows of a list.
const MAX_ROWS: usize = 100;
/// Words of the label of a column.
const MAX_LABEL_WORDS: usize = 4;
/// Lines between a list and the sentence that asks for something for each of its rows.
const MAX_APART: usize = 2;
/// Bytes of such a sentence.
const MAX_SENTENCE: usize = 200;
/// Rows that tell what a list is of, and digits of an address.
const LEAST_ROWS: usize = 2;
const LEAST_DIGITS: usize = 4;

/// Every name of such lists outside tables.
pub(super) fn names(page: &Page<'_>, index: usize, labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for line in (0..page.lines.len()).filter(|line| !page.used[*line]) {
        let Some((field, column)) = head(page, line, labels) else { continue };
        let (head, mut number) = (&page.lines[line], page.lines[line].number);
        for at in (line + 1..page.lines.len()).take(MAX_ROWS) {
            let row = &page.lines[at];
            let goes_on = row.number == number + 1 && row.tabbed == head.tabbed && !page.used[at];
            let labelled = page.hits[at].iter().any(|hit| hit.cell == 0 && (hit.fills || hit.colon));
            if !goes_on || labelled || row.cells.len() < 2 || row.cells.len() > head.cells.len() {
                break;
            }
            number = row.number;
            let assigned = columns::assign(row, head);
            let named = assigned.iter().find(|(place, _)| *place == column).map(|(_, cell)| *cell);
            let Some(cell) = named else { break };
            let Some(read) = values::read(ValueKind::Name, page.cell(cell)) else { break };
            let place = SearchPlace { field, page: index, line: at, at: row.start };
            found.push(Occurrence { many: true, ..Occurrence::new(place, read, cell.start, sure::COLUMN) });
        }
    }
    found
}

/// The field of several names that the line above a list asks for: `certificates for these, please`.
fn announced(page: &Page<'_>, line: usize, labels: &Labels<'_>, several: impl Fn(&usize) -> bool) -> Option<usize> {
    let above = page.lines.get(line.checked_sub(1)?)?;
    let near = page.lines[line].number - above.number <= MAX_APART && above.cells.len() == 1;
    let said = words(clip(&page.text[above.start..above.end], MAX_SENTENCE), 0);
    (0..said.len()).filter(|_| near).flat_map(|first| labels.at(&said, first)).map(|found| found.phrase).find(several)
}

/// Whether in each of the rows right beneath a head something with the digits of an address stands behind the name.
fn addressed(page: &Page<'_>, line: usize, name: usize) -> bool {
    let head = &page.lines[line];
    let rows = page.lines[line + 1..].iter().enumerate().take(LEAST_ROWS);
    let rows: Vec<_> = rows.filter(|(at, row)| row.number == head.number + 1 + at).collect();
    let place = |text: &str| text.contains(',') && text.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS;
    rows.len() == LEAST_ROWS
        && rows.iter().all(|(_, row)| row.cells.iter().skip(name + 1).any(|cell| place(page.cell(*cell))))
}

/// The field of several names, and its column, that a row of short labels has.
fn head(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> Option<(usize, usize)> {
    let row = &page.lines[line];
    let short = |text: &str| {
        text.split_whitespace().count() <= MAX_LABEL_WORDS
            && !text.contains(':')
            && !text.bytes().any(|b| b.is_ascii_digit())
    };
    if row.cells.len() < 2 || !row.cells.iter().all(|cell| short(page.cell(*cell))) {
        return None;
    }
    let several = |field: &usize| {
        let pattern = labels.fields[*field];
        pattern.many && pattern.group.is_none() && pattern.value == ValueKind::Name
    };
    let heads = || page.hits[line].iter().filter(|hit| hit.fills && !hit.colon);
    if let Some(announced) = announced(page, line, labels, several) {
        let name = |field: &usize| labels.fields[*field].value == ValueKind::Name;
        let hit = heads().find(|hit| hit.fields.iter().any(name))?;
        return addressed(page, line, hit.cell).then_some((announced, hit.cell));
    }
    let (hit, field) = heads().find_map(|hit| Some((hit, hit.fields.iter().copied().find(several)?)))?;
    // Beneath a label that stands beside a value stands no list.
    let listed = page.header[line] || row.cells.len() > 2 || page.hits[line].iter().filter(|hit| hit.fills).count() > 1;
    listed.then_some((field, hit.cell))
}
