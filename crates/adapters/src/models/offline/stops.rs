//! Places where somebody comes on a date: whose name a stop has beside its date, or beneath it before the address.
//!
//! `Pick 10/19/2026 08:00` above `Fern Hollow Mills, 44 Bin Road, Waco, TX 76701` says who loads without any label of a
//! name. A town alone is nobody's name.

use std::collections::HashSet;

use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::labels::Labels;
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// Words that lead from a date to a place.
const LEADS: [&str; 9] = ["at", "@", "to", "from", "en", "à", "chez", "para", "bei"];
/// Words between a date and such a word: hours, `appt`.
const MAX_BETWEEN: usize = 4;
/// Words that a name has at least which has neither a legal form nor an address.
const LEAST_WORDS: usize = 3;
/// Bytes behind a date that are looked at.
const MAX_REST: usize = 240;
/// Dates of one field that are looked at.
const MAX_DATES: usize = 100;

/// Adds the names of places, for fields that no label led to.
pub(super) fn places(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let led: HashSet<usize> = found.iter().map(|value| value.field).collect();
    let mut added = Vec::new();
    for (field, pattern) in labels.fields.iter().enumerate().filter(|(field, _)| !led.contains(field)) {
        let Some(date) = pattern.visited_on.as_ref().filter(|_| pattern.value == ValueKind::Name) else { continue };
        let dates = found.iter().filter(|value| labels.fields[value.field].name == *date);
        for date in dates.take(MAX_DATES) {
            let page = &pages[date.page];
            let Some(line) = page.line_at(date.start) else { continue };
            let named = beside(page, line, date, labels)
                .or_else(|| in_next_cell(page, line, date, labels))
                .or_else(|| beneath(page, line, date, labels));
            if let Some((line, base, read)) = named {
                let place = SearchPlace { field, page: date.page, line, at: base + read.start };
                added.push(Occurrence::new(place, read, base, sure::BENEATH));
            }
        }
    }
    found.extend(added);
}

/// The name that a date leads to on its line: `on 10/22/2026 at Fern Hollow Brick & Tile`.
fn beside(page: &Page<'_>, line: usize, date: &Occurrence, labels: &Labels<'_>) -> Option<(usize, usize, ReadValue)> {
    let rest = clip(page.text.get(date.end..page.lines[line].end)?, MAX_REST);
    let mut at = 0;
    for word in rest.split(' ').take(MAX_BETWEEN + 1) {
        at += word.len() + 1;
        if LEADS.contains(&word.to_lowercase().as_str()) {
            let base = date.end + at;
            let text = page.text.get(base..date.end + rest.len())?;
            let read =
                values::leading_business(text).or_else(|| values::leading_run(text).filter(|read| is_long(text, read)));
            return read.filter(|read| is_name(text, read, labels)).map(|read| (line, base, read));
        }
        // Behind a comma something else is told.
        if word.ends_with([',', ';', '.']) {
            break;
        }
    }
    None
}

/// The name in the cell right of a date, with its address: `10/22/2026   Fern Hollow Brick & Tile, 4 Kiln Rd, Waco, TX`.
fn in_next_cell(
    page: &Page<'_>,
    line: usize,
    date: &Occurrence,
    labels: &Labels<'_>,
) -> Option<(usize, usize, ReadValue)> {
    let mut cells = page.lines[line].cells.iter().filter(|cell| cell.start >= date.end);
    let cell = cells.next().filter(|_| !page.used[line])?;
    let text = page.cell(*cell);
    let read = values::read(ValueKind::Name, text).filter(|read| read.start == 0 && is_name(text, read, labels))?;
    let addressed = text[read.end..].starts_with(", ") || values::has_form(&text[..read.end]);
    (cells.next().is_none() && addressed && !page.is_label(line, *cell)).then_some((line, cell.start, read))
}

/// Whether a run of words with capitals is more than a town.
fn is_long(text: &str, read: &ReadValue) -> bool {
    let town = text[read.end..].trim_start_matches([',', ' ']);
    let state = town.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let in_state = state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase());
    text[read.start..read.end].split_whitespace().count() >= LEAST_WORDS && !in_state
}

/// The name on the line under a date, when an address follows it there or beneath.
fn beneath(page: &Page<'_>, line: usize, date: &Occurrence, labels: &Labels<'_>) -> Option<(usize, usize, ReadValue)> {
    let row = &page.lines[line];
    let column = *row.cells.iter().find(|cell| (cell.start..cell.end).contains(&date.at))?;
    let next = |above: usize| {
        let below = page.lines.get(above + 1).filter(|below| below.number == page.lines[above].number + 1)?;
        Some((above + 1, layout::in_column(column, below)?))
    };
    let (at, cell) = next(line)?;
    let text = page.cell(cell);
    let read = values::read(ValueKind::Name, text).filter(|read| read.start == 0 && is_name(text, read, labels))?;
    let rest = text[read.end..].trim_start_matches([',', ' ']);
    let follows = if rest.is_empty() {
        let street = next(at);
        let town = street.and_then(|(at, _)| next(at));
        let ends = |cell: Option<(usize, Cell)>| cell.is_some_and(|(_, cell)| values::ends_with_zip(page.cell(cell)));
        ends(street) || street.is_some_and(|(_, cell)| is_numbered(page.cell(cell))) && ends(town)
    } else {
        values::ends_with_zip(rest)
    };
    (follows && !page.used[at] && !page.is_label(at, cell)).then_some((at, cell.start, read))
}

fn is_numbered(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a name begins with a capital, and with no label or date.
fn is_name(text: &str, read: &ReadValue, labels: &Labels<'_>) -> bool {
    let name = &text[read.start..];
    name.starts_with(char::is_uppercase) && !labels.begin(&text[read.start..read.end]) && !values::is_date_like(name)
}
