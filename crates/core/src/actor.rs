//! Who acts, for which tenant, with which rights. There is no ambient "system".

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::id::{KeyId, RequestId, TenantId, UserId};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

words! {
    /// A named set of rights. Roles only ever add rights.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// May read.
        Viewer = "viewer",
        /// May submit, cancel, pause and retry tasks, and call tools.
        Operator = "operator",
        /// May answer reviews.
        Reviewer = "reviewer",
        /// May do everything inside the tenant.
        Admin = "admin",
        /// May create tenants, and act in any with a stated reason.
        PlatformAdmin = "platform_admin",
    }
}

impl Role {
    /// A key's own roles, as far as its user's cover them; its user's where it has none.
    #[must_use]
    pub fn limited(own: &[Self], users: &[Self]) -> Vec<Self> {
        if own.is_empty() {
            return users.to_vec();
        }
        let covers = |right: Right| users.iter().any(|user| user.grants(right));
        let covered = |own: &Self| Right::ALL.into_iter().all(|right| !own.grants(right) || covers(right));
        own.iter().copied().filter(covered).collect()
    }

    /// Whether the role brings that right.
    #[must_use]
    pub const fn grants(self, right: Right) -> bool {
        match self {
            Self::Viewer => matches!(right, Right::Read),
            Self::Operator => matches!(right, Right::Read | Right::Operate),
            Self::Reviewer => matches!(right, Right::Read | Right::Review),
            Self::Admin => !matches!(right, Right::Platform),
            Self::PlatformAdmin => true,
        }
    }
}

words! {
    /// What a route or a tool asks of its caller.
    pub enum Right {
        /// See tasks, plans, tools and records.
        Read = "read",
        /// Submit and steer tasks, call tools.
        Operate = "operate",
        /// Answer what waits for a person.
        Review = "review",
        /// Change plans, keys, users and settings; read the audit.
        Administer = "administer",
        /// Create tenants and act in any of them.
        Platform = "platform",
    }
}

impl Right {
    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Operate => 2,
            Self::Review => 4,
            Self::Administer => 8,
            Self::Platform => 16,
        }
    }
}

/// A set of rights: what somebody could do at one moment, roles and scopes taken together. A task keeps its maker's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rights(u8);

impl Rights {
    /// What an operator may. A task of which nobody wrote down what its maker could do has no more.
    pub const OPERATOR: Self = Self(Right::Read.bit() | Right::Operate.bit());

    /// Whether the right is among them.
    #[must_use]
    pub const fn may(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// Those that are among both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// As a number, for the database: one bit for each right, in the order of [`Right::ALL`].
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The rights of such a number. Bits that stand for nothing are dropped.
    #[must_use]
    pub fn from_bits(bits: i64) -> Self {
        let has = |right: &Right| bits & i64::from(right.bit()) != 0;
        Right::ALL.into_iter().filter(has).collect()
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<T: IntoIterator<Item = Right>>(rights: T) -> Self {
        Self(rights.into_iter().fold(0, |bits, right| bits | right.bit()))
    }
}

/// Who it is that acts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// A user, through one of their API keys.
    User {
        user: UserId,
        /// The key they used; `None` on the server's own command line.
        key: Option<KeyId>,
    },
    /// A channel that needs no user: a mailbox, a signed webhook, an SMS gateway.
    Channel {
        /// The channel and its source, for instance `email` or `webhook/forms`.
        name: String,
    },
    /// An outside engine that answers a delegation with its own secret.
    Workflow {
        /// The delegation's workflow id.
        workflow_id: String,
    },
    /// The server itself on behalf of a task: recovery, deadlines, the ends of children.
    Executor,
}

impl Principal {
    /// A stable text for audit rows and idempotency keys.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::User { user, key: Some(key) } => format!("user:{user}/key:{key}"),
            Self::User { user, key: None } => format!("user:{user}"),
            Self::Channel { name } => format!("channel:{name}"),
            Self::Workflow { workflow_id } => format!("workflow:{workflow_id}"),
            Self::Executor => "executor".to_owned(),
        }
    }

    /// Whose label that is; `None` for a text that is none.
    #[must_use]
    pub fn of_label(label: &str) -> Option<Self> {
        if label == "executor" {
            return Some(Self::Executor);
        }
        let (kind, rest) = label.split_once(':')?;
        match kind {
            "user" => match rest.split_once("/key:") {
                Some((user, key)) => Some(Self::User { user: user.parse().ok()?, key: Some(key.parse().ok()?) }),
                None => Some(Self::User { user: rest.parse().ok()?, key: None }),
            },
            "channel" => Some(Self::Channel { name: rest.to_owned() }),
            "workflow" => Some(Self::Workflow { workflow_id: rest.to_owned() }),
            _ => None,
        }
    }

    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::User { user, .. } => Some(*user),
            Self::Channel { .. } | Self::Workflow { .. } | Self::Executor => None,
        }
    }

    /// The key, where there is one.
    #[must_use]
    pub fn key(&self) -> Option<KeyId> {
        match self {
            Self::User { key, .. } => *key,
            Self::Channel { .. } | Self::Workflow { .. } | Self::Executor => None,
        }
    }
}

/// An authenticated caller in one tenant, under one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    tenant: TenantId,
    principal: Principal,
    roles: Vec<Role>,
    scopes: Vec<String>,
    request: RequestId,
    ends_at: Option<Timestamp>,
    command: Option<Command>,
}

impl Actor {
    /// An actor whose identity has just been proven. Only authentication may call this; `cargo xtask tidy` keeps
    /// the list of places that do.
    #[must_use]
    pub fn authenticated(
        tenant: TenantId,
        principal: Principal,
        roles: Vec<Role>,
        scopes: Vec<String>,
        request: RequestId,
    ) -> Self {
        Self { tenant, principal, roles, scopes, request, ends_at: None, command: None }
    }

    /// The same actor, whose key ends at that moment.
    #[must_use]
    pub fn ending(self, ends_at: Option<Timestamp>) -> Self {
        Self { ends_at, ..self }
    }

    /// The same actor, carrying out a command that was given under an idempotency key.
    #[must_use]
    pub fn commanding(self, command: Command) -> Self {
        Self { command: Some(command), ..self }
    }

    /// The command that they carry out, when it was given under an idempotency key.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        self.command
    }

    /// When their key ends; a key that is made with it ends no later.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        self.ends_at
    }

    /// The key they use.
    #[must_use]
    pub fn key(&self) -> Option<KeyId> {
        self.principal.key()
    }

    /// The tenant in which this actor acts.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The scope that every store method asks for.
    #[must_use]
    pub fn scope(&self) -> TenantScope {
        TenantScope::of(self.tenant)
    }

    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The user, where there is one.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        self.principal.user()
    }

    /// The request under which this actor acts.
    #[must_use]
    pub fn request(&self) -> RequestId {
        self.request
    }

    /// The roles of this actor.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The scopes that narrow this actor's key; empty means that it is not narrowed.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Whether a role grants the right and no scope of the key takes it away.
    #[must_use]
    pub fn may(&self, right: Right) -> bool {
        grant(&self.roles, &self.scopes, right)
    }

    /// Everything that this actor may.
    #[must_use]
    pub fn rights(&self) -> Rights {
        Right::ALL.into_iter().filter(|right| self.may(*right)).collect()
    }

    /// Whose conversations this actor sees, beside those that are nobody's; `None` stands for everybody's.
    #[must_use]
    pub fn sees_talks_of(&self) -> Option<UserId> {
        let own = || self.user().unwrap_or(UserId::from_uuid(uuid::Uuid::nil()));
        (!self.may(Right::Administer)).then(own)
    }

    /// Whether this actor answers questions about calls, whoever's conversation they are made in.
    #[must_use]
    pub fn answers_questions(&self) -> bool {
        self.may(Right::Review)
    }

    /// The same actor in another tenant. Needs [`crate::tenant::Sudo`], which is audited by whoever makes it.
    #[must_use]
    pub fn acting_in(&self, sudo: &crate::tenant::Sudo) -> Self {
        Self { tenant: sudo.tenant(), ..self.clone() }
    }
}

/// Whether one of the roles grants the right and no scope takes it away.
pub(crate) fn grant(roles: &[Role], scopes: &[String], right: Right) -> bool {
    let scoped = scopes.is_empty() || scopes.iter().any(|scope| scope == right.as_str() || scope == "*");
    scoped && roles.iter().any(|role| role.grants(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn actor(roles: Vec<Role>, scopes: Vec<&str>) -> Actor {
        Actor::authenticated(
            TenantId::DEFAULT,
            Principal::Executor,
            roles,
            scopes.into_iter().map(str::to_owned).collect(),
            RequestId::from_uuid(Uuid::nil()),
        )
    }

    #[test]
    fn a_principal_is_read_as_it_is_written() {
        let (user, key) = (UserId::from_uuid(Uuid::from_u128(1)), KeyId::from_uuid(Uuid::from_u128(2)));
        for principal in [
            Principal::User { user, key: Some(key) },
            Principal::User { user, key: None },
            Principal::Channel { name: "webhook/forms:a/key:b".to_owned() },
            Principal::Workflow { workflow_id: "v1:a:b".to_owned() },
            Principal::Executor,
        ] {
            assert_eq!(Principal::of_label(&principal.label()), Some(principal));
        }
        for label in ["", "user:", "user:x/key:y", "anybody:else"] {
            assert_eq!(Principal::of_label(label), None, "{label}");
        }
    }

    #[test]
    fn only_a_platform_admin_holds_the_platform_right() {
        for role in Role::ALL {
            assert_eq!(actor(vec![role], vec![]).may(Right::Platform), role == Role::PlatformAdmin);
        }
    }

    #[test]
    fn a_key_has_its_own_roles_as_far_as_its_user_covers_them() {
        use Role::{Admin, Operator, PlatformAdmin, Reviewer, Viewer};
        assert_eq!(Role::limited(&[], &[Operator]), [Operator], "a key without roles is its user");
        assert_eq!(Role::limited(&[Viewer, Operator], &[Admin]), [Viewer, Operator]);
        assert_eq!(Role::limited(&[Viewer, Admin], &[Operator]), [Viewer]);
        assert_eq!(Role::limited(&[Reviewer, PlatformAdmin], &[Operator, Reviewer]), [Reviewer]);
        assert!(Role::limited(&[Admin], &[Operator, Reviewer]).is_empty());
    }

    #[test]
    fn rights_are_what_roles_and_scopes_leave_together() {
        assert_eq!(actor(vec![Role::Operator], vec![]).rights(), Rights::OPERATOR);
        assert_eq!(actor(vec![Role::Admin], vec!["read", "operate"]).rights(), Rights::OPERATOR);
        for role in Role::ALL {
            let all = actor(vec![role], vec!["*"]);
            assert_eq!(Rights::from_bits(i64::from(all.rights().bits())), all.rights());
            assert!(Right::ALL.into_iter().all(|right| all.rights().may(right) == all.may(right)));
        }
        assert_eq!(Rights::from_bits(-1), actor(vec![Role::PlatformAdmin], vec![]).rights());
    }

    #[test]
    fn a_scope_narrows_and_never_widens() {
        assert!(!actor(vec![Role::Admin], vec!["read"]).may(Right::Operate));
        assert!(!actor(vec![Role::Viewer], vec!["operate"]).may(Right::Operate));
    }
}
