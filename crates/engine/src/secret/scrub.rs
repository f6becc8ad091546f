//! Taking the values of secrets out of what comes back: receivers repeat what they were sent.
//!
//! A value is found as it is, as JSON writes it (with slashes escaped or not), and percent-encoded (all or what URLs and
//! forms encode). What a receiver hashes, encodes in another way
//! or takes apart is not found: whoever holds the secret's host holds the secret.

use kybern_core::secret::{SecretName, SecretValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The secrets that a call was given, in the spellings in which an answer may repeat them.
#[derive(Default)]
pub(crate) struct Scrub {
    /// The longest first, so that one that holds another is not left in pieces.
    spellings: Vec<(Zeroizing<String>, String)>,
}

/// What RFC 3986 leaves as it is, most encoders leave too.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same with the digits of its percent signs in small letters.
fn small_hex(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.push('%');
        text.push_str(&digits.to_ascii_lowercase());
        text.push_str(rest);
        text
    })
}

impl Scrub {
    /// Looks out for one more.
    pub(crate) fn add(&mut self, name: &SecretName, value: &SecretValue) {
        let mark = format!("[secret:{name}]");
        let plain = value.expose();
        let json = Value::from(plain).to_string();
        let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let slashed = json.replace('/', "\\/");
        let encoded = utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string();
        let reserved = utf8_percent_encode(plain, RESERVED).to_string();
        let form = reserved.replace("%20", "+");
        let small = [small_hex(&encoded), small_hex(&reserved), small_hex(&form)];
        let spellings = [plain.to_owned(), json, slashed, encoded, reserved, form].into_iter().chain(small);
        for spelling in spellings.map(Zeroizing::new) {
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
    fn spellings_of_other_encoders_are_found() {
        let scrub = scrub(&[("key", "ab/cd+ef-gh 12=!")]);
        for back in [
            r"ab\/cd+ef-gh 12=!",
            "ab%2Fcd%2Bef-gh%2012%3D%21",
            "ab%2fcd%2bef-gh%2012%3d%21",
            "ab%2Fcd%2Bef-gh+12%3D%21",
            "ab%2Fcd%2Bef%2Dgh%2012%3D%21",
        ] {
            assert_eq!(scrub.text(format!("<{back}>")), "<[secret:key]>", "{back}");
        }
    }

    #[test]
    fn nothing_is_changed_where_no_secret_was_given() {
        let value = json!({"a": "12345678"});
        assert_eq!(Scrub::default().value(value.clone()), value);
    }
}
