//! Memories: who may see and change them, and which of them say something about a question.

mod manage;
mod search;
mod suggest;

pub(crate) use search::{BATCH, Sought, tokens};
pub(crate) use suggest::{SUGGEST_JOB, Suggestions};

use kybern_core::audit::AuditEvent;
use kybern_core::memory::Memory;
use serde_json::{Value, json};

use crate::models::Caller;

/// The audit of an act on a memory. What it says is not in it.
fn event(caller: &Caller, action: &str, memory: &Memory) -> AuditEvent {
    AuditEvent {
        action: action.to_owned(),
        actor: caller.label.clone(),
        subject: format!("memory:{}", memory.id),
        request_id: caller.request.clone(),
        detail: detail(memory),
    }
}

pub(crate) fn detail(memory: &Memory) -> Value {
    json!({
        "subject": memory.subject.to_string(),
        "category": memory.category,
        "trust": memory.trust,
        "status": memory.status,
        "provenance": memory.provenance,
    })
}
