//! Lists of names, each with its number right behind it: `Larch Leasing Company, LX-4401`.

use std::collections::{HashMap, HashSet};

use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::{bare_names, stacks};

/// The rows of these numbers, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 5;
/// Digits without which a cell has no such number.
const LEAST_DIGITS: usize = 4;
/// What parts a name from its number.
const MARKS: [char; 8] = [' ', ',', ':', '#', '(', '-', '–', '—'];
/// The numbers that nothing else led to, each with the name before it, and the names before the others.
pub(super) fn numbers(
    page: &Page<'_>,
    index: usize,
    labels: &Labels<'_>,
    found: [&[Occurrence]; 2],
) -> Vec<Occurrence> {
    let mut told = Vec::new();
    for (opener, _) in labels.openers() {
        let Some(name) = labels.name_of(opener) else { continue };
        let here = || found.into_iter().flatten().filter(|value| value.page == index);
        let known: HashMap<usize, &Occurrence> =
            here().filter(|value| value.field == opener).map(|value| (value.start, value)).collect();
        let opened: HashSet<usize> = known.keys().filter_map(|start| page.line_at(*start)).collect();
        let named: HashSet<usize> =
            here().filter(|value| value.field == name).filter_map(|value| page.line_at(value.start)).collect();
        for (line, row) in page.lines.iter().enumerate() {
            if page.used[line] || named.contains(&line) {
                continue;
            }
            for cell in &row.cells {
                let text = page.cell(*cell);
                if text.bytes().filter(u8::is_ascii_digit).count() < LEAST_DIGITS {
                    continue;
                }
                for (_, read) in bare_names::named_in(labels, text) {
                    let Some(read) = bare(labels, name, read) else { continue };
                    let Some((start, end)) = behind(labels, opener, text, read.end) else { continue };
                    let at = cell.start + read.start;
                    let place = |field, at| SearchPlace { field, page: index, line, at };
                    let of_name = |at| Occurrence::new(place(name, at), read.clone(), cell.start, sure::SIGNED);
                    if let Some(number) = known.get(&(cell.start + start)) {
                        told.push(Occurrence { row: number.row, ..of_name(number.at) });
                    } else if let Some(number) =
                        stacks::number(labels, opener, &text[start..end]).filter(|_| !opened.contains(&line))
                    {
                        let number = Occurrence::new(place(opener, at), number, cell.start + start, sure::AMOUNT);
                        let row = Some((TABLE - index, at));
                        told.extend([of_name(at), number].map(|value| Occurrence { row, ..value }));
                    }
                }
            }
        }
    }
    told
}

/// A name of a field without the letters behind it that a number begins with: `Larch Leasing Company LX`.
fn bare(labels: &Labels<'_>, field: usize, read: ReadValue) -> Option<ReadValue> {
    let name = read.value.as_str()?;
    let letters = |word: &str| word.bytes().all(|b| b.is_ascii_uppercase()) && !values::has_form(word);
    let mut kept = name;
    while let Some((before, last)) = kept.rsplit_once(' ')
        && letters(last)
        && before.contains(char::is_lowercase)
    {
        kept = before;
    }
    let ours = labels.signed(kept).contains(&field);
    ours.then(|| ReadValue { end: read.start + kept.len(), value: kept.into(), ..read })
}

/// Where the number behind a name lies: past marks and its label.
fn behind(labels: &Labels<'_>, opener: usize, text: &str, end: usize) -> Option<(usize, usize)> {
    let skip = |at: usize| text.len() - text[at..].trim_start_matches(MARKS).len();
    let at = skip(end);
    let at = labels.leading(&text[at..], opener).map_or(at, |length| skip(at + length));
    let read = values::read(labels.fields[opener], &text[at..]).filter(|read| read.start == 0 && at > end)?;
    let whole = !text[at + read.end..].starts_with(|c: char| c.is_alphanumeric());
    whole.then_some((at, at + read.end))
}
