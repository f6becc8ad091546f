//! Excel workbooks: each sheet is a page, each row a line.
//!
//! Cells are taken one by one, so that a sheet is never laid out as a grid.

use std::io::Cursor;

use calamine::{DataRef, Reader, SheetType, Xlsx, open_workbook_from_rs};
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};

use super::archive::Parts;
use super::csv::push_cell;
use super::pages::{Pages, unpacks_too_far};
use crate::workers::Stop;

/// Cells of the rectangle that holds all values of a sheet. More has no meaning for a reader.
const MAX_AREA: u64 = 20_000_000;
/// Values of one workbook.
const MAX_CELLS: usize = 1_000_000;
/// Where the texts of the cells are kept.
const SHARED_STRINGS: &str = "xl/sharedStrings.xml";

/// Reads a workbook.
///
/// # Errors
/// `Broken`, `Encrypted`, `TooLarge`, or `Empty` when no sheet has a value.
pub(super) fn read(bytes: &[u8], stop: &Stop) -> Result<DocumentText, DocumentFault> {
    probe(bytes, stop)?;
    let mut workbook: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let sheets: Vec<String> = workbook
        .sheets_metadata()
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| sheet.name.clone())
        .collect();
    if sheets.is_empty() {
        return Err(DocumentFault::new(FaultKind::Broken, "it has no list of sheets, or none of them has cells"));
    }
    let mut pages = Pages::new(DocumentFormat::Xlsx);
    let mut budget = MAX_CELLS;
    for name in &sheets {
        let text = sheet(&mut workbook, name, &mut pages, &mut budget, stop)?;
        pages.add_counted(name, text, Vec::new())?;
    }
    pages.finish(&format!("none of its {} sheets has a value", sheets.len()))
}

/// Unpacks every part once under the limits, before a library does it without any.
fn probe(bytes: &[u8], stop: &Stop) -> Result<(), DocumentFault> {
    let mut parts = Parts::open(bytes)?;
    for name in parts.names() {
        stop.check()?;
        if !name.eq_ignore_ascii_case(SHARED_STRINGS) {
            parts.probe(&name)?;
            continue;
        }
        let text = parts.xml(&name)?.unwrap_or_default();
        // The library reserves room for as many texts as the file claims to have.
        if claimed_strings(&text) > text.len() || text.matches("<si").count() > MAX_CELLS {
            return Err(unpacks_too_far());
        }
    }
    Ok(())
}

fn claimed_strings(xml: &str) -> usize {
    let head = &xml[..xml.find("<si").unwrap_or(xml.len())];
    let Some((_, value)) = head.split_once("uniqueCount") else { return 0 };
    let digits: String = value.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(if digits.is_empty() { 0 } else { usize::MAX })
}

fn sheet(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    pages: &mut Pages,
    budget: &mut usize,
    stop: &Stop,
) -> Result<String, DocumentFault> {
    let mut cells = workbook.worksheet_cells_reader(name).map_err(|error| broken(&error))?;
    let mut values: Vec<((u32, u32), String)> = Vec::new();
    let (mut rows, mut columns) = (0u64, 0u64);
    while let Some(cell) = cells.next_cell().map_err(|error| broken(&error))? {
        stop.check()?;
        let mut value = String::new();
        push_cell(&mut value, &show(cell.get_value()));
        if value.is_empty() {
            continue;
        }
        let (row, column) = cell.get_position();
        rows = rows.max(u64::from(row) + 1);
        columns = columns.max(u64::from(column) + 1);
        if rows.saturating_mul(columns) > MAX_AREA {
            return Err(DocumentFault::new(
                FaultKind::TooLarge,
                format!("its sheet \"{name}\" spans {rows} rows and {columns} columns"),
            ));
        }
        *budget = budget.checked_sub(1).ok_or_else(|| {
            DocumentFault::new(FaultKind::TooLarge, format!("it has more than {MAX_CELLS} cells with a value"))
        })?;
        pages.count(value.len() + 1)?;
        values.push(((row, column), value));
    }
    values.sort_by_key(|(position, _)| *position);
    lines(&values, pages)
}

/// Rows as lines. Columns that are empty to the left in every row are left out, and rows without a value too, but
/// one blank line stays where there were some.
fn lines(values: &[((u32, u32), String)], pages: &mut Pages) -> Result<String, DocumentFault> {
    let first_column = values.iter().map(|((_, column), _)| *column).min().unwrap_or(0);
    let mut text = String::new();
    let mut at: Option<(u32, u32)> = None;
    for ((row, column), value) in values {
        let from = match at {
            Some((last, from)) if last == *row => from,
            Some((last, _)) => {
                text.push_str(if row - last > 1 { "\n\n" } else { "\n" });
                first_column
            }
            None => first_column,
        };
        let gap = usize::try_from(column - from).unwrap_or(0);
        pages.count(gap)?;
        text.extend(std::iter::repeat_n('\t', gap));
        text.push_str(value);
        at = Some((*row, *column));
    }
    Ok(text)
}

/// A value as a person reads it: dates in ISO order, whole numbers without a fraction.
fn show(value: &DataRef<'_>) -> String {
    match value {
        DataRef::DateTime(moment) if moment.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            match (hour, minute, second) {
                (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        DataRef::DateTime(duration) => duration.to_string(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn broken(error: &calamine::XlsxError) -> DocumentFault {
    match error {
        calamine::XlsxError::Password => {
            DocumentFault::new(FaultKind::Encrypted, "it is a workbook that is locked with a password")
        }
        _ => DocumentFault::new(FaultKind::Broken, format!("it is damaged: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[((u32, u32), &str)]) -> String {
        let values: Vec<_> = values.iter().map(|(at, value)| (*at, (*value).to_owned())).collect();
        lines(&values, &mut Pages::new(DocumentFormat::Xlsx)).unwrap()
    }

    #[test]
    fn cells_keep_their_columns() {
        assert_eq!(text(&[((0, 1), "a"), ((0, 3), "c"), ((1, 2), "b")]), "a\t\tc\n\tb");
    }

    #[test]
    fn empty_rows_shrink_to_one() {
        assert_eq!(text(&[((0, 0), "a"), ((900, 0), "b")]), "a\n\nb");
    }

    #[test]
    fn a_claim_of_too_many_strings_is_seen() {
        assert_eq!(claimed_strings("<sst count=\"3\" uniqueCount=\"12\"><si>"), 12);
        assert_eq!(claimed_strings("<sst uniqueCount=\"99999999999999999999999\">"), usize::MAX);
        assert_eq!(claimed_strings("<sst><si>"), 0);
    }
}
