//! The kinds of records that this pack keeps: who asks, and what is asked.

use kybern_core::record::{Lookup, RecordKind};
use serde_json::json;

use super::severity::Severity;
use crate::contact;

/// Whoever asks for something, under the address or the number from which they write.
pub(super) const REQUESTER: &str = "helpdesk.requester";

/// What somebody asked for, from the first message until it is closed.
pub(super) const TICKET: &str = "helpdesk.ticket";

/// The lookup under which a requester stands.
pub(super) const ADDRESS: &str = "address";

/// What a ticket is about; each has a plan of its own.
pub(super) const CATEGORIES: [&str; 3] = ["incident", "question", "access_request"];

/// The states of a ticket. `waiting` is set by a person, who has asked the requester something.
pub(super) const STATES: [&str; 5] = ["open", "waiting", "escalated", "answered", "closed"];

/// An e-mail address in small letters or a telephone number of ten digits; `None` when it is neither.
pub(super) fn address(written: &str) -> Option<String> {
    contact::email(written).or_else(|| contact::phone(written))
}

/// The lookups under which a requester stands whom people call so.
pub(super) fn lookups_called(called: &str) -> Vec<Lookup> {
    address(called).map(|address| Lookup::shared(ADDRESS, address)).into_iter().collect()
}

/// Whoever asks.
pub(super) fn requester() -> RecordKind {
    RecordKind {
        key: REQUESTER.to_owned(),
        description: "Somebody who has asked the helpdesk for something".to_owned(),
        schema: json!({
            "type": "object",
            "required": ["address"],
            "properties": {"address": {"type": "string"}, "name": {"type": ["string", "null"]}},
            "additionalProperties": false
        }),
        by_hand: json!({"name": {"type": ["string", "null"]}}),
    }
}

/// What is asked.
pub(super) fn ticket() -> RecordKind {
    let text = json!({"type": ["string", "null"]});
    let texts = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    let moment = json!({"type": ["string", "null"], "format": "date-time"});
    let severity = json!({"enum": Severity::ALL.map(Severity::as_str)});
    RecordKind {
        key: TICKET.to_owned(),
        description: "What somebody asked the helpdesk for".to_owned(),
        schema: json!({
            "type": "object",
            "required": ["number", "status", "category", "requester_id", "requester", "opened_at"],
            "properties": {
                "number": {"type": "string"},
                "status": {"enum": STATES},
                "category": {"enum": CATEGORIES},
                "requester_id": {"type": "string"},
                "requester": {"type": "string"},
                "subject": text,
                "text": text,
                "product": text,
                "severity": severity,
                "reasons": texts,
                "opened_at": moment,
                "due_at": moment,
                "escalated_at": moment,
                "escalated_because": text,
                "replied_at": moment,
                "threads": texts,
                "tasks": texts
            },
            "additionalProperties": false
        }),
        // The rest makes up the key and the lookups, or says what steps have done.
        by_hand: json!({"status": {"enum": STATES}, "severity": severity, "product": text, "due_at": moment}),
    }
}
