//! Days and persons in the sentences of a message that no label leads to: the words beside them say whose they are.
//!
//! `Our shop opens again on Monday, June 1`, `it was stolen on Sunday 10/11/2026`, `Ada Example starts driving for us`.

use std::collections::HashSet;

use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::labels::Labels;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::values::{self, ReadValue};

/// Bytes of a message that are looked at, and days and persons in it.
const MAX_TEXT: usize = 16 * 1024;
const MAX_FOUND: usize = 60;
/// Bytes of a sentence before a day, and behind it, that say what it is the day of.
const BEFORE: usize = 140;
const BEHIND: usize = 60;
/// Clauses before a day that are looked at, and the words of one that is too short to say anything by itself: `it expires`.
const MAX_CLAUSES: usize = 3;
const SHORT: usize = 3;
/// Words behind a person's name that say who it is.
const WORDS_BEHIND: usize = 8;
/// What ends a sentence.
const ENDS: [&str; 6] = [". ", "? ", "! ", ".\n", "\n\n", "; "];
/// What parts clauses.
const CLAUSES: [&str; 9] = [", ", " and ", " but ", " (", ": ", " - ", " y ", " et ", "\n"];

/// Behind these `5/23` is a month with its year.
const MONTHS_AFTER: [&str; 7] = ["in", "since", "en", "desde", "depuis", "of", "de"];

/// Words between two days of which neither is meant alone.
const SPANS: [&str; 10] = ["and", "to", "through", "thru", "until", "or", "al", "au", "y", "et"];

/// Adds the days of the sentences, beside what was found otherwise.
pub(super) fn days(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let wanted = signed_fields(labels, ValueKind::Date);
    if wanted.is_empty() {
        return;
    }
    let text = clip(page.text, MAX_TEXT);
    let taken = TakenSpans::of(found, index);
    let known: HashSet<usize> = found.iter().map(|value| value.field).collect();
    let mut told: Vec<Occurrence> = Vec::new();
    let mut over = 0;
    for at in starts(text) {
        if at < over || told.len() >= MAX_FOUND {
            continue;
        }
        let rest = clip(&text[at..], BEFORE);
        if let Some(range) = values::read(ValueKind::DateRange, rest).filter(|range| range.start == 0) {
            over = at + range.end;
            continue;
        }
        let Some(read) = values::day(rest, page.written).filter(|read| read.start == 0) else { continue };
        over = at + read.end;
        let before = text[..at].trim_end().rsplit(' ').next().unwrap_or_default();
        let is_month = MONTHS_AFTER.contains(&before.to_lowercase().as_str()) && read.fit < 1.0;
        if taken.has(at, over) || is_month || read.fit < 1.0 && ends_span(&text[..at]) {
            continue;
        }
        let of = |clause: &str| {
            let mut fields = labels.signed(clause);
            fields.retain(|field| wanted.contains(field));
            fields
        };
        let Some(field) = field_of_day(text, (at, over), of) else { continue };
        // Of a list's field only what nothing else says: nobody knows which item it is of.
        if labels.fields[field].group.is_some() && (known.contains(&field) || told.iter().any(|day| day.field == field))
        {
            continue;
        }
        let place = SearchPlace { field, page: index, line: page.line_at(at).unwrap_or_default(), at };
        told.push(Occurrence::new(place, read, at, sure::AMOUNT));
    }
    found.extend(told);
}

/// The only field whose words stand in the clause of a day, or in the clauses that a short one goes on from; behind the
/// day where nothing before it says anything.
fn field_of_day(text: &str, (from, to): (usize, usize), of: impl Fn(&str) -> Vec<usize>) -> Option<usize> {
    let sentence = before(text, from);
    let (mut start, mut clause) = (sentence.len(), 0);
    for place in 0..MAX_CLAUSES {
        let head = &sentence[..start];
        let cut = CLAUSES.iter().filter_map(|mark| Some((head.rfind(mark)?, mark.len()))).max();
        let begins = cut.map_or(0, |(at, length)| at + length);
        clause = if place == 0 { begins } else { clause };
        let mut fields = of(&sentence[begins..]);
        if let Some(field) = fields.pop() {
            return fields.is_empty().then_some(field);
        }
        if begins == 0 || sentence[begins..].split_whitespace().count() > SHORT {
            break;
        }
        start = cut.map_or(0, |(at, _)| at);
    }
    let rest = clip(&text[to..], BEHIND);
    let end = ENDS.iter().chain(&CLAUSES[..1]).filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    // What speaks against a field before the day does so for what stands behind it.
    let mut fields = of(&text[from - (sentence.len() - clause)..to + end]);
    let field = fields.pop()?;
    fields.is_empty().then_some(field)
}

/// Whether a day and a word such as `and` stand at the end of a text: `between 6/1 and`.
fn ends_span(text: &str) -> bool {
    let mut words = text.rsplit(' ').filter(|word| !word.is_empty());
    let joins = words.next().is_some_and(|word| SPANS.contains(&word));
    joins && words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// What stands before a place in its sentence.
fn before(text: &str, at: usize) -> &str {
    let all = &text[text.ceil_char_boundary(at.saturating_sub(BEFORE))..at];
    let begins = ENDS.iter().filter_map(|mark| Some(all.rfind(mark)? + mark.len())).max();
    &all[begins.unwrap_or_default()..]
}

/// Where words begin that may be a day: with a digit, or with a month.
fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let begins = |at: usize| {
        let last = text[..at].chars().next_back();
        last.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | ':'))
    };
    let words = text.char_indices().filter(move |(at, letter)| letter.is_alphanumeric() && begins(*at));
    let may_be = |(at, letter): &(usize, char)| letter.is_ascii_digit() || values::is_date_like(clip(&text[*at..], 40));
    words.filter(may_be).map(|(at, _)| at)
}

/// Adds the persons of the sentences whose words say that they open an item of a list in which nobody is named yet.
pub(super) fn persons(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let opens = |field: &usize| labels.fields[*field].opens_item;
    let wanted: Vec<usize> = signed_fields(labels, ValueKind::Person).into_iter().filter(opens).collect();
    let Some(field) = wanted.first().copied().filter(|field| !found.iter().any(|value| value.field == *field)) else {
        return;
    };
    let text = clip(page.text, MAX_TEXT);
    let taken = TakenSpans::of(found, index);
    let mut told: Vec<Occurrence> = Vec::new();
    for line in page.lines.iter().filter(|line| line.end <= text.len()) {
        for run in values::find_capitalised(&text[line.start..line.end]) {
            let (from, to) = (line.start + run.start, line.start + run.end);
            let Some(read) = person_in(&text[from..to]) else { continue };
            let (from, to) = (from + read.start, from + read.end);
            if taken.has(from, to) || told.len() >= MAX_FOUND {
                continue;
            }
            let rest = clip(&text[to..], BEFORE);
            let end = ENDS.iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
            let behind: Vec<&str> = rest[..end].split_whitespace().take(WORDS_BEHIND).collect();
            let opens = rest[..end].starts_with([' ', ',', '\n', '(']) || rest[..end].is_empty();
            let led = before(text, from).trim_end();
            let apposed = led.strip_suffix(',').is_some_and(|led| labels.ends_with_label(led, field));
            if opens && (apposed || labels.signed(&behind.join(" ")).contains(&field)) {
                let place = SearchPlace { field, page: index, line: page.line_at(from).unwrap_or_default(), at: from };
                told.push(Occurrence::new(place, ReadValue { start: 0, end: to - from, ..read }, from, sure::AMOUNT));
            }
        }
    }
    found.extend(told);
}

/// A person's name that fills a run of words with capitals, but for a word that begins its sentence: `Add Ada Example`.
fn person_in(run: &str) -> Option<ReadValue> {
    let whole = |from: usize| {
        let name = run.get(from..)?;
        let read = values::read(ValueKind::Person, name).filter(|read| read.start == 0 && read.end == name.len())?;
        let small = name.chars().any(char::is_lowercase);
        small.then(|| ReadValue { start: from, end: run.len(), ..read })
    };
    let second = run.find(' ').map(|at| at + 1).filter(|at| STARTS.contains(&run[..at - 1].to_lowercase().as_str()));
    second.map_or_else(|| whole(0), whole)
}

/// Words with a capital that only begin a sentence before a name.
const STARTS: [&str; 16] = [
    "add", "please", "remove", "drop", "our", "the", "new", "driver", "hi", "agregar", "agregue", "añada", "ajoutez",
    "ajouter", "and", "also",
];

/// The fields of a kind that are known by words.
fn signed_fields(labels: &Labels<'_>, kind: ValueKind) -> Vec<usize> {
    let is = |field: &usize| labels.fields[*field].value == kind && !labels.fields[*field].signs.is_empty();
    (0..labels.fields.len()).filter(is).collect()
}

/// What of a page is taken by what was found in it.
struct TakenSpans(Vec<(usize, usize)>);

impl TakenSpans {
    fn of(found: &[Occurrence], index: usize) -> Self {
        let here = found.iter().filter(|value| value.page == index);
        let mut spans: Vec<(usize, usize)> = here.map(|value| (value.start, value.end)).collect();
        spans.sort_unstable();
        // Ends that only grow, so that the nearest span before a place is the one that may reach over it.
        let mut reach = 0;
        spans.iter_mut().for_each(|span| {
            reach = reach.max(span.1);
            span.1 = reach;
        });
        Self(spans)
    }

    fn has(&self, from: usize, to: usize) -> bool {
        let before = self.0.partition_point(|(start, _)| *start < to);
        before > 0 && self.0[before - 1].1 > from
    }
}
