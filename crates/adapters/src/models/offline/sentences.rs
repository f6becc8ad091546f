//! Sentences of a message that tell of one item: `we have LX-26-4401 with Some Leasing Company, 5/1/25 to 5/1/26`.
//!
//! Where a sentence or an item of a list has exactly one number of that kind, the only name and the only term in it are
//! that number's. Of a sentence with two numbers nothing is said here.

use kybern_core::model::ValueKind;

use super::bare_names;
use super::labels::Labels;
use super::numbered::stretches;
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::terms;
use super::values::{self, ReadValue};

/// The rows of these items, so that they are none of the tables'.
const TABLE: usize = usize::MAX / 2;
/// Bytes of a sentence that are looked at.
const MAX_SENTENCE: usize = 600;
/// Digits of a number that nobody labelled.
const LEAST_DIGITS: usize = 4;
/// Bytes of such a number.
const LEAST_BYTES: usize = 7;
/// Bytes from which a value is read.
const MAX_VALUE: usize = 80;
/// What ends a sentence.
const ENDS: [&str; 5] = [". ", "? ", "! ", ".\n", "\n\n"];
/// How a sentence begins that says what the item of the one before has.
const INCLUDES: [&str; 19] = [
    "it includes ",
    "includes ",
    "included are ",
    "it covers ",
    "that covers ",
    "covers ",
    "it has ",
    "it is for ",
    "that is for ",
    "the coverages are ",
    "coverages are ",
    "coverage is ",
    "incluye ",
    "cubre ",
    "comprend ",
    "elle comprend ",
    "couvre ",
    "elle couvre ",
    "il comprend ",
];
/// What a sentence's number cannot be.
const OTHERS: [ValueKind; 5] =
    [ValueKind::Phone, ValueKind::Date, ValueKind::DateRange, ValueKind::Money, ValueKind::Vin];

/// Adds what such sentences tell, outside tables and beside what labels led to.
pub(super) fn told(page: &Page<'_>, index: usize, labels: &Labels<'_>, found: &[Occurrence]) -> Vec<Occurrence> {
    let mut told = Vec::new();
    for (opener, _) in labels.openers() {
        let mut sorted: Vec<&Occurrence> = found.iter().filter(|value| value.page == index).collect();
        sorted.sort_unstable_by_key(|value| value.start);
        // The number of the sentence before, where it has one only.
        let mut before: Option<RowOrder> = None;
        for (from, to) in stretches(page).into_iter().flat_map(|stretch| sentences(page.text, stretch)) {
            let text = &page.text[from..to];
            let first = sorted.partition_point(|value| value.start < from);
            let last = sorted.partition_point(|value| value.start < to);
            let here = Sentence { page, index, labels, opener, from, text, known: &sorted[first..last] };
            let goes_on = before.take().filter(|_| here.includes());
            if let Some(number) = goes_on {
                told.extend(here.terms(number, &[]));
            } else if text.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS {
                before = here.item(&mut told);
            }
        }
    }
    told
}

/// The sentences of lines that go on one after the other, and the items of a list.
fn sentences(text: &str, (start, end): (usize, usize)) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = start;
    while from < end {
        let rest = &text[from..end];
        let stop = ENDS.iter().filter_map(|mark| Some(rest.find(mark)? + mark.len())).min();
        let item = rest.match_indices('\n').map(|(at, _)| at + 1).find(|at| begins_item(&rest[*at..]));
        let length = stop.into_iter().chain(item).min().unwrap_or(rest.len());
        if length <= MAX_SENTENCE {
            found.push((from, from + length));
        }
        from += length;
    }
    found
}

/// Whether a line is an item of a list by its bullet or its number.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = line.len() - rest.len() < 3 && rest.len() < line.len() && rest.starts_with([')', '.']);
    numbered || line.starts_with(['-', '*', '•', '·', '–', '○', '▪'])
}

/// By what the values of an item are ordered: those of its number.
#[derive(Clone, Copy)]
struct RowOrder {
    at: usize,
    row: Option<(usize, usize)>,
}

/// A sentence, with what is known of it.
struct Sentence<'a, 't> {
    page: &'a Page<'t>,
    index: usize,
    labels: &'a Labels<'a>,
    opener: usize,
    from: usize,
    text: &'a str,
    known: &'a [&'a Occurrence],
}

impl Sentence<'_, '_> {
    /// Adds what the sentence tells of its only number, and says by what that is ordered.
    fn item(&self, told: &mut Vec<Occurrence>) -> Option<RowOrder> {
        let group = &self.labels.fields[self.opener].group;
        let of_group = |value: &&&Occurrence| self.labels.fields[value.field].group == *group;
        let openers: Vec<&&Occurrence> = self.known.iter().filter(|value| value.field == self.opener).collect();
        let free = self.numbers(&openers);
        let number = match (openers.as_slice(), free.as_slice()) {
            ([known], []) => (known.at, known.row, None),
            ([], [(at, read)])
                if !self.known.iter().any(|value| self.labels.opens_others(self.opener, value.field)) =>
            {
                (self.from + at, Some((TABLE + self.index, self.from + at)), Some((*at, read.clone())))
            }
            _ => return None,
        };
        let (ordered, row, unknown) = number;
        let line = |at: usize| self.page.line_at(at).unwrap_or_default();
        let mut item = Vec::new();
        let mut add = |field: usize, base: usize, read: ReadValue| {
            let place = SearchPlace { field, page: self.index, line: line(base + read.start), at: ordered };
            item.push(Occurrence { row, ..Occurrence::new(place, read, base, sure::AMOUNT) });
        };
        let ours = || self.known.iter().filter(of_group);
        let kind_of = |value: &Occurrence| self.labels.fields[value.field].value;
        let dated = ours().any(|value| matches!(kind_of(value), ValueKind::Date | ValueKind::DateRange));
        let term = self.labels.in_group_of(self.opener, ValueKind::DateRange);
        if let (Some(term), false, Some((at, read))) = (term, dated, self.only_range()) {
            add(term, self.from + at, read);
        }
        let name = self.labels.name_of(self.opener);
        let named = ours().any(|value| Some(value.field) == name);
        let only_name = self.only_name();
        if let (Some(name), false, Some(read)) = (name, named, only_name.clone()) {
            add(name, self.from, read);
        }
        let ordered = RowOrder { at: ordered, row };
        let mut taken: Vec<(usize, usize)> =
            only_name.iter().map(|read| (self.from + read.start, self.from + read.end)).collect();
        if let Some((at, read)) = unknown {
            if item.is_empty() {
                return None;
            }
            let place =
                SearchPlace { field: self.opener, page: self.index, line: line(self.from + at), at: ordered.at };
            taken.push((self.from + at, self.from + at + read.end));
            item.push(Occurrence { row, ..Occurrence::new(place, read, self.from + at, sure::AMOUNT) });
        }
        if !ours().any(|value| self.labels.has_terms(value.field)) {
            item.extend(self.terms(ordered, &taken));
        }
        told.extend(item);
        Some(ordered)
    }

    /// Whether the sentence only says what the item of the one before has.
    fn includes(&self) -> bool {
        let begins = |lead: &&str| self.text.get(..lead.len()).is_some_and(|text| text.eq_ignore_ascii_case(lead));
        INCLUDES.iter().any(begins) && !self.known.iter().any(|value| value.field == self.opener)
    }

    /// The terms of the sentence, but for those inside a name or a number.
    fn terms(&self, ordered: RowOrder, names: &[(usize, usize)]) -> Vec<Occurrence> {
        let group = &self.labels.fields[self.opener].group;
        let all = self.labels.terms_in(self.page.text, self.from, self.from + self.text.len());
        let known = self.known.iter().map(|value| (value.start, value.end));
        let names: Vec<(usize, usize)> = known.chain(names.iter().copied()).collect();
        let free = |at: usize| !names.iter().any(|(from, to)| (*from..*to).contains(&at));
        let ours = all.iter().filter(|term| self.labels.fields[term.field].group == *group && free(term.start));
        let ours = ours.filter(|term| !term.value.is_empty() && !terms::is_small(self.page, term));
        let told = ours.map(|term| {
            let line = self.page.line_at(term.start).unwrap_or_default();
            let place = SearchPlace { field: term.field, page: self.index, line, at: ordered.at };
            let span = (term.start, term.end);
            Occurrence { row: ordered.row, ..Occurrence::term(place, term.value, span, sure::AMOUNT) }
        });
        told.collect()
    }

    /// The words of the sentence, by where they begin.
    fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts = self.text.char_indices().filter(|(at, letter)| {
            letter.is_alphanumeric() && !self.text[..*at].ends_with(|c: char| c.is_alphanumeric() || "-/.#".contains(c))
        });
        starts.map(|(at, _)| (at, super::analyse::clip(&self.text[at..], MAX_VALUE)))
    }

    /// The numbers that no label led to and that can hardly be anything else, up to two.
    fn numbers(&self, openers: &[&&Occurrence]) -> Vec<(usize, ReadValue)> {
        let pattern = self.labels.fields[self.opener];
        let mut found: Vec<(usize, ReadValue)> = Vec::new();
        let mut end = 0;
        for (at, rest) in self.words().filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_uppercase())) {
            let known = || openers.iter().any(|value| (value.start..value.end).contains(&(self.from + at)));
            if at < end || known() || self.page.used[self.page.line_at(self.from + at).unwrap_or_default()] {
                continue;
            }
            let Some(read) = values::read(pattern, rest).filter(|read| read.start == 0 && read.fit >= 1.0) else {
                continue;
            };
            let number = &rest[..read.end];
            let digits = number.bytes().filter(u8::is_ascii_digit).count();
            let letters = number.bytes().filter(u8::is_ascii_uppercase).count();
            let plain = digits >= LEAST_DIGITS && letters >= 2 && number.len() >= LEAST_BYTES && !is_post_code(number);
            let whole = !rest[read.end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '@' | '%'));
            let other = || self.labels.begin(number) || OTHERS.iter().any(|kind| values::read(*kind, number).is_some());
            if plain && whole && !other() {
                end = at + read.end;
                found.push((at, read));
            }
            if found.len() > 1 {
                break;
            }
        }
        found
    }

    /// The only two dates of the sentence that make a term.
    fn only_range(&self) -> Option<(usize, ReadValue)> {
        let mut end = 0;
        let mut ranges = self.words().filter_map(|(at, rest)| {
            let read = values::read(ValueKind::DateRange, rest).filter(|_| at >= end)?;
            end = at + read.end;
            Some((at, read))
        });
        let first = ranges.next()?;
        ranges.next().is_none().then_some(first)
    }

    /// The only name of the sentence that its words give to the list.
    fn only_name(&self) -> Option<ReadValue> {
        let mut names = bare_names::named_in(self.labels, self.text).into_iter().filter(|(fields, read)| {
            let one_line = !read.value.as_str().unwrap_or_default().contains('\n');
            one_line && fields.iter().any(|field| self.labels.is_name_of(self.opener, *field))
        });
        let (_, first) = names.next()?;
        names.all(|(_, other)| other.value == first.value).then_some(first)
    }
}

/// Whether a number is a state with its ZIP code.
fn is_post_code(number: &str) -> bool {
    let parts = number.split_once(' ');
    parts.is_some_and(|(state, code)| {
        state.len() == 2 && code.len() >= 5 && code[..5].bytes().all(|b| b.is_ascii_digit())
    })
}
