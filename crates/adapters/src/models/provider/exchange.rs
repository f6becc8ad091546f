//! Sending a request and reading its answer.

use std::sync::Arc;

use kybern_core::model::{ModelFailure, ModelFailureKind};
use kybern_core::ports::HttpFailure;
use kybern_core::time::Millis;

use super::deadlines::CallDeadlines;
use crate::http::{Egress, OpenRequest, OpenResponse};
use crate::models::secret::{Secret, scrub};
use crate::models::wire::WireRequest;
use crate::models::wire::failure::{self, Headers};

/// The way to a provider.
pub(super) struct Channel {
    name: String,
    base_url: String,
    /// The key among them.
    headers: Vec<(String, String)>,
    secrets: Vec<Secret>,
    trusted: bool,
    egress: Arc<Egress>,
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Whole,
    /// Events.
    Stream,
}

impl Channel {
    pub(super) fn new(
        name: String,
        base_url: String,
        headers: Vec<(String, String)>,
        secrets: Vec<Secret>,
        trusted: bool,
        egress: Arc<Egress>,
    ) -> Self {
        Self { name, base_url, headers, secrets, trusted, egress }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The failure with the provider's name, and without its keys.
    pub(super) fn named(&self, mut failure: ModelFailure) -> ModelFailure {
        scrub(&mut failure.message, &self.secrets);
        failure.of(&self.name)
    }

    /// Sends, and returns an answer whose status is a good one.
    pub(super) async fn open(
        &self,
        wire: WireRequest,
        kind: AnswerKind,
        trace: Option<&str>,
        connect: Millis,
        deadlines: &mut CallDeadlines,
    ) -> Result<OpenResponse, ModelFailure> {
        let mut answer =
            deadlines.wait(self.egress.open(self.request(wire, kind, trace, connect))).await?.map_err(of_http)?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        deadlines.begin();
        let body = read_some(&mut answer, deadlines).await;
        Err(failure::of_answer(answer.status, &Headers(&answer.headers), &body))
    }

    fn request(&self, wire: WireRequest, kind: AnswerKind, trace: Option<&str>, connect: Millis) -> OpenRequest {
        let WireRequest { method, path, headers: of_format, body } = wire;
        let mut headers = Vec::with_capacity(self.headers.len() + of_format.len() + 4);
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if !body.is_empty() {
            add("content-type", "application/json");
        }
        if kind == AnswerKind::Stream {
            // A compressed stream may be held back until a block is full.
            add("accept", "text/event-stream");
            add("accept-encoding", "identity");
        } else {
            add("accept", "application/json");
        }
        if let Some(trace) = trace {
            add("traceparent", trace);
        }
        let own = |name: &str| self.headers.iter().any(|(known, _)| known == name);
        for (name, value) in of_format.into_iter().filter(|(name, _)| !own(name)) {
            add(name, value);
        }
        headers.extend(self.headers.iter().cloned());
        let url = format!("{}{path}", self.base_url);
        OpenRequest { method, url, headers, body, connect, trusted_endpoint: self.trusted }
    }
}

/// The most bytes that room is made for because a header announces them.
const FIRST_BYTES: usize = 1 << 20;

/// Reads all of an answer.
pub(super) async fn read(
    answer: &mut OpenResponse,
    max_bytes: usize,
    deadlines: &mut CallDeadlines,
) -> Result<Vec<u8>, ModelFailure> {
    let declared = answer.header("content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
    if declared > max_bytes {
        return Err(too_large(max_bytes));
    }
    read_on(Vec::with_capacity(declared.min(FIRST_BYTES)), answer, max_bytes, deadlines).await
}

/// Reads the rest of an answer whose body has begun so.
pub(super) async fn read_on(
    mut body: Vec<u8>,
    answer: &mut OpenResponse,
    max_bytes: usize,
    deadlines: &mut CallDeadlines,
) -> Result<Vec<u8>, ModelFailure> {
    while let Some(chunk) = deadlines.wait(answer.chunk()).await?.map_err(of_http)? {
        if chunk.len() > max_bytes.saturating_sub(body.len()) {
            return Err(too_large(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads the beginning of an error's body, as far as it comes: the status says most already.
async fn read_some(answer: &mut OpenResponse, deadlines: &mut CallDeadlines) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < failure::MAX_ERROR_BYTES {
        match deadlines.wait(answer.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body.truncate(failure::MAX_ERROR_BYTES);
    body
}

pub(super) fn too_large(max_bytes: usize) -> ModelFailure {
    ModelFailure::new(ModelFailureKind::TooLarge, format!("the answer is larger than {max_bytes} bytes"))
}

/// What a failure of the way means for the call.
pub(super) fn of_http(failure: HttpFailure) -> ModelFailure {
    let kind = match failure {
        HttpFailure::Denied(_) => ModelFailureKind::Denied,
        HttpFailure::Invalid(_) => ModelFailureKind::Request,
        HttpFailure::Connect(_) => ModelFailureKind::Connect,
        HttpFailure::NoAnswer(_) | HttpFailure::TimedOut(_) => ModelFailureKind::Broken,
        HttpFailure::TooLarge(_) => ModelFailureKind::TooLarge,
    };
    ModelFailure::new(kind, failure.to_string())
}
