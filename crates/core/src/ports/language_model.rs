//! Language models, each behind its own wire format.

use async_trait::async_trait;

use crate::model::{
    EmbedRequest, Embedded, ListedModel, ModelEvent, ModelFailure, ModelReply, ModelRequest, ModelTimeouts,
};

/// A reply on its way.
#[async_trait]
pub trait ModelStream: Send {
    /// The pieces that are ready, at least one; waits for the first. Pieces that arrived together are given together.
    /// After [`ModelEvent::Finished`] there are none: an empty answer means that the stream is at its end.
    ///
    /// # Errors
    /// Once, when it breaks: what came before stays true, nothing comes after it. A stream that ends without its end
    /// is broken.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing. Dropping the stream ends the request.
    async fn next(&mut self) -> Result<Vec<ModelEvent>, ModelFailure>;
}

/// One provider. It is asked once: whether to try again, or somebody else, is for its caller to say.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Its name in the configuration.
    fn provider(&self) -> &str;

    /// Asks for a whole reply.
    ///
    /// # Errors
    /// See [`ModelFailure`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the request.
    async fn complete(&self, request: &ModelRequest, timeouts: ModelTimeouts) -> Result<ModelReply, ModelFailure>;

    /// Asks for a reply in pieces. Returns when the provider has begun to answer.
    ///
    /// # Errors
    /// See [`ModelFailure`].
    async fn stream(
        &self,
        request: &ModelRequest,
        timeouts: ModelTimeouts,
    ) -> Result<Box<dyn ModelStream>, ModelFailure>;

    /// Turns texts into vectors.
    ///
    /// # Errors
    /// See [`ModelFailure`]; `Unsupported` when the provider offers none.
    async fn embed(&self, request: &EmbedRequest, timeouts: ModelTimeouts) -> Result<Embedded, ModelFailure>;

    /// Its models, as it lists them.
    ///
    /// # Errors
    /// See [`ModelFailure`]; `Unsupported` when the provider offers no list.
    async fn models(&self, timeouts: ModelTimeouts) -> Result<Vec<ListedModel>, ModelFailure>;
}
