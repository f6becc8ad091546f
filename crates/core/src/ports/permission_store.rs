//! What users may let tools do, and what tenants say about tools. Both are asked for with every call, so an
//! implementation answers from memory what it knows to hold.

use std::sync::Arc;

use async_trait::async_trait;

use crate::actor::Role;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::UserId;
use crate::policy::ToolPolicy;
use crate::tenant::TenantScope;
use crate::tool::ToolSetting;

/// What is known about a user when they want something done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserRules {
    /// Their roles.
    pub roles: Vec<Role>,
    /// What was said about them; `None` when nothing was.
    pub policy: Option<ToolPolicy>,
}

impl UserRules {
    /// The same as it counts in a tenant that is not the user's own.
    #[must_use]
    pub fn abroad(mut self) -> Self {
        self.roles.retain(|role| *role == Role::PlatformAdmin);
        self
    }
}

/// Where both are kept.
#[async_trait]
pub trait PermissionStore: Send + Sync {
    /// What holds for a user now; `None` when there is no such user.
    async fn user_rules(&self, scope: TenantScope, user: UserId) -> Result<Option<Arc<UserRules>>>;

    /// What holds for a user of another tenant now; `None` when there is no such user anywhere. Only a platform admin acts
    /// abroad, so of their roles that one alone counts there; somebody who is none any more has none.
    async fn rules_abroad(&self, user: UserId) -> Result<Option<Arc<UserRules>>>;

    /// Says what a user may let tools do; `None` takes back what was said. Holds in every process when it returns.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    async fn set_policy(
        &self,
        scope: TenantScope,
        user: UserId,
        policy: Option<&ToolPolicy>,
        audit: AuditEvent,
    ) -> Result<()>;

    /// What the tenant says about tools, by key. Tools of which nothing is said are not in it.
    async fn tool_settings(&self, scope: TenantScope) -> Result<Arc<Vec<ToolSetting>>>;

    /// Says something about a tool, in place of what was said. Holds in every process when it returns.
    async fn put_tool_setting(&self, scope: TenantScope, setting: &ToolSetting, audit: AuditEvent) -> Result<()>;
}
