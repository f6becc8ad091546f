//! Taking the values of secrets out of what comes back: receivers repeat what they were sent.
//!
//! A value is found as it is, as JSON writes it, and percent-encoded. What a receiver hashes, encodes in another way
//! or takes apart is not found: whoever holds the secret's host holds the secret.

use kybern_core::secret::{SecretName, SecretValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The secrets that a call was given, in the spellings in which an answer may repeat them.
#[derive(Default)]
pub(crate) struct Scrub {
    /// The longest first, so that one that holds another is not left in pieces.
    spellings: Vec<(Zeroizing<String>, String)>,
}

impl Scrub {
    /// Looks out for one more.
    pub(crate) fn add(&mut self, name: &SecretName, value: &SecretValue) {
        let mark = format!("[secret:{name}]");
        let plain = value.expose();
        let json = Value::from(plain).to_string();
        let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let encoded = utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string();
        for spelling in [plain.to_owned(), json, encoded].map(Zeroizing::new) {
            if self.spellings.iter().all(|(known, _)| *known != spelling) {
                self.spellings.push((spelling, mark.clone()));
            }
        }
        self.spellings.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    }

    /// The text without them.
    pub(crate) fn text(&self, text: String) -> String {
        self.spellings.iter().fold(text, |text, (spelling, mark)| {
            if text.contains(spelling.as_str()) { text.replace(spelling.as_str(), mark) } else { text }
        })
    }

    /// The value without them, names of members included.
    pub(crate) fn value(&self, value: Value) -> Value {
        if self.spellings.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                let clean = |(name, value)| (self.text(name), self.value(value));
                Value::Object(members.into_iter().map(clean).collect::<Map<String, Value>>())
            }
            // A secret of digits comes back as a number where the receiver takes it for one.
            Value::Number(number) => {
                let written = number.to_string();
                let clean = self.text(written.clone());
                if clean == written { Value::Number(number) } else { Value::String(clean) }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scrub(secrets: &[(&str, &str)]) -> Scrub {
        let mut scrub = Scrub::default();
        for (name, value) in secrets {
            scrub.add(&name.parse().unwrap(), &SecretValue::new((*value).to_owned()));
        }
        scrub
    }

    #[test]
    fn a_value_is_found_in_texts_names_and_numbers() {
        let scrub = scrub(&[("pin", "12345678"), ("odd", "a\"b/c d\\e"), ("long", "x12345678y")]);
        let back = json!({
            "echo": ["Bearer 12345678", {"12345678": 12_345_678_u64}, null, true, 5],
            "raw": "<a\"b/c d\\e>", "escaped": "{\"t\":\"a\\\"b/c d\\\\e\"}", "url": "?t=a%22b%2Fc%20d%5Ce",
            "longer": "x12345678y",
        });
        assert_eq!(
            scrub.value(back),
            json!({
                "echo": ["Bearer [secret:pin]", {"[secret:pin]": "[secret:pin]"}, null, true, 5],
                "raw": "<[secret:odd]>", "escaped": "{\"t\":\"[secret:odd]\"}", "url": "?t=[secret:odd]",
                "longer": "[secret:long]",
            })
        );
    }

    #[test]
    fn nothing_is_changed_where_no_secret_was_given() {
        let value = json!({"a": "12345678"});
        assert_eq!(Scrub::default().value(value.clone()), value);
    }
}
