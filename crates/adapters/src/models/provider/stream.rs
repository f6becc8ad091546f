//! A reply on its way.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::model::{ModelEvent, ModelFailure, ModelFailureKind};
use kybern_core::ports::ModelStream;
use kybern_core::time::Millis;
use tokio::time::Instant;

use super::MAX_REPLY_BYTES;
use super::deadlines::CallDeadlines;
use super::exchange::{self, Channel, of_http, too_large};
use crate::http::OpenResponse;
use crate::models::wire::sse::SseParser;
use crate::models::wire::{StreamDecoder, WireFormat, events_of};

/// Pieces that are ready are taken together up to this many bytes.
const BATCH_BYTES: usize = 256 << 10;

/// Pieces that come within this time of each other are a burst, which is gathered for at most as long. No model writes a
/// thousand tokens a second for somebody who reads along.
const BURST: Millis = Millis(1);

/// How long the end of the body is waited for after that of the reply.
const SETTLE: Millis = Millis(100);

struct Reply {
    channel: Arc<Channel>,
    answer: OpenResponse,
    deadlines: CallDeadlines,
    parser: SseParser,
    decoder: Box<dyn StreamDecoder>,
    /// What was not given yet.
    ready: Vec<ModelEvent>,
    /// How it broke, to be told after what is ready.
    failure: Option<ModelFailure>,
    ended: bool,
    /// Whether the body was not read to its end although the reply is at its own.
    has_rest: bool,
    bytes: usize,
    events: usize,
    /// When the last piece came that was waited for. None yet at the beginning, which nobody has to wait for.
    came: Option<Instant>,
}

/// Waits for the first piece, so that a provider that fails at once fails here.
pub(super) async fn open(
    channel: Arc<Channel>,
    format: WireFormat,
    mut answer: OpenResponse,
    mut deadlines: CallDeadlines,
) -> Result<Box<dyn ModelStream>, ModelFailure> {
    let first = deadlines.wait(answer.chunk()).await?.map_err(of_http)?;
    let is_whole = is_object(first.as_deref().unwrap_or_default(), answer.header("content-type"));
    let mut ready = Vec::new();
    if is_whole {
        // Some servers do not stream although they are asked to, and some report errors so.
        deadlines.begin();
        let begun = first.as_deref().unwrap_or_default().to_vec();
        let body = exchange::read_on(begun, &mut answer, MAX_REPLY_BYTES, &mut deadlines).await?;
        ready = events_of(format.decode(&body)?);
    }
    let mut reply = Reply {
        channel,
        answer,
        deadlines,
        parser: SseParser::default(),
        decoder: format.decoder(),
        ready,
        failure: None,
        ended: is_whole,
        has_rest: false,
        bytes: 0,
        events: 0,
        came: None,
    };
    if !is_whole {
        reply.take(Ok(first));
    }
    while reply.ready.is_empty() && !reply.ended {
        reply.pull().await;
    }
    match reply.failure.take() {
        Some(failure) if reply.ready.is_empty() => Err(failure),
        failure => {
            reply.failure = failure;
            reply.deadlines.begin();
            Ok(Box::new(reply))
        }
    }
}

/// Whether a body is one JSON text and no stream of events, by how it begins: types are often wrong. No line of a stream
/// begins with a bracket.
fn is_object(begun: &[u8], content_type: Option<&str>) -> bool {
    match begun.trim_ascii_start().first() {
        Some(first) => matches!(first, b'{' | b'['),
        None => content_type.is_some_and(|kind| kind.starts_with("application/json")),
    }
}

#[async_trait]
impl ModelStream for Reply {
    async fn next(&mut self) -> Result<Vec<ModelEvent>, ModelFailure> {
        loop {
            if !self.ready.is_empty() {
                return Ok(std::mem::take(&mut self.ready));
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.ended {
                self.settle().await;
                return Ok(Vec::new());
            }
            self.pull().await;
        }
    }
}

impl Reply {
    /// Waits for a piece of the body and takes it; in a burst, with those that follow at once.
    ///
    /// The connection hands over one piece at a time, and to write each by itself to whoever waits costs more than all
    /// else that is done for it. Pieces that come one by one are passed on one by one.
    async fn pull(&mut self) {
        let waited = self.deadlines.wait(self.answer.chunk()).await;
        let (begun, now) = (self.bytes, Instant::now());
        let since = self.came.replace(now).map(|came| now - came);
        self.take(waited.and_then(|came| came.map_err(of_http)));
        if since.is_some_and(|since| since < BURST.as_duration()) {
            let more = async {
                while !self.ended && self.failure.is_none() && self.bytes - begun < BATCH_BYTES {
                    let next = self.answer.chunk().await;
                    self.take(next.map_err(of_http));
                }
                self.came = Some(Instant::now());
            };
            // The end of the burst is what is waited for; what came is taken already.
            drop(tokio::time::timeout(BURST.as_duration(), more).await);
        }
    }

    /// Takes a piece, and those that are here already.
    fn take(&mut self, mut piece: Result<Option<Bytes>, ModelFailure>) {
        let begun = self.bytes;
        loop {
            match piece {
                Ok(Some(bytes)) => {
                    if let Err(failure) = self.feed(&bytes) {
                        return self.fail(failure);
                    }
                }
                Ok(None) => return self.close(),
                Err(failure) => return self.broke(failure),
            }
            if self.decoder.is_finished() {
                return self.finish();
            }
            if self.bytes - begun >= BATCH_BYTES {
                return;
            }
            match self.answer.chunk_now() {
                Some(next) => piece = next.map_err(of_http),
                None => return,
            }
        }
    }

    fn feed(&mut self, bytes: &Bytes) -> Result<(), ModelFailure> {
        self.bytes += bytes.len();
        if self.bytes > MAX_REPLY_BYTES {
            return Err(too_large(MAX_REPLY_BYTES));
        }
        let Self { parser, decoder, ready, events, .. } = self;
        parser.feed(bytes, &mut |event, data| {
            *events += 1;
            decoder.push(event, data, ready)
        })
    }

    /// The body is at its end.
    fn close(&mut self) {
        let Self { parser, decoder, ready, events, .. } = self;
        let last = parser.end(&mut |event, data| {
            *events += 1;
            decoder.push(event, data, ready)
        });
        let ended = match last {
            // An event that was cut reads like garbage.
            Err(failure) if failure.kind == ModelFailureKind::Garbage => {
                Err(ModelFailure::new(ModelFailureKind::Broken, "the stream ended in the middle of an event"))
            }
            Err(failure) => Err(failure),
            Ok(()) => decoder.end(ready),
        };
        match ended {
            Ok(()) => self.ended = true,
            Err(_) if self.events == 0 && self.bytes > 0 => {
                self.fail(ModelFailure::new(ModelFailureKind::Garbage, "the answer is no stream of events"));
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// The body stopped before its end. When the reply itself was whole, nothing is lost.
    fn broke(&mut self, failure: ModelFailure) {
        if self.decoder.end(&mut self.ready).is_ok() {
            self.ended = true;
        } else {
            self.fail(failure);
        }
    }

    /// The reply is at its end; that of the body follows.
    fn finish(&mut self) {
        self.ended = true;
        self.has_rest = true;
    }

    /// Takes what is left of the body after the reply, for a moment: a connection that was read to its end can be
    /// used again. Whoever drops the stream before may lose the connection, nothing else.
    async fn settle(&mut self) {
        if std::mem::take(&mut self.has_rest) {
            let rest = async {
                while let Ok(Some(rest)) = self.answer.chunk().await {
                    self.bytes += rest.len();
                    if self.bytes > MAX_REPLY_BYTES {
                        return;
                    }
                }
            };
            // Whether it came to its end shows in the connection alone.
            drop(tokio::time::timeout(SETTLE.as_duration(), rest).await);
        }
    }

    fn fail(&mut self, mut failure: ModelFailure) {
        self.ended = true;
        failure.usage = failure.usage.or(self.decoder.usage());
        self.failure = Some(self.channel.named(failure));
    }
}
