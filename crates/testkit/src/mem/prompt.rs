//! Governed prompts.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result;
use kybern_core::id::PromptId;
use kybern_core::ports::{Page, PromptStore};
use kybern_core::prompt::{NewPrompt, OfAgent, Prompt, PromptChange, PromptFilter, PromptStatus};
use kybern_core::tenant::TenantScope;

use super::MemStore;
use super::state::{State, conflict};
use super::task::page;

#[async_trait]
impl PromptStore for MemStore {
    async fn draft_prompt(&self, scope: TenantScope, new: &NewPrompt, audit: AuditEvent) -> Result<Prompt> {
        self.run("draft_prompt", |state| {
            let begun = state.begin_prompt(scope, new);
            state.append_audit(scope.tenant(), new.at, begun.numbers(audit));
            Ok(begun)
        })
        .await
    }

    async fn prompt(&self, scope: TenantScope, id: PromptId) -> Result<Option<Prompt>> {
        self.run("prompt", |state| Ok(state.prompts.get(&(scope.tenant(), id)).cloned())).await
    }

    async fn prompts(
        &self,
        scope: TenantScope,
        filter: &PromptFilter,
        after: Option<PromptId>,
        limit: u32,
    ) -> Result<Page<Prompt>> {
        self.run("prompts", |state| {
            let wanted = |prompt: &&Prompt| {
                let of_agent = match &filter.agent {
                    OfAgent::Any => true,
                    OfAgent::All => prompt.agent.is_none(),
                    OfAgent::One(key) => prompt.agent.as_ref() == Some(key),
                };
                of_agent
                    && filter.status.is_none_or(|status| prompt.status == status)
                    && after.is_none_or(|after| prompt.id < after)
            };
            let found = state.prompts_of(scope).rev().filter(wanted).cloned();
            Ok(page(found, limit, |prompt| prompt.id.to_string()))
        })
        .await
    }

    async fn active_prompts(&self, scope: TenantScope) -> Result<Arc<Vec<Arc<Prompt>>>> {
        self.run("active_prompts", |state| {
            let active = state.prompts_of(scope).filter(|prompt| prompt.status == PromptStatus::Active);
            Ok(Arc::new(active.cloned().map(Arc::new).collect()))
        })
        .await
    }

    async fn change_prompt(&self, scope: TenantScope, change: &PromptChange, audit: AuditEvent) -> Result<()> {
        self.run("change_prompt", |state| {
            let PromptChange { before, after, retires } = change;
            let active = |prompt: &&Prompt| prompt.status == PromptStatus::Active && prompt.agent == after.agent;
            let active = state.prompts_of(scope).find(active).map(|prompt| prompt.id);
            let makes_room =
                after.status != PromptStatus::Active || active == retires.as_ref().map(|retired| retired.id);
            let place = (scope.tenant(), before.id);
            if state.prompts.get(&place) != Some(before) || !makes_room {
                return Err(conflict(format!("somebody else has changed prompt {} meanwhile", before.id)));
            }
            if let Some(retired) = retires {
                let retired = retired.clone().retired(after.updated_at);
                state.prompts.insert((scope.tenant(), retired.id), retired);
            }
            state.prompts.insert(place, after.clone());
            state.append_audit(scope.tenant(), after.updated_at, audit);
            Ok(())
        })
        .await
    }
}

impl State {
    /// A tenant's prompts, the oldest first.
    fn prompts_of(&self, scope: TenantScope) -> impl DoubleEndedIterator<Item = &Prompt> {
        let own = self.prompts.iter().filter(move |((tenant, _), _)| *tenant == scope.tenant());
        own.map(|(_, prompt)| prompt)
    }

    /// Stores a prompt that is begun, as the next version of its agent.
    pub(super) fn begin_prompt(&mut self, scope: TenantScope, new: &NewPrompt) -> Prompt {
        let versions = self.prompts_of(scope).filter(|prompt| prompt.agent == new.agent).map(|prompt| prompt.version);
        let begun = new.begun(versions.max().unwrap_or(0) + 1);
        self.prompts.insert((scope.tenant(), begun.id), begun.clone());
        begun
    }
}
