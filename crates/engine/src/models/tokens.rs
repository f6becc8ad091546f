//! Texts that come as tokens.

use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::model::ModelKind;
use kybern_core::ports::NoText;

use super::route::refused;
use super::service::{BUILT_IN, ModelService};

impl ModelService {
    /// The texts that an embedding model's tokens are.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when the model's tokenizer is not here; `VALIDATION_ERROR` for tokens that are no text;
    /// `NOT_FOUND` for an unknown model.
    pub async fn texts(&self, model: &str, tokens: Vec<Vec<u32>>) -> Result<Vec<String>> {
        let model = if model.is_empty() { BUILT_IN } else { model };
        let found = self.inner.find(|registry| registry.find(model, ModelKind::Embedding)).await;
        let name = found.ok_or_else(|| refused(&self.inner.registry.missing(model)))?.spec.name.clone();
        let unknown = || {
            let message =
                format!("the tokenizer of {name} is not known here, so its tokens cannot be read: send texts");
            Error::new(ErrorCode::Unprocessable, message)
        };
        let counter = self.inner.counter.clone().ok_or_else(unknown)?;
        let model = name.clone();
        // It brings a table of some megabytes into memory, and others are served on this thread.
        let reading = tokio::task::spawn_blocking(move || {
            let one = |(n, tokens): (usize, &Vec<u32>)| counter.text(&model, tokens).map_err(|why| (n, why));
            tokens.iter().enumerate().map(one).collect::<std::result::Result<Vec<String>, (usize, NoText)>>()
        });
        let read = reading.await.map_err(|error| Error::new(ErrorCode::Internal, error.to_string()))?;
        read.map_err(|(n, why)| match why {
            NoText::Unknown => unknown(),
            NoText::NoToken(token) => fault(n, format!("{name} has no text for the token {token}")),
            NoText::Cut => fault(n, "these tokens are no text: they cut a letter in two".to_owned()),
        })
    }
}

fn fault(n: usize, message: String) -> Error {
    let Detail { path, message } = Detail::new(format!("/input/{n}"), message);
    Error::invalid(path, message)
}
