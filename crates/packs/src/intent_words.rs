//! The words by which an intent is known.

/// An intent in words: what it means, what speaks for it, and how people ask for it.
///
/// Keywords are phrases. `phrase^2.5` gives a weight (1 without; below 0 it speaks against), `a & b` wants both, a
/// keyword that begins with neither letter nor digit is looked for as it stands, and `doc:CATEGORY` wants such a
/// document attached. `docs/offline-model.md` says how they are weighed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntentWords {
    /// Its key, `domain.name`.
    pub key: &'static str,
    /// What it means.
    pub description: &'static str,
    /// What speaks for it, or against it.
    pub keywords: &'static [&'static str],
    /// Messages that ask for it.
    pub examples: &'static [&'static str],
}
