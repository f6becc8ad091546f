//! Turning texts into vectors.

use serde::{Deserialize, Serialize};

use super::reply::TokenUsage;

/// Texts to be embedded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbedRequest {
    /// The provider's own name of the model.
    pub model: String,
    /// The texts; none is empty.
    pub texts: Vec<String>,
    /// How many dimensions, where the provider lets one choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<u32>,
    /// An opaque name of the end user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The W3C `traceparent` that goes along. No part of the question: it is not kept.
    #[serde(skip)]
    pub traceparent: Option<String>,
}

/// The vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedded {
    /// The model that answered.
    pub model: String,
    /// One vector for each text, in order, all of one length.
    pub vectors: Vec<Vec<f32>>,
    /// What it took; `output` is 0.
    pub usage: Option<TokenUsage>,
}

/// A text as a model sees it. Vectors of two models cannot be compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    /// `provider/model` that made it.
    pub model: String,
    /// Its components.
    pub values: Vec<f32>,
}

impl Vector {
    /// Its components as bytes, four for each, the smallest first.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// The vector that was written as those bytes; `None` when they are none.
    #[must_use]
    pub fn from_bytes(model: String, bytes: &[u8]) -> Option<Self> {
        let (whole, rest) = bytes.as_chunks::<4>();
        let values: Vec<f32> = whole.iter().map(|four| f32::from_le_bytes(*four)).collect();
        (rest.is_empty() && values.iter().all(|value| value.is_finite())).then_some(Self { model, values })
    }

    /// How near two texts are: the cosine of their vectors. `None` when they cannot be compared.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        if self.model != other.model || self.values.len() != other.values.len() {
            return None;
        }
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let length = (dot(&self.values, &self.values) * dot(&other.values, &other.values)).sqrt();
        let cosine = dot(&self.values, &other.values) / length;
        cosine.is_finite().then_some(cosine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(model: &str, values: &[f32]) -> Vector {
        Vector { model: model.to_owned(), values: values.to_vec() }
    }

    #[test]
    fn vectors_of_one_model_are_compared_and_no_others() {
        let near = |a: &[f32], b: &[f32]| vector("m", a).cosine(&vector("m", b));
        assert_eq!(near(&[1.0, 0.0], &[2.0, 0.0]), Some(1.0));
        assert_eq!(near(&[1.0, 0.0], &[0.0, 3.0]), Some(0.0));
        assert_eq!(near(&[1.0, 0.0], &[-1.0, 0.0]), Some(-1.0));
        assert_eq!(near(&[1.0, 0.0], &[1.0]), None);
        assert_eq!(near(&[0.0, 0.0], &[1.0, 0.0]), None, "nothing has no direction");
        assert_eq!(vector("m", &[1.0]).cosine(&vector("n", &[1.0])), None);
    }

    #[test]
    fn a_vector_survives_the_way_through_bytes() {
        let written = vector("m", &[0.25, -1.5, f32::MIN_POSITIVE]);
        assert_eq!(Vector::from_bytes("m".to_owned(), &written.to_bytes()), Some(written));
        assert_eq!(Vector::from_bytes("m".to_owned(), &[0, 0, 0]), None);
        assert_eq!(Vector::from_bytes("m".to_owned(), &f32::NAN.to_le_bytes()), None);
    }
}
