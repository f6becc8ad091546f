//! Google's Gemini: <https://ai.google.dev/api/generate-content>.

mod answer;
mod contents;
mod decode;
mod encode;
mod stream;

pub use self::decode::decode;
pub use self::encode::encode;
pub use self::stream::Stream;

/// The path of a model. Tuned models bring their own folder.
pub(super) fn model_path(model: &str) -> String {
    if model.contains('/') { format!("/{model}") } else { format!("/models/{model}") }
}
