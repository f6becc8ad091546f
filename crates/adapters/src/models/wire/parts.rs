//! Putting a whole reply's parts together by the same rules as the pieces of a stream.

use std::collections::HashSet;

use kybern_core::model::{ModelEvent, ModelFailure, ModelFailureKind, ModelReply, Part, Reasoning, ToolCall};

/// Calls of one reply, more than any agent may make in all its turns. A reply of tiny calls that is as large as a reply may
/// be would hold half a million.
pub(super) const MAX_CALLS: usize = 1_024;

/// Why a reply with more calls is not taken.
pub(super) fn too_many_calls() -> ModelFailure {
    ModelFailure::new(ModelFailureKind::TooLarge, format!("the answer asks for more than {MAX_CALLS} tool calls"))
}

/// The parts so far.
#[derive(Default)]
pub(super) struct ReplyPartsBuilder {
    pub(super) parts: Vec<Part>,
    /// The ids of the calls.
    ids: HashSet<String>,
}

impl ReplyPartsBuilder {
    /// Adds text; adjoining texts are one.
    pub(super) fn text(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        if let Some(Part::Text { text }) = self.parts.last_mut() {
            text.push_str(more);
        } else {
            self.parts.push(Part::Text { text: more.to_owned() });
        }
    }

    /// Adds reasoning; what is opaque closes a block of it.
    pub(super) fn reasoning(&mut self, more: &str, opaque: Option<String>) {
        if more.is_empty() && opaque.is_none() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Reasoning(known)) if known.opaque.is_none() => {
                known.text.push_str(more);
                known.opaque = opaque;
            }
            _ => self.parts.push(Part::Reasoning(Reasoning { text: more.to_owned(), opaque })),
        }
    }

    /// Adds a call. An id that is missing or taken is replaced by its place's; no arguments are an empty object.
    ///
    /// # Errors
    /// `TooLarge` when there are [`MAX_CALLS`] already.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: &str) -> Result<(), ModelFailure> {
        if self.ids.len() >= MAX_CALLS {
            return Err(too_many_calls());
        }
        let id = unique(id, &mut self.ids);
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        self.parts.push(Part::ToolCall(ToolCall { id, name: name.to_owned(), arguments: arguments.to_owned() }));
        Ok(())
    }

    /// How many calls there are.
    pub(super) fn calls(&self) -> usize {
        self.ids.len()
    }
}

/// The id of the next call, which is taken from now on: the provider's own, or one that is made from the call's place
/// and so is the same again.
pub(super) fn unique(id: &str, taken: &mut HashSet<String>) -> String {
    let mut own = id.to_owned();
    if own.is_empty() || taken.contains(&own) {
        own = format!("call_{}", taken.len());
        while taken.contains(&own) {
            own.push('_');
        }
    }
    taken.insert(own.clone());
    own
}

/// Whether an id was made here.
pub(super) fn is_made(id: &str) -> bool {
    id.strip_prefix("call_").is_some_and(|place| {
        let digits = place.trim_end_matches('_');
        !digits.is_empty() && digits.len() < 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The events that make up a whole reply: for servers that answer a request for a stream with a whole reply.
#[must_use]
pub fn events_of(reply: ModelReply) -> Vec<ModelEvent> {
    let mut events = vec![ModelEvent::Started { id: reply.id, model: reply.model }];
    let mut calls = 0;
    for part in reply.parts {
        match part {
            Part::Text { text } => events.push(ModelEvent::Text(text)),
            Part::Reasoning(reasoning) => events.push(ModelEvent::Reasoning(reasoning)),
            Part::ToolCall(call) => {
                events.push(ModelEvent::CallBegun { index: calls, id: call.id, name: call.name });
                if !call.arguments.is_empty() {
                    events.push(ModelEvent::CallArguments { index: calls, fragment: call.arguments });
                }
                calls += 1;
            }
            Part::Image(_) | Part::ToolAnswer(_) => {}
        }
    }
    events.extend(reply.logprobs.map(ModelEvent::Logprobs));
    events.push(ModelEvent::Finished { finish: reply.finish, usage: reply.usage });
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_the_same_again() {
        let mut parts = ReplyPartsBuilder::default();
        for id in ["", "a", "a", "call_2"] {
            parts.call(id, "f", "").unwrap();
        }
        let ids = parts.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        });
        let ids: Vec<_> = ids.collect();
        assert_eq!(ids, ["call_0", "a", "call_2", "call_3"]);
        assert_eq!(parts.calls(), 4);
        assert!(is_made("call_0") && is_made("call_12_") && !is_made("call_a1") && !is_made("call_") && !is_made("x"));
    }

    #[test]
    fn a_reply_may_have_so_many_calls_and_no_more() {
        let mut parts = ReplyPartsBuilder::default();
        for _ in 0..MAX_CALLS {
            parts.call("", "f", "").unwrap();
        }
        let refused = parts.call("", "f", "").unwrap_err();
        assert_eq!((refused.kind, parts.calls()), (ModelFailureKind::TooLarge, MAX_CALLS));
        assert!(refused.message.contains("more than 1024 tool calls"), "{}", refused.message);
    }
}
