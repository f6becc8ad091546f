//! Printed lists of losses without a row of labels: a line begins with the loss's number and its day, and what it came to
//! stands beneath, each amount behind its label.
//!
//! ```text
//! 77120455   03/09/25   AL   Closed   Mirror struck a sign
//!            PAID   1,250.00   RESERVE   0.00   INCURRED   1,250.00
//! ```

use std::collections::HashSet;

use kybern_core::model::{FieldPattern, ValueKind};

use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// The rows of these items, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 16;
/// Digits of a number that nobody labelled.
const LEAST_DIGITS: usize = 5;
/// Lines beneath a row on which its amounts begin.
const MAX_BENEATH: usize = 2;

/// Adds the number and the day of each such row, outside tables and where its line says nothing else of the list.
pub(super) fn rows(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    for (opener, pattern) in labels.fields.iter().enumerate() {
        if !(pattern.opens_item && pattern.value == ValueKind::Date && pattern.group.is_some()) {
            continue;
        }
        let of_group = |field: usize| labels.fields[field].group == pattern.group;
        let Some(number) = labels.in_group_of(opener, ValueKind::Reference) else { continue };
        let ours = found.iter().filter(|value| value.page == index && of_group(value.field));
        let told: HashSet<usize> = ours.filter_map(|value| page.line_at(value.start)).collect();
        for line in (0..page.lines.len()).filter(|line| !page.used[*line] && !told.contains(line)) {
            let beneath = (line + 1..=line + MAX_BENEATH).find(|below| told.contains(below));
            let next = |below: usize| page.lines[below].number - page.lines[line].number <= MAX_BENEATH;
            if !beneath.is_some_and(next) {
                continue;
            }
            let Some([reference, day]) = row(page, line, labels.fields[number], pattern) else { continue };
            let at = page.lines[line].start;
            for (field, (start, read)) in [(number, reference), (opener, day)] {
                let place = SearchPlace { field, page: index, line, at };
                found.push(Occurrence {
                    row: Some((TABLE - index, line)),
                    ..Occurrence::new(place, read, start, sure::AMOUNT)
                });
            }
        }
    }
}

/// The number and the day that a line begins with, each alone in its cell.
fn row(page: &Page<'_>, line: usize, number: &FieldPattern, day: &FieldPattern) -> Option<[(usize, ReadValue); 2]> {
    let [first, second, rest @ ..] = page.lines[line].cells.as_slice() else { return None };
    let whole = |pattern: &FieldPattern, text: &str| {
        values::read(pattern, text).filter(|read| read.start == 0 && read.end == text.len())
    };
    let text = page.cell(*first);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let day = whole(day, page.cell(*second))?;
    // Two days are a term, and a day is no number.
    let other = |kind: ValueKind, text: &str| values::read(kind, text).is_some();
    let term = rest.first().is_some_and(|cell| other(ValueKind::Date, page.cell(*cell)));
    let number = whole(number, text).filter(|_| digits >= LEAST_DIGITS && !other(ValueKind::Date, text))?;
    (!term && !page.hits[line].iter().any(|hit| hit.cell < 2)).then_some([(first.start, number), (second.start, day)])
}
