//! A key that is not seen.

use std::fmt;

/// A key, or another value that must not be seen: `Debug` says `hidden`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that sends it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

/// The fewest bytes of a secret's beginning that are taken for it at the end of a message that was cut.
const MIN_REMAINS: usize = 4;

/// Takes the secrets out of a message that somebody else wrote: providers repeat the key that they refuse.
pub(super) fn scrub(message: &mut String, secrets: &[Secret]) {
    for secret in secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= MIN_REMAINS) {
        if message.contains(secret) {
            *message = message.replace(secret, "***");
        }
        // Messages are cut to a length: the beginning of a secret may stand at the end.
        let remains = (MIN_REMAINS..secret.len())
            .rev()
            .find(|length| secret.get(..*length).is_some_and(|beginning| message.ends_with(beginning)));
        if let Some(length) = remains {
            message.truncate(message.len() - length);
            message.push_str("***");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_seen_whole_or_cut() {
        let secret = Secret::new("sk-example-123456");
        assert_eq!(format!("{secret:?}"), "hidden");
        let mut message = "wrong key sk-example-123456, really sk-example-12".to_owned();
        scrub(&mut message, std::slice::from_ref(&secret));
        assert_eq!(message, "wrong key ***, really ***");
    }
}
