//! An answer in pieces. There is no end marker: a stream that was cut shows in that no chunk gave a reason to finish.

use kybern_core::model::{ModelEvent, ModelFailure, Reasoning, TokenUsage};

use super::answer::{AnswerPart, GenerateResponse, finish};
use crate::models::wire::calls::{CallPiece, Calls};
use crate::models::wire::failure::{Report, of_report};
use crate::models::wire::{StreamDecoder, cut, garbage, opaque};

/// The state of one stream.
#[derive(Default)]
pub struct Stream {
    begun: bool,
    finished: bool,
    finish: Option<String>,
    usage: Option<TokenUsage>,
    calls: Calls,
    /// How many calls came; each comes whole, and most have no id.
    count: u64,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &str, data: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let answer: GenerateResponse<'_> = match serde_json::from_slice(data) {
            Ok(answer) => answer,
            Err(_) if event == "error" => return Err(of_report(Report::parse(data))),
            Err(error) => return Err(garbage("a chunk", &error)),
        };
        if let Some(counts) = answer.usage() {
            self.usage = Some(self.usage.map_or(counts, |known| known.at_least(counts)));
        }
        answer.check()?;
        if !self.begun && (answer.candidates.is_some() || !answer.response_id.is_empty()) {
            self.begun = true;
            let (id, model) = (answer.response_id.to_string(), answer.model_version.to_string());
            out.push(ModelEvent::Started { id, model });
        }
        for candidate in answer.candidates.iter().flatten().filter(|candidate| candidate.index.0 == 0) {
            for piece in candidate.pieces() {
                self.piece(piece, out)?;
            }
            if let Some(word) = candidate.finish_reason.some() {
                self.finish = Some(word.to_owned());
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        if self.finished {
            return Ok(());
        }
        let Some(word) = &self.finish else { return Err(cut("a reason to finish")) };
        let finish = finish(word, self.calls.any())?;
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
    fn piece(&mut self, piece: &AnswerPart<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let is_thought = piece.thought == Some(true);
        let signature = piece.thought_signature.some();
        let opaque = signature.map(|signature| opaque::mark(opaque::GEMINI_SIGNATURE, signature));
        let text = if is_thought { piece.text.to_string() } else { String::new() };
        if opaque.is_some() || !text.is_empty() {
            out.push(ModelEvent::Reasoning(Reasoning { text, opaque }));
        }
        if is_thought {
            return Ok(());
        }
        if !piece.text.is_empty() {
            out.push(ModelEvent::Text(piece.text.to_string()));
        }
        if let Some(call) = &piece.function_call {
            let number = Some(self.count);
            self.count += 1;
            self.calls.push(CallPiece { number, id: &call.id, name: &call.name, arguments: call.arguments() }, out)?;
        }
        Ok(())
    }
}
