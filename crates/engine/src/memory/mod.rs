//! Memories: who may see and change them, and which of them say something about a question.

mod manage;
mod search;
mod suggest;

pub(crate) use suggest::{SUGGEST_JOB, Suggestions};

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::memory::Memory;
use kybern_core::ports::{Clock, IdSource, MemoryStore};
use serde_json::{Value, json};

use crate::models::{Caller, ModelService};

/// What is remembered of users and records.
#[derive(Clone)]
pub struct Memories {
    pub(crate) store: Arc<dyn MemoryStore>,
    pub(crate) models: ModelService,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

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
