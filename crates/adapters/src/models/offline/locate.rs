//! Whether a document says what somebody claims that it says, and where.
//!
//! A claim is looked up by its letters and digits, so that blanks, line breaks, case and punctuation do not matter; then
//! the value is read anew from the document's own words, and has to come out as the claim does. A date or an amount
//! that the claim writes otherwise is looked for by its value. A short value proves nothing by itself: it has to stand
//! beside its label, or in the line of another value of its item.

use std::collections::HashMap;

use kybern_core::document::{DocumentText, PageText};
use kybern_core::model::{Claim, FieldPattern, Located, ValueKind};
use serde_json::Value;

use super::analyse::clip;
use super::values::{self, DOUBTED, ReadValue, ValueShape, name_over_lines};
use super::words::fold;

/// Text that is looked through.
const MAX_LOOK: usize = 256 * 1024;
/// Text in which values are looked for that a claim writes otherwise.
const MAX_SCAN: usize = 64 * 1024;
/// Places of one claim that are looked at.
const MAX_PLACES: usize = 64;
/// Bytes from which a value is read.
const MAX_VALUE: usize = 400;
/// A value of fewer letters and digits stands in too many places to prove anything.
const MIN_PROOF: usize = 4;
/// Bytes before a value in which its label makes it good.
const LABEL_BEFORE: usize = 160;
/// How well an address fits in which no ZIP code closes it.
const LOOSE: f64 = 0.7;

/// The letters and digits of a page, without accents and in small letters, with the place of each.
struct Letters<'p> {
    page: &'p PageText,
    text: &'p str,
    letters: String,
    /// For each byte of `letters`, the first byte of its character in `text`.
    at: Vec<usize>,
}

impl<'p> Letters<'p> {
    fn of(page: &'p PageText, most: usize) -> Self {
        let text = clip(&page.text, most);
        let (mut letters, mut at) = (String::new(), Vec::new());
        for (place, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
            letters.push_str(&fold(&letter.to_lowercase().collect::<String>()));
            at.resize(letters.len(), place);
        }
        Self { page, text, letters, at }
    }

    /// Where those letters stand as whole words: first and last byte in the text.
    fn places(&self, letters: &str) -> Vec<(usize, usize)> {
        if letters.is_empty() {
            return Vec::new();
        }
        let whole = |(found, _): (usize, &str)| {
            let (start, last) = (*self.at.get(found)?, *self.at.get(found + letters.len() - 1)?);
            let end = last + self.text.get(last..)?.chars().next()?.len_utf8();
            let before = self.text.get(..start)?.chars().next_back();
            let after = self.text.get(end..)?.chars().next();
            let glued = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            (!glued(before) && !glued(after)).then_some((start, end))
        };
        self.letters.match_indices(letters).filter_map(whole).take(MAX_PLACES).collect()
    }
}

fn letters_of(text: &str) -> String {
    let letters: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    fold(&letters).into()
}

/// Whether what a kind accepts is narrow enough that a value can be compared, however it is written.
const fn is_read(kind: ValueKind) -> bool {
    !matches!(kind, ValueKind::Name | ValueKind::Person | ValueKind::Text | ValueKind::Address | ValueKind::Nothing)
}

/// Whether two values are one; the point of a decimal counts, all other marks do not.
fn is_same(kind: ValueKind, one: &Value, other: &Value) -> bool {
    match (one, other) {
        _ if kind == ValueKind::Percentage => one == other,
        (Value::String(one), Value::String(other)) => letters_of(one) == letters_of(other),
        _ => one == other,
    }
}

/// A place where a claim stands.
#[derive(Clone)]
struct ValuePlace {
    page: usize,
    read: ReadValue,
}

/// Where each claim stands.
pub(super) fn locate(document: &DocumentText, claims: &[Claim<'_>]) -> Vec<Option<Located>> {
    let mut left = MAX_LOOK;
    let mut pages = Vec::new();
    for page in &document.pages {
        let letters = Letters::of(page, left);
        left -= letters.text.len();
        pages.push(letters);
    }
    let mut look = LocateCache { pages, scanned: HashMap::new(), items: HashMap::new() };
    claims.iter().map(|claim| look.up(claim)).collect()
}

type ScannedValues = HashMap<String, Vec<ValuePlace>>;

struct LocateCache<'p, 'c> {
    pages: Vec<Letters<'p>>,
    /// By kind, and by pattern, every value of it that the document has.
    scanned: HashMap<(ValueKind, Option<&'c str>), ScannedValues>,
    /// Where the last value of each item stands.
    items: HashMap<(&'c str, u32), (usize, usize)>,
}

impl<'c> LocateCache<'_, 'c> {
    fn up(&mut self, claim: &Claim<'c>) -> Option<Located> {
        let field = claim.field;
        let anchor = field.group.as_deref().zip(claim.item).and_then(|item| self.items.get(&item).copied());
        let mut places = self.terms(field, claim.text);
        if places.is_empty() {
            places = self.written(field, claim.text);
        }
        if places.is_empty() && (is_read(field.value) || field.value == ValueKind::Person) {
            places = self.valued(field, claim.text);
        }
        let letters = letters_of(claim.text);
        let is_short = letters.chars().count() < MIN_PROOF;
        places.retain(|place| !is_short || self.is_labelled(field, place) || self.shares_line(anchor, place));
        let found = places.into_iter().min_by_key(|place| match anchor {
            Some((page, at)) => (page.abs_diff(place.page), at.abs_diff(place.read.start)),
            None => (usize::from(!self.is_labelled(field, place)), 0),
        })?;
        if let Some(item) = field.group.as_deref().zip(claim.item) {
            self.items.insert(item, (found.page, found.read.start));
        }
        let page = self.pages.get(found.page)?.page.number;
        let ReadValue { start, end, value, mut fit, mut problem } = found.read;
        if problem.is_none() {
            problem = field.range.and_then(|range| range.problem(field.value, &value));
            fit *= if problem.is_some() { DOUBTED } else { 1.0 };
        }
        Some(Located { value, fit, problem, page, start, end })
    }

    /// Where a term of the field stands that the claim names, by its value or by one of its phrases.
    fn terms(&self, field: &FieldPattern, claimed: &str) -> Vec<ValuePlace> {
        let claimed = letters_of(claimed);
        let terms =
            || field.labels.iter().filter_map(|label| label.split_once('=')).filter(|(_, value)| !value.is_empty());
        let named = terms().find(|(phrase, value)| letters_of(value) == claimed || letters_of(phrase) == claimed);
        let Some((_, value)) = named else { return Vec::new() };
        let mut places = Vec::new();
        for (phrase, _) in terms().filter(|(_, other)| *other == value) {
            for (page, letters) in self.pages.iter().enumerate() {
                let read = |(start, end)| ReadValue { start, end, value: value.into(), fit: 0.95, problem: None };
                let found = letters.places(&letters_of(phrase)).into_iter();
                places.extend(found.map(|span| ValuePlace { page, read: read(span) }));
            }
        }
        places
    }

    /// Where the claim stands as it is written.
    fn written(&self, field: &FieldPattern, claimed: &str) -> Vec<ValuePlace> {
        let letters = letters_of(claimed);
        if letters.is_empty() {
            return Vec::new();
        }
        let own = values::read(field, claimed.trim());
        let mut places = Vec::new();
        for (page, known) in self.pages.iter().enumerate() {
            for span in known.places(&letters) {
                let read = reread(field.into(), known.text, span, own.as_ref());
                places.extend(read.map(|read| ValuePlace { page, read }));
            }
        }
        places
    }

    /// Where a value stands that the claim writes otherwise.
    fn valued(&mut self, field: &'c FieldPattern, claimed: &str) -> Vec<ValuePlace> {
        let shape = ValueShape::from(field);
        let Some(own) = values::read(shape, claimed.trim()) else { return Vec::new() };
        let pages = &self.pages;
        let scanned = self.scanned.entry((shape.kind, shape.source())).or_insert_with(|| scan(pages, shape));
        scanned.get(&key_of(shape.kind, &own.value)).cloned().unwrap_or_default()
    }

    /// Whether a label of the field stands shortly before a place.
    fn is_labelled(&self, field: &FieldPattern, place: &ValuePlace) -> bool {
        let Some(text) = self.pages.get(place.page).map(|page| page.text) else { return false };
        let from = text.ceil_char_boundary(place.read.start.saturating_sub(LABEL_BEFORE));
        let before = letters_of(text.get(from..place.read.start).unwrap_or_default());
        let mut labels = field.labels.iter().filter(|label| !label.contains('=')).map(|label| letters_of(label));
        labels.any(|label| !label.is_empty() && before.contains(&label))
    }

    fn shares_line(&self, anchor: Option<(usize, usize)>, place: &ValuePlace) -> bool {
        let Some((page, at)) = anchor.filter(|(page, _)| *page == place.page) else { return false };
        let between = at.min(place.read.start)..at.max(place.read.start);
        self.pages.get(page).and_then(|page| page.text.get(between)).is_some_and(|text| !text.contains('\n'))
    }
}

/// The value that stands at a place, read from there; `None` when that is none of its kind, or another one than `own`.
fn reread(
    shape: ValueShape<'_>,
    text: &str,
    (start, end): (usize, usize),
    own: Option<&ReadValue>,
) -> Option<ReadValue> {
    let kind = shape.kind;
    if !is_read(kind) {
        let slice = text.get(start..end)?;
        // Who claims a name that a line breaks says that both lines are of it.
        let over_lines = if kind == ValueKind::Name && slice.contains('\n') { name_over_lines(slice) } else { None };
        if let Some(read) = over_lines.or_else(|| values::read(kind, slice)) {
            return Some(read.moved(start));
        }
        let value = slice.split_whitespace().collect::<Vec<_>>().join(" ");
        return (kind == ValueKind::Address).then(|| loose(value, end - start).moved(start));
    }
    if splits_number(kind, text, start) {
        return None;
    }
    // Marks before a value are part of it: the sign of a currency, the bracket of an area code.
    let marks = text.get(..start)?.chars().rev().take_while(|mark| matches!(mark, '$' | '(' | '+' | '#' | '-' | ' '));
    let with_marks = start - marks.take(2).map(char::len_utf8).sum::<usize>();
    let in_place = [start, with_marks].into_iter().find_map(|at| {
        let read = values::read(shape, clip(text.get(at..)?, MAX_VALUE))?;
        // What the claim alone is not, the words there have to be from end to end.
        let agrees = match own {
            Some(own) => is_same(kind, &own.value, &read.value),
            None => at + read.end >= end,
        };
        agrees.then(|| read.moved(at))
    });
    in_place.or_else(|| alone(shape, text, (start, end), own).map(|read| read.moved(start)))
}

/// The number that stands at a place, read without what follows: in running text nobody can tell whether the `B` of
/// `AB 5540 2203 B from May` belongs to it, but who claims it says so. Never a part of a longer number.
fn alone(
    shape: ValueShape<'_>,
    text: &str,
    (start, end): (usize, usize),
    own: Option<&ReadValue>,
) -> Option<ReadValue> {
    if !matches!(shape.kind, ValueKind::PolicyNumber | ValueKind::Reference | ValueKind::License) {
        return None;
    }
    let (slice, rest) = (text.get(start..end)?, text.get(end..)?);
    let read = values::read(shape, slice)?;
    let is_whole = read.start == 0 && read.end == slice.len();
    let (next, goes_on) = match rest.chars().next() {
        Some(' ') => (rest.get(1..)?, true),
        Some('-' | '/' | '.') => (rest.get(1..)?, false),
        _ => ("", true),
    };
    let word: String = next.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    let is_cut = if goes_on { word.chars().any(|letter| letter.is_ascii_digit()) } else { !word.is_empty() };
    (is_whole && !is_cut && own.is_some_and(|own| is_same(shape.kind, &own.value, &read.value))).then_some(read)
}

/// Whether a place lies inside a number, behind its point or its colon: the `5%` of `2.5%` is nobody's claim.
fn splits_number(kind: ValueKind, text: &str, at: usize) -> bool {
    let mut before = text.get(..at).unwrap_or_default().chars().rev();
    matches!(kind, ValueKind::Percentage | ValueKind::Time)
        && before.next().is_some_and(|mark| matches!(mark, '.' | ',' | ':'))
        && before.next().is_some_and(|digit| digit.is_ascii_digit())
}

fn loose(value: String, end: usize) -> ReadValue {
    ReadValue { value: value.into(), start: 0, end, fit: LOOSE, problem: None }
}

fn key_of(kind: ValueKind, value: &Value) -> String {
    let letters = value.as_str().filter(|_| kind != ValueKind::Percentage);
    letters.map_or_else(|| value.to_string(), letters_of)
}

/// Every value of a kind, by how it is compared.
fn scan(pages: &[Letters<'_>], shape: ValueShape<'_>) -> ScannedValues {
    let mut scanned = ScannedValues::new();
    let mut left = MAX_SCAN;
    for (page, letters) in pages.iter().enumerate() {
        let text = clip(letters.text, left);
        left -= text.len();
        let mut before = ' ';
        for (at, letter) in text.char_indices() {
            let begins = (letter.is_alphanumeric() || matches!(letter, '$' | '(' | '+')) && !before.is_alphanumeric();
            before = letter;
            if !begins || splits_number(shape.kind, text, at) {
                continue;
            }
            let Some(read) = text.get(at..).and_then(|rest| values::read(shape, clip(rest, MAX_VALUE))) else {
                continue;
            };
            let places = scanned.entry(key_of(shape.kind, &read.value)).or_default();
            if places.len() < MAX_PLACES {
                places.push(ValuePlace { page, read: read.moved(at) });
            }
        }
    }
    scanned
}
