//! Governed prompts, every version of them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{PromptId, UserId};
use kybern_core::ports::{Page, PromptStore};
use kybern_core::prompt::{NewPrompt, OfAgent, Prompt, PromptChange, PromptFilter, PromptStatus};
use kybern_core::tenant::TenantScope;
use serde_json::json;
use uuid::Uuid;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::page::ListQuery;
use crate::store::SqlStore;
use crate::{audit, page, reservations};

statements! {
    LAST_VERSION = part "prompt" "last_version";
    INSERT = part "prompt" "insert";
    GET = part "prompt" "get";
    LIST = part "prompt" "list";
    ACTIVE = part "prompt" "active";
    ACTIVE_OF = part "prompt" "active_of";
    UPDATE = part "prompt" "update";
}

/// What stands for all agents: no agent's key is so.
const ALL: &str = "*";

fn of(agent: Option<&str>) -> &str {
    agent.unwrap_or(ALL)
}

fn prompt(row: &mut Row) -> Result<Prompt> {
    Ok(Prompt {
        id: PromptId::from_uuid(row.uuid()?),
        agent: Some(row.text()?).filter(|agent| agent != ALL),
        version: row.u32()?,
        text: row.text()?,
        status: row.named(PromptStatus::parse)?,
        authors: row.json()?,
        approved_by: row.opt_uuid()?.map(UserId::from_uuid),
        note: row.opt_text()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

async fn get(tx: &mut Tx, scope: TenantScope, id: PromptId) -> Result<Option<Prompt>> {
    tx.find(&GET, args![scope, id.as_uuid()], prompt).await
}

/// Writes down a prompt that is begun. The caller holds the tenant's audit, so no version is given twice.
pub(crate) async fn begin(tx: &mut Tx, scope: TenantScope, new: &NewPrompt) -> Result<Prompt> {
    let agent = of(new.agent.as_deref());
    let last = tx.find(&LAST_VERSION, args![scope, agent], Row::u32).await?;
    let begun = new.begun(last.unwrap_or(0) + 1);
    let (id, authors) = (begun.id.as_uuid(), json!(begun.authors).to_string());
    let (text, status) = (begun.text.as_str(), begun.status.as_str());
    tx.execute(&INSERT, args![scope, id, agent, begun.version, text, status, authors, new.at, new.at]).await?;
    Ok(begun)
}

async fn draft(tx: &mut Tx, (scope, new, event): &(TenantScope, NewPrompt, AuditEvent)) -> Result<Prompt> {
    reservations::lock_tenant(tx, *scope).await?;
    let begun = begin(tx, *scope, new).await?;
    audit::append(tx, *scope, new.at, &begun.numbers(event.clone())).await?;
    Ok(begun)
}

async fn list(tx: &mut Tx, listing: &ListQuery<PromptFilter, PromptId>) -> Result<Page<Prompt>> {
    let ListQuery { scope, filter, after, limit } = listing;
    let agent = match &filter.agent {
        OfAgent::Any => "",
        OfAgent::All => ALL,
        OfAgent::One(key) => key,
    };
    let status = filter.status.map_or("", PromptStatus::as_str);
    let before = after.map_or(Uuid::max(), PromptId::as_uuid);
    let rows = tx.fetch_all(&LIST, args![*scope, before, agent, status, *limit + 1]).await?;
    page::cut_readable(rows, *limit, prompt)
}

async fn active(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Arc<Prompt>>> {
    tx.list(&ACTIVE, args![scope], |row| prompt(row).map(Arc::new)).await
}

async fn update(tx: &mut Tx, scope: TenantScope, prompt: &Prompt) -> Result<()> {
    let (id, authors) = (prompt.id.as_uuid(), json!(prompt.authors).to_string());
    let (text, status, note) = (prompt.text.as_str(), prompt.status.as_str(), prompt.note.as_deref());
    let approved_by = prompt.approved_by.map(UserId::as_uuid);
    tx.execute(&UPDATE, args![scope, id, text, status, authors, approved_by, note, prompt.updated_at]).await?;
    Ok(())
}

async fn change(tx: &mut Tx, (scope, change, event): &(TenantScope, PromptChange, AuditEvent)) -> Result<()> {
    let (scope, PromptChange { before, after, retires }) = (*scope, change);
    let other = || StoreError::Conflict(format!("somebody else has changed prompt {} meanwhile", before.id));
    // From here on nobody else changes a prompt of the tenant: what is compared is what is written over.
    reservations::lock_tenant(tx, scope).await?;
    if get(tx, scope, before.id).await?.as_ref() != Some(before) {
        return Err(other());
    }
    if after.status == PromptStatus::Active {
        let found = tx.find(&ACTIVE_OF, args![scope, of(after.agent.as_deref())], Row::uuid).await?;
        if found != retires.as_ref().map(|retired| retired.id.as_uuid()) {
            return Err(other());
        }
    }
    // The one before makes room first: two are never active.
    if let Some(retired) = retires {
        update(tx, scope, &retired.clone().retired(after.updated_at)).await?;
    }
    update(tx, scope, after).await?;
    if after.status == PromptStatus::Active {
        tx.outdates_what_is_known();
    }
    audit::append(tx, scope, after.updated_at, event).await
}

#[async_trait]
impl<D: 'static> PromptStore for SqlStore<D> {
    async fn draft_prompt(&self, scope: TenantScope, new: &NewPrompt, audit: AuditEvent) -> PortResult<Prompt> {
        Ok(self.write(scope, (scope, new.clone(), audit), |tx, args| Box::pin(draft(tx, args))).await?)
    }

    async fn prompt(&self, scope: TenantScope, id: PromptId) -> PortResult<Option<Prompt>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn prompts(
        &self,
        scope: TenantScope,
        filter: &PromptFilter,
        after: Option<PromptId>,
        limit: u32,
    ) -> PortResult<Page<Prompt>> {
        let listing = ListQuery { scope, filter: filter.clone(), after, limit };
        Ok(self.read(scope, listing, |tx, listing| Box::pin(list(tx, listing))).await?)
    }

    async fn active_prompts(&self, scope: TenantScope) -> PortResult<Arc<Vec<Arc<Prompt>>>> {
        let known = &self.shared.known;
        let read = || self.read(scope, scope, |tx, scope| Box::pin(active(tx, *scope)));
        Ok(known.or_read(&known.prompts, scope.tenant(), read).await?)
    }

    async fn change_prompt(&self, scope: TenantScope, new: &PromptChange, audit: AuditEvent) -> PortResult<()> {
        let activates = new.after.status == PromptStatus::Active;
        self.write(scope, (scope, new.clone(), audit), |tx, args| Box::pin(change(tx, args))).await?;
        if activates {
            // Whoever is told that a prompt is in use may rely on it in every process.
            self.shared.known.outlived().await;
        }
        Ok(())
    }
}
