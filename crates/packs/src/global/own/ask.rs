//! The question to a person: a form of all that is missing, doubtful or contradicting, with what was found.

use std::collections::BTreeMap;

use kybern_core::model::{ExtractionSchema, FieldPattern, ValueKind};
use kybern_core::tool::Review;
use serde_json::{Map, Value, json};

use super::{DoubtReason, FieldDoubt, entries};
use crate::args::add;
use crate::papers;
use crate::reading::{self, ReadDocument};
use crate::review::{WHAT_THEY_SAY, closed, form};

/// The most rows that a person types in.
const MAX_ROWS: usize = 5_000;

/// The question; `values` is what needs no answer.
pub(super) fn review(
    schema: &ExtractionSchema,
    read: &[ReadDocument],
    unread: &[String],
    doubts: &BTreeMap<String, FieldDoubt>,
    values: Map<String, Value>,
) -> Review {
    let asked = entries(schema).into_iter().filter(|(name, _)| doubts.contains_key(*name));
    let answers: Map<String, Value> = asked.map(|(name, patterns)| (name.to_owned(), answer(&patterns))).collect();
    let told = |why: DoubtReason, verb: &str| {
        let names: Vec<&str> = doubts.iter().filter(|(_, doubt)| doubt.why == why).map(|(name, _)| &**name).collect();
        (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
    };
    let reasons = [
        told(DoubtReason::Missing, "nothing was found for"),
        told(DoubtReason::Doubtful, "what was found may be wrong for"),
        told(DoubtReason::Contradicting, "the papers contradict each other on"),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    let says_too = |document: &ReadDocument| {
        let contradicts = |name: &String| doubts.get(name).is_some_and(|doubt| doubt.why == DoubtReason::Contradicting);
        document.n == 0
            && document.extraction.fields.iter().any(|field| contradicts(field.group.as_ref().unwrap_or(&field.name)))
    };
    let too = if read.iter().any(says_too) { " and the message" } else { "" };
    let found: Map<String, Value> = doubts.iter().map(|(name, doubt)| (name.clone(), json!(doubt.found))).collect();
    let (reasons, places, unread_too) = (reasons.join("; "), papers::places(read), papers::left_out(unread));
    let reason = format!("{reasons} in {places}{too}{unread_too}; say what they say");
    let details = json!({
        "asked": answers.keys().collect::<Vec<_>>(),
        "found": found,
        (schema.name.as_str()): values,
        "documents": papers::documents(read),
        "unread": unread,
        "fields_for_review": reading::doubtful(read),
    });
    form(WHAT_THEY_SAY, reason, json!({(schema.name.as_str()): closed(answers.into())}), details)
}

/// What answers a field or a table. What is not required may be said not to be there.
fn answer(patterns: &[&FieldPattern]) -> Value {
    let Some(first) = patterns.first() else { return json!({}) };
    if first.group.is_none() {
        let one = value(first, first.many || first.required);
        let least = u8::from(first.required);
        return if first.many {
            json!({"type": "array", "items": one, "minItems": least, "maxItems": 100})
        } else {
            one
        };
    }
    let columns: Map<String, Value> = patterns
        .iter()
        .map(|column| (column.name.clone(), value(column, column.required || column.opens_item)))
        .collect();
    let needed = patterns.iter().filter(|column| column.required || column.opens_item);
    let needed: Vec<&String> = needed.map(|column| &column.name).collect();
    let least = u8::from(patterns.iter().any(|column| column.opens_item && column.required));
    json!({
        "type": "array",
        "items": {"type": "object", "properties": columns, "required": needed, "additionalProperties": false},
        "minItems": least,
        "maxItems": MAX_ROWS
    })
}

/// JSON Schema of a value as it is kept; `null` where it is not needed.
pub(super) fn value(pattern: &FieldPattern, needed: bool) -> Value {
    let terms = pattern.labels.iter().filter_map(|label| label.split_once('=')).map(|(_, value)| value);
    let mut choices: Vec<Value> = Vec::new();
    add(&mut choices, terms.map(Value::from));
    if !choices.is_empty() {
        choices.extend((!needed).then_some(Value::Null));
        return json!({"enum": choices});
    }
    let of = |name: &str| if needed { json!(name) } else { json!([name, "null"]) };
    match pattern.value {
        ValueKind::Date => json!({"type": of("string"), "format": "date"}),
        ValueKind::DateRange => {
            let date = json!({"type": "string", "format": "date"});
            json!({
                "type": of("object"),
                "properties": {"start": date, "end": date},
                "required": ["start", "end"],
                "additionalProperties": false
            })
        }
        ValueKind::Money => json!({"type": of("integer"), "description": "nano-dollars: 1 dollar is 1000000000"}),
        ValueKind::Percentage => json!({
            "type": of("string"),
            "pattern": "^-?[0-9]{1,4}([.][0-9]{1,6})?$",
            "description": "percent, as a decimal number: 2.5",
        }),
        ValueKind::Time => json!({"type": of("string"), "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),
        ValueKind::Fein => json!({"type": of("string"), "pattern": "^[0-9]{2}-[0-9]{7}$"}),
        ValueKind::Integer | ValueKind::Year => json!({"type": of("integer")}),
        ValueKind::Identifier => match &pattern.pattern {
            Some(own) => json!({"type": of("string"), "pattern": format!("^(?:{})$", own.source())}),
            None => json!({"type": of("string")}),
        },
        ValueKind::Name
        | ValueKind::Person
        | ValueKind::Text
        | ValueKind::DotNumber
        | ValueKind::McNumber
        | ValueKind::Naic
        | ValueKind::PolicyNumber
        | ValueKind::Reference
        | ValueKind::License
        | ValueKind::RequestToken
        | ValueKind::Phone
        | ValueKind::Email
        | ValueKind::Address
        | ValueKind::Vin
        | ValueKind::Nothing => json!({"type": of("string"), "minLength": 1, "maxLength": 300}),
    }
}
