//! Columns of a table whose labels alone do not say what stands beneath them; the values do.

use kybern_core::model::{FieldPattern, ValueKind};

use super::columns;
use super::labels::Labels;
use super::layout::{self, Cell, Line};
use super::page::Page;
use super::values::{self, ReadValue};

/// Lines beneath the labels on which the first values stand.
const MAX_BENEATH: usize = 8;
/// Values that a column is judged by.
const LEAST_VALUES: usize = 3;
/// Digits of a reference that nobody labelled.
const LEAST_DIGITS: usize = 4;
/// Words of a label that asks something.
const MAX_QUESTION: usize = 6;
/// How a cell says yes or no.
const ANSWERS: [&str; 10] = ["y", "yes", "n", "no", "x", "si", "sí", "oui", "non", "nein"];
/// Columns of a list that a person reads.
const MAX_COLUMNS: usize = 40;
/// Lines beneath a row of labels that are looked at for the terms of a closed list.
const MAX_ROWS: usize = 8;
/// What the column of an amount is called when its kind goes without saying.
const AMOUNTS: [&str; 8] = ["amount", "amounts", "importe", "monto", "montant", "montants", "betrag", "summe"];
/// Words of the label of half a name.
const MAX_HALF: usize = 3;

/// The first values beneath a cell of a row of labels, in rows of as many cells, or in the same place between tabs.
fn beneath<'t>(page: &Page<'t>, line: usize, place: usize) -> Vec<&'t str> {
    let head = &page.lines[line];
    let below = page.lines.iter().skip(line + 1).take(MAX_BENEATH);
    let cells = below.filter_map(|row| {
        if head.tabbed && row.tabbed {
            layout::under(head, head.cells[place], row)
        } else {
            row.cells.get(place).copied().filter(|_| row.cells.len() == head.cells.len())
        }
    });
    cells.take(LEAST_VALUES).map(|cell| page.cell(cell)).collect()
}

/// Whether values stand beneath a label, and each is what it is asked for.
fn all_beneath(page: &Page<'_>, line: usize, place: usize, is: impl Fn(&str) -> bool) -> bool {
    let values = beneath(page, line, place);
    !values.is_empty() && values.into_iter().all(is)
}

/// Finds the column of the field that opens an item by its values, where its label is not known: the first unknown column
/// in which they stand beneath.
pub(super) fn openers(page: &Page<'_>, line: usize, labels: &Labels<'_>, group: &str, columns: &mut [Option<usize>]) {
    let opens = |field: &FieldPattern| field.group.as_deref() == Some(group) && field.opens_item;
    let Some(opener) = labels.fields.iter().position(|field| opens(field)) else { return };
    let pattern = labels.fields[opener];
    if !values::is_strict(pattern.value) {
        return;
    }
    for (place, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.is_none()) {
        if all_beneath(page, line, place, |text| is_plainly(pattern, text)) {
            *column = Some(opener);
            return;
        }
    }
}

/// Whether a text can be nothing but a value of that kind; an amount with its sign is no number of something.
fn is_plainly(pattern: &FieldPattern, text: &str) -> bool {
    !text.contains('$') && values::read(pattern, text).is_some_and(|read| read.fit > 0.9)
}

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

/// Finds the column that says yes or no of each row, for a field that the words of its label give away.
pub(super) fn answers(page: &Page<'_>, line: usize, labels: &Labels<'_>, group: &str, columns: &mut [Option<usize>]) {
    let wanted = |field: &usize| {
        let pattern = labels.fields[*field];
        pattern.group.as_deref() == Some(group) && pattern.value == ValueKind::Text && !pattern.signs.is_empty()
    };
    if !(0..labels.fields.len()).any(|field| wanted(&field)) {
        return;
    }
    for place in 0..columns.len() {
        let label = page.cell(page.lines[line].cells[place]);
        if columns[place].is_some() || label.split_whitespace().count() > MAX_QUESTION {
            continue;
        }
        let Some(field) = labels.signed(label).into_iter().find(wanted) else { continue };
        if !columns.contains(&Some(field)) && all_beneath(page, line, place, is_answer) {
            columns[place] = Some(field);
        }
    }
}

/// Whether a text begins with yes or no.
fn is_answer(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ANSWERS.contains(&first.to_lowercase().as_str())
}

/// Finds the column of the references of a list that has dates and amounts, where no label names them: the first unknown
/// column of different marks with letters and digits.
pub(super) fn references(
    page: &Page<'_>,
    line: usize,
    labels: &Labels<'_>,
    group: &str,
    fields: &[Vec<usize>],
    columns: &mut [Option<usize>],
) {
    let of_group = |field: usize| labels.fields[field].group.as_deref() == Some(group);
    let kind = |field: usize| labels.fields[field].value;
    let named = |wanted: ValueKind| columns.iter().flatten().any(|field| kind(*field) == wanted);
    let opened = columns.iter().flatten().any(|field| labels.fields[*field].opens_item);
    let wanted = (0..labels.fields.len()).find(|field| of_group(*field) && kind(*field) == ValueKind::Reference);
    let Some(field) = wanted.filter(|_| opened && named(ValueKind::Date) && named(ValueKind::Money)) else { return };
    if columns.contains(&Some(field)) {
        return;
    }
    for place in 0..columns.len() {
        // What is labelled as something else is that.
        let others = |field: &usize| !of_group(*field) && kind(*field) != ValueKind::Nothing;
        if columns[place].is_some()
            || fields[place].iter().any(|field| others(field) && is_told(page, line, place, labels, *field))
        {
            continue;
        }
        let values = beneath(page, line, place);
        let different = values.iter().collect::<std::collections::HashSet<_>>().len() == values.len();
        if different && all_beneath(page, line, place, is_reference) {
            columns[place] = Some(field);
            return;
        }
    }
}

/// Whether the values beneath a label are what it says.
fn is_told(page: &Page<'_>, line: usize, place: usize, labels: &Labels<'_>, field: usize) -> bool {
    beneath(page, line, place).iter().any(|text| values::read(labels.fields[field], text).is_some())
}

/// Whether a text is one mark of letters and digits, and neither a date nor an amount.
fn is_reference(text: &str) -> bool {
    const OTHERS: [ValueKind; 4] = [ValueKind::Date, ValueKind::Money, ValueKind::Phone, ValueKind::Vin];
    let written = text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '/'));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let lettered = text.bytes().any(|b| b.is_ascii_uppercase());
    let read = || values::read(ValueKind::Reference, text).is_some_and(|read| read.end == text.len());
    let other = || OTHERS.iter().any(|kind| values::read(*kind, text).is_some_and(|read| read.end == text.len()));
    written && lettered && digits >= LEAST_DIGITS && read() && !other()
}

/// Leaves a field that several labels name to the column whose values fit it, where the first one's do not. What opens
/// an item is in no column without a value of its kind: `Loss No.` is no date, though `Loss` may be the label of one.
pub(super) fn contested(page: &Page<'_>, line: usize, labels: &Labels<'_>, fields: &mut [Vec<usize>]) {
    if fields.len() > MAX_COLUMNS {
        return;
    }
    for place in 0..fields.len() {
        for field in fields[place].clone() {
            let pattern = labels.fields[field];
            let later = || (place + 1..fields.len()).filter(|other| fields[*other].contains(&field));
            if pattern.group.is_none() || !values::is_strict(pattern.value) {
                continue;
            }
            if pattern.opens_item && all_beneath(page, line, place, |text| values::read(pattern, text).is_none()) {
                fields[place].retain(|other| *other != field);
                continue;
            }
            if later().next().is_none() {
                continue;
            }
            let fits = |place: usize| all_beneath(page, line, place, |text| values::read(pattern, text).is_some());
            if !fits(place) && later().any(fits) {
                fields[place].retain(|other| *other != field);
            }
        }
    }
}

/// Makes one column of two that have half a name each, `Last` and `First`, where both labels together are the label of a
/// person; answers with the first of each two.
pub(super) fn names_in_two(page: &Page<'_>, line: usize, labels: &Labels<'_>, fields: &mut [Vec<usize>]) -> Vec<usize> {
    let row = &page.lines[line];
    let mut halves = Vec::new();
    // Beside the halves another column has a label, or nothing is a row of labels.
    if row.cells.len() > MAX_COLUMNS || !page.hits[line].iter().any(|hit| hit.fills) {
        return halves;
    }
    for place in 1..row.cells.len() {
        let (last, first) = (page.cell(row.cells[place - 1]), page.cell(row.cells[place]));
        let short =
            |text: &str| text.split_whitespace().count() < MAX_HALF && !text.bytes().any(|b| b.is_ascii_digit());
        if !(short(last) && short(first)) {
            continue;
        }
        let is_person = |field: &usize| labels.fields[*field].value == ValueKind::Person;
        let persons = |text: &str| {
            labels
                .joined(text)
                .map(|hit| hit.fields)
                .unwrap_or_default()
                .into_iter()
                .filter(is_person)
                .collect::<Vec<usize>>()
        };
        let both = persons(&format!("{last} {first}"));
        if !both.is_empty() && persons(last).is_empty() && persons(first).is_empty() {
            fields[place - 1] = both;
            fields[place] = Vec::new();
            halves.push(place - 1);
        }
    }
    halves
}

/// The name of a person of which a row has the surname in a cell and the first name in the next one.
pub(super) fn whole_name(page: &Page<'_>, row: &Line, surname: Cell) -> Option<ReadValue> {
    let place = row.cells.iter().position(|cell| *cell == surname)?;
    let first = row.cells.get(place + 1).filter(|first| first.index == surname.index + 1)?;
    let name = format!("{} {}", page.cell(*first), page.cell(surname));
    let read = values::read(ValueKind::Person, &name).filter(|read| read.end == name.len())?;
    let end = first.end - surname.start;
    Some(ReadValue { start: 0, end, ..read })
}
