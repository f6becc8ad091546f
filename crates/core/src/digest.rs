//! Digests that say whether two inputs are the same, and nothing else.
//!
//! What people send is often short and guessable, an amount, a name, a card. A plain hash of it could be found by
//! trying; a keyed one cannot by whoever has the database and not the key, and the same input of two tenants has two
//! digests.

use serde::Serialize;

use crate::json::canonical;

/// The hash of bytes in parts, whose bounds count. It has no key: it says whether the same came again, and is shown to
/// nobody.
pub fn hash_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// The key of one tenant's digests.
#[derive(Clone, Copy)]
pub struct DigestKey([u8; 32]);

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey(…)")
    }
}

impl DigestKey {
    /// Wraps 32 bytes of key.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The keyed BLAKE3 of the input's [canonical form](canonical), in hex: members at every depth count, their order
    /// does not. `None` when the input has no such form.
    #[must_use]
    pub fn digest<T: Serialize>(&self, input: &T) -> Option<String> {
        let canonical = canonical(&serde_json::to_value(input).ok()?);
        Some(blake3::keyed_hash(&self.0, &canonical).to_hex().to_string())
    }

    /// The same of bytes, each of the parts after the one before it.
    #[must_use]
    pub fn digest_of_bytes(&self, parts: &[&[u8]]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The same of the input's JSON as it stands: for what always has its members in one order, such as what is sent to
    /// a model. It takes a fraction of the time.
    #[must_use]
    pub fn digest_as_written<T: Serialize>(&self, input: &T) -> Option<String> {
        let written = serde_json::to_vec(input).ok()?;
        Some(blake3::keyed_hash(&self.0, &written).to_hex().to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_digest_follows_every_value_and_no_order_and_belongs_to_its_key() {
        let (one, two) = (DigestKey::new([1; 32]), DigestKey::new([2; 32]));
        let input = json!({"to": [{"address": "a"}], "n": 1});
        let digest = one.digest(&input).unwrap();
        assert_eq!(digest.len(), 64);
        assert_eq!(one.digest(&json!({"n": 1, "to": [{"address": "a"}]})).unwrap(), digest);
        assert_ne!(one.digest(&json!({"n": 1, "to": [{"address": "b"}]})).unwrap(), digest);
        assert_ne!(two.digest(&input).unwrap(), digest);
        let written = one.digest_as_written(&input).unwrap();
        assert_ne!(one.digest_as_written(&json!({"n": 2, "to": [{"address": "a"}]})).unwrap(), written);
        assert_ne!(two.digest_as_written(&input).unwrap(), written);
        assert_ne!(blake3::hash(input.to_string().as_bytes()).to_hex().to_string(), digest);
        assert_eq!(one.digest_of_bytes(&[b"a", b"b"]), one.digest_of_bytes(&[b"ab"]));
        assert_ne!(one.digest_of_bytes(&[b"ab"]), two.digest_of_bytes(&[b"ab"]));
    }
}
