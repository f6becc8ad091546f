//! Own tools, every version of them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{OwnToolId, UserId};
use kybern_core::ports::{MAX_PAGE_BYTES, OwnToolStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use kybern_core::tool::own::{
    NewOwnTool, OwnTool, OwnToolChange, OwnToolFilter, OwnToolStatus, no_more_versions, no_room,
};
use serde_json::json;
use uuid::Uuid;

use crate::db::{Row, Tx, args, json, statements};
use crate::error::{Result, StoreError};
use crate::page::ListQuery;
use crate::store::SqlStore;
use crate::{audit, page, reservations};

statements! {
    VERSIONS = part "own_tool" "versions";
    INSERT = part "own_tool" "insert";
    GET = part "own_tool" "get";
    LIST = part "own_tool" "list";
    ACTIVE = part "own_tool" "active";
    OTHERS = part "own_tool" "others";
    RETIRE = part "own_tool" "retire";
    UPDATE = part "own_tool" "update";
    DELETE = part "own_tool" "delete";
}

fn own_tool(row: &mut Row) -> Result<OwnTool> {
    Ok(OwnTool {
        id: OwnToolId::from_uuid(row.uuid()?),
        version: row.u32()?,
        definition: row.json()?,
        status: row.named(OwnToolStatus::parse)?,
        author: UserId::from_uuid(row.uuid()?),
        approved_by: row.opt_uuid()?.map(UserId::from_uuid),
        note: row.opt_text()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

async fn get(tx: &mut Tx, scope: TenantScope, id: OwnToolId) -> Result<Option<OwnTool>> {
    tx.find(&GET, args![scope, id.as_uuid()], own_tool).await
}

async fn draft(tx: &mut Tx, (scope, new, event): &(TenantScope, NewOwnTool, AuditEvent)) -> Result<OwnTool> {
    let scope = *scope;
    // From here on nobody else changes a tool of the tenant, so no version is given twice.
    reservations::lock_tenant(tx, scope).await?;
    let key = new.definition.key.as_str();
    let found = tx.find(&VERSIONS, args![scope, key], |row| Ok((row.u32()?, row.u32()?))).await?;
    let (last, kept) = found.unwrap_or_default();
    if let Some(why) = no_more_versions(key, kept) {
        return Err(StoreError::Full(why));
    }
    let mut tool = new.clone().drafted(last + 1);
    let text = json!(tool.definition).to_string();
    // As everybody will read it: the last digit of a fraction may differ, and with it the hash.
    let read = json::read(&text);
    tool.definition =
        read.map_err(|error| StoreError::Decode { row: INSERT.name.to_owned(), problem: error.to_string() })?;
    let (id, author, status) = (tool.id.as_uuid(), tool.author.as_uuid(), tool.status.as_str());
    let bytes = i64::try_from(tool.definition.bytes()).unwrap_or(i64::MAX);
    let row = args![scope, id, key, tool.version, text, bytes, status, author, tool.created_at, tool.updated_at];
    tx.execute(&INSERT, row).await?;
    audit::append(tx, scope, new.at, &tool.numbers(event)).await?;
    Ok(tool)
}

async fn list(tx: &mut Tx, listing: &ListQuery<OwnToolFilter, OwnToolId>) -> Result<Page<OwnTool>> {
    let ListQuery { scope, filter, after, limit } = listing;
    let key = filter.key.as_deref().unwrap_or("");
    let status = filter.status.map_or("", OwnToolStatus::as_str);
    let args = |last: Uuid, most: u32| [(*scope).into(), last.into(), key.into(), status.into(), most.into()];
    let begin = after.map_or(Uuid::max(), OwnToolId::as_uuid);
    page::of_large(tx, (&LIST, args), begin, (*limit, MAX_PAGE_BYTES), own_tool).await
}

async fn active(tx: &mut Tx, scope: TenantScope) -> Result<Vec<OwnTool>> {
    let rows = tx.fetch_all(&ACTIVE, args![scope]).await?;
    let mut tools = page::readable(rows, own_tool);
    tools.sort_by(|a, b| a.definition.key.cmp(&b.definition.key));
    Ok(tools)
}

/// Makes room for a version that becomes active: the one before is retired, whether or not it can be read.
async fn make_room(tx: &mut Tx, scope: TenantScope, tool: &OwnTool) -> Result<()> {
    let key = tool.definition.key.as_str();
    if let Some(mut others) = tx.fetch_optional(&OTHERS, args![scope, key]).await?
        && let Some(why) = no_room(others.u64()?, others.u64()?, tool.definition.bytes() as u64)
    {
        return Err(StoreError::Full(why));
    }
    tx.execute(&RETIRE, args![scope, key, tool.updated_at]).await?;
    Ok(())
}

async fn change(tx: &mut Tx, (scope, change, event): &(TenantScope, OwnToolChange, AuditEvent)) -> Result<()> {
    let (scope, OwnToolChange { before, after }) = (*scope, change);
    // From here on nobody else changes a tool of the tenant: what is compared is what is written over.
    reservations::lock_tenant(tx, scope).await?;
    if get(tx, scope, before.id).await?.as_ref() != Some(before) {
        let key = &before.definition.key;
        let message = format!("somebody else has changed version {} of {key} meanwhile", before.version);
        return Err(StoreError::Conflict(message));
    }
    if after.status == OwnToolStatus::Active {
        make_room(tx, scope, after).await?;
    }
    let (status, approved_by) = (after.status.as_str(), after.approved_by.map(UserId::as_uuid));
    let row = args![scope, after.id.as_uuid(), status, approved_by, after.note.as_deref(), after.updated_at];
    tx.execute(&UPDATE, row).await?;
    if change.touches_use() {
        tx.outdates_what_is_known();
    }
    audit::append(tx, scope, after.updated_at, event).await
}

type DeleteTool = (TenantScope, String, Timestamp, AuditEvent);

async fn delete(tx: &mut Tx, (scope, key, at, event): &DeleteTool) -> Result<bool> {
    reservations::lock_tenant(tx, *scope).await?;
    if tx.execute(&DELETE, args![*scope, key.as_str()]).await? == 0 {
        return Ok(false);
    }
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, event).await?;
    Ok(true)
}

#[async_trait]
impl<D: 'static> OwnToolStore for SqlStore<D> {
    async fn draft_own_tool(&self, scope: TenantScope, new: &NewOwnTool, audit: AuditEvent) -> PortResult<OwnTool> {
        Ok(self.write(scope, (scope, new.clone(), audit), |tx, args| Box::pin(draft(tx, args))).await?)
    }

    async fn own_tool(&self, scope: TenantScope, id: OwnToolId) -> PortResult<Option<OwnTool>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn own_tools(
        &self,
        scope: TenantScope,
        filter: &OwnToolFilter,
        after: Option<OwnToolId>,
        limit: u32,
    ) -> PortResult<Page<OwnTool>> {
        let listing = ListQuery { scope, filter: filter.clone(), after, limit };
        Ok(self.read(scope, listing, |tx, listing| Box::pin(list(tx, listing))).await?)
    }

    async fn active_own_tools(&self, scope: TenantScope) -> PortResult<Arc<Vec<OwnTool>>> {
        let known = &self.shared.known;
        // Taken before reading, so what changes meanwhile does not fit it.
        let stamp = known.stamp();
        if let Some(tools) = known.own_tools(scope.tenant(), stamp) {
            return Ok(tools);
        }
        // Boxed, so that who finds them known does not carry the reading along.
        let read = Box::pin(self.read(scope, scope, |tx, scope| Box::pin(active(tx, *scope))));
        Ok(known.keep_own_tools(scope.tenant(), stamp, read.await?))
    }

    async fn change_own_tool(&self, scope: TenantScope, new: &OwnToolChange, audit: AuditEvent) -> PortResult<()> {
        self.write(scope, (scope, new.clone(), audit), |tx, args| Box::pin(change(tx, args))).await?;
        if new.touches_use() {
            // Whoever is told that a tool is in use, or is not any more, may rely on it in every process.
            self.shared.known.outlived().await;
        }
        Ok(())
    }

    async fn delete_own_tool(
        &self,
        scope: TenantScope,
        key: &str,
        at: Timestamp,
        event: AuditEvent,
    ) -> PortResult<bool> {
        let deleted =
            self.write(scope, (scope, key.to_owned(), at, event), |tx, args| Box::pin(delete(tx, args))).await?;
        if deleted {
            self.shared.known.outlived().await;
        }
        Ok(deleted)
    }
}
