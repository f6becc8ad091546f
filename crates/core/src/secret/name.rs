//! What a secret is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a secret: a small letter, then up to 62 small letters, digits and underscores.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

/// A text that names no secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a secret's name is a small letter, then up to 62 small letters, digits and underscores, as in crm_token")]
pub struct BadSecretName;

impl SecretName {
    /// The same rule as a regular expression, for schemas.
    pub const PATTERN: &'static str = "^[a-z][a-z0-9_]{0,62}$";
    /// Characters of a name.
    pub const MAX: usize = 63;

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = BadSecretName;

    fn from_str(text: &str) -> Result<Self, BadSecretName> {
        let body = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let good = text.len() <= Self::MAX
            && text.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
            && text.bytes().all(body);
        if good { Ok(Self(text.to_owned())) } else { Err(BadSecretName) }
    }
}

impl TryFrom<String> for SecretName {
    type Error = BadSecretName;

    fn try_from(text: String) -> Result<Self, BadSecretName> {
        text.parse()
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_small_letters_digits_and_underscores() {
        for good in ["a", "crm_token", "a1_", &"a".repeat(63)] {
            assert_eq!(good.parse::<SecretName>().unwrap().as_str(), good);
        }
        for bad in ["", "1a", "_a", "A", "a-b", "a.b", "a b", "ä", "a\n", &"a".repeat(64)] {
            assert_eq!(bad.parse::<SecretName>(), Err(BadSecretName), "{bad:?}");
            assert!(serde_json::from_value::<SecretName>(bad.into()).is_err(), "{bad:?}");
        }
    }
}
