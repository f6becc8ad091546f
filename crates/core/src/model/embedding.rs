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
