//! Governed prompts: who writes what agents are told, who approves it, and which one is in use.

mod preview;

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::{PromptId, UserId};
use kybern_core::identity::AccountMakers;
use kybern_core::ports::{Clock, IdentityStore, Page, PromptStore};
use kybern_core::prompt::{self, Prompt, PromptAct, PromptChange, PromptFilter, PromptStatus};
use kybern_core::tenant::TenantScope;
use serde_json::json;

pub use preview::{Preview, PreviewRequest, Previews};

use crate::agent::Agents;
use crate::agent::told::author;
use crate::command::once;

/// Governed prompts, from the draft to the text in use.
#[derive(Clone)]
pub struct Prompts {
    pub(crate) store: Arc<dyn PromptStore>,
    pub(crate) users: Arc<dyn IdentityStore>,
    pub(crate) agents: Agents,
    pub(crate) self_approval: bool,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Prompts {
    /// A page of the tenant's prompts, the newest first.
    pub async fn list(
        &self,
        scope: TenantScope,
        filter: &PromptFilter,
        after: Option<PromptId>,
        limit: u32,
    ) -> Result<Page<Prompt>> {
        self.store.prompts(scope, filter, after, limit).await
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: PromptId) -> Result<Prompt> {
        self.store.prompt(scope, id).await?.ok_or_else(|| Error::not_found("prompt", id))
    }

    /// Begins a prompt for the agent of that id, key or name, or for all agents that have none of their own.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for an unknown agent and for a text that cannot be one; `PERMISSION_DENIED` for somebody who
    /// is no user.
    pub async fn draft(&self, actor: &Actor, agent: Option<&str>, text: &str) -> Result<Prompt> {
        let text = prompt::checked(text)?;
        let agent = match agent {
            None => None,
            Some(name) => Some(self.agents.named(actor.scope(), name).await?.draft.key),
        };
        let new = self.agents.new_prompt(actor, agent, text)?;
        once(actor, || self.store.prompt(actor.scope(), new.id), self.agents.begin_prompt(actor, &new)).await
    }

    /// Does something with a prompt. What it becomes when it is activated holds from the next turn on.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` for an act that its status does not allow, for an approval or an activation of a text that
    /// has changed since it was read, and when somebody else acts at the same time; `PERMISSION_DENIED` for somebody who counts as an author and would approve; `VALIDATION_ERROR` for a text or a note that cannot be one.
    pub async fn act(&self, actor: &Actor, id: PromptId, act: PromptAct) -> Result<Prompt> {
        let (scope, by) = (actor.scope(), author(actor)?);
        let before = self.get(scope, id).await?;
        let action = act.action();
        // Who made whom is asked for where it matters only.
        let makers = match &act {
            PromptAct::Approve(_) => {
                let persons: Vec<UserId> = before.authors.iter().copied().chain([by]).collect();
                self.users.account_makers(&persons).await?
            }
            PromptAct::Edit(_) | PromptAct::Submit | PromptAct::Reject(_) | PromptAct::Activate(_) => {
                AccountMakers::default()
            }
        };
        let own = before.is_own_of(by, &makers);
        let shared = before.makers_shared_with(by, &makers);
        let asked = (!self.self_approval).then_some(&makers);
        let after = before.clone().after(act, by, asked, self.clock.now())?;
        // The text itself is not in the audit, but which one it was.
        let mut detail = json!({"agent": after.agent, "version": after.version, "textHash": after.text_hash()});
        let retires = match after.status {
            PromptStatus::Active => self.store.active_prompts(scope).await?,
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
        self.store.change_prompt(scope, &change, event).await?;
        Ok(after)
    }
}
