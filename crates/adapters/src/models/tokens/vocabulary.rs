//! A vocabulary that comes with the program, used where the binary was loaded: nothing is unpacked, and only the pages
//! that were looked at come into memory. `third_party/openai-bpe/take.py` makes it and describes its layout.

use std::cmp::Ordering;
use std::collections::HashMap;

/// How a vocabulary begins.
const MAGIC: &[u8] = b"KYBBPE1\n";
/// Bytes of a number.
const WORD: usize = 4;

static CL100K: &[u8] = include_bytes!("../../../../../third_party/openai-bpe/cl100k.bin");
static O200K: &[u8] = include_bytes!("../../../../../third_party/openai-bpe/o200k.bin");

/// Tokens and their ranks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vocabulary {
    tokens: usize,
    begins: &'static [u8],
    ranks: &'static [u8],
    texts: &'static [u8],
}

impl Vocabulary {
    /// That of GPT-4 and the embedding models.
    pub(super) fn cl100k() -> Option<Self> {
        Self::read(CL100K)
    }

    /// That of GPT-4o and later models.
    pub(super) fn o200k() -> Option<Self> {
        Self::read(O200K)
    }

    /// Reads a vocabulary; `None` when its parts do not fit together. Those of the program are tested to do.
    fn read(bytes: &'static [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let tokens = number(rest, 0)?;
        let (begins, rest) = rest.get(WORD..)?.split_at_checked(tokens.checked_add(1)?.checked_mul(WORD)?)?;
        let (ranks, texts) = rest.split_at_checked(tokens.checked_mul(WORD)?)?;
        (number(begins, tokens)? == texts.len()).then_some(Self { tokens, begins, ranks, texts })
    }

    /// The rank of the token that these bytes are.
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.tokens);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.token(middle)?.cmp(bytes) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return number(self.ranks, middle),
            }
        }
        None
    }

    /// The bytes of tokens by their ranks; `Err` with the first rank that no token has. One walk over all ranks, however
    /// many are asked for.
    pub(super) fn bytes(&self, ranks: &[u32]) -> Result<Vec<u8>, u32> {
        let mut places: HashMap<u32, Option<usize>> = ranks.iter().map(|rank| (*rank, None)).collect();
        for place in 0..self.tokens {
            let rank = number(self.ranks, place).and_then(|rank| u32::try_from(rank).ok());
            if let Some(known) = rank.and_then(|rank| places.get_mut(&rank)) {
                *known = Some(place);
            }
        }
        let mut bytes = Vec::new();
        for rank in ranks {
            let place = places.get(rank).copied().flatten();
            bytes.extend_from_slice(place.and_then(|place| self.token(place)).ok_or(*rank)?);
        }
        Ok(bytes)
    }

    fn token(&self, place: usize) -> Option<&'static [u8]> {
        self.texts.get(number(self.begins, place)?..number(self.begins, place + 1)?)
    }
}

fn number(list: &[u8], place: usize) -> Option<usize> {
    let bytes = list.get(place * WORD..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabularies_are_readable_and_every_byte_is_a_token() {
        for (vocabulary, tokens) in [(Vocabulary::cl100k(), 100_256), (Vocabulary::o200k(), 199_998)] {
            let vocabulary = vocabulary.unwrap();
            assert_eq!(vocabulary.tokens, tokens);
            assert!((0..=u8::MAX).all(|byte| vocabulary.rank(&[byte]).is_some()));
            assert!(
                (0..tokens).step_by(97).all(|place| {
                    vocabulary.rank(vocabulary.token(place).unwrap()) == number(vocabulary.ranks, place)
                })
            );
            assert_eq!(vocabulary.rank(b""), None);
        }
    }

    #[test]
    fn a_vocabulary_whose_parts_do_not_fit_is_refused() {
        assert!(Vocabulary::read(b"").is_none());
        assert!(Vocabulary::read(b"KYBBPE1\n\xff\xff\xff\xff").is_none());
        assert!(Vocabulary::read(&O200K[..O200K.len() - 1]).is_none());
    }
}
