//! Names that stand once under a letter, as on a certificate: `A) Some Insurance Company`, and `A` in the rows.

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::occurrence::{Occurrence, Place, sure};
use super::page::Page;
use super::{parties, values};

/// Letters of a code.
const MAX_CODE: usize = 3;
/// Entries of a legend; a page with more has a list of something else.
const MAX_ENTRIES: usize = 26;

/// What a code stands for.
struct Entry {
    code: String,
    found: Vec<Occurrence>,
}

/// Gives the rows of tables what their codes stand for, and takes it from where it stands once.
pub(super) fn resolve(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let entries = entries(page, index, labels);
    if !(2..=MAX_ENTRIES).contains(&entries.len()) {
        return;
    }
    let named = |text: &str| entries.iter().find(|entry| entry.code == text);
    // A code that stands once on the page, alone in its cell, holds for all of it.
    let mut alone = page.lines.iter().flat_map(|line| &line.cells).filter_map(|cell| named(page.cell(*cell)));
    let only = alone.next().filter(|_| alone.next().is_none());
    let mut added = Vec::new();
    let opens = |value: &&Occurrence| value.page == index && labels.fields[value.field].opens_item;
    for opener in found.iter().filter(opens) {
        let Some(line) = page.line_at(opener.start) else { continue };
        let in_row = page.lines[line].cells.iter().find_map(|cell| named(page.cell(*cell)));
        let Some(entry) = in_row.or(only) else { continue };
        let group = labels.fields[opener.field].group;
        let theirs = entry.found.iter().filter(|value| labels.fields[value.field].group == group);
        added.extend(theirs.map(|value| Occurrence { at: opener.at, row: opener.row, ..value.clone() }));
    }
    if added.is_empty() {
        return;
    }
    let spans: Vec<(usize, usize)> =
        entries.iter().flat_map(|e| &e.found).map(|value| (value.start, value.end)).collect();
    found.retain(|value| value.page != index || !spans.iter().any(|(from, to)| value.start < *to && value.end > *from));
    found.extend(added);
}

/// The lines that begin with a code and a name that is known by its words, with the code of it that follows.
fn entries(page: &Page<'_>, index: usize, labels: &Labels<'_>) -> Vec<Entry> {
    let named =
        labels.fields.iter().enumerate().find(|(_, pattern)| {
            pattern.value == ValueKind::Name && pattern.group.is_some() && !pattern.signs.is_empty()
        });
    let Some((field, pattern)) = named else { return Vec::new() };
    let number = labels.fields.iter().position(|other| other.group == pattern.group && other.value == ValueKind::Naic);
    let mut entries = Vec::new();
    for (at, line) in page.lines.iter().enumerate() {
        let text = page.text[line.start..line.end].trim_end();
        let leads = |word: &str| labels.exactly(word).is_some_and(|fields| fields.contains(&field));
        let Some((code, from)) = code(text, leads) else { continue };
        let rest = &text[from..];
        let name = rest.split("  ").next().unwrap_or_default();
        let Some(read) = parties::signed_name(labels, field, name) else { continue };
        let place = |field| Place { field, page: index, line: at, at: line.start };
        let base = line.start + from;
        let end = read.end;
        let mut found = vec![Occurrence::new(place(field), read, base, sure::BENEATH)];
        let mut digits = rest[end..].char_indices().filter(|(_, letter)| letter.is_ascii_digit());
        if let (Some(number), Some((start, _))) = (number, digits.next())
            && let Some(read) = values::read(ValueKind::Naic, &rest[end + start..])
        {
            found.push(Occurrence::new(place(number), read, base + end + start, sure::BENEATH));
        }
        entries.push(Entry { code: code.to_owned(), found });
    }
    entries
}

/// A code at the beginning of a line, and where what it stands for begins: `A) …`, `A : …`, `A  …`, or `LABEL A: …`.
fn code(text: &str, leads: impl Fn(&str) -> bool) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start_matches(['(', '[', ' ']).len();
    let mut at = start;
    if let Some(rest) = text.get(at..).and_then(|rest| rest.split_once(' '))
        && leads(rest.0)
    {
        at += rest.0.len() + 1;
    }
    let length = text[at..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let code = text.get(at..at + length).filter(|code| !code.is_empty() && code.len() <= MAX_CODE)?;
    let rest = &text[at + length..];
    let marks = rest.len() - rest.trim_start_matches([')', ']', ':', '.', '=', '-', '–', ' ', '\t']).len();
    let parted = rest[..marks].contains([')', ']', ':', '=', '–', '\t']) || rest[..marks].contains("  ");
    (parted && code.bytes().any(|b| b.is_ascii_uppercase())).then_some((code, at + length + marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_at_the_beginning_of_a_line_and_are_parted_from_the_name() {
        let code = |text| code(text, |word| word == "LESSOR");
        assert_eq!(code("A) Some Leasing Company"), Some(("A", 3)));
        assert_eq!(code("LESSOR B: Some Leasing Company"), Some(("B", 10)));
        assert_eq!(code("C :  Some"), Some(("C", 5)));
        assert_eq!(code("A Company of note"), None);
        assert_eq!(code("Some Leasing Company"), None);
    }
}
