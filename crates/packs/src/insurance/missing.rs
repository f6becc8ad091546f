//! What extraction could not find and a person must supply.

use kybern_core::tool::Review;
use serde_json::{Map, Value, json};

use super::policies::{self, Policy};
use crate::args::add;
use crate::papers::{documents, left_out, places};
use crate::reading::{self, MESSAGE_NUMBER, ReadDocument};

/// Asks for the insured, for policies, or for both.
///
/// `unread` are files that nobody could read.
pub(super) fn ask(
    read: &[ReadDocument],
    unread: &[String],
    (insured, policies_too): (bool, bool),
    found: &Map<String, Value>,
) -> Review {
    let what = match (insured, policies_too) {
        (true, true) => "neither the insured's name or DOT number nor any policy was found",
        (true, false) => "neither the insured's name nor a DOT number was found",
        (false, _) => "no policy was found",
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    if insured {
        properties.insert("insured".to_owned(), insured_schema());
        required.push("insured");
    }
    if policies_too {
        let mut list = policies::json_schema();
        list["minItems"] = json!(1);
        properties.insert("extracted_policies".to_owned(), list);
        required.push("extracted_policies");
    }
    Review {
        reason: format!("{what} in {}{}; type it in", places(read), left_out(unread)),
        title: Some("What do the documents say?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false
        }),
        details: json!({
            "missing": required,
            "documents": documents(read),
            "unread": unread,
            "insured": found,
            "fields_for_review": reading::doubtful(read),
        }),
        answer_is_result: false,
    }
}

/// Asks for the policies of insurers from whom the message wants losses and of whom no policy was found; none is an answer.
pub(super) fn ask_policies_of(read: &[ReadDocument], insurers: &[&str]) -> Review {
    Review {
        reason: format!(
            "the message asks for loss runs from {}, and no policy of theirs was found in {}; type it in, or leave the \
             list empty when there is none",
            insurers.join(" and "),
            places(read)
        ),
        title: Some("Which policy?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {"extracted_policies": policies::json_schema()},
            "required": ["extracted_policies"],
            "additionalProperties": false
        }),
        details: json!({"insurers": insurers, "documents": documents(read)}),
        answer_is_result: false,
    }
}

/// Asks which of several companies is the insured. `values` tell them apart, and stand in the details under `key`;
/// `decides` is the field without which the answer would leave it open.
pub(super) fn ask_which(
    read: &[ReadDocument],
    (key, what): (&str, &str),
    values: &[String],
    decides: &'static str,
) -> Review {
    let mut insured = insured_schema();
    insured["properties"][decides] = json!({"type": "string", "minLength": 1, "maxLength": 300});
    insured["required"] = json!([decides]);
    let is_message = |document: &ReadDocument| document.n == MESSAGE_NUMBER;
    let told = match (read.iter().any(is_message), read.iter().any(|document| !is_message(document))) {
        (true, true) => "the message and its papers name",
        (true, false) => "the message names",
        (false, _) => "the papers name",
    };
    Review {
        reason: format!(
            "{told} {} different {what}, {}; say which company this is about",
            values.len(),
            values.join(" and ")
        ),
        title: Some("Which company is insured?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {"insured": insured},
            "required": ["insured"],
            "additionalProperties": false
        }),
        details: json!({key: values, "documents": documents(read)}),
        answer_is_result: false,
    }
}

/// Asks which of two numbers of a policy is the right one, for each pair where one of them is a slip.
pub(super) fn ask_number(read: &[ReadDocument], slips: &[(&Policy, &Policy)]) -> Review {
    let mut list = policies::json_schema();
    list["minItems"] = json!(1);
    let pairs: Vec<String> = slips.iter().map(|(one, other)| format!("{} and {}", one.number, other.number)).collect();
    Review {
        reason: format!(
            "the policy numbers {} are one with two characters swapped; name the right one, or both",
            pairs.join(", and ")
        ),
        title: Some("Which policy number is right?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {"extracted_policies": list},
            "required": ["extracted_policies"],
            "additionalProperties": false
        }),
        details: json!({
            "policies": slips.iter().flat_map(|(one, other)| [*one, *other]).collect::<Vec<_>>(),
            "documents": documents(read),
        }),
        answer_is_result: false,
    }
}

/// Asks which of the policies whose numbers are read with too little confidence are right.
pub(super) fn ask_doubtful(read: &[ReadDocument], doubtful: &[&Policy]) -> Review {
    let numbers: Vec<&str> = doubtful.iter().map(|policy| policy.number.as_str()).collect();
    let what = if numbers.len() == 1 { "number is" } else { "numbers are" };
    Review {
        reason: format!("the policy {what} hard to read: {}; name what is right", numbers.join(", ")),
        details: json!({
            "policies": doubtful,
            "documents": documents(read),
        }),
        ..ask_number(read, &[])
    }
}

/// All that is to be asked in one question, with a field for each; `None` when nothing is.
pub(super) fn joined(open: Vec<Review>) -> Option<Review> {
    open.into_iter().reduce(|mut all, other| {
        all.reason = format!("{}; {}", all.reason, other.reason);
        if all.title != other.title {
            all.title = Some("What do the documents say?".to_owned());
        }
        merge(&mut all.schema, other.schema);
        merge(&mut all.details, other.details);
        all
    })
}

/// Adds what the other has: members of objects, and items of lists that are not there yet.
fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                match into.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => {
                        into.insert(name, value);
                    }
                }
            }
        }
        (Value::Array(into), Value::Array(other)) => add(into, other),
        _ => {}
    }
}

fn insured_schema() -> Value {
    let text = json!({"type": ["string", "null"], "maxLength": 300});
    json!({
        "type": "object",
        "properties": {
            "name": text, "dot_number": text, "mc_number": text, "email": text, "phone": text, "address": text
        },
        "minProperties": 1,
        "additionalProperties": false
    })
}
