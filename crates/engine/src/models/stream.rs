//! A reply in pieces, with what it costs.

use futures::future::BoxFuture;
use kybern_core::error::{Error, Result};
use kybern_core::model::{FinishReason, ModelEvent, ModelFailure, ModelRequest, ModelTimeouts, TokenUsage};
use kybern_core::money::NanoUsd;
use kybern_core::ports::ModelStream;
use serde_json::Value;

use super::estimate;
use super::registry::{Candidate, Provider};
use super::run::{ModelRun, outline};

/// A stream whose first pieces are there.
pub(crate) struct BegunStream {
    stream: Box<dyn ModelStream>,
    first: Vec<ModelEvent>,
}

/// Asks, and waits for the first pieces: until they are there, somebody else may be asked instead.
pub(crate) fn begin<'a>(
    provider: &'a Provider,
    request: &'a ModelRequest,
    timeouts: ModelTimeouts,
) -> BoxFuture<'a, std::result::Result<BegunStream, ModelFailure>> {
    Box::pin(async move {
        let mut stream = provider.model.stream(request, timeouts).await?;
        let first = stream.next().await?;
        Ok(BegunStream { stream, first })
    })
}

/// A reply on its way to whoever asked. Settled at its end; dropped before it, or broken, it is settled to what was
/// reserved, unless the provider had said what it took.
pub struct Streaming {
    run: ModelRun,
    candidate: Candidate,
    stream: Box<dyn ModelStream>,
    first: Option<Vec<ModelEvent>>,
    written: u64,
    usage: Option<TokenUsage>,
    ended: bool,
}

impl Streaming {
    pub(crate) fn new(run: ModelRun, candidate: Candidate, begun: BegunStream) -> Self {
        let BegunStream { stream, first } = begun;
        Self { run, candidate, stream, first: Some(first), written: 0, usage: None, ended: false }
    }

    /// `provider/model` that answers.
    #[must_use]
    pub fn model(&self) -> String {
        self.candidate.key()
    }

    /// What it took; known at the end.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    /// What it cost; known at the end.
    #[must_use]
    pub fn cost(&self) -> NanoUsd {
        self.run.spent()
    }

    /// The next pieces; none at the end.
    ///
    /// # Errors
    /// When the provider breaks off. What came before stays true.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<ModelEvent>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let next = match self.first.take() {
            Some(first) => Ok(first),
            None => self.stream.next().await,
        };
        match next {
            Ok(events) => {
                self.ended = events.is_empty();
                self.count(&events);
                Ok(events)
            }
            Err(failure) => {
                self.ended = true;
                self.usage = failure.usage.or(self.usage);
                self.settle(None, Some(outline(&failure)));
                Err(Error::from(failure))
            }
        }
    }

    fn count(&mut self, events: &[ModelEvent]) {
        for event in events {
            let bytes = match event {
                ModelEvent::Text(text) => text.len(),
                ModelEvent::Reasoning(reasoning) => reasoning.text.len(),
                ModelEvent::CallArguments { fragment, .. } => fragment.len(),
                ModelEvent::CallBegun { name, .. } => name.len(),
                ModelEvent::Started { .. } | ModelEvent::Logprobs(_) => 0,
                ModelEvent::Finished { finish, usage } => {
                    self.usage = *usage;
                    self.settle(Some(*finish), None);
                    0
                }
            };
            self.written += u64::try_from(bytes).unwrap_or(0);
        }
    }

    /// At its end to what the provider says, or else to what can be seen. Broken or dropped before it, to what the
    /// provider has said, or else to what was reserved: what it thought and did not show, nobody knows.
    fn settle(&mut self, finish: Option<FinishReason>, why: Option<Value>) {
        let seen = TokenUsage {
            input: self.run.about,
            output: estimate::of_bytes(self.written),
            estimated: true,
            ..TokenUsage::default()
        };
        match (finish, self.usage) {
            (Some(finish), usage) => {
                let usage = usage.unwrap_or(seen);
                self.usage = Some(usage);
                self.run.settle(&self.candidate, usage, Some(finish));
            }
            (None, Some(usage)) => {
                let cost = self.candidate.spec.prices.map_or(NanoUsd(0), |prices| prices.cost(&usage));
                self.run.settle_failed(Some((usage, cost)), why);
            }
            (None, None) => self.run.settle_failed(None, why),
        }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        // Nothing happens when it is settled already.
        self.settle(None, None);
    }
}
