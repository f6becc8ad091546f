//! Ids of calls as a provider takes them. A turn may go on at another provider than the one that gave an id, and not
//! all take any text: an id that does not fit is replaced by one that is made from it, the same wherever it stands.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// Which ids are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IdRule {
    /// Any text of at most so many bytes.
    UpTo(usize),
    /// Letters, digits, `_` and `-`: <https://platform.claude.com/docs/en/api/messages>.
    Plain,
    /// Exactly nine letters and digits: Mistral.
    Nine,
}

/// An id, written so that it fits.
#[derive(Clone, Copy)]
pub(super) struct FittedId<'a>(pub(super) &'a str, pub(super) IdRule);

impl Serialize for FittedId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&fit(self.0, self.1))
    }
}

fn fit(id: &str, rule: IdRule) -> Cow<'_, str> {
    let fits = match rule {
        IdRule::UpTo(most) => !id.is_empty() && id.len() <= most,
        IdRule::Plain => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.len() <= 64 && id.bytes().all(is_plain)
        }
        IdRule::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    };
    if fits {
        return Cow::Borrowed(id);
    }
    let hash = blake3::hash(id.as_bytes()).to_hex();
    let made = match rule {
        IdRule::UpTo(_) | IdRule::Plain => format!("call_{}", hash.get(..24).unwrap_or_default()),
        IdRule::Nine => hash.get(..9).unwrap_or_default().to_owned(),
    };
    Cow::Owned(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_fit_are_kept_and_others_are_made_the_same_again() {
        assert_eq!(fit("call_abc", IdRule::UpTo(40)), "call_abc");
        assert_eq!(fit("VvvODy9mT", IdRule::Nine), "VvvODy9mT");
        for (id, rule) in [
            ("functions.find:0", IdRule::Plain),
            ("toolu_01A", IdRule::Nine),
            ("call_0", IdRule::Nine),
            (&"x".repeat(41), IdRule::UpTo(40)),
        ] {
            let made = fit(id, rule);
            assert_ne!(made, id);
            assert_eq!(fit(&made, rule), made);
            assert_eq!(fit(id, rule), made);
        }
    }
}
