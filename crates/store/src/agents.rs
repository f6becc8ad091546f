//! What tenants say about agents.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::agent::OwnAgent;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::AgentId;
use kybern_core::ports::AgentStore;
use kybern_core::prompt::{NewPrompt, Prompt};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, prompts, reservations};

statements! {
    LIST = part "agent" "list";
    GET = part "agent" "get";
    BY_KEY = part "agent" "by_key";
    INSERT = part "agent" "insert";
    UPDATE = part "agent" "update";
    DELETE = part "agent" "delete";
}

/// Reads an agent. One that cannot be read is taken away, and so is the bundled one of its key: nobody knows any more
/// what it may not do.
fn agent(row: &mut Row) -> Result<OwnAgent> {
    let (id, key) = (AgentId::from_uuid(row.uuid()?), row.text()?);
    let draft = row.opt_json().unwrap_or_else(|error| {
        tracing::error!(agent.id = %id, %error, "an agent cannot be read, and is not there");
        None
    });
    Ok(OwnAgent { id, key, draft, version: row.u32()?, created_at: row.time()?, updated_at: row.time()? })
}

async fn list(tx: &mut Tx, scope: TenantScope) -> Result<Vec<OwnAgent>> {
    let mut found = tx.list(&LIST, args![scope], agent).await?;
    // Databases do not agree on the order of names.
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

/// The stored version of an agent; 0 when there is none.
async fn version(tx: &mut Tx, scope: TenantScope, id: AgentId) -> Result<u32> {
    Ok(tx.find(&GET, args![scope, id.as_uuid()], Row::u32).await?.unwrap_or(0))
}

type PutAgent = (TenantScope, OwnAgent, Option<NewPrompt>, Vec<AuditEvent>);

async fn put(tx: &mut Tx, (scope, agent, prompt, audit): &PutAgent) -> Result<Option<Prompt>> {
    let (scope, key) = (*scope, agent.key.as_str());
    reservations::lock_tenant(tx, scope).await?;
    let known = version(tx, scope, agent.id).await?;
    if !agent.follows(Some(known).filter(|known| *known > 0)) {
        return Err(changed(key));
    }
    let body = agent.draft.as_ref().map(|draft| json!(draft).to_string());
    if known > 0 {
        let row = args![scope, agent.id.as_uuid(), body, agent.version, agent.updated_at];
        tx.execute(&UPDATE, row).await?;
    } else {
        if tx.fetch_optional(&BY_KEY, args![scope, key]).await?.is_some() {
            return Err(StoreError::Conflict(format!("there is an agent {key} already")));
        }
        let times = (agent.created_at, agent.updated_at);
        let row = args![scope, agent.id.as_uuid(), key, body, agent.version, times.0, times.1];
        tx.execute(&INSERT, row).await?;
    }
    let begun = match prompt {
        Some(new) => Some(prompts::begin(tx, scope, new).await?),
        None => None,
    };
    tx.outdates_what_is_known();
    for event in audit {
        let event = match &begun {
            Some(begun) => begun.numbers(event.clone()),
            None => event.clone(),
        };
        audit::append(tx, scope, agent.updated_at, &event).await?;
    }
    Ok(begun)
}

fn changed(agent: impl std::fmt::Display) -> StoreError {
    StoreError::Conflict(format!(
        "agent {agent} was changed by somebody else in the meantime; read it again, then repeat your change"
    ))
}

type DropAgents = (TenantScope, Vec<(AgentId, u32)>, Timestamp, AuditEvent);

async fn drop_all(tx: &mut Tx, (scope, dropped, at, event): &DropAgents) -> Result<()> {
    reservations::lock_tenant(tx, *scope).await?;
    for (id, expected) in dropped {
        match version(tx, *scope, *id).await? {
            0 => return Err(StoreError::not_found("agent", id)),
            stored if stored != *expected => return Err(changed(id)),
            _ => {}
        }
    }
    for (id, _) in dropped {
        tx.execute(&DELETE, args![*scope, id.as_uuid()]).await?;
    }
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, event).await
}

#[async_trait]
impl<D: 'static> AgentStore for SqlStore<D> {
    async fn agents(&self, scope: TenantScope) -> PortResult<Arc<Vec<OwnAgent>>> {
        let known = &self.shared.known;
        let read = || self.read(scope, scope, |tx, scope| Box::pin(list(tx, *scope)));
        Ok(known.or_read(&known.agents, scope.tenant(), read).await?)
    }

    async fn put_agent(
        &self,
        scope: TenantScope,
        agent: &OwnAgent,
        prompt: Option<&NewPrompt>,
        audit: Vec<AuditEvent>,
    ) -> PortResult<Option<Prompt>> {
        let args = (scope, agent.clone(), prompt.cloned(), audit);
        let begun = self.write(scope, args, |tx, args| Box::pin(put(tx, args))).await?;
        // Whoever is told that an agent is so may rely on it in every process.
        self.shared.known.outlived().await;
        Ok(begun)
    }

    async fn drop_agents(
        &self,
        scope: TenantScope,
        dropped: &[(AgentId, u32)],
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let args = (scope, dropped.to_vec(), at, audit);
        self.write(scope, args, |tx, args| Box::pin(drop_all(tx, args))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }
}
