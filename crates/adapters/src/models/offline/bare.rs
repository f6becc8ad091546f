//! Values that nobody labelled, but whose kind shows by itself.

use std::cell::LazyCell;
use std::collections::HashSet;

use kybern_core::list;
use kybern_core::model::ValueKind;

use super::bands::is_term;
use super::bare_names::letters;
use super::label_text::calls_number;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{bare_names, parties};

/// What is reported to an insurer by telephone.
const EMERGENCIES: &[&str] = list!(
    "accident, accidents, claim, claims, emergency, siniestro, siniestros, accidente, sinistre, sinistres, roadside, \
     schaden"
);
/// Lines from a heading to the number of what it names.
const MAX_HEADED: usize = 3;
/// Bare names that are looked at; a text with more is a list of somebody's customers.
const MAX_NAMES: usize = 50;

/// Contacts whose owners are looked for; a text with more is a list of somebody's customers.
const MAX_LOOKED: usize = 2_000;
/// Words before a colon that say whose a number is, and not what it is.
const LED_WORDS: usize = 3;
/// Places on a line at which a term may begin.
const MAX_STARTS: usize = 40;

/// Vehicle identification numbers that no label led to, with what stands beside them on their line.
pub(super) fn vins(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let Some(field) = labels.fields.iter().position(|field| field.value == ValueKind::Vin) else { return };
    let taken: HashSet<usize> =
        found.iter().filter(|value| value.page == index && value.field == field).map(|value| value.start).collect();
    for (number, line) in page.lines.iter().enumerate() {
        let vins = values::find_vins(&page.text[line.start..line.end]);
        let alone = vins.len() == 1;
        for read in vins.into_iter().filter(|read| !taken.contains(&(line.start + read.start))) {
            let at = line.start + read.start;
            let place = SearchPlace { field, page: index, line: number, at: if alone { line.start } else { at } };
            let row = Some((usize::MAX, at));
            found.push(Occurrence { row, ..Occurrence::new(place, read, line.start, sure::BARE) });
            if alone && !page.used[number] {
                beside(page, place, at, labels, found);
            }
        }
    }
}

/// The other fields of a bare opener's group, when the cells beside it are as many as the fields want.
fn beside(page: &Page<'_>, place: SearchPlace, opener: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let line = &page.lines[place.line];
    let group = &labels.fields[place.field].group;
    let cells: Vec<_> = line.cells.iter().filter(|cell| !(cell.start..cell.end).contains(&opener)).collect();
    let mates = labels
        .fields
        .iter()
        .enumerate()
        .filter(|(index, field)| *index != place.field && group.is_some() && field.group == *group);
    let (mut years, mut texts) = (Vec::new(), Vec::new());
    for (index, field) in mates {
        match field.value {
            ValueKind::Year => years.push(index),
            ValueKind::Text => texts.push(index),
            _ => {}
        }
    }
    let (year_cells, text_cells): (Vec<_>, Vec<_>) =
        cells.iter().partition(|cell| values::read(ValueKind::Year, page.cell(***cell)).is_some());
    let mut add = |fields: &[usize], cells: &[&&super::layout::Cell]| {
        if fields.len() == cells.len() {
            for (field, cell) in fields.iter().zip(cells) {
                let read = values::read(labels.fields[*field], page.cell(***cell));
                let at = SearchPlace { field: *field, ..place };
                found.extend(read.map(|read| Occurrence {
                    row: Some((usize::MAX, opener)),
                    ..Occurrence::new(at, read, cell.start, sure::GUESS)
                }));
            }
        }
    };
    add(&years, &year_cells);
    if year_cells.len() == years.len() {
        add(&texts, &text_cells);
    }
}

/// Two dates on the line of a value that opens an item, or alone on the line beneath it: its term.
pub(super) fn ranges(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let is_date =
        |value: &Occurrence| matches!(labels.fields[value.field].value, ValueKind::Date | ValueKind::DateRange);
    let here = || found.iter().filter(|value| value.page == index);
    let group_of = |value: &Occurrence| labels.fields[value.field].group.as_deref();
    let dated: HashSet<(Option<usize>, Option<&str>)> =
        here().filter(|value| is_date(value)).map(|value| (page.line_at(value.start), group_of(value))).collect();
    let mut added = Vec::new();
    for opener in here().filter(|value| labels.fields[value.field].opens_item) {
        let group = labels.fields[opener.field].group.as_deref();
        let Some(field) = labels.in_group_of(opener.field, ValueKind::DateRange) else { continue };
        let Some(number) = page.line_at(opener.start).filter(|line| !dated.contains(&(Some(*line), group))) else {
            continue;
        };
        let line = &page.lines[number];
        let rest = page.text.get(opener.end..line.end).unwrap_or_default();
        let starts = rest
            .char_indices()
            .filter(|(at, letter)| letter.is_alphanumeric() && !rest[..*at].ends_with(char::is_alphanumeric));
        let beside = starts.take(MAX_STARTS).find_map(|(at, _)| {
            values::read(ValueKind::DateRange, &rest[at..]).map(|read| (number, opener.end + at, read))
        });
        let beneath = || term_beneath(page, number, rest).filter(|(line, ..)| !dated.contains(&(Some(*line), group)));
        if let Some((line, base, read)) = beside.or_else(beneath) {
            let place = SearchPlace { field, page: index, line, at: opener.at };
            added.push(Occurrence { row: opener.row, ..Occurrence::new(place, read, base, sure::AMOUNT) });
        }
    }
    found.extend(added);
}

/// A whole term that fills the line right beneath a value, where nothing stands behind the value.
fn term_beneath(page: &Page<'_>, line: usize, rest: &str) -> Option<(usize, usize, ReadValue)> {
    let below = page.lines.get(line + 1).filter(|below| below.number == page.lines[line].number + 1)?;
    let text = page.text.get(below.start..below.end)?.trim();
    let read = values::read(ValueKind::DateRange, text)?;
    let whole = read.start == 0 && read.end == text.len() && is_term(&read.value["start"], &read.value["end"]);
    let free = rest.trim().is_empty() && !page.used[line + 1];
    (whole && free).then(|| (line + 1, below.start + page.text[below.start..below.end].find(text).unwrap_or(0), read))
}

/// Adds the numbers that are called so only beneath a heading: `Number SR-48213` beneath `Contract`.
pub(super) fn headed(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (field, pattern) in labels.openers().collect::<Vec<_>>() {
        if found.iter().any(|value| value.field == field && value.page == index) {
            continue;
        }
        for (line, row) in page.lines.iter().enumerate().filter(|(line, _)| !page.used[*line]) {
            for cell in &row.cells {
                let Some((word, rest)) = page.cell(*cell).split_once([' ', ':']) else { continue };
                if !calls_number(word) {
                    continue;
                }
                let above = (line.saturating_sub(MAX_HEADED)..line).rev();
                let mut heads = above.filter_map(|at| {
                    let over = page.lines[at].cells.iter().find(|over| over.column.abs_diff(cell.column) <= 1)?;
                    Some(page.cell(*over))
                });
                let is_headed = heads.any(|head| {
                    let whole = labels.joined(&format!("{} number", head.trim_end_matches(':')));
                    whole.is_some_and(|hit| hit.fields.contains(&field))
                });
                let rest_at = cell.end - rest.len();
                if let Some(read) = values::read(pattern, rest).filter(|_| is_headed) {
                    let place = SearchPlace { field, page: index, line, at: cell.start };
                    found.push(Occurrence::new(place, read, rest_at, sure::GLUED));
                }
            }
        }
    }
}

/// For single fields that no label led to: an e-mail address, a telephone number, a business's name.
///
/// In a message they are its writer's. On a paper they belong to the party in whose block they stand.
pub(super) fn contacts(pages: &[Page<'_>], labels: &Labels<'_>, writer: Option<&str>, found: &mut Vec<Occurrence>) {
    let parties = LazyCell::new(|| parties::named(pages, labels));
    for (field, pattern) in labels.fields.iter().enumerate().filter(|(_, pattern)| pattern.group.is_none()) {
        // Without a family nobody knows whose a bare name is, unless everything is about one company.
        let ours = parties::family(&pattern.name).is_some() || labels.writer.is_none();
        let named = pattern.value == ValueKind::Name && pattern.signs.is_empty() && field == first_name(labels) && ours;
        if found.iter().any(|value| value.field == field)
            || !(named || matches!(pattern.value, ValueKind::Email | ValueKind::Phone))
        {
            continue;
        }
        let own = parties::family(&pattern.name);
        // Who writes a message is not told by a paper.
        if own.is_some() && own == labels.writer && writer.is_none() {
            continue;
        }
        // Where a paper names one party only, everything is that party's.
        let others = parties.iter().any(|party| Some(*party) != own);
        let others_names = if named { names_of_others(found, labels, field) } else { HashSet::new() };
        let mut reads: Vec<(usize, usize, usize, ReadValue)> = Vec::new();
        let mut looked = 0;
        for (index, page) in pages.iter().enumerate() {
            for (number, line) in page.lines.iter().enumerate() {
                if page.used[number] || reads.len() > MAX_NAMES || looked > MAX_LOOKED {
                    continue;
                }
                let mut here: Vec<ReadValue> = on_line(page, line, pattern.value).into_iter().take(MAX_NAMES).collect();
                // The id of an appointment is written like an address.
                here.retain(|read| pattern.value != ValueKind::Email || has_letters(read));
                looked += here.len();
                let here = here.into_iter();
                let ours = here.filter(|read| {
                    if named {
                        let name = read.value.as_str().unwrap_or_default();
                        return !labels.is_anybodys(name)
                            && !others_names.contains(&letters(name))
                            && !is_part_of_label(page, number, (line.start + read.start, line.start + read.end))
                            && !is_labelled(page, number, line.start + read.start, field);
                    }
                    let at = line.start + read.start;
                    if is_led_by_words(page, line, at) {
                        return false;
                    }
                    let Some(cell) = line.cells.iter().find(|cell| (cell.start..cell.end).contains(&at)) else {
                        return false;
                    };
                    match parties::owner(page, labels, number, *cell, at) {
                        Some(party) => Some(party) == own,
                        None => own.is_none() || writer.map_or(!others, |writer| own == Some(writer)),
                    }
                });
                reads.extend(ours.map(|read| (index, number, line.start, read)));
            }
        }
        let taken = |page: usize, at: usize| {
            found.iter().any(|value| value.page == page && value.start <= at && at < value.end)
        };
        reads.retain(|(page, _, base, read)| !taken(*page, base + read.start));
        let different: HashSet<String> = reads.iter().map(|(_, _, _, read)| read.value.to_string()).collect();
        let sure = if different.len() == 1 { sure::GUESS } else { sure::GUESS * 0.6 };
        // Whoever writes signs in the end.
        let first = if writer.is_some() && named { reads.pop() } else { reads.into_iter().next() };
        if let Some((page, line, base, mut read)) = first {
            let place = SearchPlace { field, page, line, at: base + read.start };
            let cell = pages[page].lines[line].cells.iter().find(|cell| cell.start == base + read.start);
            let begun = cell.and_then(|cell| bare_names::begun_above(&pages[page], line, *cell));
            if let Some(begun) = begun.filter(|_| labels.fields[field].value == ValueKind::Name) {
                read.value = format!("{begun} {}", read.value.as_str().unwrap_or_default()).into();
            }
            found.push(Occurrence::new(place, read, base, sure));
        }
    }
}

/// The names that labels gave to others: the holder of a certificate is not whom a paper is about.
fn names_of_others(found: &[Occurrence], labels: &Labels<'_>, field: usize) -> HashSet<String> {
    let named = |value: &&Occurrence| {
        let pattern = labels.fields[value.field];
        // A list of all companies says of none of them who it is.
        pattern.value == ValueKind::Name && value.field != field && !pattern.labels.is_empty()
    };
    found.iter().filter(named).filter_map(|value| value.value.as_str()).map(letters).collect()
}

/// Whether a place stands behind a label of another field, or in a label.
fn is_labelled(page: &Page<'_>, line: usize, at: usize, field: usize) -> bool {
    let Some(cell) = page.lines[line].cells.iter().position(|cell| (cell.start..cell.end).contains(&at)) else {
        return false;
    };
    let last = page.hits[line].iter().rev().find(|hit| hit.cell == cell && hit.start <= at);
    last.is_some_and(|hit| !hit.fields.contains(&field) && (hit.colon || at < hit.after))
}

/// Whether a label begins inside a name: then some of its words are the label's.
fn is_part_of_label(page: &Page<'_>, line: usize, (from, to): (usize, usize)) -> bool {
    page.hits[line].iter().any(|hit| hit.start > from && hit.start < to && (hit.colon || hit.fills))
}

/// Whether words that are no label lead to a place with a colon: `Report claims at any hour: …`
fn is_led_by_words(page: &Page<'_>, line: &super::layout::Line, at: usize) -> bool {
    let Some(cell) = line.cells.iter().find(|cell| (cell.start..cell.end).contains(&at)) else { return false };
    let before = page.text.get(cell.start..at).unwrap_or_default().trim_end_matches([' ', '(', '+']);
    // Whoever has had an accident calls somebody else than the one who is insured.
    let sentence = before.rsplit(['.', ';', '|', '•']).next().unwrap_or_default().to_lowercase();
    if EMERGENCIES.iter().any(|word| sentence.split(|c: char| !c.is_alphanumeric()).any(|other| other == *word)) {
        return true;
    }
    let Some(label) = before.strip_suffix(':') else { return false };
    let label = label.rsplit(['.', ';', '|', '•', ',']).next().unwrap_or_default();
    label.split_whitespace().count() >= LED_WORDS
}

/// Whether the part of an e-mail address before its domain has a letter.
fn has_letters(read: &ReadValue) -> bool {
    let local = read.value.as_str().and_then(|address| address.split('@').next()).unwrap_or_default();
    local.chars().any(char::is_alphabetic)
}

/// The first field of a name: whom a paper is about.
fn first_name(labels: &Labels<'_>) -> usize {
    let is_name = |field: &kybern_core::model::FieldPattern| field.value == ValueKind::Name && field.group.is_none();
    labels.fields.iter().position(|field| is_name(field)).unwrap_or(usize::MAX)
}

/// Every value of a kind on a line that shows by itself what it is.
fn on_line(page: &Page<'_>, line: &super::layout::Line, kind: ValueKind) -> Vec<ReadValue> {
    let row = &page.text[line.start..line.end];
    match kind {
        ValueKind::Email => values::find_emails(row),
        ValueKind::Phone => values::find_phones(row),
        _ => line
            .cells
            .iter()
            .flat_map(|cell| shifted(values::find_businesses(page.cell(*cell)), cell.start - line.start))
            .collect(),
    }
}

fn shifted(reads: Vec<ReadValue>, by: usize) -> Vec<ReadValue> {
    reads.into_iter().map(|read| ReadValue { start: read.start + by, end: read.end + by, ..read }).collect()
}
