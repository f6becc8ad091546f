//! What callers ask, already parsed and inside its limits.

use bytes::Bytes;
use kybern_core::id::ApprovalId;
use kybern_core::money::NanoUsd;
use kybern_core::task::{Channel, Resolution};
use serde_json::{Map, Value};

/// A file that comes with a submission.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachmentRequest {
    /// Its name.
    pub filename: String,
    /// Its declared type.
    pub content_type: String,
    pub bytes: Bytes,
}

impl AttachmentRequest {
    /// What it says.
    pub(crate) fn said(&self) -> [&[u8]; 2] {
        [self.filename.as_bytes(), &self.bytes]
    }
}

/// A submission over the API.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitRequest {
    /// `api`, or `web`: what a stranger typed into a form, and so untrusted.
    pub channel: Channel,
    /// The instruction.
    pub input: String,
    /// What else comes with it.
    pub payload: Value,
    /// The plan to walk; otherwise the intent is detected.
    pub plan_key: Option<String>,
    /// Files.
    pub attachments: Vec<AttachmentRequest>,
    /// The most steps; the default otherwise.
    pub max_steps: Option<u32>,
    /// The confidence below which a person is asked; the default otherwise.
    pub confidence_threshold: Option<f64>,
    /// The most it may cost.
    pub budget: Option<NanoUsd>,
    /// Within a day the same key twice is one task; with other content 409.
    pub idempotency_key: Option<String>,
    /// The trace to join, 32 hex digits; a new one otherwise.
    pub trace_id: Option<String>,
}

impl SubmitRequest {
    /// A submission of a text with everything else left to the defaults.
    #[must_use]
    pub fn text(input: impl Into<String>) -> Self {
        Self {
            channel: Channel::Api,
            input: input.into(),
            payload: Value::Null,
            plan_key: None,
            attachments: Vec::new(),
            max_steps: None,
            confidence_threshold: None,
            budget: None,
            idempotency_key: None,
            trace_id: None,
        }
    }
}

/// A person's answer to a wait.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReviewRequest {
    /// What the person puts right.
    pub corrections: Map<String, Value>,
    /// Which wait; may be left out when there is only one.
    pub step_id: Option<String>,
    /// The decision, where one is asked.
    pub resolution: Option<Resolution>,
    /// Whether the corrections are the whole arguments of the call that is asked about.
    pub replaces: bool,
    /// What the person says about it.
    pub note: Option<String>,
    /// The question that the person has seen, where they say so: none that has taken its place is answered.
    pub question: Option<ApprovalId>,
    /// The question that is answered, when it was answered by its id.
    pub approval: Option<ApprovalId>,
}

/// An outside engine's answer. The secret is proven by the header or a signature over the raw body.
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackRequest {
    /// The delegation.
    pub workflow_id: String,
    /// Whether it succeeded.
    pub success: bool,
    /// Why not.
    pub error: Option<String>,
    /// Its result.
    pub data: Value,
    /// BLAKE3 of the raw body in hex.
    pub body_hash: String,
}
