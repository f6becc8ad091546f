//! A secret neither prints nor serializes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that must not be seen: a password, a key. Debug and serialization say `hidden`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that sends or derives from it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("hidden")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_seen() {
        let secret = Secret::new("s3cret");
        assert_eq!(format!("{secret:?}"), "hidden");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hidden\"");
        assert_eq!(secret.expose(), "s3cret");
    }
}
