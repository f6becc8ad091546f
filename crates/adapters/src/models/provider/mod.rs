//! One provider of models behind the egress client.
//!
//! What always holds: a call ends, within its own times; every failure is typed and names the provider; no key
//! appears in an error, in `Debug` or in a log. Whether to try again, or somebody else, is for the caller to say.

mod config;
mod deadlines;
mod exchange;
mod stream;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::model::{
    EmbedRequest, Embedded, ListedModel, ModelFailure, ModelFailureKind, ModelReply, ModelRequest, ModelTimeouts,
};
use kybern_core::ports::{LanguageModel, ModelStream};

pub use self::config::{ProviderConfig, ProviderError};
use self::deadlines::CallDeadlines;
use self::exchange::{AnswerKind, Channel};
use super::wire::{WireFormat, WireRequest, embedding, listing};
use crate::http::Egress;
use crate::models::quirks::Quirks;

/// The most bytes of a reply, streamed or not.
pub const MAX_REPLY_BYTES: usize = 32 << 20;

pub struct Provider {
    format: WireFormat,
    quirks: &'static Quirks,
    channel: Arc<Channel>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.quirks.kind;
        f.debug_struct("Provider")
            .field("name", &self.channel.name())
            .field("kind", &kind)
            .field("format", &self.format)
            .field("base_url", &self.channel.base_url())
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// A provider as configured; nothing is sent.
    ///
    /// # Errors
    /// When the configuration lacks a base URL or a key that is needed, or holds one that cannot be sent.
    pub fn new(config: ProviderConfig, egress: Arc<Egress>) -> Result<Self, ProviderError> {
        let quirks = config.kind.quirks();
        let format = config.format.unwrap_or(quirks.format);
        let channel = Arc::new(config.into_channel(egress)?);
        Ok(Self { format, quirks, channel })
    }

    /// The format that it speaks.
    #[must_use]
    pub fn format(&self) -> WireFormat {
        self.format
    }

    /// What is known of it.
    #[must_use]
    pub fn quirks(&self) -> &'static Quirks {
        self.quirks
    }

    /// Asks, and reads all of the answer.
    async fn ask(
        &self,
        wire: WireRequest,
        trace: Option<&str>,
        timeouts: ModelTimeouts,
    ) -> Result<Vec<u8>, ModelFailure> {
        let mut deadlines = CallDeadlines::start(timeouts);
        let mut answer = self.channel.open(wire, AnswerKind::Whole, trace, timeouts.connect, &mut deadlines).await?;
        deadlines.begin();
        exchange::read(&mut answer, MAX_REPLY_BYTES, &mut deadlines).await
    }

    fn named(&self, failure: ModelFailure) -> ModelFailure {
        self.channel.named(failure)
    }
}

#[async_trait]
impl LanguageModel for Provider {
    fn provider(&self) -> &str {
        self.channel.name()
    }

    async fn complete(&self, request: &ModelRequest, timeouts: ModelTimeouts) -> Result<ModelReply, ModelFailure> {
        let answered = async {
            let wire = self.format.encode(request, false, self.quirks)?;
            let body = self.ask(wire, request.traceparent.as_deref(), timeouts).await?;
            self.format.decode(&body)
        };
        answered.await.map_err(|failure| self.named(failure))
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        timeouts: ModelTimeouts,
    ) -> Result<Box<dyn ModelStream>, ModelFailure> {
        let opened = async {
            let wire = self.format.encode(request, true, self.quirks)?;
            let mut deadlines = CallDeadlines::start(timeouts);
            let trace = request.traceparent.as_deref();
            let answer = self.channel.open(wire, AnswerKind::Stream, trace, timeouts.connect, &mut deadlines).await?;
            stream::open(Arc::clone(&self.channel), self.format, answer, deadlines).await
        };
        opened.await.map_err(|failure| self.named(failure))
    }

    async fn embed(&self, request: &EmbedRequest, timeouts: ModelTimeouts) -> Result<Embedded, ModelFailure> {
        let answered = async {
            let wire = embedding::encode(request, self.format, self.quirks)?;
            embedding::decode(&self.ask(wire, request.traceparent.as_deref(), timeouts).await?, request)
        };
        answered.await.map_err(|failure| self.named(failure))
    }

    async fn models(&self, timeouts: ModelTimeouts) -> Result<Vec<ListedModel>, ModelFailure> {
        let answered = async {
            let Some(path) = self.quirks.models else {
                let message = format!("{} has no endpoint that lists its models", self.quirks.kind.as_str());
                return Err(ModelFailure::new(ModelFailureKind::Unsupported, message));
            };
            let headers = listing::headers(self.format);
            let wire = WireRequest { method: "GET", path: path.to_owned(), headers, body: bytes::Bytes::new() };
            listing::decode(&self.ask(wire, None, timeouts).await?)
        };
        answered.await.map_err(|failure| self.named(failure))
    }
}
