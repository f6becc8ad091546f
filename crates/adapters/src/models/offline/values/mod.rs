//! Values: what each kind looks like, whether it can be right, and its normal form.
//!
//! Every reader takes the text where a value is expected and answers with the value at its **beginning**, so that
//! what follows (another label, a remark) does no harm.

mod businesses;
mod contact;
mod dates;
mod days;
mod employer;
mod identifier;
mod money;
mod names;
mod numbers;
mod people;
mod percentages;
mod times;
mod vin;

use kybern_core::model::{FieldPattern, ValueKind, ValuePattern};
use serde_json::Value;

pub(super) use businesses::{find_businesses, find_capitalised};
pub(super) use contact::{ends_with_zip, find_emails, find_phones};
pub(super) use days::day;
pub(super) use money::{currency_before, in_currency, is_marked};
pub(super) use names::{has_form, leading_business, leading_run, name_over_lines};
pub(super) use vin::find_vins;

/// What is left of the confidence of a value that is kept although something is wrong with it.
pub(super) const DOUBTED: f64 = 0.6;

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadValue {
    /// In its normal form.
    pub(super) value: Value,
    /// First byte in the text that was given.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// From 0 to 1: how well it fits its kind.
    pub(super) fit: f64,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
}

impl ReadValue {
    fn new(value: impl Into<Value>, start: usize, end: usize, fit: f64) -> Self {
        Self { value: value.into(), start, end, fit, problem: None }
    }

    /// The same in a text that has so many more bytes before it.
    pub(super) fn moved(self, by: usize) -> Self {
        Self { start: by + self.start, end: by + self.end, ..self }
    }
}

/// What a value looks like: its kind, and for an identifier of a tenant's own what it has to match.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueShape<'s> {
    pub(super) kind: ValueKind,
    pattern: Option<&'s ValuePattern>,
}

impl From<ValueKind> for ValueShape<'_> {
    fn from(kind: ValueKind) -> Self {
        Self { kind, pattern: None }
    }
}

impl<'s> From<&'s FieldPattern> for ValueShape<'s> {
    fn from(field: &'s FieldPattern) -> Self {
        Self { kind: field.value, pattern: field.pattern.as_ref() }
    }
}

impl<'s> ValueShape<'s> {
    /// What an identifier has to match, as it was written.
    pub(super) fn source(self) -> Option<&'s str> {
        self.pattern.map(ValuePattern::source)
    }
}

/// Whether a kind is checked so narrowly that it may follow its label without a colon.
pub(super) const fn is_strict(kind: ValueKind) -> bool {
    !matches!(
        kind,
        ValueKind::Name
            | ValueKind::Person
            | ValueKind::Text
            | ValueKind::Address
            | ValueKind::Year
            | ValueKind::Integer
            | ValueKind::Nothing
    )
}

/// Reads a value from the beginning of `text`.
pub(super) fn read<'s>(shape: impl Into<ValueShape<'s>>, text: &str) -> Option<ReadValue> {
    let shape = shape.into();
    if text.trim_start().starts_with("\"\"") {
        // An empty value of a structured form.
        return None;
    }
    match shape.kind {
        ValueKind::Name => names::name(text),
        ValueKind::Person => people::person(text),
        ValueKind::Text => names::text(text),
        ValueKind::DotNumber => numbers::dot(text),
        ValueKind::McNumber => numbers::motor_carrier(text),
        ValueKind::Naic => numbers::naic(text),
        ValueKind::Fein => employer::fein(text),
        ValueKind::PolicyNumber => numbers::policy(text),
        ValueKind::Reference => numbers::reference(text),
        ValueKind::Identifier => identifier::identifier(text, shape.pattern?),
        ValueKind::License => numbers::license(text),
        ValueKind::RequestToken => numbers::token(text),
        ValueKind::Date => dates::date(text),
        ValueKind::Time => times::time(text),
        ValueKind::DateRange => dates::range(text),
        ValueKind::Money => money::money(text),
        ValueKind::Percentage => percentages::percentage(text),
        ValueKind::Phone => contact::phone(text),
        ValueKind::Email => contact::email(text),
        ValueKind::Address => contact::address(text),
        ValueKind::Vin => vin::vin(text),
        ValueKind::Year => numbers::year(text),
        ValueKind::Integer => numbers::integer(text),
        ValueKind::Nothing => None,
    }
}

/// The name of a person that a text begins with, when it is written like one and goes on like a sentence.
pub(super) fn leading_person(text: &str) -> Option<ReadValue> {
    let run = names::leading_run(text)?;
    let name = text.get(run.start..run.end)?;
    let read = people::person(name).filter(|read| read.end == name.len())?;
    let after = text[run.end..].trim_start();
    let goes_on =
        after.is_empty() || after.starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | '.' | ';' | '('));
    let written = name.chars().any(char::is_lowercase);
    (goes_on && written).then(|| ReadValue { start: run.start, end: run.end, ..read })
}

/// Whether a text begins like a date, or with the name of a month.
pub(super) fn is_date_like(text: &str) -> bool {
    dates::begins_with_month(text) || dates::date(text).is_some()
}

/// How many bytes of blanks and opening marks stand before the value.
fn indent(text: &str) -> usize {
    text.len()
        - text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '“' | '*' | '(' | '[')).len()
}
