//! By what right a call is made.
//!
//! A stored plan was written by an administrator: its steps may do what they say, for whoever starts it. A call that a
//! user makes by hand is theirs alone, and so is held against what they may do: what was said about them, else what
//! their roles stand for. What was said about a user narrows the plans that they start as well.

use std::borrow::Cow;
use std::sync::Arc;

use kybern_core::actor::{Actor, Right, Rights};
use kybern_core::budget::RateRule;
use kybern_core::error::Result;
use kybern_core::id::UserId;
use kybern_core::policy::{Preset, ToolPolicy};
use kybern_core::ports::{Store, UserRules};
use kybern_core::task::{Task, TaskKind};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_core::tool::ToolSetting;

/// Who chose the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallOrigin {
    /// A stored plan.
    Plan,
    /// The user.
    Direct,
    /// A model, for the user.
    Model,
}

/// What is known about the one for whom a call is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Who chose the call.
    pub origin: CallOrigin,
    pub user: Option<UserId>,
    /// Their roles now, and what was said about them.
    pub rules: Option<Arc<UserRules>>,
    /// What the key by which it was asked for could do: a key that is narrower than its user stays so.
    pub rights: Rights,
    /// What the tenant says about tools, by key.
    pub settings: Arc<Vec<ToolSetting>>,
}

impl Grant {
    /// The grant for a call that a user makes by hand.
    #[must_use]
    pub fn direct(actor: &Actor, rules: Option<Arc<UserRules>>, settings: Arc<Vec<ToolSetting>>) -> Self {
        let policy = rules.and_then(|rules| rules.policy.clone());
        let rules = UserRules { roles: actor.roles().to_vec(), policy };
        Self {
            origin: CallOrigin::Direct,
            user: actor.user(),
            rules: Some(Arc::new(rules)),
            rights: actor.rights(),
            settings,
        }
    }

    /// What the calls of a task are held against now.
    pub(crate) async fn of_task(store: &dyn Store, scope: TenantScope, task: &Task) -> Result<Self> {
        let rules = rules_of(store, scope, task.user).await?;
        let is_by_hand = task.kind == TaskKind::Call && task.user.is_some();
        let origin = if is_by_hand { CallOrigin::Direct } else { CallOrigin::Plan };
        let settings = store.tool_settings(scope).await?;
        Ok(Self { origin, user: task.user, rules, rights: task.rights, settings })
    }

    /// What a plan is held against for which nobody is known.
    #[must_use]
    pub fn plan() -> Self {
        Self { origin: CallOrigin::Plan, user: None, rules: None, rights: Rights::OPERATOR, settings: Arc::default() }
    }

    /// Whether a call with that right may be made. Whoever calls by hand needs it themselves. A plan's step may do what
    /// operators may, because a person wrote the plan.
    #[must_use]
    pub fn may(&self, right: Right) -> bool {
        match right {
            Right::Read | Right::Operate if self.stands_for_user() => self.holds(right),
            Right::Read | Right::Operate => true,
            Right::Review | Right::Administer => self.user.is_some() && self.rules.is_some() && self.is_admin(),
            Right::Platform => false,
        }
    }

    /// Whether the call is the user's own, or made in their place: then it is held against what they may do.
    #[must_use]
    pub fn stands_for_user(&self) -> bool {
        match self.origin {
            CallOrigin::Plan => false,
            CallOrigin::Direct => true,
            CallOrigin::Model => self.user.is_some(),
        }
    }

    /// Whether the key had the right when it was used, and the user has it now.
    fn holds(&self, right: Right) -> bool {
        let now = |rules: &Arc<UserRules>| rules.roles.iter().any(|role| role.grants(right));
        self.rights.may(right) && self.rules.as_ref().is_none_or(now)
    }

    fn is_admin(&self) -> bool {
        self.holds(Right::Administer)
    }

    /// The policy that the call is held against; `None` when the plan's author stands for it.
    #[must_use]
    pub fn policy(&self) -> Option<Cow<'_, ToolPolicy>> {
        if let Some(policy) = self.rules.as_ref().and_then(|rules| rules.policy.as_ref()) {
            return Some(Cow::Borrowed(policy));
        }
        match self.origin {
            CallOrigin::Plan => None,
            // Nobody has said how far the agent of a plan goes that no user started: its tools say it.
            CallOrigin::Model if self.user.is_none() => None,
            CallOrigin::Direct | CallOrigin::Model if self.is_admin() => {
                Some(Cow::Owned(ToolPolicy::preset(Preset::Permissive)))
            }
            CallOrigin::Direct | CallOrigin::Model => Some(Cow::Owned(ToolPolicy::preset(Preset::ReadOnly))),
        }
    }

    /// What the tenant says about a tool.
    #[must_use]
    pub fn setting(&self, tool: &str) -> Option<&ToolSetting> {
        self.settings.iter().find(|setting| setting.tool == tool)
    }

    /// Who it is whose calls are counted together.
    #[must_use]
    pub fn counted_as(&self) -> String {
        self.user.map_or_else(|| "tenant".to_owned(), |user| format!("user:{user}"))
    }

    /// The rule under which all calls count that a user makes by hand.
    #[must_use]
    pub fn overall(&self) -> Option<RateRule> {
        if self.origin == CallOrigin::Plan {
            return None;
        }
        let most = self.policy()?.calls_per_minute?;
        Some(RateRule { key: format!("{}/tools/minute", self.counted_as()), most, window: Millis::from_secs(60) })
    }
}

/// What holds now for a user who wants something done in a tenant; `None` for nobody. A platform admin who acts there is
/// held to what was said of them at home.
pub(crate) async fn rules_of(
    store: &dyn Store,
    scope: TenantScope,
    user: Option<UserId>,
) -> Result<Option<Arc<UserRules>>> {
    let Some(user) = user else { return Ok(None) };
    match store.user_rules(scope, user).await? {
        Some(rules) => Ok(Some(rules)),
        None => store.rules_abroad(user).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kybern_core::actor::Role;
    use uuid::Uuid;

    fn grant(origin: CallOrigin, roles: Vec<Role>, policy: Option<ToolPolicy>) -> Grant {
        let user = Some(UserId::from_uuid(Uuid::nil()));
        let rights = Right::ALL.into_iter().collect();
        Grant { origin, user, rules: Some(Arc::new(UserRules { roles, policy })), rights, settings: Arc::default() }
    }

    #[test]
    fn a_narrowed_key_gives_no_more_than_its_rights_whatever_its_user_may() {
        let narrowed = |origin| Grant { rights: Rights::OPERATOR, ..grant(origin, vec![Role::Admin], None) };
        let read_only = ToolPolicy::preset(Preset::ReadOnly);
        for origin in [CallOrigin::Direct, CallOrigin::Model] {
            assert_eq!(narrowed(origin).policy().map(Cow::into_owned), Some(read_only.clone()));
        }
        assert!(!narrowed(CallOrigin::Plan).may(Right::Administer) && narrowed(CallOrigin::Plan).may(Right::Operate));
        let reads = Grant { rights: [Right::Operate].into_iter().collect(), ..narrowed(CallOrigin::Direct) };
        assert!(reads.may(Right::Operate) && !reads.may(Right::Read), "a scope narrows tools too");
    }

    #[test]
    fn the_model_of_a_user_of_whom_nothing_is_known_does_no_more_than_their_key() {
        let unknown = |rights| Grant { rules: None, rights, ..grant(CallOrigin::Model, Vec::new(), None) };
        let policy = unknown(Rights::OPERATOR).policy().map(Cow::into_owned);
        assert_eq!(policy, Some(ToolPolicy::preset(Preset::ReadOnly)));
        let operates = unknown([Right::Operate].into_iter().collect());
        assert!(operates.may(Right::Operate) && !operates.may(Right::Read));
        let nobodys = Grant { origin: CallOrigin::Model, ..Grant::plan() };
        assert_eq!(nobodys.policy(), None, "the agent of a plan that no user started");
    }

    #[test]
    fn a_plan_stands_for_its_steps_and_a_user_for_their_own_calls() {
        let (read_only, all) = (ToolPolicy::preset(Preset::ReadOnly), ToolPolicy::preset(Preset::Permissive));
        let policy = |origin, role, said| grant(origin, vec![role], said).policy().map(Cow::into_owned);
        assert_eq!(policy(CallOrigin::Plan, Role::Operator, None), None);
        assert_eq!(policy(CallOrigin::Direct, Role::Operator, None), Some(read_only.clone()));
        assert_eq!(policy(CallOrigin::Direct, Role::Admin, None), Some(all.clone()));
        assert_eq!(policy(CallOrigin::Direct, Role::Admin, Some(read_only.clone())), Some(read_only.clone()));
        assert_eq!(
            policy(CallOrigin::Plan, Role::Admin, Some(read_only.clone())),
            Some(read_only),
            "it narrows plans too"
        );
        assert_eq!(Grant::plan().policy(), None);
    }

    #[test]
    fn rights_beyond_operating_need_an_admin() {
        assert!(grant(CallOrigin::Plan, vec![Role::Admin], None).may(Right::Administer));
        assert!(!grant(CallOrigin::Plan, vec![Role::Operator], None).may(Right::Administer));
        assert!(!grant(CallOrigin::Plan, vec![Role::PlatformAdmin], None).may(Right::Platform));
        assert!(!grant(CallOrigin::Direct, vec![Role::Viewer], None).may(Right::Operate));
        assert!(Grant::plan().may(Right::Operate) && !Grant::plan().may(Right::Review));
    }

    #[test]
    fn only_calls_by_hand_count_together() {
        assert_eq!(grant(CallOrigin::Plan, vec![Role::Operator], None).overall(), None);
        assert_eq!(grant(CallOrigin::Direct, vec![Role::Operator], None).overall().unwrap().most, 60);
        assert_eq!(grant(CallOrigin::Direct, vec![Role::Admin], None).overall(), None);
    }
}
