//! An answer in pieces.

use kybern_core::model::{FinishReason, ModelEvent, ModelFailure, Reasoning, TokenUsage};

use super::chunk::{Call, Choice, Chunk, finish, settle};
use super::usage::Usage;
use crate::models::wire::calls::{CallPiece, Calls};
use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::{StreamDecoder, cut, garbage};

/// The state of one stream.
///
/// It ends with `[DONE]`, or, for servers that forget it, when the connection is closed after a reason to finish.
#[derive(Default)]
pub struct Stream {
    begun: bool,
    finished: bool,
    refused: bool,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    calls: Calls,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &str, data: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            return self.end(out);
        }
        let chunk: Chunk<'_> = match serde_json::from_slice(data) {
            Ok(chunk) => chunk,
            Err(_) if event == "error" => return Err(of_report(Report::parse(data))),
            Err(error) => return Err(garbage("a chunk", &error)),
        };
        let groq = chunk.x_groq.as_ref();
        self.count(chunk.usage);
        self.count(groq.and_then(|groq| groq.usage));
        if let Some(error) = chunk.error.or(groq.and_then(|groq| groq.error)) {
            return Err(of_report(Report::parse(error.get().as_bytes())));
        }
        if event == "error" {
            return Err(of_report(Report::parse(data)));
        }
        let choices = chunk.choices.as_deref().unwrap_or_default();
        if !self.begun && (!chunk.id.is_empty() || !choices.is_empty()) {
            self.begun = true;
            out.push(ModelEvent::Started { id: chunk.id.0.into_owned(), model: chunk.model.0.into_owned() });
        }
        choices.iter().filter(|choice| choice.index.0 == 0).try_for_each(|choice| self.choice(choice, out))
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished {
            return Ok(());
        }
        let Some(finish) = self.finish else { return Err(cut("a reason to finish")) };
        let finish = settle(finish, self.calls.any(), self.refused);
        if matches!(finish, FinishReason::Stop | FinishReason::ToolCalls) {
            self.calls.finish(out)?;
        }
        self.finished = true;
        out.push(ModelEvent::Finished { finish, usage: self.usage });
        Ok(())
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Stream {
    /// Usage comes in the last chunk, in one of its own, or as a running total in every chunk.
    fn count(&mut self, usage: Option<Usage>) {
        if let Some(counts) = usage.and_then(Usage::counts) {
            self.usage = Some(self.usage.map_or(counts, |known| known.at_least(counts)));
        }
    }

    fn choice(&mut self, choice: &Choice<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if let Some(delta) = &choice.delta {
            let reasoning = delta.reasoning();
            if !reasoning.is_empty() {
                out.push(thought(reasoning));
            }
            delta.content.each(&mut |text, is_thought| {
                out.push(if is_thought { thought(text) } else { ModelEvent::Text(text.to_owned()) });
            });
            if !delta.refusal.is_empty() {
                self.refused = true;
                out.push(ModelEvent::Text(delta.refusal.0.clone().into_owned()));
            }
            for call in delta.tool_calls.iter().flatten() {
                self.call(call, out)?;
            }
        }
        out.extend(choice.logprobs().map(ModelEvent::Logprobs));
        if !choice.finish_reason.is_empty() {
            self.finish = Some(finish(&choice.finish_reason)?);
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let function = call.function.as_ref();
        let arguments = function.map(super::chunk::Function::arguments).unwrap_or_default();
        let piece = CallPiece {
            number: call.index.map(|index| index.0),
            id: &call.id,
            name: function.map(|function| &*function.name).unwrap_or_default(),
            arguments: &arguments,
        };
        self.calls.push(piece, out)
    }
}

fn thought(text: &str) -> ModelEvent {
    ModelEvent::Reasoning(Reasoning { text: text.to_owned(), opaque: None })
}
