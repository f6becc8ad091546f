//! Comma-separated values, and their cousins with semicolons, tabs and bars.

use csv::ReaderBuilder;
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};

use super::pages::Pages;
use super::text;
use crate::workers::StopFlag;

/// Columns of one row; as many as a workbook may have.
pub(super) const MAX_COLUMNS: usize = 16_384;
/// Rows that are looked at to find the separator.
const LOOK_AT_ROWS: usize = 20;
/// Separators, the likelier first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads rows of values.
///
/// # Errors
/// `Broken` for binary content, `TooLarge` for too many columns or too much text, `Empty` without a value.
pub(super) fn read(bytes: &[u8], stop: &StopFlag) -> Result<DocumentText, DocumentFault> {
    let text = text::decode(bytes)?;
    let separator = separator(&text);
    stop.check()?;
    if text.lines().any(|line| count_outside_quotes(line, separator) > MAX_COLUMNS) {
        return Err(too_many_columns());
    }
    let mut rows =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let mut pages = Pages::new(DocumentFormat::Csv);
    let mut page = String::new();
    for row in rows.records() {
        stop.check()?;
        let row = row.map_err(|error| DocumentFault::new(FaultKind::Broken, format!("its rows are torn: {error}")))?;
        if row.len() > MAX_COLUMNS {
            return Err(too_many_columns());
        }
        let start = page.len();
        for (column, cell) in row.iter().enumerate() {
            if column > 0 {
                page.push('\t');
            }
            push_cell(&mut page, cell);
        }
        page.truncate(page.trim_end_matches(['\t', ' ']).len().max(start));
        page.push('\n');
        pages.count(page.len() - start)?;
    }
    pages.add_counted("", page.trim_matches('\n').to_owned(), Vec::new())?;
    pages.finish("it has rows, but no value in them")
}

/// Adds a cell on one line: white space inside becomes single spaces.
pub(super) fn push_cell(row: &mut String, cell: &str) {
    for (n, word) in cell.split_whitespace().enumerate() {
        if n > 0 {
            row.push(' ');
        }
        row.push_str(word);
    }
}

/// The fault of a row with too many columns.
pub(super) fn too_many_columns() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, format!("it has a row of more than {MAX_COLUMNS} columns"))
}

/// The separator that most rows have most equally often.
fn separator(text: &str) -> u8 {
    let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LOOK_AT_ROWS).collect();
    let mut best = (b',', 0);
    for separator in SEPARATORS {
        let counts: Vec<usize> = rows.iter().map(|row| count_outside_quotes(row, separator)).collect();
        let usual = counts
            .iter()
            .copied()
            .filter(|count| *count > 0)
            .max_by_key(|count| counts.iter().filter(|other| *other == count).count());
        let Some(usual) = usual else { continue };
        let score = counts.iter().filter(|count| **count == usual).count() * 1_000 + usual.min(999);
        if score > best.1 {
            best = (separator, score);
        }
    }
    best.0
}

fn count_outside_quotes(row: &str, separator: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for byte in row.bytes() {
        if byte == b'"' {
            quoted = !quoted;
        } else if byte == separator && !quoted {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<DocumentText, DocumentFault> {
        super::read(bytes, &StopFlag::default())
    }

    fn page(text: &str) -> String {
        read(text.as_bytes()).unwrap().pages.remove(0).text
    }

    #[test]
    fn separators_are_found() {
        assert_eq!(page("Name,Amount\n\"Elm, Inc.\",5\n"), "Name\tAmount\nElm, Inc.\t5");
        assert_eq!(page("Name;Amount\nElm;1,50\n"), "Name\tAmount\nElm\t1,50");
        assert_eq!(page("Name\tAmount\nElm\t5\n"), "Name\tAmount\nElm\t5");
    }

    #[test]
    fn a_cell_stays_on_one_line() {
        assert_eq!(page("a,\"two\nlines\",b\n"), "a\ttwo lines\tb");
    }

    #[test]
    fn empty_cells_keep_their_place() {
        assert_eq!(page("a,,c\n,b,\n"), "a\t\tc\n\tb");
    }

    #[test]
    fn only_separators_are_empty() {
        assert_eq!(read(b",,,\n,,,\n").unwrap_err().kind, FaultKind::Empty);
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        assert_eq!(super::read(b"a,b\n", &StopFlag::set()).unwrap_err().kind, FaultKind::TooLarge);
    }

    #[test]
    fn too_many_columns_are_refused() {
        assert_eq!(read(",".repeat(20_000).as_bytes()).unwrap_err().kind, FaultKind::TooLarge);
    }
}
