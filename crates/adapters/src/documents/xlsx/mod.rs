//! Excel workbooks: each sheet is a page, each row a line.
//!
//! Cells are taken one by one, so that a sheet is never laid out as a grid.

mod format;
mod looks;

use std::io::Cursor;

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx, open_workbook_from_rs};
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};

use self::looks::{SheetStyles, WorkbookStyles};
use super::archive::OpenPackage;
use super::csv::push_cell;
use super::pages::{Pages, unpacks_too_far};
use crate::workers::StopFlag;

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
pub(super) fn read(bytes: &[u8], stop: &StopFlag) -> Result<DocumentText, DocumentFault> {
    probe(bytes, stop)?;
    let mut workbook: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let of_cells = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    // A person does not see a hidden sheet; when all are hidden, the file is not from a spreadsheet.
    let (seen, hidden): (Vec<_>, Vec<_>) = of_cells.partition(|sheet| sheet.visible == SheetVisible::Visible);
    let sheets: Vec<String> =
        (if seen.is_empty() { hidden } else { seen }).iter().map(|sheet| sheet.name.clone()).collect();
    if sheets.is_empty() {
        return Err(DocumentFault::new(FaultKind::Broken, "it has no list of sheets, or none of them has cells"));
    }
    let mut pages = Pages::new(DocumentFormat::Xlsx);
    let mut budget = MAX_CELLS;
    let mut parts = OpenPackage::open(bytes)?;
    let looks = WorkbookStyles::read(&mut parts);
    for name in &sheets {
        let looks = looks.sheet(&mut parts, name);
        let text = sheet(&mut workbook, name, &looks, &mut pages, &mut budget, stop)?;
        pages.add_counted(name, text, Vec::new())?;
    }
    pages.finish(&format!("none of its {} sheets has a value", sheets.len()))
}

/// Unpacks every part once under the limits, before a library does it without any.
fn probe(bytes: &[u8], stop: &StopFlag) -> Result<(), DocumentFault> {
    let mut parts = OpenPackage::open(bytes)?;
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
    looks: &SheetStyles,
    pages: &mut Pages,
    budget: &mut usize,
    stop: &StopFlag,
) -> Result<String, DocumentFault> {
    let mut cells = workbook.worksheet_cells_reader(name).map_err(|error| broken(&error))?;
    let mut values: Vec<((u32, u32), String)> = Vec::new();
    let (mut rows, mut columns) = (0u64, 0u64);
    while let Some(cell) = cells.next_cell().map_err(|error| broken(&error))? {
        stop.check()?;
        let (row, column) = cell.get_position();
        let formatted = as_number(cell.get_value()).and_then(|number| looks.show((row, column), number));
        let mut value = String::new();
        push_cell(&mut value, &formatted.unwrap_or_else(|| show(cell.get_value())));
        if value.is_empty() || looks.hides((row, column)) {
            continue;
        }
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

fn as_number(value: &DataRef<'_>) -> Option<f64> {
    match value {
        DataRef::Float(number) => Some(*number),
        #[expect(clippy::cast_precision_loss, reason = "a number that is shown has fewer digits")]
        DataRef::Int(number) => Some(*number as f64),
        _ => None,
    }
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

    /// A workbook with a sheet that is seen and one that is hidden.
    fn workbook(sheet: &str) -> Vec<u8> {
        use std::io::Write as _;
        let hidden = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>7</v></c></row></sheetData></worksheet>";
        let office = "http://schemas.openxmlformats.org";
        let relation = |n: u8, kind: &str, target: &str| {
            let kind = format!("{office}/officeDocument/2006/relationships/{kind}");
            format!("<Relationship Id=\"r{n}\" Type=\"{kind}\" Target=\"{target}\"/>")
        };
        let book = [
            relation(1, "worksheet", "worksheets/sheet1.xml"),
            relation(2, "worksheet", "worksheets/sheet2.xml"),
            relation(3, "styles", "styles.xml"),
        ];
        let files = [
            (
                "_rels/.rels",
                format!("<Relationships>{}</Relationships>", relation(1, "officeDocument", "xl/workbook.xml")),
            ),
            ("xl/_rels/workbook.xml.rels", format!("<Relationships>{}</Relationships>", book.concat())),
            (
                "xl/workbook.xml",
                format!(
                    "<workbook xmlns:r=\"{office}/officeDocument/2006/relationships\"><sheets>\
                     <sheet name=\"Fleet\" sheetId=\"1\" r:id=\"r1\"/>\
                     <sheet name=\"Old\" sheetId=\"2\" state=\"hidden\" r:id=\"r2\"/></sheets></workbook>"
                ),
            ),
            (
                "xl/styles.xml",
                "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"&quot;$&quot;#,##0\"/></numFmts>\
                 <cellStyleXfs><xf numFmtId=\"9\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/>\
                 <xf numFmtId=\"10\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
                    .to_owned(),
            ),
            ("xl/worksheets/sheet1.xml", sheet.to_owned()),
            ("xl/worksheets/sheet2.xml", hidden.to_owned()),
        ];
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_workbook_is_read_as_it_is_seen() {
        let bytes = workbook(
            "<worksheet><cols><col min=\"2\" max=\"2\" hidden=\"1\"/></cols><sheetData><row r=\"1\">\
             <c r=\"A1\" s=\"1\"><v>107950</v></c><c r=\"B1\"><v>1</v></c><c r=\"C1\" s=\"2\"><v>0.125</v></c>\
             <c r=\"D1\" s=\"3\"><v>46000</v></c><c r=\"E1\" t=\"str\"><f>A1</f><v>00899</v></c></row>\
             <row r=\"2\" hidden=\"1\"><c r=\"A2\"><v>2</v></c></row>\
             <row r=\"3\"><c r=\"A3\"><v>3.5</v></c></row></sheetData></worksheet>",
        );
        let document = read(&bytes, &StopFlag::default()).unwrap();
        assert_eq!(document.pages.len(), 1);
        assert_eq!(document.pages[0].text, "$107,950\t\t12.50%\t2025-12-09\t00899\n\n3.5");
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
