//! Numbers that a term leads to, in sentences, lists and headings of blocks:
//! `Full service is LX-4401 and night service (LX-4402) …`.

use std::collections::{HashMap, HashSet};

use super::analyse::clip;
use super::bare_names;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};
use super::vocabulary::Term;

/// Bytes of lines that go on one after the other.
const MAX_STRETCH: usize = 4 * 1024;
/// Bytes behind or before a term in which its number is looked for.
const MAX_BESIDE: usize = 160;
/// The rows of these numbers, so that they are none of the tables'.
const TABLE: usize = usize::MAX - 2;
/// Words that may stand between a term and its number.
const LINKS: [&str; 20] = [
    "is", "are", "was", "under", "no", "number", "with", "through", "by", "from", "es", "con", "est", "avec", "chez",
    "ist", "bei", "nr", "núm", "num",
];
/// Such words at most.
const MAX_LINKS: usize = 4;
/// What leads from a number to the term behind it.
const BEHIND: [&str; 8] = [" (", " for ", " for the ", " for our ", " = ", " para ", " pour ", " für "];
/// What leads on to the next number of a list.
const LISTED: [&str; 8] = [", ", " and ", ", and ", " & ", "; ", " y ", " et ", " und "];
/// Numbers of such a list.
const MAX_LISTED: usize = 20;
/// Full stops that lead from a term to its number.
const LEADERS: usize = 3;
/// Words of a heading that a number ends.
const MAX_HEADING: usize = 8;

/// How a number stands beside its term; the looser, the plainer it must be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    /// A word or a mark leads to it.
    Said,
    /// It has a cell of its own.
    Apart,
    /// Nothing leads to it, or a comma.
    Bare,
}

/// Adds the numbers that terms lead to, with the terms, and the terms of numbers that labels led to.
pub(super) fn numbers(
    page: &Page<'_>,
    index: usize,
    labels: &Labels<'_>,
    found: [&[Occurrence]; 2],
) -> Vec<Occurrence> {
    let mut told = Vec::new();
    let is_term =
        |field: usize, group: &Option<String>| labels.has_terms(field) && labels.fields[field].group == *group;
    for (opener, pattern) in labels.openers() {
        let here = || found.into_iter().flatten().filter(|value| value.page == index);
        let known = LabelledNumbers::of(page, here().filter(|value| value.field == opener));
        // Where things of another kind have numbers too, such as losses, a number beside a term may be theirs.
        let others = here().any(|value| labels.opens_others(opener, value.field));
        let name = labels.name_of(opener);
        let named_lines: HashSet<Option<usize>> =
            here().filter(|value| Some(value.field) == name).map(|value| page.line_at(value.start)).collect();
        for (start, end) in stretches(page) {
            let terms = labels.expected_terms(page.text, start, end);
            let ours: Vec<&Term<'_>> =
                terms.iter().filter(|term| is_term(term.field, &pattern.group) && !term.value.is_empty()).collect();
            let names: Vec<ReadValue> =
                if ours.is_empty() { Vec::new() } else { named(labels, opener, page, (start, end)) };
            let here = LineStretch { page, index, start, end, labels, opener, known: &known, names: &names };
            let mut last = start;
            let mut joined: Vec<&Term<'_>> = Vec::new();
            for term in ours {
                joined.retain(|before| is_joint(page.text.get(before.end..term.start)));
                let Some(number) = here.number_of(term, others) else {
                    joined.push(term);
                    continue;
                };
                let line = page.line_at(number.start).unwrap_or_default();
                let place = |field| SearchPlace { field, page: index, line, at: number.at };
                let from = joined.first().map_or(term.start, |first| first.start).min(number.start);
                let mut add = |value: Occurrence| told.push(Occurrence { row: number.row, ..value });
                for term in joined.drain(..).chain([term]) {
                    add(Occurrence::term(place(term.field), term.value, (term.start, term.end), sure::AMOUNT));
                }
                let mut clause = names.iter().filter(|name| in_clause(page.text, name, (last, from), number.end));
                let free = number.read.is_some() || !named_lines.contains(&Some(line));
                if let (true, Some(field), Some(name), None) = (free, name, clause.next(), clause.next()) {
                    add(Occurrence::new(place(field), name.clone(), 0, sure::AMOUNT));
                }
                last = number.end.max(term.end);
                if let Some(read) = number.read {
                    add(Occurrence::new(place(opener), read, number.start, sure::AMOUNT));
                }
            }
            told.extend(here.listed());
        }
    }
    told
}

/// Whether nothing but a joint stands between two terms of one number: `comprehensive + collision`.
fn is_joint(between: Option<&str>) -> bool {
    between.is_some_and(|between| ["+", "&", "/", "and", "y", "et", "und", ","].contains(&between.trim()))
}

/// The numbers that labels led to, by where they begin, where they end and on which line they stand.
#[derive(Default)]
struct LabelledNumbers<'a> {
    starts: HashMap<usize, &'a Occurrence>,
    ends: HashMap<usize, &'a Occurrence>,
    lines: HashMap<Option<usize>, Vec<&'a Occurrence>>,
}

impl<'a> LabelledNumbers<'a> {
    fn of(page: &Page<'_>, numbers: impl Iterator<Item = &'a Occurrence>) -> Self {
        let mut known = Self::default();
        for number in numbers {
            known.starts.insert(number.start, number);
            known.ends.insert(number.end, number);
            known.lines.entry(page.line_at(number.start)).or_default().push(number);
        }
        known
    }
}

/// A number beside a term.
struct Number {
    start: usize,
    end: usize,
    /// Byte by which it is ordered.
    at: usize,
    row: Option<(usize, usize)>,
    /// What was read; `None` where a label led to it already.
    read: Option<ReadValue>,
}

impl Number {
    fn known(known: &Occurrence) -> Self {
        Self { start: known.start, end: known.end, at: known.at, row: known.row, read: None }
    }
}

/// Lines that belong together, with what is known of them.
struct LineStretch<'a, 't> {
    page: &'a Page<'t>,
    index: usize,
    start: usize,
    end: usize,
    labels: &'a Labels<'a>,
    opener: usize,
    known: &'a LabelledNumbers<'a>,
    /// The names in them that their words give to the list.
    names: &'a [ReadValue],
}

impl LineStretch<'_, '_> {
    /// The number that stands behind a term, or before it.
    fn number_of(&self, term: &Term<'_>, others: bool) -> Option<Number> {
        self.behind(term, others).or_else(|| self.before(term)).or_else(|| self.in_brackets(term))
    }

    fn behind(&self, term: &Term<'_>, others: bool) -> Option<Number> {
        let text = clip(self.page.text.get(term.end..self.end)?, MAX_BESIDE);
        if let Some((at, link)) = self.past_links(text, term.end) {
            let start = term.end + at;
            if let Some(known) = self.known.starts.get(&start) {
                return Some(Number::known(known));
            }
            if (link != Link::Apart || !others)
                && let Some(number) = self.read(start, link, term)
            {
                return Some(number);
            }
        }
        if others { None } else { self.ends_heading(term) }
    }

    /// Where a number may begin in the text behind a term, and how it is led to: by words, by the name that it is with,
    /// or by the label of such a number.
    fn past_links(&self, text: &str, base: usize) -> Option<(usize, Link)> {
        let (mut at, mut links, mut link, mut after_name) = (0, 0, Link::Bare, false);
        loop {
            let rest = &text[at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t', '|']).len();
            if rest[..blank].contains(['\t', '|']) || rest[..blank].contains("  ") {
                link = Link::Apart;
            }
            at += blank;
            let rest = &text[at..];
            let next = rest.chars().next()?;
            let leaders = rest.len() - rest.trim_start_matches('.').len();
            if matches!(next, ':' | '#' | '(' | '=' | '-' | '–' | '—') {
                link = Link::Said;
                at += next.len_utf8();
            } else if next == ',' && (at == 0 || after_name) {
                at += 1;
            } else if leaders >= LEADERS {
                link = Link::Apart;
                at += leaders;
            } else if let Some(name) = self.names.iter().find(|name| name.start == base + at) {
                link = Link::Said;
                at = name.end - base;
                after_name = true;
                continue;
            } else if links < MAX_LINKS
                && let Some(length) = link_word(rest).or_else(|| self.labels.leading(rest, self.opener))
            {
                links += 1;
                link = Link::Said;
                at += length;
            } else {
                return Some((at, link));
            }
            if at > text.len() {
                return None;
            }
        }
    }

    /// The number in the last cell of a line whose first cell begins with the term.
    fn ends_heading(&self, term: &Term<'_>) -> Option<Number> {
        let line = self.page.line_at(term.start)?;
        let [first, last] = self.page.lines[line].cells.as_slice() else { return None };
        let heads = first.start == term.start && self.page.hits[line].is_empty();
        let short = self.page.cell(*first).split_whitespace().count() <= MAX_HEADING;
        if !(heads && short && (first.start..first.end).contains(&term.start)) {
            return None;
        }
        let number = self.read(last.start, Link::Apart, term)?;
        (number.end == last.end).then_some(number)
    }

    fn before(&self, term: &Term<'_>) -> Option<Number> {
        let text = self.page.text.get(self.start..term.start)?;
        let lead = BEHIND.iter().filter(|lead| text.ends_with(**lead)).max_by_key(|lead| lead.len())?;
        let end = term.start - lead.len();
        if let Some(known) = self.known.ends.get(&end) {
            return Some(Number::known(known));
        }
        let word = text[..text.len() - lead.len()].rsplit([' ', '\n', '(', ':', '#']).next()?;
        let number = self.read(end - word.len(), Link::Bare, term)?;
        (number.end == end).then_some(number)
    }

    /// The only number of a line that ends with the term in brackets.
    fn in_brackets(&self, term: &Term<'_>) -> Option<Number> {
        let (before, after) = (&self.page.text[self.start..term.start], &self.page.text[term.end..self.end]);
        let line = self.page.line_at(term.start).filter(|_| before.ends_with('(') && after.starts_with(')'));
        let [known] = self.known.lines.get(&Some(line?))?.as_slice() else { return None };
        (known.end < term.start).then(|| Number::known(known))
    }

    /// The numbers that follow a labelled one in a list: `contracts AB-1234, AB-1235 and CD-5678`.
    fn listed(&self) -> Vec<Occurrence> {
        let mut found = Vec::new();
        let lines = self.page.lines.iter().enumerate();
        let lines = lines.filter(|(_, line)| (self.start..self.end).contains(&line.start));
        let known = lines.filter_map(|(line, _)| self.known.lines.get(&Some(line))).flatten();
        for first in known.filter(|known| known.row.is_none()) {
            let mut end = first.end;
            for _ in 0..MAX_LISTED {
                let Some(rest) = self.page.text.get(end..self.end) else { break };
                let lead = LISTED.iter().filter(|lead| rest.starts_with(**lead)).max_by_key(|lead| lead.len());
                let start = end + lead.map_or(0, |lead| lead.len());
                if lead.is_none() || self.known.starts.contains_key(&start) {
                    break;
                }
                let Some(number) = self.number_at(start, Link::Bare, start) else { break };
                let line = self.page.line_at(start).unwrap_or(first.line);
                let place = SearchPlace { field: self.opener, page: self.index, line, at: start };
                end = number.end;
                found.extend(
                    number.read.map(|read| Occurrence {
                        row: number.row,
                        ..Occurrence::new(place, read, start, sure::AMOUNT)
                    }),
                );
            }
        }
        found
    }

    fn read(&self, start: usize, link: Link, term: &Term<'_>) -> Option<Number> {
        self.number_at(start, link, term.start.min(start))
    }

    /// A number that nobody labelled, as far as it is written so that it can hardly be anything else.
    fn number_at(&self, start: usize, link: Link, at: usize) -> Option<Number> {
        let text = clip(self.page.text.get(start..self.end)?, MAX_BESIDE);
        let read = values::read(self.labels.fields[self.opener], text).filter(|read| read.start == 0)?;
        let number = text.get(..read.end)?;
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        let letters = number.bytes().filter(u8::is_ascii_uppercase).count();
        let whole = !text[read.end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '%' | '$'));
        let plain = match link {
            Link::Said => digits >= 3 && letters >= 1 && number.len() >= 6,
            Link::Apart => digits >= 4 && letters >= 2 && read.fit >= 1.0,
            Link::Bare => digits >= 4 && letters >= 2 && number.contains(['-', '/']) && !number.contains(' '),
        };
        let other = self.labels.is_no_number(number);
        let taken = self.page.line_at(start).is_some_and(|line| self.page.used[line]);
        (plain && whole && !other && !taken).then(|| Number {
            start,
            end: start + read.end,
            at,
            row: Some((TABLE - self.index, at)),
            read: Some(read),
        })
    }
}

/// The length of a word that leads on to a number, with the full stop that abbreviates it.
fn link_word(rest: &str) -> Option<usize> {
    let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let stop = usize::from(rest[length..].starts_with('.'));
    LINKS.contains(&rest[..length].to_lowercase().as_str()).then_some(length + stop)
}

/// Lines of prose that go on one after the other, and every other line by itself.
pub(super) fn stretches(page: &Page<'_>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (at, line) in page.lines.iter().enumerate().filter(|(at, _)| !page.used[*at]) {
        let prose = |at: usize| page.lines[at].cells.len() == 1;
        match found.last_mut() {
            Some((start, end, number))
                if prose(at)
                    && at > 0
                    && prose(at - 1)
                    && *number + 1 == line.number
                    && line.end - *start <= MAX_STRETCH =>
            {
                (*end, *number) = (line.end, line.number);
            }
            _ => found.push((line.start, line.end, line.number)),
        }
    }
    found.into_iter().map(|(start, end, _)| (start, start + clip(&page.text[start..end], MAX_STRETCH).len())).collect()
}

/// The names in a stretch that their words give to the list.
fn named(labels: &Labels<'_>, opener: usize, page: &Page<'_>, (start, end): (usize, usize)) -> Vec<ReadValue> {
    let names = bare_names::named_in(labels, &page.text[start..end]).into_iter();
    let ours = names.filter(|(fields, read)| {
        let name = read.value.as_str().unwrap_or_default();
        fields.iter().any(|field| labels.is_name_of(opener, *field)) && !name.contains('\n')
    });
    ours.map(|(_, read)| read.moved(start)).collect()
}

/// Whether a name stands in the clause of a number: between the number before it and itself, with no sentence ending
/// between them, or right behind it.
fn in_clause(text: &str, name: &ReadValue, (last, from): (usize, usize), end: usize) -> bool {
    let parted = |from: usize, to: usize| {
        text.get(from..to).is_none_or(|between| between.contains([';', '\n']) || between.contains(". "))
    };
    let joined = |from: usize, to: usize| !parted(from, to) && !text[from..to].contains(" and ");
    if name.start > from && name.end <= end {
        return true;
    }
    if name.end <= from {
        name.start >= last && joined(name.end, from)
    } else {
        name.start >= end && joined(end, name.start)
    }
}
