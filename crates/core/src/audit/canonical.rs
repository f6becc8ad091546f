//! An event's canonical form, which its hash covers.

use serde_json::{Number, Value};

use super::AuditEvent;
use crate::json::{canonical, canonical_number};

/// The form as text. Serialising strings, maps and a JSON value cannot fail; an empty form would still break the chain
/// loudly.
pub(super) fn text(event: &AuditEvent) -> String {
    let form = serde_json::to_value(event).map(|event| canonical(&event)).unwrap_or_default();
    String::from_utf8(form).unwrap_or_default()
}

/// Whether the form says all that the event says. It writes `1.0` like `1`: a number that reads back as another was put
/// there later.
pub(super) fn says_all(detail: &Value) -> bool {
    match detail {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => {
            serde_json::from_str::<Number>(&canonical_number(number)).is_ok_and(|read| read == *number)
        }
        Value::Array(items) => items.iter().all(says_all),
        Value::Object(members) => members.values().all(says_all),
    }
}
