//! Memories: who may see and change them, and which of them say something about a question.

mod manage;
mod search;
mod suggest;

pub(crate) use manage::may;
pub(crate) use search::{NearMemories, by_nearness};
pub(crate) use suggest::{SUGGEST_JOB, Suggestions};

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::UserId;
use kybern_core::memory::{Memory, Subject};
use kybern_core::ports::{Clock, IdSource, IdentityStore, MemoryStore, RecordStore};
use kybern_core::tenant::TenantScope;
use serde_json::{Value, json};

use crate::models::{CallContext, ModelService};

/// What is remembered of users and records.
#[derive(Clone)]
pub struct Memories {
    pub(crate) store: Arc<dyn MemoryStore>,
    pub(crate) users: Arc<dyn IdentityStore>,
    pub(crate) records: Arc<dyn RecordStore>,
    pub(crate) models: ModelService,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Memories {
    /// Refuses a subject of which nothing can be remembered in the tenant, before anything is paid for.
    ///
    /// # Errors
    /// `NOT_FOUND` for a record that is not there, and for a user of another tenant.
    pub(crate) async fn must_know(&self, scope: TenantScope, subject: Subject, caller: Option<UserId>) -> Result<()> {
        match subject {
            Subject::User(user) => self.users.user_to_keep(scope, user, caller).await.map(drop),
            Subject::Entity(record) => {
                let known = self.records.record_by_id(scope, record).await?;
                known.map(drop).ok_or_else(|| Error::not_found("record", record))
            }
        }
    }
}

/// The audit of an act on a memory.
fn event(caller: &CallContext, action: &str, memory: &Memory) -> AuditEvent {
    AuditEvent {
        action: action.to_owned(),
        actor: caller.label.clone(),
        subject: format!("memory:{}", memory.id),
        request_id: caller.request.clone(),
        detail: detail(memory),
    }
}

/// What the audit says of a memory: neither what it says nor where that stands, which are somebody's words.
pub(crate) fn detail(memory: &Memory) -> Value {
    let from = &memory.provenance;
    json!({
        "subject": memory.subject.to_string(),
        "category": memory.category,
        "trust": memory.trust,
        "status": memory.status,
        "provenance": {
            "task": from.task, "chat": from.chat, "message": from.message, "tool": from.tool, "step": from.step,
        },
    })
}
