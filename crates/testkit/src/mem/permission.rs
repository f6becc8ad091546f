//! What users may let tools do, and what tenants say about tools.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::UserId;
use kybern_core::policy::ToolPolicy;
use kybern_core::ports::{PermissionStore, UserRules};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolSetting;

use super::MemStore;

#[async_trait]
impl PermissionStore for MemStore {
    async fn user_rules(&self, scope: TenantScope, user: UserId) -> Result<Option<Arc<UserRules>>> {
        self.run(|state| {
            let place = (scope.tenant(), user);
            let policy = state.policies.get(&place).cloned();
            Ok(state.users.get(&place).map(|user| Arc::new(UserRules { roles: user.roles.clone(), policy })))
        })
    }

    async fn rules_abroad(&self, user: UserId) -> Result<Option<Arc<UserRules>>> {
        self.run(|state| {
            let home = state.users.iter().find(|((_, id), _)| *id == user);
            let rules = home.map(|(place, user)| UserRules {
                roles: user.roles.clone(),
                policy: state.policies.get(place).cloned(),
            });
            Ok(rules.map(|rules| Arc::new(rules.abroad())))
        })
    }

    async fn set_policy(
        &self,
        scope: TenantScope,
        user: UserId,
        policy: Option<&ToolPolicy>,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run(|state| {
            let place = (scope.tenant(), user);
            if !state.users.contains_key(&place) {
                return Err(Error::not_found("user", user));
            }
            match policy {
                Some(policy) => state.policies.insert(place, policy.clone()),
                None => state.policies.remove(&place),
            };
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn tool_settings(&self, scope: TenantScope) -> Result<Arc<Vec<ToolSetting>>> {
        self.run(|state| {
            let own = state.tool_settings.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(Arc::new(own.map(|(_, setting)| setting.clone()).collect()))
        })
    }

    async fn put_tool_setting(&self, scope: TenantScope, setting: &ToolSetting, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.tool_settings.insert((scope.tenant(), setting.tool.clone()), setting.clone());
            state.append_audit(scope.tenant(), setting.updated_at, audit);
            Ok(())
        })
    }
}
