//! Numbers of policies that a narrow column has broken over two lines.

use kybern_core::model::{FieldPattern, ValueKind};

use super::labels::Labels;
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::sides::{LabelSide, neighbour};
use super::values::{self, ReadValue};

/// Digits that are the rest of a number which could end before them.
const MAX_REST: usize = 3;

/// Broken numbers of one document.
const MAX_BROKEN: usize = 100;

/// The numbers that begin behind their label and go on in the line beneath, and where their pieces stand.
#[derive(Default)]
pub(super) struct BrokenNumbers {
    /// The whole numbers.
    pub(super) whole: Vec<Occurrence>,
    /// Page, first byte and one past the last of each piece.
    pieces: Vec<(usize, usize, usize)>,
}

impl BrokenNumbers {
    /// Whether a value is only a piece of one of them.
    pub(super) fn has(&self, value: &Occurrence, labels: &Labels<'_>) -> bool {
        let inside =
            |(page, start, end): &(usize, usize, usize)| value.page == *page && (*start..*end).contains(&value.start);
        let whole =
            |other: &Occurrence| (other.page, other.start, &other.value) == (value.page, value.start, &value.value);
        labels.fields[value.field].value == ValueKind::PolicyNumber
            && self.pieces.iter().any(inside)
            && !self.whole.iter().any(whole)
    }
}

/// The broken numbers of the pages: `Policy No: 9 AB` above `633738 26`, in the label's column or in its own.
pub(super) fn numbers(pages: &[Page<'_>], labels: &Labels<'_>) -> BrokenNumbers {
    let mut broken = BrokenNumbers::default();
    for (index, page) in pages.iter().enumerate() {
        for line in (0..page.lines.len()).filter(|line| !page.used[*line]) {
            for hit in &page.hits[line] {
                if broken.whole.len() == MAX_BROKEN {
                    return broken;
                }
                let mut fields = hit.fields.iter().copied();
                let Some(field) = fields.find(|field| labels.is_opening_number(*field)) else { continue };
                let row = &page.lines[line];
                let label = row.cells[hit.cell];
                let (start, cell) = if hit.fills {
                    let beside = neighbour(page, line, hit.cell, LabelSide::Right).filter(|(at, _)| *at == line);
                    let Some((_, cell)) = beside else { continue };
                    (cell.start, cell)
                } else {
                    (hit.after, label)
                };
                let at = SearchPlace { field, page: index, line, at: hit.start };
                let beneath = beneath(page, line, &[label, cell]).filter(|rest| !page.is_label(line + 1, *rest));
                let Some((rest, read)) =
                    beneath.and_then(|rest| Some((rest, whole(page, start..cell.end, rest, labels.fields[field])?)))
                else {
                    continue;
                };
                broken.pieces.extend([(index, start, cell.end), (index, rest.start, rest.end)]);
                let lead = page.text[start..].len() - page.text[start..].trim_start().len();
                let read = ReadValue { start: lead, end: cell.end - start, ..read };
                broken.whole.push(Occurrence::new(at, read, start, if hit.fills { sure::BESIDE } else { sure::COLON }));
            }
        }
    }
    broken
}

/// What stands in the next line where one of these columns begins.
fn beneath(page: &Page<'_>, line: usize, columns: &[Cell]) -> Option<Cell> {
    let next = page.lines.get(line + 1).filter(|next| next.number == page.lines[line].number + 1)?;
    let begins = |column: &Cell| next.cells.iter().find(|cell| cell.column.abs_diff(column.column) <= 1);
    columns.iter().find_map(begins).copied()
}

/// The number of which one piece stands in some bytes of the page and the rest in a cell beneath.
fn whole(page: &Page<'_>, first: std::ops::Range<usize>, rest: Cell, pattern: &FieldPattern) -> Option<ReadValue> {
    let (text, rest) = (page.text[first].trim(), page.cell(rest));
    let is_begun = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || " -/.".contains(c))
        && values::read(ValueKind::Date, rest).is_none();
    let whole = joined(text, rest);
    let is_whole =
        |text: &str| values::read(pattern, text).is_some_and(|read| (read.start, read.end) == (0, text.len()));
    // What could end here goes on with a dash, or with the last digits.
    let parted = text.ends_with(['-', '/']) != rest.starts_with(['-', '/']);
    let last = rest.len() <= MAX_REST && rest.bytes().all(|b| b.is_ascii_digit());
    let goes_on = is_begun && is_piece(rest) && (parted || last || !is_whole(text));
    values::read(pattern, &whole).filter(|read| goes_on && read.start == 0 && read.end == whole.len())
}

/// Two pieces with a blank between them, where no dash or stroke parts them.
fn joined(text: &str, rest: &str) -> String {
    let parted = text.ends_with(['-', '/']) || rest.starts_with(['-', '/']);
    format!("{text}{}{rest}", if parted { "" } else { " " })
}

/// Whether a text may be a piece of a number.
pub(super) fn is_piece(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || " -/.".contains(c))
        && text.bytes().any(|b| b.is_ascii_digit())
}

/// The number that begins in a cell of a table's row and goes on in its column on the next line: a stroke or a dash parts
/// the two, and the next line has no dates of its own.
pub(super) fn goes_on_beneath(page: &Page<'_>, line: usize, start: usize, pattern: &FieldPattern) -> Option<ReadValue> {
    let (here, next) = (&page.lines[line], page.lines.get(line + 1)?);
    let cell = here.cells.iter().find(|cell| (cell.start..cell.end).contains(&start))?;
    let text = page.text.get(start..cell.end)?;
    let dated = |cell: &Cell| values::read(ValueKind::Date, page.cell(*cell)).is_some();
    if pattern.value != ValueKind::PolicyNumber || next.number != here.number + 1 || next.cells.iter().any(dated) {
        return None;
    }
    let rest = page.cell(layout::in_column(*cell, next)?);
    let parted = text.ends_with(['-', '/']) != rest.starts_with(['-', '/']);
    let whole = format!("{text}{rest}");
    let read = values::read(pattern, &whole).filter(|read| read.start == 0 && read.end == whole.len());
    read.filter(|_| parted && is_piece(text) && is_piece(rest))
}
