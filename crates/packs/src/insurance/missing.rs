//! What extraction could not find and a person must supply.

use kybern_core::tool::Review;
use serde_json::{Map, Value, json};

use super::policies::{self, Policy};
use crate::args::add;
use crate::papers::{documents, left_out, places};
use crate::reading::{self, MESSAGE_NUMBER, ReadDocument};
use crate::review::{WHAT_THEY_SAY, form};

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
    if insured {
        properties.insert("insured".to_owned(), insured_schema());
    }
    if policies_too {
        properties.insert("extracted_policies".to_owned(), some_policies());
    }
    let details = json!({
        "missing": properties.keys().collect::<Vec<_>>(),
        "documents": documents(read),
        "unread": unread,
        "insured": found,
        "fields_for_review": reading::doubtful(read),
    });
    let reason = format!("{what} in {}{}; type it in", places(read), left_out(unread));
    form(WHAT_THEY_SAY, reason, properties, details)
}

/// Asks for the policies of insurers from whom the message wants losses and of whom no policy was found; none is an answer.
pub(super) fn ask_policies_of(read: &[ReadDocument], insurers: &[&str]) -> Review {
    let reason = format!(
        "the message asks for loss runs from {}, and no policy of theirs was found in {}; type it in, or leave the \
         list empty when there is none",
        insurers.join(" and "),
        places(read)
    );
    let details = json!({"insurers": insurers, "documents": documents(read)});
    form("Which policy?", reason, json!({"extracted_policies": policies::json_schema()}), details)
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
    let (count, which) = (values.len(), values.join(" and "));
    let reason = format!("{told} {count} different {what}, {which}; say which company this is about");
    let details = json!({key: values, "documents": documents(read)});
    form("Which company is insured?", reason, json!({"insured": insured}), details)
}

/// Asks which of two numbers of a policy is the right one, for each pair where one of them is a slip.
pub(super) fn ask_number(read: &[ReadDocument], slips: &[(&Policy, &Policy)]) -> Review {
    let pairs: Vec<String> = slips.iter().map(|(one, other)| format!("{} and {}", one.number, other.number)).collect();
    let pairs = pairs.join(", and ");
    let reason = format!("the policy numbers {pairs} are one with two characters swapped; name the right one, or both");
    ask_right(read, reason, &slips.iter().flat_map(|(one, other)| [*one, *other]).collect::<Vec<_>>())
}

/// Asks which of the policies whose numbers are read with too little confidence are right.
pub(super) fn ask_doubtful(read: &[ReadDocument], doubtful: &[&Policy]) -> Review {
    let numbers: Vec<&str> = doubtful.iter().map(|policy| policy.number.as_str()).collect();
    let what = if numbers.len() == 1 { "number is" } else { "numbers are" };
    ask_right(read, format!("the policy {what} hard to read: {}; name what is right", numbers.join(", ")), doubtful)
}

fn ask_right(read: &[ReadDocument], reason: String, doubted: &[&Policy]) -> Review {
    let details = json!({"policies": doubted, "documents": documents(read)});
    form("Which policy number is right?", reason, json!({"extracted_policies": some_policies()}), details)
}

/// All that is to be asked in one question, with a field for each; `None` when nothing is.
pub(super) fn joined(open: Vec<Review>) -> Option<Review> {
    open.into_iter().reduce(|mut all, other| {
        all.reason = format!("{}; {}", all.reason, other.reason);
        if all.title != other.title {
            all.title = Some(WHAT_THEY_SAY.to_owned());
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

/// The schema of a list of policies that is not empty.
fn some_policies() -> Value {
    let mut list = policies::json_schema();
    list["minItems"] = json!(1);
    list
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
