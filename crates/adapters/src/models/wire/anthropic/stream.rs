//! A message in pieces: <https://platform.claude.com/docs/en/build-with-claude/streaming>.

use std::collections::HashMap;

use kybern_core::model::{FinishReason, ModelEvent, ModelFailure, Reasoning, TokenUsage};
use serde::Deserialize;

use super::block::{Block, Message, Usage, finish};
use crate::models::wire::calls::{CallPiece, Calls};
use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::lenient::{Count, Text};
use crate::models::wire::{StreamDecoder, cut, garbage, opaque};

/// The state of one stream. It ends with `message_stop`.
#[derive(Default)]
pub struct Stream {
    begun: bool,
    finished: bool,
    usage: Option<TokenUsage>,
    stop_reason: Option<String>,
    calls: Calls,
    /// The blocks that have begun and not ended, by their index.
    blocks: HashMap<u64, OpenBlock>,
}

/// A block that has begun and not ended.
enum OpenBlock {
    Text,
    Thinking {
        signature: String,
    },
    /// A call, with arguments that came with its beginning and count only when none follow.
    Call {
        whole: String,
        has_pieces: bool,
    },
    /// Tools that run at the provider, and blocks that nobody announced: they are passed over.
    Other,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(default)]
    index: Count,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    signature: Text<'a>,
    #[serde(borrow, default)]
    partial_json: Text<'a>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &str, data: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished || data.is_empty() || event == "ping" {
            return Ok(());
        }
        if event == "error" {
            return Err(of_report(Report::parse(data)));
        }
        let read: Event<'_> = serde_json::from_slice(data).map_err(|error| garbage("an event", &error))?;
        self.count(read.usage);
        match (&*read.r#type, &read.delta) {
            ("message_start", _) => {
                self.count(read.message.as_ref().and_then(|message| message.usage));
                self.begin(read.message.as_ref(), out);
            }
            ("content_block_start", _) => {
                self.begin(None, out);
                if let Some(block) = &read.content_block {
                    self.open(read.index.0, block, out)?;
                }
            }
            ("content_block_delta", Some(delta)) => self.delta(read.index.0, delta, out)?,
            ("content_block_stop", _) => self.close(read.index.0, out)?,
            ("message_delta", Some(delta)) => {
                self.stop_reason = delta.stop_reason.some().map(str::to_owned).or(self.stop_reason.take());
            }
            ("message_stop", _) => return self.finish(out),
            ("error", _) => return Err(of_report(Report::parse(data))),
            ("", _) => {
                let report = Report::parse(data);
                if !report.message.is_empty() {
                    return Err(of_report(report));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        match (self.finished, &self.stop_reason) {
            (true, _) => Ok(()),
            (false, Some(_)) => self.finish(out),
            (false, None) => Err(cut("message_stop")),
        }
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.usage.filter(|usage| !usage.is_zero())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Stream {
    /// The counts are running totals, and not every event repeats all of them.
    fn count(&mut self, usage: Option<Usage>) {
        if let Some(counts) = usage.map(Usage::counts) {
            self.usage = Some(self.usage.map_or(counts, |known| known.at_least(counts)));
        }
    }

    fn begin(&mut self, message: Option<&Message<'_>>, out: &mut Vec<ModelEvent>) {
        if !self.begun {
            self.begun = true;
            let (id, model) = message.map(|known| (known.id.to_string(), known.model.to_string())).unwrap_or_default();
            out.push(ModelEvent::Started { id, model });
        }
    }

    fn open(&mut self, index: u64, block: &Block<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let kind = match &*block.r#type {
            "text" => {
                text(&block.text, out);
                OpenBlock::Text
            }
            "thinking" => {
                think(&block.thinking, out);
                OpenBlock::Thinking { signature: block.signature.to_string() }
            }
            "redacted_thinking" => {
                let opaque = opaque::mark(opaque::ANTHROPIC_REDACTED, &block.data);
                out.push(ModelEvent::Reasoning(Reasoning { text: String::new(), opaque: Some(opaque) }));
                OpenBlock::Other
            }
            "tool_use" => {
                let piece = CallPiece { number: Some(index), id: &block.id, name: &block.name, arguments: "" };
                self.calls.push(piece, out)?;
                OpenBlock::Call { whole: block.arguments().to_owned(), has_pieces: false }
            }
            _ => OpenBlock::Other,
        };
        self.blocks.insert(index, kind);
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Delta<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        self.begin(None, out);
        match (&*delta.r#type, self.blocks.get_mut(&index)) {
            ("text_delta", Some(OpenBlock::Text) | None) => text(&delta.text, out),
            ("thinking_delta", Some(OpenBlock::Thinking { .. }) | None) => think(&delta.thinking, out),
            ("signature_delta", Some(OpenBlock::Thinking { signature })) => signature.push_str(&delta.signature),
            ("input_json_delta", Some(OpenBlock::Call { has_pieces, .. })) if !delta.partial_json.is_empty() => {
                *has_pieces = true;
                let piece = CallPiece { number: Some(index), arguments: &delta.partial_json, ..CallPiece::default() };
                self.calls.push(piece, out)?;
            }
            // Citations, and whatever belongs to a block that is passed over.
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, index: u64, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let Some(kind) = self.blocks.remove(&index) else { return Ok(()) };
        match kind {
            OpenBlock::Thinking { signature } if !signature.is_empty() => {
                let opaque = opaque::mark(opaque::ANTHROPIC_SIGNATURE, &signature);
                out.push(ModelEvent::Reasoning(Reasoning { text: String::new(), opaque: Some(opaque) }));
            }
            OpenBlock::Call { whole, has_pieces: false } if !whole.is_empty() => {
                let piece = CallPiece { number: Some(index), arguments: &whole, ..CallPiece::default() };
                self.calls.push(piece, out)?;
            }
            OpenBlock::Text | OpenBlock::Thinking { .. } | OpenBlock::Call { .. } | OpenBlock::Other => {}
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let word = self.stop_reason.as_deref().unwrap_or_default();
        let finish = finish(word, self.calls.any());
        if matches!(finish, FinishReason::Stop | FinishReason::ToolCalls) {
            self.calls.finish(out)?;
        }
        self.finished = true;
        out.push(ModelEvent::Finished { finish, usage: self.usage() });
        Ok(())
    }
}

fn text(text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Text(text.to_owned()));
    }
}

fn think(text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Reasoning(Reasoning { text: text.to_owned(), opaque: None }));
    }
}
