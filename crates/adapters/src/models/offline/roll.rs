//! Lists of people without a row of labels: on each line a name, and beside it the number of a licence.
//!
//! ```text
//! Drivers reported to us
//!   Ada Example          TX 8812045
//!   Bo Sample            NM 771938201
//! ```

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::layout::Line;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// The rows of these items, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 8;
/// Lines of a list. A single line may be anything.
const LEAST_LINES: usize = 2;
/// Digits of a licence that nobody labelled.
const LEAST_DIGITS: usize = 5;

/// Words that say that a number follows, and no licence.
const NUMBERS: [&str; 9] = ["no", "num", "nbr", "number", "code", "id", "número", "numero", "numéro"];

/// Adds the people of such lists, each with the licence beside the name, outside tables and where no name was found.
pub(super) fn people(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (name, pattern) in labels.fields.iter().enumerate() {
        if !(pattern.opens_item && pattern.value == ValueKind::Person && pattern.group.is_some()) {
            continue;
        }
        let of_group = |field: usize| labels.fields[field].group == pattern.group;
        let Some(license) = labels.in_group_of(name, ValueKind::License) else { continue };
        let taken = |line: &Line| {
            let here = |value: &&Occurrence| value.page == index && (line.start..line.end).contains(&value.start);
            found.iter().any(|value| here(&value) && of_group(value.field))
        };
        let mut people = Vec::new();
        let mut list: Vec<(usize, Person)> = Vec::new();
        let mut close = |list: &mut Vec<(usize, Person)>| {
            if list.len() >= LEAST_LINES {
                people.append(list);
            }
            list.clear();
        };
        for (number, line) in page.lines.iter().enumerate() {
            let goes_on = list.last().is_none_or(|(last, _)| page.lines[*last].number + 1 == line.number);
            if !goes_on {
                close(&mut list);
            }
            // What a label names is nobody's licence: `Customer No.` beside a number.
            let labelled = page.hits[number].iter().any(|hit| hit.cell == 0 && (hit.fills || hit.colon));
            match person(page, line).filter(|_| !page.used[number] && !labelled) {
                Some(person) => list.push((number, person)),
                None => close(&mut list),
            }
        }
        close(&mut list);
        let people: Vec<_> = people.into_iter().filter(|(line, _)| !taken(&page.lines[*line])).collect();
        for (line, person) in people {
            let at = page.lines[line].start;
            let row = Some((TABLE, at));
            for (field, (start, read)) in [(name, person.name), (license, person.license)] {
                let place = SearchPlace { field, page: index, line, at };
                found.push(Occurrence { row, ..Occurrence::new(place, read, start, sure::AMOUNT) });
            }
        }
    }
}

/// What a line says, with where each part begins.
struct Person {
    name: (usize, ReadValue),
    license: (usize, ReadValue),
}

fn person(page: &Page<'_>, line: &Line) -> Option<Person> {
    let [first, rest @ ..] = line.cells.as_slice() else { return None };
    let whole = |kind: ValueKind, text: &str| {
        values::read(kind, text).filter(|read| read.start == 0 && read.end == text.trim_end().len())
    };
    let named = page.cell(*first).trim_end().trim_end_matches([':', '.']).to_lowercase();
    let numbers = named.split(' ').any(|word| NUMBERS.contains(&word));
    let name = whole(ValueKind::Person, page.cell(*first)).filter(|_| !numbers)?;
    let license = rest.iter().find_map(|cell| {
        let text = page.cell(*cell);
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let is_date = values::read(ValueKind::Date, text).is_some() || values::read(ValueKind::Phone, text).is_some();
        whole(ValueKind::License, text).filter(|_| digits >= LEAST_DIGITS && !is_date).map(|read| (cell.start, read))
    })?;
    Some(Person { name: (first.start, name), license })
}
