//! A response in pieces: <https://developers.openai.com/api/reference/resources/responses/streaming-events>.

use std::collections::HashSet;

use kybern_core::model::{FinishReason, ModelEvent, ModelFailure, Reasoning, TokenUsage};
use serde::Deserialize;

use super::item::{Item, Response};
use crate::models::wire::calls::{CallPiece, Calls};
use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::lenient::{Count, Text};
use crate::models::wire::{StreamDecoder, cut, garbage};

/// The state of one stream. It ends with `response.completed` or `response.incomplete`.
#[derive(Default)]
pub struct Stream {
    begun: bool,
    finished: bool,
    refused: bool,
    /// Whether the current reasoning has text, so that its next part is a paragraph of its own.
    has_reasoning: bool,
    usage: Option<TokenUsage>,
    calls: Calls,
    /// Which calls, by output index, have had arguments.
    with_arguments: HashSet<u64>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(default)]
    output_index: Count,
    #[serde(borrow, default)]
    delta: Text<'a>,
    #[serde(borrow, default)]
    arguments: Text<'a>,
    #[serde(borrow, default)]
    item: Option<Item<'a>>,
    #[serde(borrow, default)]
    response: Option<Response<'a>>,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &str, data: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let read: Event<'_> = serde_json::from_slice(data).map_err(|error| garbage("an event", &error))?;
        let kind = read.r#type.some().unwrap_or(event);
        match kind {
            "response.output_text.delta" => self.text(&read.delta, out),
            "response.refusal.delta" => {
                self.refused = true;
                self.text(&read.delta, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.think(&read.delta, out),
            "response.reasoning_summary_part.added" if self.has_reasoning => self.think("\n\n", out),
            "response.function_call_arguments.delta" => {
                self.arguments(read.output_index.0, &read.delta, out)?;
            }
            "response.function_call_arguments.done" => {
                self.whole(read.output_index.0, &read.arguments, out)?;
            }
            "response.output_item.added" => self.added(&read, out)?,
            "response.output_item.done" => self.done(&read, out)?,
            "response.created" | "response.in_progress" | "response.queued" => self.begin(read.response.as_ref(), out),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.finish(read.response.as_ref(), out);
            }
            "error" => return Err(of_report(Report::parse(data))),
            "" if read.r#type.is_empty() => {
                // No event of this format: an error object, or nothing that can be understood.
                let report = Report::parse(data);
                if !report.message.is_empty() {
                    return Err(of_report(report));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished { Ok(()) } else { Err(cut("response.completed")) }
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Stream {
    fn begin(&mut self, response: Option<&Response<'_>>, out: &mut Vec<ModelEvent>) {
        if !self.begun {
            self.begun = true;
            let (id, model) = response.map(|known| (known.id.to_string(), known.model.to_string())).unwrap_or_default();
            out.push(ModelEvent::Started { id, model });
        }
        self.usage = response.and_then(Response::usage).or(self.usage);
    }

    fn text(&mut self, delta: &str, out: &mut Vec<ModelEvent>) {
        self.begin(None, out);
        if !delta.is_empty() {
            out.push(ModelEvent::Text(delta.to_owned()));
        }
    }

    fn think(&mut self, delta: &str, out: &mut Vec<ModelEvent>) {
        self.begin(None, out);
        if !delta.is_empty() {
            self.has_reasoning = true;
            out.push(ModelEvent::Reasoning(Reasoning { text: delta.to_owned(), opaque: None }));
        }
    }

    fn added(&mut self, read: &Event<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        self.begin(None, out);
        self.has_reasoning = false;
        if let Some(item) = read.item.as_ref().filter(|item| &*item.r#type == "function_call") {
            let id = item.call_id.some().unwrap_or(&item.id);
            self.piece(read.output_index.0, CallPiece { id, name: &item.name, ..CallPiece::default() }, out)?;
            self.arguments(read.output_index.0, &item.arguments, out)?;
        }
        Ok(())
    }

    /// An item that is complete: arguments that did not come in pieces, and the encrypted reasoning.
    fn done(&mut self, read: &Event<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let Some(item) = &read.item else { return Ok(()) };
        match &*item.r#type {
            "function_call" => self.whole(read.output_index.0, &item.arguments, out)?,
            "reasoning" => {
                if let Some(opaque) = item.opaque() {
                    out.push(ModelEvent::Reasoning(Reasoning { text: String::new(), opaque: Some(opaque) }));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn arguments(&mut self, index: u64, fragment: &str, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if !fragment.is_empty() {
            self.with_arguments.insert(index);
            self.piece(index, CallPiece { arguments: fragment, ..CallPiece::default() }, out)?;
        }
        Ok(())
    }

    fn whole(&mut self, index: u64, arguments: &str, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.with_arguments.contains(&index) { Ok(()) } else { self.arguments(index, arguments, out) }
    }

    fn piece(&mut self, index: u64, piece: CallPiece<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        self.calls.push(CallPiece { number: Some(index), ..piece }, out)
    }

    fn finish(&mut self, response: Option<&Response<'_>>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        self.begin(response, out);
        let Some(response) = response else { return Err(cut("a response at its end")) };
        let finish = response.finish(self.calls.any(), self.refused)?;
        if matches!(finish, FinishReason::Stop | FinishReason::ToolCalls) {
            self.calls.finish(out)?;
        }
        self.finished = true;
        out.push(ModelEvent::Finished { finish, usage: self.usage });
        Ok(())
    }
}
