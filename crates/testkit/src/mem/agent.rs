//! What tenants say about agents.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::agent::OwnAgent;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::AgentId;
use kybern_core::ports::AgentStore;
use kybern_core::prompt::{NewPrompt, Prompt};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::conflict;

#[async_trait]
impl AgentStore for MemStore {
    async fn agents(&self, scope: TenantScope) -> Result<Arc<Vec<OwnAgent>>> {
        self.run("agents", |state| {
            let own = state.agents.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(Arc::new(own.map(|(_, agent)| agent.clone()).collect()))
        })
        .await
    }

    async fn put_agent(
        &self,
        scope: TenantScope,
        agent: &OwnAgent,
        prompt: Option<&NewPrompt>,
        audit: Vec<AuditEvent>,
    ) -> Result<Option<Prompt>> {
        self.run("put_agent", |state| {
            let place = (scope.tenant(), agent.key.clone());
            let known = state.agents.get(&place);
            if known.is_some_and(|known| known.id != agent.id) {
                return Err(conflict(format!("there is an agent {} already", agent.key)));
            }
            if !agent.follows(known.map(|known| known.version)) {
                return Err(conflict(format!("somebody else has changed the agent {} meanwhile", agent.key)));
            }
            let created_at = known.map_or(agent.created_at, |known| known.created_at);
            state.agents.insert(place, OwnAgent { created_at, ..agent.clone() });
            let begun = prompt.map(|new| state.begin_prompt(scope, new));
            for event in audit {
                let event = match &begun {
                    Some(begun) => begun.numbers(event),
                    None => event,
                };
                state.append_audit(scope.tenant(), agent.updated_at, event);
            }
            Ok(begun)
        })
        .await
    }

    async fn drop_agents(
        &self,
        scope: TenantScope,
        dropped: &[(AgentId, u32)],
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("drop_agents", |state| {
            let tenant = scope.tenant();
            for (id, version) in dropped {
                let mut own = state.agents.iter().filter(|((of, _), _)| *of == tenant);
                let stored = own.find(|(_, agent)| agent.id == *id).ok_or_else(|| Error::not_found("agent", id))?;
                if stored.1.version != *version {
                    return Err(conflict("somebody else has changed an agent meanwhile"));
                }
            }
            state.agents.retain(|(of, _), agent| *of != tenant || dropped.iter().all(|(id, _)| *id != agent.id));
            state.append_audit(tenant, at, audit);
            Ok(())
        })
        .await
    }
}
