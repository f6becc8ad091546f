//! U+0000 means nothing in a text, and PostgreSQL cannot keep it: it becomes U+FFFD, as in broken encodings.

use serde_json::{Map, Value};

pub(crate) fn clean(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{FFFD}");
    }
}

/// Cleans every text and every name in a value.
pub(crate) fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => clean(text),
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(members) => clean_members(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same for an object's members.
pub(crate) fn clean_members(members: &mut Map<String, Value>) {
    if members.keys().any(|name| name.contains('\0')) {
        let old = std::mem::take(members);
        members.extend(old.into_iter().map(|(name, member)| (name.replace('\0', "\u{FFFD}"), member)));
    }
    members.values_mut().for_each(clean_value);
}
