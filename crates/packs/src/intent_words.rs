//! The words by which an intent is known.

/// An intent in words: what it means, what speaks for it, and how people ask for it.
///
/// Keywords are phrases. `phrase^2.5` gives a weight (1 without; below 0 it speaks against), `a|b` wants either, `a & b`
/// both, `a & !b` the one without the other, `=word` the word as it is written, `ask:a|b` wants it asked for and
/// `give:a|b` handed over. A keyword that begins with any other sign is looked for as it stands, `doc:CATEGORY` wants
/// such a document attached, and `mail:KIND` such a machine as the sender. `phrase^1 => reason` has a person asked for
/// that reason, and `for:KEY` says for the sake of which intent this one may be named. `docs/offline-model.md` says how
/// they are weighed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntentWords {
    /// Its key, `domain.name`.
    pub key: &'static str,
    /// What it means.
    pub description: &'static str,
    /// What speaks for it, or against it, in English and in no language.
    pub keywords: &'static [&'static str],
    /// Messages that ask for it, in English.
    pub examples: &'static [&'static str],
    /// The same in other languages.
    pub other_languages: &'static [LanguageWords],
}

/// An intent's words in one language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LanguageWords {
    /// The language by its two letters (ISO 639-1).
    pub language: &'static str,
    /// What speaks for the intent, or against it. Accents do not matter.
    pub keywords: &'static [&'static str],
    /// Messages that ask for it.
    pub examples: &'static [&'static str],
}

impl IntentWords {
    /// The keywords of every language.
    pub(crate) fn all_keywords(&self) -> impl Iterator<Item = &'static str> {
        let others = self.other_languages.iter().flat_map(|language| language.keywords);
        self.keywords.iter().chain(others).copied()
    }

    /// The examples of every language.
    pub(crate) fn all_examples(&self) -> impl Iterator<Item = &'static str> {
        let others = self.other_languages.iter().flat_map(|language| language.examples);
        self.examples.iter().chain(others).copied()
    }
}
