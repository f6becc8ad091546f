//! How a workbook looks to a person: which rows and columns are hidden, and how numbers are written.
//!
//! The library that reads the values leaves this out. A part that cannot be understood here changes nothing: its values
//! are read as they are.

use std::collections::{HashMap, HashSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::super::archive::OpenPackage;
use super::format::Format;

/// Formats of one workbook, rows and columns that are hidden in one sheet, and cells with a format of their own.
const MAX_FORMATS: usize = 70_000;
const MAX_HIDDEN: usize = 1_100_000;
const MAX_CELLS: usize = 1_000_000;

/// The looks of a workbook.
#[derive(Debug, Default)]
pub(super) struct WorkbookStyles {
    /// The parts of the sheets by name.
    parts: HashMap<String, String>,
    /// The number formats in the order in which cells refer to them.
    formats: Vec<Format>,
}

#[derive(Debug, Default)]
pub(super) struct SheetStyles {
    rows: HashSet<u32>,
    columns: Vec<(u32, u32)>,
    formats: HashMap<(u32, u32), Format>,
}

impl WorkbookStyles {
    /// Reads what holds for the whole workbook.
    pub(super) fn read(parts: &mut OpenPackage<'_>) -> Self {
        let mut looks = Self::default();
        let mut targets: HashMap<String, String> = HashMap::new();
        each(parts, "xl/_rels/workbook.xml.rels", |element| {
            if let ("Relationship", Some(id), Some(target)) =
                (element.local_name().as_ref(), attribute(element, "Id"), attribute(element, "Target"))
            {
                let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
                targets.insert(id, path);
            }
        });
        each(parts, "xl/workbook.xml", |element| {
            if element.local_name().as_ref() == "sheet"
                && let (Some(name), Some(id)) = (attribute(element, "name"), attribute(element, "id"))
                && let Some(path) = targets.get(&id)
            {
                looks.parts.insert(name, path.clone());
            }
        });
        let mut codes: HashMap<u32, Format> = HashMap::new();
        let mut in_cells = false;
        each(parts, "xl/styles.xml", |element| match element.local_name().as_ref() {
            "numFmt" if codes.len() < MAX_FORMATS => {
                if let (Some(id), Some(code)) = (number(element, "numFmtId"), attribute(element, "formatCode")) {
                    codes.insert(id, Format::of_code(&code));
                }
            }
            "cellXfs" => in_cells = true,
            "cellStyleXfs" | "cellStyles" | "dxfs" => in_cells = false,
            "xf" if in_cells && looks.formats.len() < MAX_FORMATS => {
                let id = number(element, "numFmtId").unwrap_or(0);
                looks.formats.push(codes.get(&id).cloned().unwrap_or_else(|| Format::built_in(id)));
            }
            _ => {}
        });
        looks
    }

    /// Reads what holds for one sheet.
    pub(super) fn sheet(&self, parts: &mut OpenPackage<'_>, name: &str) -> SheetStyles {
        let mut sheet = SheetStyles::default();
        let Some(path) = self.parts.get(name) else { return sheet };
        let plain = self.formats.iter().all(|format| *format == Format::General);
        let mut next_row = 0;
        each(parts, path, |element| match element.local_name().as_ref() {
            "col" if is_hidden(element) && sheet.columns.len() < MAX_HIDDEN => {
                if let (Some(min), Some(max)) = (number(element, "min"), number(element, "max")) {
                    sheet.columns.push((min.saturating_sub(1), max.saturating_sub(1)));
                }
            }
            "row" => {
                let row = number(element, "r").map_or(next_row, |row| row.saturating_sub(1));
                next_row = row.saturating_add(1);
                if is_hidden(element) && sheet.rows.len() < MAX_HIDDEN {
                    sheet.rows.insert(row);
                }
            }
            "c" if !plain && sheet.formats.len() < MAX_CELLS => {
                let style = number(element, "s").and_then(|style| usize::try_from(style).ok());
                let format = style.and_then(|style| self.formats.get(style));
                if let Some(format) = format.filter(|format| **format != Format::General)
                    && let Some(place) = attribute(element, "r").and_then(|place| cell(&place))
                {
                    sheet.formats.insert(place, format.clone());
                }
            }
            _ => {}
        });
        sheet
    }
}

impl SheetStyles {
    /// Whether a cell stands in a row or a column that is hidden.
    pub(super) fn hides(&self, (row, column): (u32, u32)) -> bool {
        self.rows.contains(&row) || self.columns.iter().any(|(from, to)| (*from..=*to).contains(&column))
    }

    /// A number as its cell shows it; `None` when it has no format of its own.
    pub(super) fn show(&self, place: (u32, u32), number: f64) -> Option<String> {
        self.formats.get(&place)?.show(number)
    }
}

/// Calls for each start of an element in a part; a part that is missing or damaged has none.
fn each(parts: &mut OpenPackage<'_>, name: &str, mut call: impl FnMut(&BytesStart<'_>)) {
    let Ok(Some(xml)) = parts.xml(name) else { return };
    let mut reader = Reader::from_str(&xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => call(&element),
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value: &str = &found.value;
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned))
}

fn number(element: &BytesStart<'_>, name: &str) -> Option<u32> {
    attribute(element, name)?.trim().parse().ok()
}

fn is_hidden(element: &BytesStart<'_>) -> bool {
    attribute(element, "hidden").is_some_and(|hidden| matches!(hidden.as_str(), "1" | "true"))
}

/// Row and column of a place such as `B12`, both from 0.
fn cell(place: &str) -> Option<(u32, u32)> {
    let digits = place.find(|c: char| c.is_ascii_digit())?;
    let (letters, row) = place.split_at(digits);
    let column = letters.bytes().try_fold(0u32, |column, letter| {
        let value = u32::from(letter.to_ascii_uppercase().checked_sub(b'A')?) + 1;
        (value <= 26).then_some(())?;
        column.checked_mul(26)?.checked_add(value)
    })?;
    Some((row.parse::<u32>().ok()?.checked_sub(1)?, column.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbers() {
        assert_eq!(cell("A1"), Some((0, 0)));
        assert_eq!(cell("AB12"), Some((11, 27)));
        assert_eq!((cell("12"), cell("A0"), cell("ZZZZZZZZZ1")), (None, None, None));
    }
}
