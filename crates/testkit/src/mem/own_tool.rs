//! Own tools.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::OwnToolId;
use kybern_core::ports::{OwnToolStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use kybern_core::tool::own::{
    NewOwnTool, OwnTool, OwnToolChange, OwnToolFilter, OwnToolStatus, no_more_versions, no_room,
};

use super::MemStore;
use super::state::{State, conflict};
use super::task::page;

#[async_trait]
impl OwnToolStore for MemStore {
    async fn draft_own_tool(&self, scope: TenantScope, new: &NewOwnTool, audit: AuditEvent) -> Result<OwnTool> {
        self.run("draft_own_tool", |state| {
            let key = new.definition.key.as_str();
            let versions: Vec<u32> = state.own_tools_of(scope, Some(key)).map(|tool| tool.version).collect();
            if let Some(why) = no_more_versions(key, u32::try_from(versions.len()).unwrap_or(u32::MAX)) {
                return Err(Error::new(ErrorCode::Unprocessable, why));
            }
            let tool = new.clone().drafted(versions.into_iter().max().unwrap_or(0) + 1);
            let bytes = tool.definition.bytes() as u64;
            state.own_tools.insert((scope.tenant(), tool.id), (tool.clone(), bytes));
            state.append_audit(scope.tenant(), new.at, tool.numbers(&audit));
            Ok(tool)
        })
        .await
    }

    async fn own_tool(&self, scope: TenantScope, id: OwnToolId) -> Result<Option<OwnTool>> {
        self.run("own_tool", |state| {
            state.own_tool_can_be_read(id)?;
            Ok(state.own_tools.get(&(scope.tenant(), id)).map(|(tool, _)| tool.clone()))
        })
        .await
    }

    async fn own_tools(
        &self,
        scope: TenantScope,
        filter: &OwnToolFilter,
        after: Option<OwnToolId>,
        limit: u32,
    ) -> Result<Page<OwnTool>> {
        self.run("own_tools", |state| {
            let wanted = |tool: &&OwnTool| {
                filter.status.is_none_or(|status| tool.status == status)
                    && after.is_none_or(|after| tool.id < after)
                    && !state.spoilt_own_tools.contains(&tool.id)
            };
            let found = state.own_tools_of(scope, filter.key.as_deref()).rev().filter(wanted).cloned();
            Ok(page(found, limit, |tool| tool.id.to_string()))
        })
        .await
    }

    async fn active_own_tools(&self, scope: TenantScope) -> Result<Arc<Vec<OwnTool>>> {
        self.run("active_own_tools", |state| {
            if let Some(known) = state.known_own_tools.get(&scope.tenant()) {
                return Ok(Arc::clone(known));
            }
            let readable = |tool: &&OwnTool| !state.spoilt_own_tools.contains(&tool.id);
            let active = state.own_tools_of(scope, None).filter(|tool| tool.status == OwnToolStatus::Active);
            let mut active: Vec<OwnTool> = active.filter(readable).cloned().collect();
            active.sort_by(|a, b| a.definition.key.cmp(&b.definition.key));
            let active = Arc::new(active);
            state.known_own_tools.insert(scope.tenant(), Arc::clone(&active));
            Ok(active)
        })
        .await
    }

    async fn change_own_tool(&self, scope: TenantScope, change: &OwnToolChange, audit: AuditEvent) -> Result<()> {
        self.run("change_own_tool", |state| {
            let OwnToolChange { before, after } = change;
            let key = before.definition.key.as_str();
            state.own_tool_can_be_read(before.id)?;
            let place = (scope.tenant(), before.id);
            let Some(bytes) = state.own_tools.get(&place).filter(|(tool, _)| tool == before).map(|(_, bytes)| *bytes)
            else {
                let message = format!("somebody else has changed version {} of {key} meanwhile", before.version);
                return Err(conflict(message));
            };
            if after.status == OwnToolStatus::Active {
                state.make_room(scope, after, bytes)?;
            }
            state.own_tools.insert(place, (after.clone(), bytes));
            if change.touches_use() {
                state.known_own_tools.remove(&scope.tenant());
            }
            state.append_audit(scope.tenant(), after.updated_at, audit);
            Ok(())
        })
        .await
    }

    async fn delete_own_tool(&self, scope: TenantScope, key: &str, at: Timestamp, audit: AuditEvent) -> Result<bool> {
        self.run("delete_own_tool", |state| {
            let count = state.own_tools.len();
            state.own_tools.retain(|(tenant, _), (tool, _)| *tenant != scope.tenant() || tool.definition.key != key);
            let deleted = state.own_tools.len() < count;
            if deleted {
                let State { own_tools, spoilt_own_tools, .. } = state;
                spoilt_own_tools.retain(|id| own_tools.keys().any(|(_, known)| known == id));
                state.known_own_tools.remove(&scope.tenant());
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(deleted)
        })
        .await
    }
}

impl State {
    /// A tenant's versions, of one tool or of all, the oldest first.
    fn own_tools_of<'a>(
        &'a self,
        scope: TenantScope,
        key: Option<&'a str>,
    ) -> impl DoubleEndedIterator<Item = &'a OwnTool> {
        let own = self.own_tools.iter().filter(move |((tenant, _), _)| *tenant == scope.tenant());
        own.map(|(_, (tool, _))| tool).filter(move |tool| key.is_none_or(|key| tool.definition.key == key))
    }

    fn own_tool_can_be_read(&self, id: OwnToolId) -> Result<()> {
        if self.spoilt_own_tools.contains(&id) {
            return Err(Error::new(ErrorCode::Internal, format!("own tool {id} cannot be read")));
        }
        Ok(())
    }

    /// Makes room for a version of so many bytes that becomes active: the one before is retired.
    fn make_room(&mut self, scope: TenantScope, tool: &OwnTool, bytes: u64) -> Result<()> {
        let key = &tool.definition.key;
        let of_tenant = self.own_tools.iter_mut().filter(|((tenant, _), _)| *tenant == scope.tenant());
        let active = of_tenant.map(|(_, known)| known).filter(|(other, _)| other.status == OwnToolStatus::Active);
        let (before, others): (Vec<_>, Vec<_>) = active.partition(|(other, _)| other.definition.key == *key);
        if let Some(why) = no_room(others.len() as u64, others.iter().map(|(_, bytes)| bytes).sum(), bytes) {
            return Err(Error::new(ErrorCode::Unprocessable, why));
        }
        for (other, _) in before {
            (other.status, other.updated_at) = (OwnToolStatus::Disabled, tool.updated_at);
        }
        Ok(())
    }
}
