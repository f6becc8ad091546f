//! Tables: a row of labels with rows of values beneath it. Each row is an item of a group, or, where the group's opening
//! field has no column, a part of the item above it.

use super::labels::{LabelHit, Labels};
use super::layout::{Cell, Line};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::{amounts, bands, columns, compound, pieces, terms, unnamed, values};

use kybern_core::model::ValueKind;

/// Blank lines that a table may have between two rows.
const MAX_GAP: usize = 4;
/// Lines without a valid row that a table may have before it is over: wrapped cells, headings of groups, subtotals.
const MAX_MISSES: usize = 8;
/// Groups that one table may tell of.
const MAX_GROUPS: usize = 3;
/// Lines beneath labels on which the labels of other values may stand.
const MAX_FORM: usize = 2;
/// Words of a company's name that ends like a label.
const LEAST_NAME: usize = 3;
/// Words that the label of a column may have.
const MAX_LABEL_WORDS: usize = 6;

/// A row of labels.
#[derive(Clone, Debug)]
struct Header {
    line: Line,
    /// For each cell the single field that it names, when it names no field of a list.
    single: Vec<Option<usize>>,
    /// For each cell its field.
    columns: Vec<Option<usize>>,
    /// For each cell the other fields of the group that have its label, such as a date beside a range of dates.
    others: Vec<Vec<usize>>,
    /// For each cell the labels that it consists of, where it is the label of several values.
    parts: Vec<Vec<Vec<usize>>>,
    /// The columns of surnames that have a column of first names behind them.
    halves: Vec<usize>,
    /// The first of two columns of dates beside each other.
    dates: Option<usize>,
    /// The field without which a line is no row.
    key: usize,
}

impl Header {
    /// Whether a row of a table between tabs leaves the column of its number empty and names a term of a closed list.
    fn goes_on(&self, row: &Line, values: &[Occurrence], labels: &Labels<'_>) -> bool {
        let empty = |(place, field): (usize, &Option<usize>)| {
            *field == Some(self.key) && !row.cells.iter().any(|cell| cell.index == self.line.cells[place].index)
        };
        let unnumbered = row.tabbed && self.line.tabbed && self.columns.iter().enumerate().any(empty);
        unnumbered && values.iter().any(|value| labels.has_terms(value.field))
    }
}

/// Reads all tables of all pages; their lines are marked as used.
pub(super) fn tables(pages: &mut [Page<'_>], labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut table = 0;
    let mut open: Vec<Header> = Vec::new();
    for (index, page) in pages.iter_mut().enumerate() {
        let mut line = 0;
        let before = std::mem::take(&mut open);
        if !before.is_empty() {
            line = all_rows(page, index, 0, &before, labels, table, &mut found);
            if line + MAX_MISSES >= page.lines.len() && line > 0 {
                // The table fills the page and may go on.
                open = before;
                continue;
            }
        }
        while line < page.lines.len() {
            let here = headers(page, line, labels);
            if here.is_empty() {
                line += 1;
                continue;
            }
            table += MAX_GROUPS;
            let before = found.len();
            let next = all_rows(page, index, line + 1, &here, labels, table, &mut found);
            if found.len() > before {
                page.used[line] = true;
                if next + MAX_MISSES >= page.lines.len() {
                    open = here;
                }
                line = next.max(line + 1);
            } else {
                line += 1;
            }
        }
    }
    found
}

/// Reads the rows for each group that the header has columns of; a row may tell of a policy and of a loss.
fn all_rows(
    page: &mut Page<'_>,
    index: usize,
    from: usize,
    headers: &[Header],
    labels: &Labels<'_>,
    table: usize,
    found: &mut Vec<Occurrence>,
) -> usize {
    let mut next = from;
    let mut rows_of_all: Vec<usize> = Vec::new();
    for (number, header) in headers.iter().enumerate() {
        let before = rows_of_all.len();
        next = next.max(rows(page, index, from, header, labels, (table + number, &mut rows_of_all), found));
        if number == 0 {
            singles(page, index, &rows_of_all[before..], header, labels, found);
        }
    }
    rows_of_all.into_iter().for_each(|line| page.used[line] = true);
    next
}

/// What all rows say alike in a column of a single field, such as whom they are about. Whose a telephone is in a row of a
/// list, the list's people know.
fn singles(
    page: &Page<'_>,
    index: usize,
    lines: &[usize],
    header: &Header,
    labels: &Labels<'_>,
    found: &mut Vec<Occurrence>,
) {
    let personal =
        |field: &usize| matches!(labels.fields[*field].value, ValueKind::Phone | ValueKind::Email | ValueKind::Person);
    let named = header.single.iter().enumerate().filter_map(|(column, field)| Some((column, (*field)?)));
    for (column, field) in named.filter(|(_, field)| !personal(field)) {
        let mut said: Option<Occurrence> = None;
        let alike = lines.iter().all(|line| {
            let row = &page.lines[*line];
            let cell = columns::assign(row, &header.line)
                .into_iter()
                .find(|(place, _)| *place == column)
                .map(|(_, cell)| cell);
            // Beneath `Holder of the` in small letters stands the rest of the label.
            let rest = |cell: &Cell| {
                labels.fields[field].value == ValueKind::Name && page.cell(*cell).starts_with(char::is_lowercase)
            };
            let cell = cell.filter(|cell| !rest(cell));
            let read = cell.and_then(|cell| Some((cell, values::read(labels.fields[field], page.cell(cell))?)));
            let Some((cell, read)) = read else { return true };
            let place = SearchPlace { field, page: index, line: *line, at: row.start };
            let first = said.get_or_insert_with(|| Occurrence::new(place, read.clone(), cell.start, sure::COLUMN));
            first.value == read.value
        });
        found.extend(said.filter(|_| alike));
    }
}

/// The headers that a line is: labels of a group, among them the one that opens an item or one whose values are terms.
/// The group with the most columns comes first.
fn headers(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> Vec<Header> {
    let row = &page.lines[line];
    if row.cells.len() < 2 || page.used[line] {
        return Vec::new();
    }
    let exact = page.hits[line].iter().filter(|hit| hit.fills && !hit.colon).count();
    if exact == 0 && row.cells.len() < 3 || is_form(page, line, labels) {
        return Vec::new();
    }
    let mut fields: Vec<Vec<usize>> = (0..row.cells.len()).map(|cell| fields_of(page, line, cell, labels)).collect();
    let halves = unnamed::names_in_two(page, line, labels, &mut fields);
    unnamed::contested(page, line, labels, &mut fields);
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for cell in &fields {
        let mut seen: Vec<&str> = cell.iter().filter_map(|field| labels.fields[*field].group.as_deref()).collect();
        seen.dedup();
        for group in seen {
            match groups.iter_mut().find(|(other, _)| *other == group) {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let header = |(group, _): &(&str, usize)| {
        let mut columns: Vec<Option<usize>> = Vec::new();
        let mut others: Vec<Vec<usize>> = Vec::new();
        for cell in &fields {
            let ours = cell.iter().copied().filter(|field| labels.fields[*field].group.as_deref() == Some(*group));
            // One label may name two fields; the one that no other column has.
            let mut ours = ours.filter(|field| !columns.contains(&Some(*field)));
            let (first, rest) = (ours.next(), ours.collect());
            columns.push(first);
            others.push(rest);
        }
        if columns.iter().flatten().any(|field| labels.fields[*field].opens_item) {
            unnamed::terms(page, line, labels, group, &mut columns);
        } else {
            unnamed::openers(page, line, labels, group, &mut columns);
        }
        unnamed::amounts(page, line, labels, group, &mut columns);
        unnamed::answers(page, line, labels, group, &mut columns);
        unnamed::references(page, line, labels, group, &fields, &mut columns);
        let named = || columns.iter().flatten().copied();
        let opener = named().find(|field| labels.fields[*field].opens_item);
        let priced = named().any(|field| labels.fields[field].value == ValueKind::Money);
        let key = opener.or_else(|| named().find(|field| priced && labels.has_terms(*field)))?;
        let single = fields.iter().zip(&columns).map(|(cell, column)| {
            cell.iter().copied().find(|field| column.is_none() && labels.fields[*field].group.is_none())
        });
        let single = single.collect();
        let dated = |field: &usize| labels.fields[*field].value == ValueKind::Date;
        let is_date: Vec<bool> =
            columns.iter().zip(&others).map(|(field, others)| field.iter().chain(others).any(dated)).collect();
        let dates = is_date.windows(2).position(|pair| pair == [true, true]);
        let parts = row.cells.iter().map(|cell| compound::parts(labels, page.cell(*cell))).collect();
        (named().count() >= 2).then(|| Header {
            line: row.clone(),
            single,
            columns: columns.clone(),
            others,
            parts,
            halves: halves.clone(),
            dates,
            key,
        })
    };
    groups.iter().filter(|(_, count)| *count >= 2).take(MAX_GROUPS).filter_map(header).collect()
}

/// Whether a label of something else stands right beneath a label, a line of values at most between the two: a form whose
/// labels stand beneath their values goes on there, and no table.
fn is_form(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> bool {
    let row = &page.lines[line];
    let grouped = |hit: &LabelHit| hit.fields.iter().any(|field| labels.fields[*field].group.is_some());
    (line + 1..page.lines.len()).take(MAX_FORM).any(|below| {
        let alike = page.lines[below].cells.len() == row.cells.len();
        let heads = |hit: &LabelHit| {
            page.hits[line].iter().any(|over| over.fields.iter().any(|field| hit.fields.contains(field)))
        };
        let mut others = page.hits[below].iter().filter(|hit| alike && hit.fills && (!grouped(hit) || !heads(hit)));
        others.any(|hit| page.hits[line].iter().any(|over| over.cell == hit.cell && over.fills && grouped(over)))
    })
}

/// The fields that a cell of a row of labels names: exactly, or by a label inside a few words.
fn fields_of(page: &Page<'_>, line: usize, cell: usize, labels: &Labels<'_>) -> Vec<usize> {
    let exact = page.hits[line].iter().find(|hit| hit.cell == cell && hit.fills && !hit.colon);
    if let Some(hit) = exact {
        return hit.fields.clone();
    }
    let cell = page.lines[line].cells[cell];
    let text = page.cell(cell);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let words = text.split_whitespace().count();
    // `Some Hauling Company` ends like a label, and is a company.
    let is_company = || {
        words >= LEAST_NAME
            && values::leading_business(text).is_some_and(|read| (read.start, read.end) == (0, text.len()))
    };
    let label = digits < 3 && !text.contains([':', '$']) && words <= MAX_LABEL_WORDS && !is_company();
    if label { labels.inside(page.text, &cell) } else { Vec::new() }
}

/// Reads rows from a line on; answers with the first line behind the last row.
fn rows(
    page: &Page<'_>,
    index: usize,
    from: usize,
    header: &Header,
    labels: &Labels<'_>,
    (table, used): (usize, &mut Vec<usize>),
    found: &mut Vec<Occurrence>,
) -> usize {
    let mut misses = 0;
    let mut over = from;
    let mut broken: Option<usize> = None;
    let mut item: Option<usize> = None;
    let mut number = page.lines.get(from.wrapping_sub(1)).filter(|_| from > 0).map_or(0, |line| line.number);
    for line in from..page.lines.len() {
        let row = &page.lines[line];
        let gap = (from > 0 || line > 0) && row.number - number > MAX_GAP;
        if gap || misses > MAX_MISSES || ends_table(page, line, labels) || over > from && heads(page, line, header) {
            break;
        }
        number = row.number;
        let place = SearchPlace { field: header.key, page: index, line, at: row.start };
        let mut values = row_values(page, row, header, labels, place);
        if let Some(above) = broken.take_if(|above| *above + 1 == line) {
            // The rest of a broken number stands here, and whatever else of its row the line above had no room for.
            values.retain(|value| value.field != header.key && !labels.has_terms(value.field));
            let row = Some((table, above));
            found.extend(values.into_iter().map(|value| Occurrence { row, ..value }));
            used.push(line);
            over = line + 1;
            continue;
        }
        if let Some(key) = values.iter_mut().find(|value| value.field == header.key)
            && let Some(whole) = pieces::goes_on_beneath(page, line, key.start, labels.fields[header.key])
        {
            (key.value, broken) = (whole.value, Some(line));
        }
        // A table between tabs has no rows without one, such as a signature beneath it.
        let is_alike = row.tabbed || !header.line.tabbed;
        let is_row = is_alike && values.iter().any(|value| value.field == header.key) && !is_alone(row, header, labels);
        // What belongs to another label is no row, unless its key can be nothing else.
        let labelled = page.hits[line].iter().any(|hit| hit.colon || hit.fills)
            && !values::is_strict(labels.fields[header.key].value);
        if is_row && !labelled {
            let opens = labels.fields[header.key].opens_item;
            let row = opens.then_some((table, line));
            found.extend(values.into_iter().map(|value| Occurrence { row, ..value }));
            used.extend((over.max(from)..=line).filter(|between| *between == line || page.hits[*between].is_empty()));
            over = line + 1;
            misses = 0;
            item = opens.then_some(line);
        } else {
            misses += 1;
            // A row without a number that names a term goes on with the item above it.
            let above = item.filter(|_| header.goes_on(row, &values, labels));
            if let Some(above) = above {
                let at = page.lines[above].start;
                let more = values.into_iter().filter(|value| value.many || labels.fields[value.field].many);
                found.extend(more.map(|value| Occurrence { row: Some((table, above)), at, many: true, ..value }));
                used.push(line);
                (over, misses) = (line + 1, 0);
            }
        }
    }
    over
}

/// Whether a line is a row of labels with nothing between them.
fn ends_table(page: &Page<'_>, line: usize, labels: &Labels<'_>) -> bool {
    let fills = page.hits[line].iter().filter(|hit| hit.fills).count();
    fills >= 2 && fills * 2 > page.lines[line].cells.len() || !headers(page, line, labels).is_empty()
}

/// Whether a line is one label of something else: then a form goes on beneath, and not the table.
fn heads(page: &Page<'_>, line: usize, header: &Header) -> bool {
    let [_] = page.lines[line].cells.as_slice() else { return false };
    let ours = |field: &usize| header.columns.contains(&Some(*field));
    page.hits[line].iter().any(|hit| hit.fills && !hit.fields.is_empty() && !hit.fields.iter().any(ours))
}

/// Whether a row is one cell beneath several columns: a number that stands alone is hardly an item of the table.
fn is_alone(row: &Line, header: &Header, labels: &Labels<'_>) -> bool {
    let key = labels.fields[header.key];
    row.cells.len() == 1 && header.line.cells.len() > 1 && key.opens_item && key.value != ValueKind::Vin
}

/// The columns of a row's cells: by where they stand, or by its dates. A row whose number is broken is left to `bands`.
fn columns_of(
    page: &Page<'_>,
    (line, row): (usize, &Line),
    header: &Header,
    labels: &Labels<'_>,
) -> Vec<(usize, Cell)> {
    let plain = columns::assign(row, &header.line);
    let Some(first) = header.dates else { return plain };
    let fits = |column: usize, cell: Cell| {
        let field = header.columns[column].map(|field| labels.fields[field]);
        field.is_some_and(|field| values::is_strict(field.value) && values::read(field, page.cell(cell)).is_some())
            && !bands::goes_on(page, line, cell)
    };
    columns::by_dates(page, row, &header.line, first, fits).unwrap_or(plain)
}

fn row_values(
    page: &Page<'_>,
    row: &Line,
    header: &Header,
    labels: &Labels<'_>,
    place: SearchPlace,
) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for (column, cell) in columns_of(page, (place.line, row), header, labels) {
        let Some(field) = header.columns[column] else { continue };
        if column + 1 == header.columns.len() && found.iter().any(|value: &Occurrence| value.field == field) {
            continue;
        }
        let at = SearchPlace { field, ..place };
        let pattern = labels.fields[field];
        let (several, _) = compound::in_text(labels, &header.parts[column], page.cell(cell));
        if several.len() > 1 {
            let place = |field| SearchPlace { field, ..place };
            let values = several.into_iter();
            found.extend(values.map(|(field, read)| Occurrence::new(place(field), read, cell.start, sure::COLUMN)));
        } else if labels.has_terms(field) {
            let terms = labels.expected_terms(page.text, cell.start, cell.end);
            let terms: Vec<_> = terms.iter().filter(|term| term.field == field).collect();
            let special = terms::without_general(page, &terms).into_iter();
            found.extend(special.map(|term| Occurrence::term(at, term.value, (term.start, term.end), sure::COLUMN)));
        } else if pattern.value == ValueKind::Date && values::read(ValueKind::DateRange, page.cell(cell)).is_some() {
            // A term heads the rows beneath it and is none of them.
        } else {
            let fields = [field].into_iter().chain(header.others[column].iter().copied());
            if header.halves.contains(&column)
                && let Some(read) = unnamed::whole_name(page, row, cell)
            {
                found.push(Occurrence::new(at, read, cell.start, sure::COLUMN));
                continue;
            }
            let read = |field: usize| {
                let pattern = labels.fields[field];
                // Words may say what an amount is: `each occurrence $1,000,000`.
                let inside = || amounts::first(page.cell(cell)).filter(|_| pattern.many);
                let money = pattern.value == ValueKind::Money;
                let read = values::read(pattern, page.cell(cell)).or_else(|| if money { inside() } else { None });
                read.map(|read| (field, read))
            };
            if let Some((field, read)) = fields.filter(|field| !labels.has_terms(*field)).find_map(read) {
                let (at, many) = (SearchPlace { field, ..place }, labels.fields[field].many);
                found.push(Occurrence { many, ..Occurrence::new(at, read, cell.start, sure::COLUMN) });
            }
        }
    }
    if !found.iter().any(|value| value.field == header.key) && labels.fields[header.key].value == ValueKind::Vin {
        // The columns may be out of line; a value that can only be the key still makes a row.
        let kind = labels.fields[header.key].value;
        let lost = row.cells.iter().find_map(|cell| {
            values::read(kind, page.cell(*cell)).filter(|read| read.fit > 0.9).map(|read| (cell, read))
        });
        if let Some((cell, read)) = lost {
            found.retain(|value| value.start != cell.start);
            found.push(Occurrence::new(place, read, cell.start, sure::GLUED));
        }
    }
    found
}
