//! Redaction of JSON: by the names of members, and by the values, at every depth.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::assign::is_nothing;
use super::kind::Kind;
use super::names::{self, NameKind};
use super::{numbers, redact_text};

/// Takes secrets and personal data out of a value. Names stay, unless they are a secret themselves.
pub fn redact_value(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            if number.as_u64().is_some_and(is_card) {
                *value = Kind::Card.as_str().into();
            }
        }
        Value::String(text) => {
            if let Cow::Owned(clean) = redact_text(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(members) => redact_members(members),
    }
}

/// The same for the members of an object.
pub fn redact_members(members: &mut Map<String, Value>) {
    for (name, value) in members.iter_mut() {
        match said_by(name) {
            Some(named) => redact_under(named, value),
            None => redact_value(value),
        }
    }
    if members.keys().any(|name| matches!(redact_text(name), Cow::Owned(_))) {
        redact_names(members);
    }
}

/// The text that stands under `name` without secrets and personal data.
#[must_use]
pub fn redact_named<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    match said_by(name) {
        Some(named) if !is_nothing(text.as_bytes(), named) => Cow::Borrowed(named.kind.as_str()),
        Some(_) | None => redact_text(text),
    }
}

fn said_by(name: &str) -> Option<NameKind> {
    if names::may_say(name.as_bytes()) { names::named(name.as_bytes()) } else { None }
}

/// What stands under the name of a secret goes as a whole. What says nothing stays: null, yes and no, what is empty.
fn redact_under(named: NameKind, value: &mut Value) {
    let goes = match &*value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => !is_nothing(number.to_string().as_bytes(), named),
        Value::String(text) => !is_nothing(text.as_bytes(), named),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    };
    if goes {
        *value = named.kind.as_str().into();
    }
}

/// Names that are secrets themselves. Two that become the same are told apart by a number.
fn redact_names(members: &mut Map<String, Value>) {
    for (name, value) in std::mem::take(members) {
        let clean = redact_text(&name);
        let mut name = clean.clone().into_owned();
        let mut n = members.len() + 1;
        while members.contains_key(&name) {
            name = format!("{clean} {n}");
            n += 1;
        }
        members.insert(name, value);
    }
}

/// A card that stands there as a number: 15 or 16 digits, which hardly anything else has.
fn is_card(number: u64) -> bool {
    let text = number.to_string();
    let digits: Vec<u8> = text.bytes().map(|digit| digit - b'0').collect();
    matches!(digits.len(), 15 | 16) && numbers::is_card(&digits)
}
