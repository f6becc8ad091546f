//! Governed prompts: who writes what agents are told, who approves it, and which one is in use.

mod preview;

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{PromptId, UserId};
use kybern_core::identity::Makers;
use kybern_core::ports::Page;
use kybern_core::prompt::{self, NewPrompt, Prompt, PromptAct, PromptChange, PromptFilter, PromptStatus};
use kybern_core::tenant::TenantScope;
use serde_json::json;

pub use preview::{Preview, PreviewRequest};

use crate::Engine;
use crate::command::once;

/// The audit of a prompt that is begun.
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
fn author(actor: &Actor) -> Result<UserId> {
    let message = "prompts are written and approved by users: use a user's key";
    actor.user().ok_or_else(|| Error::new(ErrorCode::PermissionDenied, message))
}

impl Engine {
    /// What is in use for an agent: its own active prompt, else the tenant's for all agents; `None` when there is
    /// neither, and then its own text holds. Answered from memory while nothing changes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn active_prompt(&self, scope: TenantScope, agent: &str) -> Result<Option<Arc<Prompt>>> {
        Ok(in_use(&self.inner.store.active_prompts(scope).await?, agent).cloned())
    }

    /// A page of the tenant's prompts, the newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn prompts(
        &self,
        scope: TenantScope,
        filter: &PromptFilter,
        after: Option<PromptId>,
        limit: u32,
    ) -> Result<Page<Prompt>> {
        self.inner.store.prompts(scope, filter, after, limit).await
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn prompt(&self, scope: TenantScope, id: PromptId) -> Result<Prompt> {
        self.inner.store.prompt(scope, id).await?.ok_or_else(|| Error::not_found("prompt", id))
    }

    /// Begins a prompt for the agent of that id, key or name, or for all agents that have none of their own.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for an unknown agent and for a text that cannot be one; `PERMISSION_DENIED` for somebody who
    /// is no user.
    pub async fn draft_prompt(&self, actor: &Actor, agent: Option<&str>, text: &str) -> Result<Prompt> {
        let text = prompt::checked(text)?;
        let agent = match agent {
            None => None,
            Some(name) => {
                let found = self.agent(actor.scope(), name).await;
                let unknown = |error: Error| match error.code() {
                    ErrorCode::NotFound => Error::invalid("/agent", error.to_string()),
                    _ => error,
                };
                Some(found.map_err(unknown)?.draft.key)
            }
        };
        let new = self.new_prompt(actor, agent, text)?;
        once(actor, || self.inner.store.prompt(actor.scope(), new.id), self.begin_prompt(actor, &new)).await
    }

    /// A prompt as it is begun by the actor.
    pub(crate) fn new_prompt(&self, actor: &Actor, agent: Option<String>, text: String) -> Result<NewPrompt> {
        let (id, at) = (PromptId::from_uuid(self.id_for(actor, "prompt")), self.inner.clock.now());
        Ok(NewPrompt { id, agent, text, by: author(actor)?, at })
    }

    /// Stores a prompt that is begun.
    pub(crate) async fn begin_prompt(&self, actor: &Actor, new: &NewPrompt) -> Result<Prompt> {
        self.inner.store.draft_prompt(actor.scope(), new, begun(actor, new)).await
    }

    /// Does something with a prompt. What it becomes when it is activated holds from the next turn on.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` for an act that its status does not allow, for an approval or an activation of a text that
    /// has changed since it was read, and when somebody else acts at the same time; `PERMISSION_DENIED` for somebody who counts as an author and would approve; `VALIDATION_ERROR` for a text or a note that cannot be one.
    pub async fn act_on_prompt(&self, actor: &Actor, id: PromptId, act: PromptAct) -> Result<Prompt> {
        let (scope, by) = (actor.scope(), author(actor)?);
        let before = self.prompt(scope, id).await?;
        let action = act.action();
        // Who made whom is asked for where it matters only.
        let makers = match &act {
            PromptAct::Approve(_) => Makers::of(&self.users(scope).await?, &self.keys_of(scope).await?),
            PromptAct::Edit(_) | PromptAct::Submit | PromptAct::Reject(_) | PromptAct::Activate(_) => Makers::default(),
        };
        let own = before.is_own_of(by, &makers);
        let shared = before.makers_shared_with(by, &makers);
        let asked = (!self.inner.settings.self_approval).then_some(&makers);
        let after = before.clone().after(act, by, asked, self.inner.clock.now())?;
        // The text itself is not in the audit, but which one it was.
        let mut detail = json!({"agent": after.agent, "version": after.version, "textHash": after.text_hash()});
        let retires = match after.status {
            PromptStatus::Active => self.inner.store.active_prompts(scope).await?,
            PromptStatus::Draft | PromptStatus::Review | PromptStatus::Approved | PromptStatus::Retired => {
                Arc::default()
            }
        };
        let retires = retires.iter().find(|prompt| prompt.agent == after.agent).map(|prompt| (**prompt).clone());
        if let Some(retired) = &retires {
            detail["retires"] = json!(retired.id);
        }
        if after.status == PromptStatus::Approved {
            detail["selfApproval"] = json!(own);
            if !shared.is_empty() {
                detail["accountsMadeBy"] = json!(shared);
            }
        }
        let event = AuditEvent::by(actor, action, format!("prompt:{id}"), detail);
        let change = PromptChange { before, after: after.clone(), retires };
        self.inner.store.change_prompt(scope, &change, event).await?;
        Ok(after)
    }
}
