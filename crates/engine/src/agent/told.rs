//! What an agent is told: the governed prompt in use for it, and the drafts that changes of its text become.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{PromptId, UserId};
use kybern_core::prompt::{NewPrompt, Prompt};
use kybern_core::tenant::TenantScope;
use serde_json::json;

use super::Agents;
use crate::command::id_for;

pub(crate) fn begun(actor: &Actor, new: &NewPrompt) -> AuditEvent {
    AuditEvent::by(
        actor,
        "prompt.draft",
        format!("prompt:{}", new.id),
        json!({"agent": new.agent, "textHash": new.text_hash()}),
    )
}

/// Which of the active prompts an agent is told: its own, else the one for all.
pub(crate) fn in_use<'a>(active: &'a [Arc<Prompt>], agent: &str) -> Option<&'a Arc<Prompt>> {
    let of = |agent: Option<&str>| active.iter().find(|prompt| prompt.agent.as_deref() == agent);
    of(Some(agent)).or_else(|| of(None))
}

/// Who it is that writes or approves: a person answers for it, so a channel or a workflow does neither.
pub(crate) fn author(actor: &Actor) -> Result<UserId> {
    let message = "prompts are written and approved by users: use a user's key";
    actor.user().ok_or_else(|| Error::new(ErrorCode::PermissionDenied, message))
}

impl Agents {
    /// What is in use for an agent: its own active prompt, else the tenant's for all agents; `None` when there is
    /// neither, and then its own text holds. Answered from memory while nothing changes.
    pub async fn active_prompt(&self, scope: TenantScope, agent: &str) -> Result<Option<Arc<Prompt>>> {
        Ok(in_use(&self.prompts.active_prompts(scope).await?, agent).cloned())
    }

    /// A prompt as it is begun by the actor.
    pub(crate) fn new_prompt(&self, actor: &Actor, agent: Option<String>, text: String) -> Result<NewPrompt> {
        let (id, at) = (PromptId::from_uuid(id_for(self.ids.as_ref(), actor, "prompt")), self.clock.now());
        Ok(NewPrompt { id, agent, text, by: author(actor)?, at })
    }

    /// Stores a prompt that is begun.
    pub(crate) async fn begin_prompt(&self, actor: &Actor, new: &NewPrompt) -> Result<Prompt> {
        self.prompts.draft_prompt(actor.scope(), new, begun(actor, new)).await
    }
}
