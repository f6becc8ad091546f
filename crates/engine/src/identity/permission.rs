//! What users may let tools do.

use std::collections::BTreeSet;

use kybern_core::actor::{Actor, Right, Role};
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::UserId;
use kybern_core::policy::ToolPolicy;
use kybern_core::ports::UserRules;
use kybern_core::tenant::TenantScope;
use serde_json::json;

use super::Identity;
use crate::tools::ToolSnapshot;
use crate::tools::{CallOrigin, Grant};

/// What holds for a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PermissionsView {
    pub user: UserId,
    /// Their roles.
    pub roles: Vec<Role>,
    /// Whether it was said of this user, rather than following from their roles.
    pub own: bool,
    /// What their own calls are held against.
    pub policy: ToolPolicy,
}

impl Identity {
    /// What holds for a user.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn permissions(&self, scope: TenantScope, user: UserId) -> Result<PermissionsView> {
        let rules = self.permissions.user_rules(scope, user).await?;
        let rules = rules.ok_or_else(|| Error::not_found("user", user))?;
        let UserRules { roles, policy } = (*rules).clone();
        // With a key that nothing narrows.
        let rights = Right::ALL.into_iter().collect();
        let grant = Grant {
            origin: CallOrigin::Direct,
            user: Some(user),
            rules: Some(rules),
            rights,
            settings: std::sync::Arc::default(),
        };
        let holds = grant.policy().map(std::borrow::Cow::into_owned);
        let holds = holds.ok_or_else(|| Error::new(ErrorCode::Internal, "a call by hand without a policy"))?;
        Ok(PermissionsView { user, roles, own: policy.is_some(), policy: holds })
    }

    /// Puts keys in place of other names of tools: rules are held against the tool that is really called. A name of no
    /// tool is a fault, because a rule about it would hold for nothing.
    fn keys_in(tools: &ToolSnapshot, path: &str, list: &mut BTreeSet<String>) -> Vec<Detail> {
        let mut faults = Vec::new();
        let names = std::mem::take(list);
        for (n, name) in names.into_iter().enumerate() {
            match tools.find(&name) {
                Some(tool) => drop(list.insert(tool.spec().key.clone())),
                None => faults.push(Detail::new(format!("/{path}/{n}"), format!("there is no tool {name:?}"))),
            }
        }
        faults
    }

    /// Says what a user may let tools do; `None` takes back what was said, so that their roles decide again. Holds at
    /// once, also for calls that wait for a yes.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with every fault; `NOT_FOUND`; `PERMISSION_DENIED` for somebody out of the caller's reach.
    pub async fn set_policy(&self, actor: &Actor, user: UserId, policy: Option<ToolPolicy>) -> Result<()> {
        self.within_reach(actor, user).await?;
        let policy = match policy {
            Some(policy) => Some(self.usable(actor, policy).await?),
            None => None,
        };
        let detail = json!({"policy": policy});
        let event = AuditEvent::by(actor, "user.set_permissions", format!("user:{user}"), detail);
        self.permissions.set_policy(actor.scope(), user, policy.as_ref(), event).await
    }

    /// Replaces a user's roles and what was said about them. When one of them is refused, neither is changed.
    ///
    /// # Errors
    /// As [`Self::set_roles`] and [`Self::set_policy`].
    pub async fn set_roles_and_policy(
        &self,
        actor: &Actor,
        user: UserId,
        roles: Vec<Role>,
        policy: Option<ToolPolicy>,
    ) -> Result<()> {
        let policy = match policy {
            Some(policy) => Some(self.usable(actor, policy).await?),
            None => None,
        };
        self.set_roles(actor, user, roles).await?;
        self.set_policy(actor, user, policy).await
    }

    /// A policy with the keys of the tools that it names.
    async fn usable(&self, actor: &Actor, mut policy: ToolPolicy) -> Result<ToolPolicy> {
        let mut faults = policy.faults();
        let tools = self.catalogue.of(actor.scope()).await;
        for (path, list) in [("allowedTools", &mut policy.allowed_tools), ("deniedTools", &mut policy.denied_tools)] {
            faults.extend(Self::keys_in(&tools, path, list));
        }
        if faults.is_empty() {
            return Ok(policy);
        }
        Err(Error::new(ErrorCode::Validation, "the permissions are not usable").with_details(faults))
    }
}
