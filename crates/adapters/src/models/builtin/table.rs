//! The table of token vectors that comes with the program, used where the binary was loaded: nothing is copied, and
//! only the pages of rows that were asked for come into memory.
//!
//! `third_party/minilm-static/distil.py` makes it and describes its layout.

use std::cmp::Ordering;

static EMBEDDED: &[u8] = include_bytes!("../../../../../third_party/minilm-static/table.bin");

/// How the table begins.
const MAGIC: &[u8] = b"KYBSTV1\n";
/// Bytes of a length, and of an offset.
const WORD: usize = 4;
/// Bytes of a scale.
const SCALE: usize = 2;

/// Tokens and their rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Table {
    dimensions: usize,
    /// The tokens that begin a word; those that continue one come after them.
    words: usize,
    tokens: usize,
    longest: usize,
    begins: &'static [u8],
    scales: &'static [u8],
    texts: &'static [u8],
    rows: &'static [u8],
}

impl Table {
    /// The table of this program.
    pub(super) fn embedded() -> Self {
        // It is tested to be readable; an empty one would make every text unknown.
        Self::read(EMBEDDED).unwrap_or_default()
    }

    /// Reads a table; `None` when its parts do not fit together.
    fn read(bytes: &'static [u8]) -> Option<Self> {
        let (dimensions, rest) = number(bytes.strip_prefix(MAGIC)?)?;
        let (words, rest) = number(rest)?;
        let (pieces, rest) = number(rest)?;
        let (longest, rest) = number(rest)?;
        let tokens = words.checked_add(pieces)?;
        let (begins, rest) = rest.split_at_checked(tokens.checked_add(1)?.checked_mul(WORD)?)?;
        let (scales, rest) = rest.split_at_checked(tokens.checked_mul(SCALE)?)?;
        let (end, _) = number(begins.get(tokens * WORD..)?)?;
        let (texts, rows) = rest.split_at_checked(end)?;
        let fits = rows.len() == tokens.checked_mul(dimensions)?;
        fits.then_some(Self { dimensions, words, tokens, longest, begins, scales, texts, rows })
    }

    /// How long a row is.
    #[cfg(test)]
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many bytes the longest token has.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The place of the token that begins a word with this text, or continues one.
    pub(super) fn find(&self, text: &str, continues: bool) -> Option<usize> {
        let (mut low, mut high) = if continues { (self.words, self.tokens) } else { (0, self.words) };
        while low < high {
            let middle = low + (high - low) / 2;
            match self.bytes(middle).cmp(text.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The weight of a token's row, from 0 to 65,535, and the row.
    pub(super) fn row(&self, place: usize) -> (u16, &'static [u8]) {
        let scale = self.scales.get(place * SCALE..).and_then(<[u8]>::first_chunk);
        let row = self.rows.get(place * self.dimensions..(place + 1) * self.dimensions);
        (scale.map_or(0, |bytes| u16::from_le_bytes(*bytes)), row.unwrap_or_default())
    }

    /// A token as its vocabulary writes it.
    #[cfg(test)]
    pub(super) fn token(&self, place: usize) -> String {
        let text = String::from_utf8_lossy(self.bytes(place));
        if place < self.words { text.into_owned() } else { format!("##{text}") }
    }

    /// A token's text.
    fn bytes(&self, place: usize) -> &'static [u8] {
        let text = self.begins.get(place * WORD..).and_then(|from| {
            let (begin, rest) = number(from)?;
            self.texts.get(begin..number(rest)?.0)
        });
        text.unwrap_or_default()
    }
}

/// The number at the beginning, and what follows it.
fn number(bytes: &'static [u8]) -> Option<(usize, &'static [u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_every_token_finds_itself() {
        let table = Table::read(EMBEDDED).unwrap();
        assert_eq!((table.tokens, table.dimensions), (29_523, 160));
        for place in 0..table.tokens {
            let text = std::str::from_utf8(table.bytes(place)).unwrap();
            assert!(!text.is_empty() && text.len() <= table.longest, "{text}");
            assert_eq!(table.find(text, place >= table.words), Some(place), "{text}");
            assert_eq!(table.row(place).1.len(), 160);
        }
    }

    #[test]
    fn words_and_pieces_are_apart_and_punctuation_weighs_nothing() {
        let table = Table::embedded();
        assert_ne!(table.find("ing", false), table.find("ing", true));
        assert_eq!(table.find("certificate", true), None);
        assert_eq!(table.find("", false), None);
        assert_eq!(table.row(table.find(".", false).unwrap()).0, 0);
        let weight = |word| table.row(table.find(word, false).unwrap()).0;
        assert!(weight("the") < weight("with") && weight("with") < weight("insurance"));
    }

    #[test]
    fn a_table_whose_parts_do_not_fit_is_refused() {
        assert!(Table::read(b"").is_none());
        assert!(Table::read(b"KYBSTV1\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0").is_none());
        assert!(Table::read(&EMBEDDED[..EMBEDDED.len() - 1]).is_none());
        assert!(Table::read(&EMBEDDED[1..]).is_none());
    }
}
