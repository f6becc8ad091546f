//! How near a text is to a question.

use std::collections::BTreeSet;

use crate::context::Similarity;
use crate::model::Vector;

/// By their vectors, where both have one of the same model; else by their words.
#[must_use]
pub fn nearness(question: (&str, Option<&Vector>), text: (&str, Option<&Vector>)) -> Similarity {
    let cosine = question.1.zip(text.1).and_then(|(question, text)| question.cosine(text));
    cosine.map_or_else(|| by_words(question.0, text.0), Similarity::of_cosine)
}

/// By their words: which part of the question's words stands in the text. It is for where there is no model that makes
/// vectors, and knows neither stems nor meanings.
#[must_use]
pub fn by_words(question: &str, text: &str) -> Similarity {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (asked, said) = (words(question), words(text));
    let found = asked.intersection(&said).count();
    let [found, asked] = [found, asked.len()].map(|count| u16::try_from(count).unwrap_or(u16::MAX));
    if asked == 0 { Similarity::default() } else { Similarity::of_cosine(f32::from(found) / f32::from(asked)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_where_there_are_no_vectors() {
        for (question, text, per_mille) in [
            ("the blue train", "She takes the Blue train.", 1_000),
            ("blue trains", "the blue train", 500),
            ("ship", "the blue train", 0),
            ("", "the blue train", 0),
            ("?!", "?!", 0),
        ] {
            assert_eq!(by_words(question, text).per_mille(), per_mille, "{question}");
        }
    }

    #[test]
    fn vectors_of_one_model_go_before_words() {
        let vector = |model: &str, values: &[f32]| Vector { model: model.to_owned(), values: values.to_vec() };
        let (east, west) = (vector("m", &[1.0, 0.0]), vector("m", &[0.0, 1.0]));
        assert_eq!(nearness(("same words", Some(&east)), ("same words", Some(&west))).per_mille(), 0);
        assert_eq!(nearness(("a", Some(&east)), ("b", Some(&east))).per_mille(), 1_000);
        let other = vector("n", &[1.0, 0.0]);
        assert_eq!(nearness(("same words", Some(&east)), ("same words", Some(&other))).per_mille(), 1_000);
        assert_eq!(nearness(("same words", None), ("same words", Some(&east))).per_mille(), 1_000);
    }
}
