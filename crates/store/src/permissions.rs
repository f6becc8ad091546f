//! What users may let tools do, and what tenants say about tools.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::UserId;
use kybern_core::policy::ToolPolicy;
use kybern_core::ports::{PermissionStore, UserRules};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolSetting;
use serde_json::json;

use crate::audit;
use crate::db::{Row, RowVisibility, Tx, args, json, statements};
use crate::error::Result;
use crate::identity::{home_of, must_know};
use crate::store::SqlStore;

statements! {
    RULES = shared "user_rules";
    PUT = part "permission" "put";
    DELETE = part "permission" "delete";
    SETTINGS = part "tool_setting" "list";
    SETTING_PUT = part "tool_setting" "put";
}

async fn rules(tx: &mut Tx, scope: TenantScope, user: UserId) -> Result<Option<UserRules>> {
    let found = tx.fetch_optional(&RULES, args![scope, user.as_uuid()]).await?;
    let Some(mut row) = found else { return Ok(None) };
    let (roles, policy) = (row.json()?, row.opt_text()?);
    let unreadable = |error: serde_json::Error| row.fault(format!("a policy that cannot be read: {error}"));
    let policy = policy.map(|text| json::read(&text).map_err(unreadable)).transpose()?;
    Ok(Some(UserRules { roles, policy }))
}

async fn rules_at_home(tx: &mut Tx, scope: TenantScope, user: UserId) -> Result<Option<Arc<UserRules>>> {
    Ok(rules(tx, scope, user).await?.map(Arc::new))
}

async fn rules_abroad(tx: &mut Tx, user: UserId) -> Result<Option<Arc<UserRules>>> {
    let Some(home) = home_of(tx, user).await? else { return Ok(None) };
    tx.enter(RowVisibility::Tenant(home)).await?;
    Ok(rules(tx, home, user).await?.map(|rules| Arc::new(rules.abroad())))
}

/// A policy to be stored, or to be taken back.
type PutPermission = (TenantScope, UserId, Option<ToolPolicy>, Timestamp, AuditEvent);

async fn put(tx: &mut Tx, (scope, user, policy, at, audit): &PutPermission) -> Result<()> {
    must_know(tx, *scope, *user).await?;
    match policy {
        Some(policy) => tx.execute(&PUT, args![*scope, user.as_uuid(), json!(policy).to_string(), *at]).await?,
        None => tx.execute(&DELETE, args![*scope, user.as_uuid()]).await?,
    };
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, audit).await
}

/// One that cannot be read harms its own tool only, which nobody calls then.
async fn settings(tx: &mut Tx, scope: TenantScope) -> Result<Vec<ToolSetting>> {
    let setting = |row: &mut Row| {
        let (tool, at) = (row.text()?, row.time()?);
        Ok(row.json().unwrap_or_else(|error| {
            tracing::error!(
                tenant.id = %scope.tenant(),
                tool,
                %error,
                "what a tenant says about a tool cannot be read: nobody calls it until an administrator turns it on again"
            );
            ToolSetting::unreadable(&tool, at)
        }))
    };
    tx.list(&SETTINGS, args![scope], setting).await
}

type Setting = (TenantScope, ToolSetting, AuditEvent);

async fn put_setting(tx: &mut Tx, (scope, setting, audit): &Setting) -> Result<()> {
    let (body, at) = (json!(setting).to_string(), setting.updated_at);
    tx.execute(&SETTING_PUT, args![*scope, setting.tool.as_str(), body, at]).await?;
    tx.outdates_what_is_known();
    audit::append(tx, *scope, at, audit).await
}

#[async_trait]
impl<D: 'static> PermissionStore for SqlStore<D> {
    async fn user_rules(&self, scope: TenantScope, user: UserId) -> PortResult<Option<Arc<UserRules>>> {
        let known = &self.shared.known;
        let find =
            || self.read_few(scope, (scope, user), |tx, (scope, user)| Box::pin(rules_at_home(tx, *scope, *user)));
        Ok(known.or_find(&known.rules, (scope.tenant(), user), find).await?)
    }

    async fn rules_abroad(&self, user: UserId) -> PortResult<Option<Arc<UserRules>>> {
        Ok(self.read_all(user, |tx, user| Box::pin(rules_abroad(tx, *user))).await?)
    }

    async fn set_policy(
        &self,
        scope: TenantScope,
        user: UserId,
        policy: Option<&ToolPolicy>,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let args = (scope, user, policy.cloned(), self.shared.clock.now(), audit);
        self.write(scope, args, |tx, args| Box::pin(put(tx, args))).await?;
        // Whoever is told that something is not allowed any more may rely on it in every process.
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn tool_settings(&self, scope: TenantScope) -> PortResult<Arc<Vec<ToolSetting>>> {
        let known = &self.shared.known;
        let read = || self.read(scope, scope, |tx, scope| Box::pin(settings(tx, *scope)));
        Ok(known.or_read(&known.settings, scope.tenant(), read).await?)
    }

    async fn put_tool_setting(&self, scope: TenantScope, setting: &ToolSetting, audit: AuditEvent) -> PortResult<()> {
        self.write(scope, (scope, setting.clone(), audit), |tx, args| Box::pin(put_setting(tx, args))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }
}
