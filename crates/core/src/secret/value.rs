//! A value that is not seen.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// The fewest bytes of a value. A shorter one could not be told from ordinary text where an answer repeats it.
pub const MIN_VALUE: usize = 8;
/// The most bytes of a value: a key file fits, a document does not.
pub const MAX_VALUE: usize = 64 * 1024;

/// The value of a secret. It has no `Display` and no `Serialize`, `Debug` hides it, and dropping it clears its memory.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// Wraps bytes; `None` when they are no UTF-8. Bytes that are refused are cleared.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Some(Self::new(text)),
            Err(error) => {
                drop(Zeroizing::new(error.into_bytes()));
                None
            }
        }
    }

    /// The text, for the one place that sends or seals it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What keeps it from being stored.
    ///
    /// # Errors
    /// A sentence with the limit and never the value.
    pub fn check(&self) -> Result<(), String> {
        match self.0.len() {
            0..MIN_VALUE => Err(format!("a secret has at least {MIN_VALUE} bytes")),
            MIN_VALUE..=MAX_VALUE if self.0.contains('\0') => Err("a secret holds no NUL character".to_owned()),
            MIN_VALUE..=MAX_VALUE => Ok(()),
            length => Err(format!("a secret has at most {MAX_VALUE} bytes, this has {length}")),
        }
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

/// Reads a text. What is none is refused without being repeated.
impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let serde_json::Value::String(text) = serde_json::Value::deserialize(deserializer)? else {
            return Err(serde::de::Error::custom("a secret's value is a text"));
        };
        Ok(Self::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_neither_printed_nor_repeated_by_an_error() {
        let value = SecretValue::new("correct horse".to_owned());
        assert_eq!(format!("{value:?}"), "SecretValue(…)");
        let error = serde_json::from_str::<SecretValue>("12345678").unwrap_err().to_string();
        assert!(!error.contains("12345678"), "{error}");
        assert_eq!(SecretValue::from_bytes(vec![0xff; 9]), None);
    }

    #[test]
    fn a_value_has_its_limits() {
        let check = |text: &str| SecretValue::new(text.to_owned()).check();
        assert!(check("1234567").is_err() && check("12345678").is_ok());
        assert!(check(&"x".repeat(MAX_VALUE)).is_ok() && check(&"x".repeat(MAX_VALUE + 1)).is_err());
        assert!(check("with\0nothing").is_err());
    }
}
