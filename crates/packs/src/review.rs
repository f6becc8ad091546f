//! Questions to a person whose answer is a form.

use kybern_core::tool::Review;
use serde_json::{Map, Value, json};

/// The title of a question about several things.
pub(crate) const WHAT_THEY_SAY: &str = "What do the documents say?";

/// Asks for these properties, all of which must be there; the tool is called again with the answer.
pub(crate) fn form(title: &str, reason: String, properties: impl Into<Value>, details: Value) -> Review {
    let (title, schema) = (Some(title.to_owned()), closed(properties.into()));
    Review { reason, title, schema, details, answer_is_result: false }
}

/// The JSON Schema of an object that has these properties and no other.
pub(crate) fn closed(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
