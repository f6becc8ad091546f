//! Pieces of a reply as frames of server-sent events.

use bytes::{BufMut as _, BytesMut};
use kybern_core::error::Error;
use kybern_core::model::{ModelEvent, TokenUsage};
use serde::Serialize;
use serde_json::{Value, json};

use super::reply;
use crate::error::envelope;

/// Writes pieces into frames. What all frames of a stream have in common is written once.
pub(super) struct Frames {
    head: String,
    tail: String,
    request: String,
}

impl Frames {
    pub(super) fn new(request: &str, created: i64, model: &str) -> Self {
        let id = json!(reply::id(request));
        let head = format!(
            "data: {{\"id\":{id},\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":{},\"choices\":[",
            json!(model)
        );
        Self { head, tail: "]}\n\n".to_owned(), request: request.to_owned() }
    }

    /// Writes one piece.
    pub(super) fn piece(&self, event: &ModelEvent, out: &mut BytesMut) {
        match event {
            ModelEvent::Started { .. } => self.delta(&json!({"role": "assistant", "content": ""}), out),
            ModelEvent::Text(text) => self.text("content", text, out),
            ModelEvent::Reasoning(reasoning) if reasoning.text.is_empty() => {}
            ModelEvent::Reasoning(reasoning) => self.text("reasoning_content", &reasoning.text, out),
            ModelEvent::CallBegun { index, id, name } => {
                let function = json!({"name": name, "arguments": ""});
                let call = json!({"index": index, "id": id, "type": "function", "function": function});
                self.delta(&json!({"tool_calls": [call]}), out);
            }
            ModelEvent::CallArguments { index, fragment } => {
                self.delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}), out);
            }
            ModelEvent::Logprobs(logprobs) => {
                out.extend_from_slice(self.head.as_bytes());
                out.extend_from_slice(b"{\"index\":0,\"delta\":{},\"logprobs\":");
                write(logprobs, out);
                out.extend_from_slice(b",\"finish_reason\":null}");
                out.extend_from_slice(self.tail.as_bytes());
            }
            ModelEvent::Finished { finish, .. } => {
                out.extend_from_slice(self.head.as_bytes());
                out.extend_from_slice(b"{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"");
                out.extend_from_slice(reply::finish(*finish).as_bytes());
                out.extend_from_slice(b"\"}");
                out.extend_from_slice(self.tail.as_bytes());
            }
        }
    }

    fn text(&self, member: &str, text: &str, out: &mut BytesMut) {
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(b"{\"index\":0,\"delta\":{\"");
        out.extend_from_slice(member.as_bytes());
        out.extend_from_slice(b"\":");
        write(text, out);
        out.extend_from_slice(b"},\"logprobs\":null,\"finish_reason\":null}");
        out.extend_from_slice(self.tail.as_bytes());
    }

    fn delta(&self, delta: &Value, out: &mut BytesMut) {
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(b"{\"index\":0,\"delta\":");
        write(delta, out);
        out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null}");
        out.extend_from_slice(self.tail.as_bytes());
    }

    /// The last piece but one: what it took.
    pub(super) fn usage(&self, usage: &TokenUsage, out: &mut BytesMut) {
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(b"],\"usage\":");
        write(&reply::usage(usage), out);
        out.extend_from_slice(b"}\n\n");
    }

    /// The end.
    pub(super) fn done(out: &mut BytesMut) {
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    /// An error in the middle; nothing comes after it.
    pub(super) fn error(&self, error: &Error, out: &mut BytesMut) {
        crate::error::log(error);
        out.extend_from_slice(b"data: ");
        write(&envelope(error, &self.request), out);
        out.extend_from_slice(b"\n\n");
    }
}

/// Writes JSON. Writing into memory does not fail.
fn write<T: Serialize + ?Sized>(value: &T, out: &mut BytesMut) {
    let written = serde_json::to_writer(out.writer(), value);
    debug_assert!(written.is_ok(), "JSON into memory");
}
