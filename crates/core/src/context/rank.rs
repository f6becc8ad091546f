//! What was looked up for a turn, in the order of its rank.

use serde::{Deserialize, Serialize};

use super::layer::Origin;
use crate::money::Tokens;

/// How near a text is to the question, in thousandths: 0 has nothing to do with it, 1,000 says the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Similarity(u16);

impl Similarity {
    /// Of what has to do with the question by something else than its words.
    pub const LEAST: Self = Self(1);

    /// Out of the cosine of two vectors. What points away, and what is no number, is not similar at all.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number from 0 to 1,000")]
    pub fn of_cosine(cosine: f32) -> Self {
        if cosine.is_nan() {
            return Self(0);
        }
        Self((cosine.clamp(0.0, 1.0) * 1_000.0).round() as u16)
    }

    /// In thousandths.
    #[must_use]
    pub const fn per_mille(self) -> u16 {
        self.0
    }
}

/// How much a memory matters, from 1 to 10; 5 when nobody has said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Importance(u8);

impl Importance {
    /// What holds when nobody has said.
    pub const DEFAULT: Self = Self(5);
}

impl Default for Importance {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl TryFrom<u8> for Importance {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if (1..=10).contains(&number) {
            return Ok(Self(number));
        }
        Err(format!("importance is a number from 1 to 10, not {number}"))
    }
}

impl From<Importance> for u8 {
    fn from(importance: Importance) -> Self {
        importance.0
    }
}

/// Something that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchHit {
    /// Its id, for the reader and for what breaks a tie.
    pub id: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is: a document's title, a memory's kind.
    pub title: String,
    /// What it says.
    pub text: String,
    /// How near it is to the question.
    pub similarity: Similarity,
    /// How much it matters; of a memory only.
    pub importance: Option<Importance>,
    /// How many tokens it takes in the prompt, its frame included.
    pub tokens: Tokens,
}

/// The best that fit into the share, in the order in which they were found: whoever looked them up has ranked them, and
/// knows more of them than one number. One that does not fit leaves its place to the next; what has nothing to do with the
/// question is left out.
#[must_use]
pub fn that_fit(mut found: Vec<SearchHit>, share: Tokens) -> Vec<SearchHit> {
    let mut left = share.0;
    found.retain(|one| {
        let fits = one.similarity > Similarity::default() && one.tokens.0 <= left;
        if fits {
            left -= one.tokens.0;
        }
        fits
    });
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(id: &str, similarity: u16, tokens: u64) -> SearchHit {
        SearchHit {
            id: id.to_owned(),
            origin: Origin::Memory,
            title: "fact".to_owned(),
            text: "x".to_owned(),
            similarity: Similarity(similarity),
            importance: None,
            tokens: Tokens(tokens),
        }
    }

    fn ids(found: Vec<SearchHit>) -> Vec<String> {
        found.into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn what_was_ranked_keeps_its_order_and_what_has_nothing_to_do_with_the_question_is_left_out() {
        let all = vec![found("b", 300, 1), found("odd", 0, 1), found("a", 900, 1)];
        assert_eq!(ids(that_fit(all, Tokens(10))), ["b", "a"]);
    }

    #[test]
    fn one_that_does_not_fit_leaves_its_place_to_the_next() {
        let all = vec![found("best", 900, 60), found("long", 800, 60), found("short", 700, 40)];
        assert_eq!(ids(that_fit(all, Tokens(100))), ["best", "short"]);
    }

    #[test]
    fn similarities_and_importances_stay_in_their_ranges() {
        let cosines = [(-1.0, 0), (0.0, 0), (0.5, 500), (1.0, 1_000), (1.000_1, 1_000), (f32::NAN, 0)];
        for (cosine, per_mille) in cosines {
            assert_eq!(Similarity::of_cosine(cosine).per_mille(), per_mille, "{cosine}");
        }
        assert!(serde_json::from_str::<Importance>("11").unwrap_err().to_string().contains("from 1 to 10, not 11"));
        assert_eq!(serde_json::from_str::<Importance>("10").unwrap(), Importance(10));
        assert!(Importance::try_from(0).is_err() && Importance::default() == Importance(5));
    }

    proptest! {
        #[test]
        fn the_share_is_never_passed_and_the_first_that_fits_is_there(
            sizes in proptest::collection::vec(1_u64..50, 0..30),
            share in 0_u64..300,
        ) {
            let all: Vec<SearchHit> =
                sizes.iter().enumerate().map(|(n, tokens)| found(&n.to_string(), 500, *tokens)).collect();
            let first = all.iter().find(|one| one.tokens.0 <= share).map(|one| one.id.clone());
            let taken = that_fit(all, Tokens(share));
            prop_assert!(taken.iter().map(|one| one.tokens.0).sum::<u64>() <= share);
            prop_assert_eq!(taken.first().map(|one| one.id.clone()), first);
        }
    }
}
