//! What tenants say about agents. Bundled agents live in the program. Every turn asks for the list, so an implementation
//! answers from memory what it knows to hold.

use std::sync::Arc;

use async_trait::async_trait;

use crate::agent::OwnAgent;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::AgentId;
use crate::prompt::{NewPrompt, Prompt};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where that is kept.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// Everything that the tenant says about agents, by key. The same list as before, by its address, only when nothing
    /// has changed.
    async fn agents(&self, scope: TenantScope) -> Result<Arc<Vec<OwnAgent>>>;

    /// Writes the next version of an agent: it has to [follow](OwnAgent::follows) what is stored. When it was made
    /// stays as it was stored first. With it a prompt may be begun, which is answered. Holds in every process when it returns.
    ///
    /// # Errors
    /// `CONFLICT` when it does not follow what is stored, or another agent has the key.
    async fn put_agent(
        &self,
        scope: TenantScope,
        agent: &OwnAgent,
        prompt: Option<&NewPrompt>,
        audit: Vec<AuditEvent>,
    ) -> Result<Option<Prompt>>;

    /// Forgets what the tenant said about agents, each of which is stored in that version. Holds in every process when
    /// it returns.
    ///
    /// # Errors
    /// `NOT_FOUND` when one of them is not stored, `CONFLICT` when it is stored in another version; then nothing is
    /// forgotten.
    async fn drop_agents(
        &self,
        scope: TenantScope,
        dropped: &[(AgentId, u32)],
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()>;
}
