//! Numbers that nobody labelled, with a whole term right behind them: `LX-4401, 12/18/2025 - 12/18/2026`.

use std::collections::BTreeSet;

use kybern_core::list;
use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::bands::is_term;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// The rows of these numbers, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 3;
/// Digits of a line without which it has no number with two dates.
const LEAST_OF_LINE: usize = 10;
/// Digits, and letters, of a number.
const LEAST_DIGITS: usize = 4;
const LEAST_LETTERS: usize = 2;
/// Places on a line at which a number may begin.
const MAX_STARTS: usize = 60;
/// Bytes in which a number and its term stand.
const MAX_BESIDE: usize = 120;
/// Words that may lead from a number to its term.
const LINKS: &[&str] =
    list!("from, term, period, effective, in force, valid, of, dates, vigencia, desde, del, depuis, du");

/// The numbers, each with its term.
pub(super) fn numbers(
    page: &Page<'_>,
    index: usize,
    labels: &Labels<'_>,
    found: [&[Occurrence]; 2],
) -> Vec<Occurrence> {
    let mut told = Vec::new();
    for (opener, _) in labels.openers() {
        let Some(period) = labels.in_group_of(opener, ValueKind::DateRange) else { continue };
        let here = found.into_iter().flatten().filter(|value| value.page == index);
        let known: BTreeSet<usize> = here.filter(|value| value.field == opener).map(|value| value.start).collect();
        for (line, row) in page.lines.iter().enumerate().filter(|(line, _)| !page.used[*line]) {
            let text = &page.text[row.start..row.end];
            if text.bytes().filter(u8::is_ascii_digit).count() < LEAST_OF_LINE {
                continue;
            }
            // A sentence may go on overleaf of its line.
            let next = page
                .lines
                .get(line + 1)
                .filter(|next| row.cells.len() == 1 && next.cells.len() == 1 && next.number == row.number + 1);
            let end = next.map_or(row.end, |next| next.end);
            // In a row behind somebody's name it may be a licence.
            let Some(first) = row.cells.first() else { continue };
            let mut over = row.start;
            for start in starts(page.cell(*first)).map(|at| first.start + at).take(MAX_STARTS) {
                if start < over {
                    continue;
                }
                let Some((number, term)) = number(labels, opener, clip(&page.text[start..end], MAX_BESIDE)) else {
                    continue;
                };
                over = start + term.end;
                let place = |field| SearchPlace { field, page: index, line, at: start };
                if known.range(start..start + number.end).next().is_some() {
                    continue;
                }
                let values = [(opener, number), (period, term)].into_iter();
                told.extend(values.map(|(field, read)| Occurrence {
                    row: Some((TABLE - index, start)),
                    ..Occurrence::new(place(field), read, start, sure::AMOUNT)
                }));
            }
        }
    }
    told
}

/// Where words begin that may be a number: capitals or digits.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let begins =
        |at: usize| text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '#' | '|'));
    text.char_indices()
        .filter(|(_, letter)| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        .map(|(at, _)| at)
        .filter(move |at| begins(*at))
}

/// A number at the beginning of a text that can hardly be anything else, and the term behind it.
fn number(labels: &Labels<'_>, opener: usize, text: &str) -> Option<(ReadValue, ReadValue)> {
    // Most words are none.
    let first = text.split_whitespace().take(3).flat_map(str::bytes).filter(u8::is_ascii_digit).count();
    if first < LEAST_DIGITS {
        return None;
    }
    let read = values::read(labels.fields[opener], text).filter(|read| read.start == 0)?;
    let number = &text[..read.end];
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let letters = number.bytes().filter(u8::is_ascii_uppercase).count();
    if digits < LEAST_DIGITS || letters < LEAST_LETTERS || labels.begin(number) {
        return None;
    }
    let mut rest = past_marks(&text[read.end..]);
    for link in LINKS {
        rest = rest.strip_prefix(link).map_or(rest, past_marks);
    }
    let at = text.len() - rest.len();
    let term = values::read(ValueKind::DateRange, rest)
        .filter(|term| term.start == 0 && is_term(&term.value["start"], &term.value["end"]))?;
    Some((read, ReadValue { start: at, end: at + term.end, ..term }))
}

fn past_marks(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || ",;:()|–—-[".contains(c))
}
