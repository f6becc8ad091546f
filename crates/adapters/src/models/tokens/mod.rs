//! Counting tokens by the model's own tokenizer, for the families whose tokenizer is public.
//!
//! The vocabularies (`third_party/openai-bpe`) are used where they lie in the binary: a count brings the pages that it
//! looks at into memory, at most some 5 MB, and nothing is unpacked. A model that is not surely of a family has no
//! count: a wrong one would look like a right one.

mod merge;
mod pieces;
mod vocabulary;

use kybern_core::ports::{NoText, TokenCounter};
use regex::Regex;

use self::vocabulary::Vocabulary;

/// A vocabulary with its pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Encoding {
    Cl100k,
    O200k,
}

/// Models by the beginning of their names, as tiktoken 0.14 assigns them (`tiktoken/model.py`). A name is of a family
/// when it is this, or goes on with `-` after it; `gpt-5` may go on in any way there, so that it covers `gpt-5.1`.
/// gpt-oss has the words of o200k with more special tokens, which texts do not contain.
const FAMILIES: [(&str, Encoding); 15] = [
    ("o1", Encoding::O200k),
    ("o3", Encoding::O200k),
    ("o4-mini", Encoding::O200k),
    ("gpt-4o", Encoding::O200k),
    ("gpt-4.1", Encoding::O200k),
    ("gpt-4.5", Encoding::O200k),
    ("chatgpt-4o", Encoding::O200k),
    ("gpt-oss", Encoding::O200k),
    ("gpt-4", Encoding::Cl100k),
    ("gpt-3.5", Encoding::Cl100k),
    ("gpt-3.5-turbo", Encoding::Cl100k),
    ("gpt-35-turbo", Encoding::Cl100k),
    ("text-embedding-ada-002", Encoding::Cl100k),
    ("text-embedding-3-small", Encoding::Cl100k),
    ("text-embedding-3-large", Encoding::Cl100k),
];
/// The family that goes on in any way.
const OPEN_FAMILY: &str = "gpt-5";

/// The tokenizers that come with the program. Making one loads nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokenizers;

impl TokenCounter for Tokenizers {
    fn count(&self, model: &str, texts: &mut dyn Iterator<Item = &str>) -> Option<u64> {
        let (vocabulary, pattern) = encoding(model)?.parts()?;
        let mut count = 0;
        for text in texts {
            pieces::each(pattern, text, |piece| count += merge::count(&vocabulary, piece.as_bytes()));
        }
        u64::try_from(count).ok()
    }

    fn text(&self, model: &str, tokens: &[u32]) -> Result<String, NoText> {
        let (vocabulary, _) = encoding(model).and_then(Encoding::parts).ok_or(NoText::Unknown)?;
        let bytes = vocabulary.bytes(tokens).map_err(NoText::NoToken)?;
        String::from_utf8(bytes).map_err(|_| NoText::Cut)
    }
}

impl Encoding {
    fn parts(self) -> Option<(Vocabulary, &'static Regex)> {
        match self {
            Self::Cl100k => Some((Vocabulary::cl100k()?, pieces::CL100K_PATTERN.as_ref()?)),
            Self::O200k => Some((Vocabulary::o200k()?, pieces::O200K_PATTERN.as_ref()?)),
        }
    }
}

/// The vocabulary of a model; `None` when it is not sure.
fn encoding(model: &str) -> Option<Encoding> {
    let name = model.rsplit('/').next().unwrap_or(model);
    // A fine-tuned model has the words of the one that it came from: `ft:gpt-4o-mini:…`. A local server's tag, for
    // instance `gpt-oss:20b`, changes nothing either.
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.split(':').next().unwrap_or(name);
    if name.starts_with(OPEN_FAMILY) {
        return Some(Encoding::O200k);
    }
    let is_of = |family: &str| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    FAMILIES.iter().find(|(family, _)| is_of(family)).map(|(_, encoding)| *encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and their counts by cl100k and o200k, as tiktoken gives them.
    fn counts() -> Vec<(String, u64, u64)> {
        serde_json::from_str(include_str!("../../../../../third_party/openai-bpe/counts.json")).unwrap()
    }

    fn count(model: &str, texts: &[&str]) -> Option<u64> {
        Tokenizers.count(model, &mut texts.iter().copied())
    }

    #[test]
    fn counts_are_those_of_the_reference_tokenizer() {
        for (text, cl100k, o200k) in counts() {
            assert_eq!(count("gpt-4", &[&text]), Some(cl100k), "{text:?}");
            assert_eq!(count("gpt-4o", &[&text]), Some(o200k), "{text:?}");
        }
    }

    /// "hello world" by cl100k, as OpenAI's cookbook prints it: 15339 and 1917.
    #[test]
    fn tokens_are_read_back_as_the_text_that_they_were() {
        let text = |tokens: &[u32]| Tokenizers.text("openai/text-embedding-3-small", tokens);
        assert_eq!(text(&[15_339, 1_917]), Ok("hello world".to_owned()));
        assert_eq!(text(&[]), Ok(String::new()));
        assert_eq!(text(&[15_339, 100_257]), Err(NoText::NoToken(100_257)), "a special token stands for no text");
        assert_eq!(Tokenizers.text("nomic-embed-text", &[15_339]), Err(NoText::Unknown));
        let half = (0..256).find(|token| text(&[*token]).is_err());
        assert_eq!(half.map(|token| text(&[token])), Some(Err(NoText::Cut)), "bytes that begin no letter are no text");
    }

    #[test]
    fn several_texts_are_counted_each_by_itself() {
        let rows = counts();
        let texts: Vec<&str> = rows.iter().map(|(text, _, _)| text.as_str()).collect();
        assert_eq!(count("gpt-5.4-mini", &texts), Some(rows.iter().map(|(_, _, count)| count).sum()));
        assert_eq!(count("gpt-5", &[]), Some(0));
    }

    #[test]
    fn a_long_run_of_one_letter_is_no_danger() {
        assert_eq!(count("gpt-4", &[&"a".repeat(200_000)]), Some(25_000));
    }

    #[test]
    fn a_model_is_known_by_its_family_wherever_it_is_served() {
        use Encoding::{Cl100k, O200k};
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
            assert_eq!(encoding(model), known, "{model}");
        }
    }

    #[test]
    fn without_a_tokenizer_no_text_is_read() {
        let mut texts = ["a"].into_iter();
        assert_eq!(Tokenizers.count("claude-opus-5-5", &mut texts), None);
        assert_eq!(texts.next(), Some("a"));
    }
}
