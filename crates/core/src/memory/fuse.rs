//! Two rankings of the same texts as one: by their vectors, which know meanings, and by their words, which know names
//! and numbers.

use std::collections::BTreeSet;

use super::function_words::is_function_word;
use crate::context::Similarity;

/// What a place counts for falls with it, from this on: the constant of reciprocal rank fusion as it was published
/// (Cormack, Clarke and Büttcher, 2009).
const DAMPING: u64 = 60;
/// Letters of a word that says something, unless it is a function word. One with a digit in it does so however short it
/// is.
const LEAST_LETTERS: usize = 4;

/// What the places in several rankings count for together, each from 1. A ranking in which a text does not stand adds
/// nothing.
#[must_use]
pub fn fused(places: impl IntoIterator<Item = usize>) -> u64 {
    let worth = |place: usize| 1_000_000_000 / (DAMPING + u64::try_from(place).unwrap_or(u64::MAX - DAMPING));
    places.into_iter().map(worth).sum()
}

/// The place of each weight, from 1, the heaviest first; equal ones share theirs. What weighs nothing has none.
#[must_use]
pub fn places(weights: &[u32]) -> Vec<Option<usize>> {
    let heavier: BTreeSet<u32> = weights.iter().copied().filter(|weight| *weight > 0).collect();
    let place = |weight: &u32| (*weight > 0).then(|| heavier.range(weight..).count());
    weights.iter().map(place).collect()
}

/// Which part of the question's words that say something stands in the text.
#[must_use]
pub fn by_keywords(question: &str, text: &str) -> Similarity {
    let (asked, said) = (keywords(question), keywords(text));
    let found = asked.intersection(&said).count();
    let [found, asked] = [found, asked.len()].map(|count| u16::try_from(count).unwrap_or(u16::MAX));
    if asked == 0 { Similarity::default() } else { Similarity::of_cosine(f32::from(found) / f32::from(asked)) }
}

fn keywords(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let says = |word: &&str| word.chars().count() >= LEAST_LETTERS || word.chars().any(|c| c.is_ascii_digit());
    words.filter(says).map(str::to_lowercase).filter(|word| !is_function_word(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_share_a_place_and_nothing_has_none() {
        assert_eq!(places(&[5, 9, 0, 9, 1]), [Some(2), Some(1), None, Some(1), Some(3)]);
        assert!(places(&[]).is_empty());
    }

    #[test]
    fn two_rankings_count_for_more_than_one_and_a_better_place_for_more_than_a_worse_one() {
        assert!(fused([1]) > fused([2]) && fused([2]) > fused([60]) && fused([60]) > fused([]));
        assert!(fused([5, 1]) > fused([1]));
        assert_eq!(fused([1, 2]), fused([2, 1]));
    }

    #[test]
    fn names_and_numbers_are_words_that_say_something() {
        for (question, text, per_mille) in [
            ("what of PLM-77001?", "Policy PLM-77001 was cancelled.", 1_000),
            ("is it so", "it is so", 0),
            ("unit 7", "Unit 7 is in the shop.", 1_000),
            ("", "anything", 0),
            ("What do they want with invoices?", "Came with a trailer they want repainted", 0),
            ("What do they want with invoices?", "Wants invoices by mail", 1_000),
            ("¿Cómo quieren las facturas?", "Quieren las facturas por correo", 1_000),
            ("Est-ce que vous avez leurs factures ?", "Vous avez leurs remorques", 0),
        ] {
            assert_eq!(by_keywords(question, text).per_mille(), per_mille, "{question}");
        }
    }
}
