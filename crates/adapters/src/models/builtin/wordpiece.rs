//! Words and their pieces, as the model's own tokenizer makes them.
//!
//! A text is cleaned of control characters, put into lower case without accents, and cut at white space, punctuation
//! and Chinese characters. Each word then becomes the longest tokens that make it up, from its beginning; a word that
//! cannot be made up, or has more than [`LONGEST_WORD`] characters, is unknown as a whole.
//!
//! `third_party/minilm-static/tokens.json` holds what the real one makes of sixty texts. Two differences are meant: a
//! text that looks like a special token is a text, and characters that are younger than the real one's tables of
//! Unicode are judged by newer ones.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use super::table::Table;

/// How many characters a known word has at most: the vocabulary's own `max_input_chars_per_word`.
const LONGEST_WORD: usize = 100;

/// Chinese characters, each of which is a word: the ranges of the model's tokenizer.
const CHINESE: [(char, char); 8] = [
    ('\u{3400}', '\u{4DBF}'),
    ('\u{4E00}', '\u{9FFF}'),
    ('\u{F900}', '\u{FAFF}'),
    ('\u{20000}', '\u{2A6DF}'),
    ('\u{2A700}', '\u{2B73F}'),
    ('\u{2B740}', '\u{2B81F}'),
    ('\u{2B920}', '\u{2CEAF}'),
    ('\u{2F800}', '\u{2FA1F}'),
];

/// Gives the places of a text's tokens, in order; `None` for an unknown word.
pub(super) fn each_token(table: &Table, text: &str, each: impl FnMut(Option<usize>)) {
    let mut cutter = WordCutter { table, word: String::new(), characters: 0, pieces: Vec::new(), each };
    for character in text.chars() {
        cutter.take(character);
    }
    cutter.end_word();
}

struct WordCutter<'t, F> {
    table: &'t Table,
    /// The word so far, at most [`LONGEST_WORD`] characters of it.
    word: String,
    characters: usize,
    /// The tokens of a word, kept to save an allocation for each.
    pieces: Vec<usize>,
    each: F,
}

impl<F: FnMut(Option<usize>)> WordCutter<'_, F> {
    /// Takes a character of the text.
    fn take(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            self.push(character.to_ascii_lowercase());
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            self.end_word();
        } else if !is_dropped(character) {
            let alone = is_chinese(character);
            if alone {
                self.end_word();
            }
            decompose_canonical(character, |part| {
                if part.is_ascii() || part.general_category() != GeneralCategory::NonspacingMark {
                    part.to_lowercase().for_each(|lower| self.place(lower));
                }
            });
            if alone {
                self.end_word();
            }
        }
    }

    /// Places a character that is in lower case and without accents.
    fn place(&mut self, character: char) {
        if character.is_whitespace() {
            self.end_word();
        } else if is_punctuation(character) {
            self.end_word();
            self.push(character);
            self.end_word();
        } else {
            self.push(character);
        }
    }

    fn push(&mut self, character: char) {
        self.characters += 1;
        if self.characters <= LONGEST_WORD {
            self.word.push(character);
        }
    }

    fn end_word(&mut self) {
        if self.characters == 0 {
            return;
        }
        if self.characters <= LONGEST_WORD && self.cut().is_some() {
            self.pieces.iter().for_each(|place| (self.each)(Some(*place)));
        } else {
            (self.each)(None);
        }
        self.word.clear();
        self.characters = 0;
    }

    /// Cuts the word into the longest tokens; `None` when some of it is in no token.
    fn cut(&mut self) -> Option<()> {
        self.pieces.clear();
        let mut begin = 0;
        while begin < self.word.len() {
            let rest = &self.word[begin..];
            let most = rest.floor_char_boundary(self.table.longest());
            let ends = rest[..most].char_indices().rev().map(|(at, character)| at + character.len_utf8());
            let found = ends.into_iter().find_map(|end| {
                let place = self.table.find(&rest[..end], begin > 0)?;
                Some((place, end))
            });
            let (place, end) = found?;
            self.pieces.push(place);
            begin += end;
        }
        Some(())
    }
}

/// Characters that leave no trace: control and format characters, private ones, and those that stand for damage.
fn is_dropped(character: char) -> bool {
    character == char::REPLACEMENT_CHARACTER
        || matches!(
            character.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        )
}

fn is_chinese(character: char) -> bool {
    CHINESE.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Punctuation, and all of ASCII's signs.
fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() || character.general_category_group() == GeneralCategoryGroup::Punctuation
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Row {
        text: String,
        tokens: Vec<String>,
    }

    fn tokens(text: &str) -> Vec<String> {
        let (table, mut found) = (Table::embedded(), Vec::new());
        each_token(&table, text, |place| {
            found.push(place.map_or_else(|| "[UNK]".to_owned(), |place| table.token(place)));
        });
        found
    }

    #[test]
    fn tokens_are_those_of_the_real_tokenizer() {
        let rows: Vec<Row> =
            serde_json::from_str(include_str!("../../../../../third_party/minilm-static/tokens.json")).unwrap();
        assert!(rows.len() >= 60);
        for row in rows {
            assert_eq!(tokens(&row.text), row.tokens, "{:?}", row.text);
        }
    }

    #[test]
    fn a_word_is_known_or_unknown_as_a_whole() {
        assert_eq!(tokens("a\u{1F600}"), ["[UNK]"]);
        assert_eq!(tokens(&"long".repeat(10_000)), ["[UNK]"]);
    }
}
