//! Names that stand once under a code: `A) Some Leasing Company` on a line of its own, or
//! `A = Some Leasing Company; B = Another Leasing Company`, with the code where the name is expected.

use std::collections::HashSet;

use kybern_core::model::{FieldPattern, ValueKind};

use super::analyse::clip;
use super::labels::Labels;
use super::layout::Cell;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::sides::{LabelSide, neighbour};
use super::{codes, parties, values};

/// Letters of a code that begins a line.
const MAX_CODE: usize = 3;
/// Letters of a code before an equals sign.
const MAX_EQUATED: usize = 6;
/// Bytes of an entry behind an equals sign.
const MAX_ENTRY: usize = 200;
/// Entries of a legend; a page with more has a list of something else.
const MAX_ENTRIES: usize = 26;

/// Digits of a number of the NAIC.
const NAIC_DIGITS: usize = 5;

/// Lines from one lettered entry to the next.
const MAX_BETWEEN: usize = 3;

/// What a code stands for.
pub(super) struct LegendEntry {
    pub(super) code: String,
    /// The line on which it is explained.
    pub(super) line: usize,
    /// Where it stands.
    span: (usize, usize),
    found: Vec<Occurrence>,
}

/// Gives the rows of tables what their codes stand for, and takes it from where it stands once.
pub(super) fn resolve(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let Some(field) = explained_field(labels) else { return };
    let group = &labels.fields[field].group;
    let opens = |value: &&Occurrence| {
        let pattern = labels.fields[value.field];
        value.page == index && pattern.opens_item && pattern.group == *group
    };
    let openers: Vec<(usize, &Occurrence)> =
        found.iter().filter(opens).filter_map(|value| Some((page.line_at(value.start)?, value))).collect();
    let lines: HashSet<usize> = openers.iter().map(|(line, _)| *line).collect();
    let equated = equated(page, index, labels, field);
    // What an equals sign explains is said by the codes alone.
    let only_codes = equated.len() >= 2;
    let mut entries = if only_codes { equated } else { entries(page, index, labels, field) };
    if !only_codes {
        // A row may begin like an entry.
        entries.retain(|entry| !lines.contains(&entry.line));
    }
    if !(2..=MAX_ENTRIES).contains(&entries.len()) {
        return;
    }
    // A code that stands behind the name's label, or alone in its cell and nowhere else, holds for all of the page.
    let expected = codes_expected(page, labels, field, &entries);
    let coded = codes::coded(page, &entries);
    let only = match expected.as_slice() {
        [] => coded.values().next().copied().flatten().filter(|_| coded.len() == 1 && lines.len() == 1),
        [first, rest @ ..] => Some(*first).filter(|first| rest.iter().all(|other| other.code == first.code)),
    };
    let of_rows = codes::of_rows(&lines, &coded);
    let mut added = Vec::new();
    for (line, opener) in &openers {
        let Some(entry) = of_rows.get(line).copied().or(only) else { continue };
        added.extend(entry.found.iter().map(|value| Occurrence { at: opener.at, row: opener.row, ..value.clone() }));
    }
    // Names that head the blocks of their numbers explain nothing.
    let between = |line: &usize| entries[0].line < *line && entries.last().is_some_and(|last| *line < last.line);
    let explains = only_codes || !lines.is_empty() && !lines.iter().any(between);
    if added.is_empty() && !explains {
        return;
    }
    let named = |text: &str| entries.iter().find(|entry| entry.code == text);
    let explained = |value: &Occurrence| {
        entries.iter().any(|entry| value.start < entry.span.1 && value.end > entry.span.0)
            && labels.fields[value.field].group == labels.fields[field].group
    };
    let is_code = |value: &Occurrence| value.field == field && value.value.as_str().is_some_and(|v| named(v).is_some());
    found.retain(|value| value.page != index || !explained(value) && !is_code(value));
    found.extend(added);
}

/// Where a page explains codes by names of a field; what stands there is said by the codes alone.
pub(super) fn explanations(page: &Page<'_>, index: usize, labels: &Labels<'_>, field: usize) -> Vec<(usize, usize)> {
    let entries = if page.text.contains('=') { equated(page, index, labels, field) } else { Vec::new() };
    if entries.len() < 2 { Vec::new() } else { entries.into_iter().map(|entry| entry.span).collect() }
}

/// Names the codes that stand on other pages than their explanation, such as the one at the end of a long list. What is
/// said of them keeps the place of the code.
pub(super) fn overleaf(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut [Occurrence]) {
    let Some(field) = explained_field(labels) else { return };
    if pages.len() < 2 {
        return;
    }
    let legends = pages.iter().enumerate().filter(|(_, page)| page.text.contains('=')).filter_map(|(index, page)| {
        let entries = equated(page, index, labels, field);
        (2..=MAX_ENTRIES).contains(&entries.len()).then_some(entries)
    });
    let legends: Vec<Vec<LegendEntry>> = legends.collect();
    for value in found.iter_mut().filter(|value| value.field == field) {
        let named = |code: &str| legends.iter().flatten().find(|entry| entry.code == code);
        let name = value.value.as_str().and_then(named).and_then(|entry| entry.found.first());
        if let Some(name) = name {
            value.value = name.value.clone();
            value.confidence = name.confidence;
        }
    }
}

/// The field whose values codes may stand for.
fn explained_field(labels: &Labels<'_>) -> Option<usize> {
    let named = |pattern: &&FieldPattern| {
        pattern.value == ValueKind::Name && pattern.group.is_some() && !pattern.signs.is_empty()
    };
    labels.fields.iter().position(named)
}

/// The entries whose codes stand where the label of the name expects it.
fn codes_expected<'e>(
    page: &Page<'_>,
    labels: &Labels<'_>,
    field: usize,
    entries: &'e [LegendEntry],
) -> Vec<&'e LegendEntry> {
    let named = |text: &str| entries.iter().find(|entry| entry.code == text.trim());
    let mut found = Vec::new();
    for (line, hits) in page.hits.iter().enumerate() {
        for hit in hits.iter().filter(|hit| hit.fields.contains(&field) && labels.fields[field].group.is_some()) {
            if hit.fills {
                let beside = [LabelSide::Right, LabelSide::Below, LabelSide::Left].into_iter().find_map(|side| {
                    let (at, cell) = neighbour(page, line, hit.cell, side)?;
                    // The head of the explanations has the first of them beneath it.
                    named(page.cell(cell)).filter(|_| !entries.iter().any(|entry| entry.line == at))
                });
                found.extend(beside);
            } else if hit.colon && !entries.iter().any(|entry| entry.line == line) {
                let cell = page.lines[line].cells[hit.cell];
                found.extend(page.text.get(hit.after..cell.end).and_then(named));
            }
        }
    }
    found
}

/// The entries of a legend with equals signs, on one line or over several.
fn equated(page: &Page<'_>, index: usize, labels: &Labels<'_>, field: usize) -> Vec<LegendEntry> {
    let signs: Vec<(usize, usize)> =
        page.text.match_indices('=').filter_map(|(at, _)| Some((code_before(page.text, at)?, at))).collect();
    let mut entries = Vec::new();
    for (place, (start, at)) in signs.iter().enumerate().take(MAX_ENTRIES + 1) {
        let next = signs.get(place + 1).map_or(page.text.len(), |(next, _)| *next);
        let rest = clip(page.text.get(at + 1..next).unwrap_or_default(), MAX_ENTRY);
        let rest = rest.split(';').next().unwrap_or_default().split("\n\n").next().unwrap_or_default();
        // A name may go on overleaf of its line; every place stays where it is.
        let joined = rest.replace('\n', " ");
        let Some(line) = page.line_at(*start) else { continue };
        let Some(found) = explained(labels, (field, false), &joined, at + 1, (index, line, *start)) else { continue };
        let code = page.text[*start..*at].trim_end().to_owned();
        entries.push(LegendEntry { code, line, span: (*start, at + 1 + rest.len()), found });
    }
    entries
}

/// Where the code before an equals sign begins: a few capitals and digits at the beginning of a sentence or an entry.
fn code_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches(' ');
    let length = before.bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
    let code = &before[before.len() - length..];
    let fits = (1..=MAX_EQUATED).contains(&length) && !code.bytes().any(|b| b.is_ascii_lowercase());
    let start = before.len() - length;
    let ahead = text[..start].trim_end_matches([' ', '(', '[']);
    let apart = text[..start].ends_with("  ");
    let begins = apart || ahead.is_empty() || ahead.ends_with(['\n', ';', ',', '.', ':', '|', '\t', ')']);
    (fits && begins).then_some(start)
}

/// The name that an entry explains, with the code of it that follows. Behind the label of the field itself it may be
/// any name that such a code follows; elsewhere it is known by its words.
fn explained(
    labels: &Labels<'_>,
    (field, is_labelled): (usize, bool),
    text: &str,
    base: usize,
    (index, line, at): (usize, usize, usize),
) -> Option<Vec<Occurrence>> {
    let number = labels.in_group_of(field, ValueKind::Naic);
    let place = |field| SearchPlace { field, page: index, line, at };
    let name = text.trim_start().split("  ").next().unwrap_or_default();
    let indent = text.len() - text.trim_start().len();
    let known = parties::signed_name(labels, field, name);
    let read = known.or_else(|| if is_labelled { numbered(text) } else { None })?;
    let end = indent + read.end;
    let mut found = vec![Occurrence::new(place(field), read, base + indent, sure::BENEATH)];
    let mut digits = text[end..].char_indices().filter(|(_, letter)| letter.is_ascii_digit());
    if let (Some(number), Some((start, _))) = (number, digits.next())
        && let Some(read) = values::read(ValueKind::Naic, &text[end + start..])
    {
        found.push(Occurrence::new(place(number), read, base + end + start, sure::BENEATH));
    }
    Some(found)
}

/// A name with its five digits behind it: `Some Casualty 27987`.
fn numbered(text: &str) -> Option<values::ReadValue> {
    let text = text.trim_start();
    let before = text.find(|letter: char| letter.is_ascii_digit())?;
    let length = text[before..].bytes().take_while(u8::is_ascii_digit).count();
    let name = text[..before].trim_end().trim_end_matches("NAIC").trim_end();
    (length == NAIC_DIGITS && !name.contains("   ")).then(|| values::read(ValueKind::Name, name)).flatten()
}

/// Whether what stands before a name begins with the label that leads to it.
fn begins_with_label(head: &str, leads: impl Fn(&str) -> bool) -> bool {
    let word = head.trim_start_matches(['(', '[', ' ']).split(' ').next().unwrap_or_default();
    leads(word)
}

/// The cells that begin with a code and a name that is known by its words, with the code of it that follows; other columns
/// may stand beside them.
fn entries(page: &Page<'_>, index: usize, labels: &Labels<'_>, field: usize) -> Vec<LegendEntry> {
    let mut entries = Vec::new();
    let leads = |word: &str| labels.exactly(word).is_some_and(|fields| fields.contains(&field));
    for (at, line) in page.lines.iter().enumerate() {
        let text = page.text[..line.end].trim_end();
        let codes = line.cells.iter().flat_map(|cell| {
            let within = labelled(text, *cell, leads);
            if within.len() > 1 {
                return within;
            }
            let first = || Some((cell.start, code(text.get(cell.start..)?, leads)?));
            first().map(|(start, (code, from))| (start, code, start + from)).into_iter().collect()
        });
        let codes: Vec<(usize, &str, usize)> = codes.collect();
        for (place, (start, code, base)) in codes.iter().enumerate() {
            let end = codes.get(place + 1).map_or(text.len(), |(next, ..)| *next);
            let Some(entry) = text.get(*base..end) else { continue };
            let is_labelled = text.get(*start..*base).is_some_and(|head| begins_with_label(head, leads));
            let Some(found) = explained(labels, (field, is_labelled), entry, *base, (index, at, line.start)) else {
                continue;
            };
            let first = found.iter().map(|value| value.start).min().unwrap_or(*base);
            let last = found.iter().map(|value| value.end).max().unwrap_or(*base);
            entries.push(LegendEntry { code: (*code).to_owned(), line: at, span: (first, last), found });
        }
    }
    if entries.len() < 2 { lettered(page, index, labels, field) } else { entries }
}

/// The codes with their label and a colon that one cell has, as where its lines were joined: `LESSOR A: … LESSOR B: …`
fn labelled(text: &str, cell: Cell, leads: impl Fn(&str) -> bool) -> Vec<(usize, &str, usize)> {
    let Some(whole) = text.get(cell.start..cell.end.min(text.len())) else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = 0;
    for word in whole.split(' ') {
        let start = cell.start + at;
        at += word.len() + 1;
        let behind = text.get(start + word.len()..).and_then(|rest| rest.strip_prefix(' ')).and_then(parted);
        let Some((code, marks, _)) = behind.filter(|_| !word.is_empty() && leads(word)) else { continue };
        let from = start + word.len() + 1 + code.len();
        if text[from..from + marks].contains(':') {
            found.push((start, code, from + marks));
        }
    }
    found
}

/// The cells beneath each other that begin with the letters from A on, each with a name that is known by its words:
///
/// ```text
/// A Larch Leasing Company
/// B Rowan Leasing Company
/// ```
fn lettered(page: &Page<'_>, index: usize, labels: &Labels<'_>, field: usize) -> Vec<LegendEntry> {
    let mut entries: Vec<LegendEntry> = Vec::new();
    let mut column: Option<usize> = None;
    for (at, line) in page.lines.iter().enumerate() {
        let letter = char::from(b'A' + u8::try_from(entries.len()).unwrap_or_default());
        let opens = |cell: &&Cell| {
            let rest = page.cell(**cell).strip_prefix(letter).and_then(|rest| rest.strip_prefix(' '));
            rest.is_some() && column.is_none_or(|column| cell.column.abs_diff(column) <= 1)
        };
        let Some(cell) = line.cells.iter().find(opens) else { continue };
        let base = cell.start + 2;
        let Some(entry) = page.text.get(base..cell.end) else { continue };
        let Some(found) = explained(labels, (field, false), entry, base, (index, at, line.start)) else { continue };
        if entries.last().is_some_and(|last| at - last.line > MAX_BETWEEN) {
            break;
        }
        let last = found.iter().map(|value| value.end).max().unwrap_or(base);
        entries.push(LegendEntry { code: letter.to_string(), line: at, span: (cell.start, last), found });
        column = Some(cell.column);
        if entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    entries
}

/// A code at the beginning of a text, and where what it stands for begins: `A) …`, `A : …`, `A  …`, `LABEL A: …`,
/// `LABEL A …`, or `LABELA: …` as OCR reads it.
fn code(text: &str, leads: impl Fn(&str) -> bool) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start_matches(['(', '[', ' ']).len();
    let (code, marks, apart) = parted(text.get(start..)?).unwrap_or_default();
    if apart {
        return Some((code, start + code.len() + marks));
    }
    let word = text[start..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let (label, rest) = (&text[start..start + word], &text[start + word..]);
    if let Some((code, marks, _)) = rest.strip_prefix(' ').and_then(parted)
        && leads(label)
    {
        return Some((code, start + word + 1 + code.len() + marks));
    }
    let glued = word > MAX_CODE && rest.trim_start().starts_with(':') && label.ends_with(|c: char| c.is_uppercase());
    let letter = word.checked_sub(1).filter(|letter| glued && leads(&label[..*letter]))?;
    let marks = rest.len() - rest.trim_start_matches([':', ' ', '\t']).len();
    Some((&label[letter..], start + word + marks))
}

/// A code at the beginning of a text, the length of what stands behind it, and whether that parts it from a name.
fn parted(text: &str) -> Option<(&str, usize, bool)> {
    const MARKS: [char; 10] = [')', ']', ':', '.', '=', '-', '–', ' ', '\t', '|'];
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (code, rest) = text.split_at(length);
    let is_code = (1..=MAX_CODE).contains(&length) && !code.bytes().any(|b| b.is_ascii_lowercase());
    let marks = rest.len() - rest.trim_start_matches(MARKS).len();
    let apart = rest[..marks].contains([')', ']', ':', '=', '–', '\t', '|']) || rest[..marks].contains("  ");
    (is_code && marks > 0).then_some((code, marks, apart))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_may_have_several_codes_with_their_labels() {
        let of = |text: &str| {
            let cell = Cell { start: 0, end: text.len(), column: 0, width: text.len(), index: 0 };
            labelled(text, cell, |word| word == "LESSOR")
                .into_iter()
                .map(|(_, code, from)| format!("{code}{from}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("LESSOR A: Some Leasing Company LESSOR B: Another LESSOR C:"), ["A10", "B41", "C58"]);
        assert!(of("the LESSOR A Some Company, LESSOR of note: none").is_empty());
    }

    #[test]
    fn codes_stand_at_the_beginning_of_a_line_and_are_parted_from_the_name() {
        let code = |text| code(text, |word| word == "LESSOR");
        assert_eq!(code("A) Some Leasing Company"), Some(("A", 3)));
        assert_eq!(code("LESSOR B: Some Leasing Company"), Some(("B", 10)));
        assert_eq!(code("C :  Some"), Some(("C", 5)));
        assert_eq!(code("LESSOR C Some"), Some(("C", 9)));
        assert_eq!(code("LESSORD: Some"), Some(("D", 9)));
        assert_eq!(code("A | Some"), Some(("A", 4)));
        assert_eq!(code("1  Some"), Some(("1", 3)));
        assert_eq!(code("A Company of note"), None);
        assert_eq!(code("1. Some"), None);
        assert_eq!(code("Some Leasing Company"), None);
    }
}
