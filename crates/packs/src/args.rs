//! Reading arguments and state: what is missing, `null` or blank is all the same to a tool.

use serde_json::{Map, Value};

/// Texts that people and forms write where they have nothing to say.
const PLACEHOLDERS: &[&str] =
    &["n/a", "na", "none", "null", "unknown", "tbd", "-", "--", "not applicable", "undefined"];

/// A text under that name, trimmed; `None` when it is missing, blank or a placeholder. A whole number counts as text,
/// because forms and workbooks write DOT numbers as numbers.
pub(crate) fn text(from: &Map<String, Value>, name: &str) -> Option<String> {
    from.get(name).and_then(as_text)
}

/// The same for a value.
pub(crate) fn as_text(value: &Value) -> Option<String> {
    let found = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let blank = found.is_empty() || PLACEHOLDERS.contains(&found.to_lowercase().as_str());
    (!blank).then_some(found)
}

/// The text from the arguments or, where they say nothing, from the state: a person's correction stands there when
/// the tool is called again.
pub(crate) fn text_or_state(args: &Map<String, Value>, state: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let first = names.first().and_then(|name| text(args, name));
    first.or_else(|| names.iter().find_map(|name| text(state, name)))
}

/// The texts of a list, without blanks; a single text counts as a list of one.
pub(crate) fn texts(from: &Map<String, Value>, name: &str) -> Vec<String> {
    match from.get(name) {
        Some(Value::Array(items)) => items.iter().filter_map(as_text).collect(),
        Some(other) => as_text(other).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The objects of a list.
pub(crate) fn objects(from: &Map<String, Value>, name: &str) -> Vec<Map<String, Value>> {
    let items = from.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.as_object().cloned()).collect()
}

/// Fields in the order given.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Adds what is not there yet, in order.
pub(crate) fn add<T: PartialEq>(to: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blanks_and_placeholders_count_as_missing() {
        let Value::Object(args) = json!({"a": " ", "b": "N/A", "c": null, "d": 9104417, "e": " x "}) else { return };
        assert_eq!(["a", "b", "c"].map(|name| text(&args, name)), [None, None, None]);
        assert_eq!(text(&args, "d").as_deref(), Some("9104417"));
        assert_eq!(text(&args, "e").as_deref(), Some("x"));
    }

    #[test]
    fn a_correction_in_the_state_fills_an_argument_that_says_nothing() {
        let (Value::Object(args), Value::Object(state)) = (json!({"name": ""}), json!({"company_name": "Acme LLC"}))
        else {
            return;
        };
        assert_eq!(text_or_state(&args, &state, &["name", "company_name"]).as_deref(), Some("Acme LLC"));
    }
}
