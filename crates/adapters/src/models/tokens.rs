//! Counting tokens by the model's own tokenizer, for the families whose tokenizer is public.
//!
//! The tables lie in the binary and are unpacked on the first count of their family, never at start; from then on they
//! stay. A model that is not surely of a family has no count: a wrong one would look like a right one.

use bpe_openai::Tokenizer;
use kybern_core::ports::TokenCounter;

/// A vocabulary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vocabulary {
    Cl100k,
    O200k,
}

/// Models by the beginning of their names, as tiktoken 0.14 assigns them (`tiktoken/model.py`). A name is of a family
/// when it is this, or goes on with `-` after it; `gpt-5` may go on in any way there, so that it covers `gpt-5.1`.
/// gpt-oss has the words of o200k with more special tokens, which texts do not contain.
const FAMILIES: [(&str, Vocabulary); 15] = [
    ("o1", Vocabulary::O200k),
    ("o3", Vocabulary::O200k),
    ("o4-mini", Vocabulary::O200k),
    ("gpt-4o", Vocabulary::O200k),
    ("gpt-4.1", Vocabulary::O200k),
    ("gpt-4.5", Vocabulary::O200k),
    ("chatgpt-4o", Vocabulary::O200k),
    ("gpt-oss", Vocabulary::O200k),
    ("gpt-4", Vocabulary::Cl100k),
    ("gpt-3.5", Vocabulary::Cl100k),
    ("gpt-3.5-turbo", Vocabulary::Cl100k),
    ("gpt-35-turbo", Vocabulary::Cl100k),
    ("text-embedding-ada-002", Vocabulary::Cl100k),
    ("text-embedding-3-small", Vocabulary::Cl100k),
    ("text-embedding-3-large", Vocabulary::Cl100k),
];
/// The family that goes on in any way.
const OPEN_FAMILY: &str = "gpt-5";

/// The tokenizers that come with the program. Making one loads nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokenizers;

impl TokenCounter for Tokenizers {
    fn count(&self, model: &str, texts: &mut dyn Iterator<Item = &str>) -> Option<u64> {
        let tokenizer = vocabulary(model)?.tokenizer();
        let count = |text: &str| u64::try_from(tokenizer.count(text)).unwrap_or(u64::MAX);
        Some(texts.map(count).fold(0, u64::saturating_add))
    }
}

impl Vocabulary {
    fn tokenizer(self) -> &'static Tokenizer {
        match self {
            Self::Cl100k => bpe_openai::cl100k_base(),
            Self::O200k => bpe_openai::o200k_base(),
        }
    }
}

/// The vocabulary of a model; `None` when it is not sure.
fn vocabulary(model: &str) -> Option<Vocabulary> {
    let name = model.rsplit('/').next().unwrap_or(model);
    // A fine-tuned model has the words of the one that it came from: `ft:gpt-4o-mini:…`. A local server's tag, for
    // instance `gpt-oss:20b`, changes nothing either.
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.split(':').next().unwrap_or(name);
    if name.starts_with(OPEN_FAMILY) {
        return Some(Vocabulary::O200k);
    }
    let is_of = |family: &str| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    FAMILIES.iter().find(|(family, _)| is_of(family)).map(|(_, vocabulary)| *vocabulary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and their counts by cl100k and o200k, as tiktoken 0.14 gives them for the same vocabularies.
    const COUNTS: [(&str, u64, u64); 12] = [
        ("", 0, 0),
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("\u{304a}\u{8a95}\u{751f}\u{65e5}\u{304a}\u{3081}\u{3067}\u{3068}\u{3046}", 9, 8),
        ("Please send the certificate of insurance to user@example.com.", 11, 11),
        ("  \n\n\t  x  ", 4, 4),
        ("<|endoftext|>", 7, 7),
        (r#"{"vin":"1HGCM82633A004352","premium":12345.67}"#, 19, 19),
        ("Stra\u{df}e, na\u{ef}ve caf\u{e9}, \u{41f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{43c}\u{438}\u{440}", 12, 10),
        ("fn main() {\n    println!(\"{}\", 1_000);\n}\n", 13, 13),
        ("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} family", 14, 9),
    ];

    fn count(model: &str, texts: &[&str]) -> Option<u64> {
        Tokenizers.count(model, &mut texts.iter().copied())
    }

    #[test]
    fn counts_are_those_of_the_reference_tokenizer() {
        for (text, cl100k, o200k) in COUNTS {
            assert_eq!(count("gpt-4", &[text]), Some(cl100k), "{text}");
            assert_eq!(count("gpt-4o", &[text]), Some(o200k), "{text}");
        }
        assert_eq!(count("gpt-4", &[&"a".repeat(1_000)]), Some(125));
    }

    #[test]
    fn several_texts_are_counted_each_by_itself() {
        let texts = COUNTS.map(|(text, _, _)| text);
        assert_eq!(count("gpt-5.4-mini", &texts), Some(COUNTS.iter().map(|(_, _, count)| count).sum()));
        assert_eq!(count("gpt-5", &[]), Some(0));
    }

    #[test]
    fn a_model_is_known_by_its_family_wherever_it_is_served() {
        use Vocabulary::{Cl100k, O200k};
        for (model, known) in [
            ("gpt-4o-mini-2024-07-18", Some(O200k)),
            ("openai/gpt-4.1-nano", Some(O200k)),
            ("ft:gpt-4o-mini-2024-07-18:example::abc", Some(O200k)),
            ("gpt-oss:20b", Some(O200k)),
            ("openai/gpt-oss-120b", Some(O200k)),
            ("gpt-5.5-2026-04-23", Some(O200k)),
            ("o3-pro", Some(O200k)),
            ("gpt-4", Some(Cl100k)),
            ("gpt-4-turbo", Some(Cl100k)),
            ("gpt-3.5-turbo-0125", Some(Cl100k)),
            ("text-embedding-3-small", Some(Cl100k)),
            ("gpt-4.9", None),
            ("gpt-6-sol", None),
            ("o30", None),
            ("claude-opus-5-5", None),
            ("gemini-pro-latest", None),
            ("", None),
        ] {
            assert_eq!(vocabulary(model), known, "{model}");
        }
    }

    #[test]
    fn without_a_tokenizer_no_text_is_read() {
        let mut texts = ["a"].into_iter();
        assert_eq!(Tokenizers.count("claude-opus-5-5", &mut texts), None);
        assert_eq!(texts.next(), Some("a"));
    }
}
