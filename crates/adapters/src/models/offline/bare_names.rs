//! Names that nobody labelled and that their words give away: an insurer in the letterhead or the footer.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Cell;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{labelled, legend, parties};

/// Businesses of one cell that are looked at.
const MOST: usize = 10;
/// Lines at the top and at the bottom of a page that may be a letterhead or a footer.
const EDGE: usize = 6;

/// Words between two names.
const JOINTS: [&str; 5] = [" and ", " & ", " y ", " et ", " und "];
/// Bytes of a line from which on it is one of sentences, and words of a name that may stand at its end.
const SENTENCE: usize = 60;
const MAX_BEGUN: usize = 3;
/// Lines between a name that heads an item and the number of the item.
const MAX_HEADED: usize = 3;

/// Adds names that stand alone on a line above the number of an item which they head, where labels or lists lead to the
/// names of other items.
pub(super) fn heading_items(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (field, pattern) in labels.fields.iter().enumerate() {
        let named = found.iter().any(|value| value.field == field);
        if pattern.value != ValueKind::Name || pattern.signs.is_empty() || pattern.group.is_none() || !named {
            continue;
        }
        let mut added = Vec::new();
        for (index, page) in pages.iter().enumerate() {
            let (mut opened, mut told) = (vec![false; page.lines.len()], vec![false; page.lines.len()]);
            for value in found.iter().filter(|value| value.page == index) {
                let Some(line) = page.line_at(value.start) else { continue };
                opened[line] |= labels.fields[value.field].opens_item
                    && labels.fields[value.field].group == pattern.group
                    && value.row.is_none();
                told[line] |= value.field == field;
            }
            let adjacent = |line: usize| page.lines[line - 1].number + 1 == page.lines[line].number;
            for line in (0..page.lines.len()).filter(|line| !told[*line] && !page.used[*line]) {
                let [cell] = page.lines[line].cells.as_slice() else { continue };
                let mut beneath = (line + 1..page.lines.len()).take(MAX_HEADED);
                let heads = beneath.find(|next| opened[*next] || told[*next] || page.used[*next]);
                let tails = line > 0 && adjacent(line) && opened[line - 1];
                if tails || !heads.is_some_and(|next| opened[next] && !told[next]) {
                    continue;
                }
                let Some(read) = parties::signed_name(labels, field, page.cell(*cell)) else { continue };
                let rest = page.cell(*cell).get(read.end..).unwrap_or_default().trim_start();
                if read.start == 0 && (rest.is_empty() || rest.starts_with('(')) {
                    let place = SearchPlace { field, page: index, line, at: cell.start };
                    added.push(Occurrence::new(place, read, cell.start, sure::SIGNED));
                }
            }
        }
        found.extend(added);
    }
}

/// Adds names that stand alone on lines inside a table and head the rows beneath them, as far as the next such line; the
/// first one stands right above the first row.
pub(super) fn heading_rows(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (field, pattern) in labels.fields.iter().enumerate() {
        if pattern.value != ValueKind::Name || pattern.signs.is_empty() || pattern.group.is_none() {
            continue;
        }
        let opens = |value: &Occurrence| {
            let other = labels.fields[value.field];
            other.opens_item && other.group == pattern.group
        };
        let mut tables: BTreeMap<(usize, usize), Vec<(usize, &Occurrence)>> = BTreeMap::new();
        for value in found.iter().filter(|value| opens(value)) {
            if let (Some((table, _)), Some(line)) = (value.row, pages[value.page].line_at(value.start)) {
                tables.entry((value.page, table)).or_default().push((line, value));
            }
        }
        let named = found.iter().filter(|value| value.field == field);
        let told: HashSet<(usize, usize)> = named.filter_map(|value| Some((value.page, value.row?.0))).collect();
        let mut added = Vec::new();
        for ((index, table), mut rows) in tables {
            if rows.len() < 2 || told.contains(&(index, table)) {
                continue;
            }
            rows.sort_by_key(|(line, _)| *line);
            let page = &pages[index];
            let heading = |line: usize| {
                let [cell] = page.lines[line].cells.as_slice() else { return None };
                let read = parties::signed_name(labels, field, page.cell(*cell)).filter(|read| read.start == 0)?;
                let rest = page.cell(*cell).get(read.end..).unwrap_or_default().trim_start();
                (rest.is_empty() || rest.starts_with('(')).then_some((read, cell.start))
            };
            let mut from = rows[0].0.saturating_sub(1);
            let mut last = None;
            for (line, value) in rows {
                last = (from..line).rev().find_map(heading).or(last);
                let Some((read, base)) = &last else { break };
                from = line + 1;
                let place = SearchPlace { field, page: index, line, at: value.at };
                let name = Occurrence::new(place, read.clone(), *base, sure::SIGNED);
                added.push(Occurrence { row: value.row, ..name });
            }
        }
        found.extend(added);
    }
}

/// Adds names by their words, for fields that no label led to.
pub(super) fn signed(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let is_wanted = |field: &usize| {
        let pattern = labels.fields[*field];
        let led_to = || found.iter().any(|value| value.field == *field);
        pattern.value == ValueKind::Name && !pattern.signs.is_empty() && !led_to()
    };
    let mut wanted: Vec<(usize, Vec<(bool, Occurrence)>)> =
        (0..labels.fields.len()).filter(is_wanted).map(|field| (field, Vec::new())).collect();
    if wanted.is_empty() {
        return;
    }
    let numbers: HashMap<usize, Vec<(usize, usize)>> =
        wanted.iter().map(|(field, _)| (*field, numbers_of(found, labels, *field))).collect();
    for (index, page) in pages.iter().enumerate() {
        let explained = wanted.iter().flat_map(|(field, _)| legend::explanations(page, index, labels, *field));
        let explained: Vec<(usize, usize)> = explained.collect();
        for (number, line) in page.lines.iter().enumerate() {
            let edge = number < EDGE || number + EDGE >= page.lines.len();
            let explains = |cell: &&Cell| explained.iter().any(|(from, to)| cell.start < *to && cell.end > *from);
            for cell in line.cells.iter().filter(|cell| !explains(cell)) {
                let text = page.cell(*cell);
                let whole = parties::signed_by(labels, text);
                let inside = LazyCell::new(|| named_in(labels, text));
                for (field, names) in &mut wanted {
                    let whole = whole.as_ref().filter(|(_, fields)| fields.contains(field)).map(|(read, _)| read);
                    let mut here: Vec<&ReadValue> = whole.into_iter().collect();
                    // A sentence may name several, each beside the number of its item.
                    let list = labels.fields[*field].group.is_some();
                    let several = inside.iter().filter(|(fields, _)| fields.contains(field)).map(|(_, read)| read);
                    let several = several.filter(|read| whole.is_none_or(|whole| read.start >= whole.end));
                    here.extend(several.take(if list { MOST } else { usize::from(whole.is_none()) }));
                    // Of several names that stand apart from the numbers nobody knows whose is whose.
                    let apart = |read: &&ReadValue| read.value != here[0].value;
                    let before = |at: usize| numbers[field].partition_point(|number| *number < (index, at));
                    if here.iter().any(apart) && before(cell.end) - before(cell.start) < here.len() {
                        continue;
                    }
                    for (place, read) in here.into_iter().enumerate() {
                        let at = if place == 0 { cell.start } else { cell.start + read.start };
                        let place = SearchPlace { field: *field, page: index, line: number, at };
                        names.push((edge, Occurrence::new(place, read.clone(), cell.start, sure::SIGNED)));
                    }
                }
            }
        }
    }
    for (field, mut names) in wanted {
        let spelt = |name: &Occurrence| letters(name.value.as_str().unwrap_or_default());
        let mut different: Vec<String> = names.iter().map(|(_, name)| spelt(name)).collect();
        different.sort();
        different.dedup();
        if different.len() > 1 && names.iter().any(|(edge, _)| *edge) && labels.fields[field].group.is_none() {
            names.retain(|(edge, _)| *edge);
        }
        found.extend(names.into_iter().map(|(_, name)| name));
    }
}

/// Where the numbers of a field's list stand, in order.
fn numbers_of(found: &[Occurrence], labels: &Labels<'_>, field: usize) -> Vec<(usize, usize)> {
    let opens = |value: &&Occurrence| {
        let pattern = labels.fields[value.field];
        pattern.opens_item && pattern.group == labels.fields[field].group
    };
    let mut numbers: Vec<_> = found.iter().filter(opens).map(|value| (value.page, value.start)).collect();
    numbers.sort_unstable();
    numbers
}

/// The names in a text that their words give to a field, with the fields; two that `and` joins are two.
pub(super) fn named_in(labels: &Labels<'_>, text: &str) -> Vec<(Vec<usize>, ReadValue)> {
    let mut found = Vec::new();
    for read in values::find_capitalised(text) {
        let name = read.value.as_str().unwrap_or_default();
        let parts = JOINTS.iter().find_map(|joint| name.split_once(joint).map(|parts| (parts, joint.len())));
        if let Some(((first, second), joint)) = parts {
            let fields = [labels.signed(first), labels.signed(second)];
            if fields.iter().all(|fields| !fields.is_empty()) {
                let [of_first, of_second] = fields;
                let end = read.start + first.len();
                found.push((of_first, ReadValue { value: first.into(), end, ..read.clone() }));
                found.push((of_second, ReadValue { value: second.into(), start: end + joint, ..read.clone() }));
                continue;
            }
        }
        found.push((labels.signed(name), read));
    }
    found
}

/// The letters and digits of a name, in lower case, by which names are compared.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The beginning of a name of which a cell has the rest: the text above it in its column, when it ends with a word with which
/// no name ends; the last words with capitals of a line of sentences: `… insures Fern` above `Hollow Hauling LLC, of …`
pub(super) fn begun_above<'t>(page: &Page<'t>, line: usize, cell: Cell) -> Option<&'t str> {
    let above = page.lines.get(line.checked_sub(1)?).filter(|above| above.number + 1 == page.lines[line].number)?;
    let over = above.cells.iter().find(|over| over.column.abs_diff(cell.column) <= 1)?;
    let text = page.cell(*over);
    if text.len() >= SENTENCE && above.cells.len() == 1 && !labelled::is_open(text) {
        let begun = text.rsplit(' ').take_while(|word| {
            word.starts_with(char::is_uppercase)
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-'))
        });
        let length: usize = begun.map(|word| word.len() + 1).sum();
        let begun = text.get((text.len() + 1).checked_sub(length)?..).filter(|begun| !begun.is_empty())?;
        let words = begun.split(' ').count();
        // What begins the line begins a sentence, or is a heading.
        return (words <= MAX_BEGUN && begun.len() < text.len()).then_some(begun);
    }
    let is_begun = labelled::is_open(text) && text.starts_with(char::is_uppercase) && !page.is_label(line - 1, *over);
    let short = text.split_whitespace().count() <= MOST && !text.bytes().any(|b| b.is_ascii_digit());
    (is_begun && short).then_some(text)
}

/// Adds every business that is named by its legal form, for lists of companies that have no labels: who each of them is
/// is not seen here.
pub(super) fn businesses(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let unlabelled = |pattern: &kybern_core::model::FieldPattern| {
        pattern.value == ValueKind::Name && pattern.opens_item && pattern.labels.is_empty()
    };
    let Some(field) = labels.fields.iter().position(|pattern| unlabelled(pattern)) else { return };
    for (index, page) in pages.iter().enumerate() {
        for (number, line) in page.lines.iter().enumerate() {
            for cell in &line.cells {
                for mut read in values::find_businesses(page.cell(*cell)).into_iter().take(MOST) {
                    let place = SearchPlace { field, page: index, line: number, at: cell.start + read.start };
                    if let Some(begun) = begun_above(page, number, *cell).filter(|_| read.start == 0) {
                        read.value = format!("{begun} {}", read.value.as_str().unwrap_or_default()).into();
                    }
                    found.push(Occurrence::new(place, read, cell.start, sure::GUESS));
                }
            }
        }
    }
}
