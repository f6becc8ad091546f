//! Fields whose values are a closed list: several may stand after one label, be ticked on a form, or be a heading.

use super::analyse::clip;
use super::labelled;
use super::labels::Labels;
use super::layout::{Cell, Line};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::vocabulary::Term;

/// A longer cell is prose, not a heading.
const MAX_HEADING: usize = 90;
/// Lines within which a marked line makes a list of choices.
const MARKED_WITHIN: usize = 4;
/// Cells of a row that tells of one thing.
const LONG_ROW: usize = 4;
/// Words before an amount that may be the name of a term.
const MAX_PHRASE: usize = 8;
/// Bytes of a list of terms that are looked at.
const MAX_LIST: usize = 4 * 1024;
/// Letters of an abbreviation, which in a sentence counts only in capitals: `um` is also what people say.
const ABBREVIATION: usize = 3;
/// Marks of a box that is ticked, and of one that is not.
const TICKS: [&str; 11] = ["x", "[x]", "(x)", "☒", "☑", "✓", "✔", "■", "●", "yes", "[✓]"];
const BLANKS: [&str; 5] = ["☐", "[", "[ ]", "□", "○"];

/// Whether a term is a short word in small letters, so that in a sentence it is more likely some other word.
pub(super) fn is_small(page: &Page<'_>, term: &Term<'_>) -> bool {
    let text = &page.text[term.start..term.end];
    text.chars().count() <= ABBREVIATION && text.chars().any(char::is_lowercase)
}

/// The terms at the spot where a label's value is expected, or in the boxes beneath it.
pub(super) fn labelled(
    page: &Page<'_>,
    at: SearchPlace,
    place: usize,
    spot: Option<labelled::ValueSpot>,
    labels: &Labels<'_>,
    found: &mut Vec<Occurrence>,
) {
    let Some(spot) = spot.or_else(|| below(page, at, place)) else { return };
    let whole = page.hits[at.line][place].fills && spot.line > at.line;
    let (start, end) =
        if whole { (page.lines[spot.line].start, page.lines[spot.line].end) } else { (spot.start, spot.end) };
    let end = start + clip(&page.text[start..end], MAX_LIST).len();
    let terms: Vec<Term<'_>> =
        labels.expected_terms(page.text, start, end).into_iter().filter(|term| term.field == at.field).collect();
    let in_spot = |term: &Term<'_>| (spot.start..spot.end).contains(&term.start);
    let marked = terms.iter().any(|term| mark(page.text, start, term).is_some());
    for term in &terms {
        let ticked = mark(page.text, start, term) == Some(true);
        if !term.value.is_empty() && if marked { ticked } else { in_spot(term) } {
            found.push(Occurrence::term(at, term.value, (term.start, term.end), spot.sure));
        }
    }
}

/// The next line, where a heading such as `Lines of coverage` has its boxes.
fn below(page: &Page<'_>, at: SearchPlace, place: usize) -> Option<labelled::ValueSpot> {
    let hit = &page.hits[at.line][place];
    let line = page.lines.get(at.line + 1).filter(|_| hit.fills)?;
    let near = line.number <= page.lines[at.line].number + 2;
    near.then_some(labelled::ValueSpot { line: at.line + 1, start: line.start, end: line.end, sure: sure::BENEATH })
}

/// Whether the box before a term is ticked; `None` when there is no box.
fn mark(text: &str, from: usize, term: &Term<'_>) -> Option<bool> {
    let before = text[from..term.start].trim_end();
    let token = before.rsplit(char::is_whitespace).next()?.to_lowercase();
    if TICKS.contains(&token.as_str()) {
        Some(true)
    } else {
        (BLANKS.contains(&token.as_str()) || before.ends_with("[ ]")).then_some(false)
    }
}

/// Whether a cell is nothing but terms, so that it is a heading.
pub(super) fn fills(page: &Page<'_>, cell: Cell, labels: &Labels<'_>) -> bool {
    if cell.end - cell.start > MAX_HEADING {
        return false;
    }
    let terms = labels.terms_in(page.text, cell.start, cell.end);
    let mut rest = page.cell(cell).len();
    for (index, term) in terms.iter().enumerate() {
        if index == 0 || terms[index - 1].start != term.start {
            rest = rest.saturating_sub(term.end - term.start);
        }
    }
    !terms.is_empty() && rest <= 5 * terms.len()
}

/// Terms of grouped fields that stand in a heading, a list, or before an amount, outside tables and labelled values.
pub(super) fn headings(page: &Page<'_>, index: usize, labels: &Labels<'_>, taken: &[Occurrence]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut spans: Vec<(usize, usize)> =
        taken.iter().filter(|value| value.page == index).map(|value| (value.start, value.end)).collect();
    spans.sort_unstable();
    let is_taken = |at: usize| {
        let after = spans.partition_point(|(start, _)| *start <= at);
        after > 0 && at < spans[after - 1].1
    };
    for (number, line) in page.lines.iter().enumerate() {
        if page.used[number] || page.header[number] {
            continue;
        }
        let all = labels.terms_in(page.text, line.start, line.end);
        let marked = all.iter().any(|term| mark(page.text, line.start, term).is_some());
        // A line without a mark in a list of marked lines is one that was not chosen.
        if !marked && near_marked(page, number, labels) {
            continue;
        }
        for cell in &line.cells {
            let (end, priced) = phrase(page, line, *cell);
            // What stands inside a long row heads nothing.
            if line.cells.len() >= LONG_ROW && cell.start > line.cells[0].start && !marked && !priced {
                continue;
            }
            let terms: Vec<&Term<'_>> =
                all.iter().filter(|term| (cell.start..end).contains(&term.start) && term.end <= end).collect();
            let Some(first) = terms.first() else { continue };
            let before = page.text[cell.start..first.start].trim();
            let opens = before.chars().all(|c| !c.is_alphabetic()) || TICKS.contains(&before.to_lowercase().as_str());
            let ticked = mark(page.text, line.start, first) == Some(true);
            let single = !page.text[first.start..first.end].contains([' ', '-']);
            let few = page.text[cell.start..end].split_whitespace().count() <= MAX_PHRASE;
            let heading = opens && (!single || ticked || fills(page, *cell, labels)) && end - cell.start <= MAX_HEADING;
            let after_price = super::amounts::is_one(before);
            if !(heading || (priced || after_price) && few) {
                continue;
            }
            for term in without_general(page, &terms).into_iter().filter(|term| !is_small(page, term)) {
                let blank = marked && mark(page.text, line.start, term) != Some(true);
                if labels.fields[term.field].group.is_some()
                    && !is_taken(term.start)
                    && !blank
                    && !term.value.is_empty()
                {
                    let place = SearchPlace { field: term.field, page: index, line: number, at: term.start };
                    let sure = if priced || after_price { sure::AMOUNT } else { sure::HEADING };
                    found.push(Occurrence::term(place, term.value, (term.start, term.end), sure));
                }
            }
        }
    }
    found
}

/// Whether a line close by begins with a ticked term.
fn near_marked(page: &Page<'_>, number: usize, labels: &Labels<'_>) -> bool {
    let from = number.saturating_sub(MARKED_WITHIN);
    let near = page.lines.iter().enumerate().skip(from).take(2 * MARKED_WITHIN + 1);
    near.filter(|(other, line)| *other != number && line.number.abs_diff(page.lines[number].number) <= MARKED_WITHIN)
        .any(|(_, line)| {
            let first = page.text[line.start..line.end].split_whitespace().next().unwrap_or_default().to_lowercase();
            TICKS.contains(&first.as_str())
                && line.cells.len() <= 3
                && !labels.terms_in(page.text, line.start, line.end).is_empty()
        })
}

/// Where the words of a cell end, before a colon or an amount, and whether an amount follows on the line.
fn phrase(page: &Page<'_>, line: &Line, cell: Cell) -> (usize, bool) {
    let text = page.cell(cell);
    // An amount may stand before the words.
    let from = text.find(char::is_alphabetic).unwrap_or_default();
    let end = text[from..].find([':', '$', '—', '–', '=']).map_or(text.len(), |at| from + at);
    let priced = super::amounts::first(&page.text[cell.start + end..line.end]).is_some();
    (cell.start + end, priced)
}

/// Without the general word that ends the name of a special term: `cargo legal liability` is cargo.
pub(super) fn without_general<'t, 's>(page: &Page<'_>, terms: &[&'t Term<'s>]) -> Vec<&'t Term<'s>> {
    let single = |term: &Term<'_>| !page.text[term.start..term.end].contains([' ', '-']);
    let special = terms.iter().any(|term| !single(term)) || terms.len() > 1;
    let first = terms.first().map(|term| term.start);
    terms.iter().filter(|term| !special || !single(term) || Some(term.start) == first).copied().collect()
}

/// Terms of single fields anywhere in the text: what a sentence asks for.
pub(super) fn in_prose(page: &Page<'_>, index: usize, labels: &Labels<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut from = 0;
    for (number, line) in page.lines.iter().enumerate() {
        let terms = labels.terms_in(page.text, line.start, line.end);
        // In a list with boxes only ticked ones count; the box of a term may stand at the end of the line above it.
        let marked = terms.iter().any(|term| mark(page.text, line.start, term).is_some());
        for term in terms.iter().filter(|term| mark(page.text, from, term).unwrap_or(!marked)) {
            if labels.fields[term.field].group.is_none() && !term.value.is_empty() && !is_small(page, term) {
                let place = SearchPlace { field: term.field, page: index, line: number, at: term.start };
                found.push(Occurrence::term(place, term.value, (term.start, term.end), sure::GUESS));
            }
        }
        from = line.start;
    }
    found
}
