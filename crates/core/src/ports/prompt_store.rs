//! Governed prompts. Every turn asks for the active ones, so an implementation answers from memory what it knows to
//! hold.

use std::sync::Arc;

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::PromptId;
use crate::prompt::{NewPrompt, Prompt, PromptChange, PromptFilter};
use crate::tenant::TenantScope;

/// Where prompts are kept, every version of them.
#[async_trait]
pub trait PromptStore: Send + Sync {
    /// Begins a prompt: the next version of its agent.
    async fn draft_prompt(&self, scope: TenantScope, new: &NewPrompt, audit: AuditEvent) -> Result<Prompt>;

    async fn prompt(&self, scope: TenantScope, id: PromptId) -> Result<Option<Prompt>>;

    /// A page of those that pass the filter, the newest first, behind `after`.
    async fn prompts(
        &self,
        scope: TenantScope,
        filter: &PromptFilter,
        after: Option<PromptId>,
        limit: u32,
    ) -> Result<Page<Prompt>>;

    /// Every active prompt of the tenant: at most one for each agent, and one for all.
    async fn active_prompts(&self, scope: TenantScope) -> Result<Arc<Vec<Arc<Prompt>>>>;

    /// Carries out an act. What becomes active, or ceases to be, holds in every process when it returns.
    ///
    /// # Errors
    /// `CONFLICT` when a prompt of the change is not stored any more as the change says it was read, or when another
    /// prompt of the agent is active than the one that makes room.
    async fn change_prompt(&self, scope: TenantScope, change: &PromptChange, audit: AuditEvent) -> Result<()>;
}
