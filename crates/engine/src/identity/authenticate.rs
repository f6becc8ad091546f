//! Proving who somebody is. The one place of the engine where an [`Actor`] is made.

use kybern_core::actor::{Actor, Principal, Right, Role};
use kybern_core::audit::{self, AuditEvent};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{KeyId, RequestId, TenantId, UserId};
use kybern_core::identity::{KeyHolder, Tenant, User};
use kybern_core::tenant::{Sudo, SudoError};
use serde_json::json;

use super::Identity;
use super::well_formed;

/// How the first admin gets in.
#[derive(Clone, PartialEq, Eq)]
pub enum FirstAdmin {
    /// With a key that was made just now, and stands nowhere else.
    Made(String),
    /// With the key that was given, or with those that there are.
    Works,
    /// Not with the key that was given: it was revoked, by itself or with the one that made it.
    Revoked,
}

impl Identity {
    /// Proves who holds a key. With `sudo` the actor is a platform admin who acts in another tenant; that is audited
    /// there.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` for a key that is unknown, revoked or expired; `PERMISSION_DENIED` and `VALIDATION_ERROR`
    /// for a crossing that is not allowed.
    pub async fn authenticate(
        &self,
        bearer: &str,
        request: RequestId,
        sudo: Option<(TenantId, &str)>,
    ) -> Result<Actor> {
        let holder = self.store.key_holder(&self.keys.api_key_hash(bearer)).await?;
        let now = self.clock.now();
        let valid = |holder: &KeyHolder| holder.expires_at.is_none_or(|end| end > now);
        let holder = holder
            .filter(valid)
            .ok_or_else(|| Error::new(ErrorCode::Unauthenticated, "the API key is unknown, revoked or expired"))?;
        let principal = Principal::User { user: holder.user, key: Some(holder.key) };
        let actor = Actor::authenticated(holder.tenant, principal, holder.roles, holder.scopes, request)
            .ending(holder.expires_at);
        match sudo {
            Some((tenant, reason)) if tenant != actor.tenant() => self.cross(&actor, tenant, reason).await,
            Some(_) | None => Ok(actor),
        }
    }

    /// Whether a key is still good for what its holder could do with it. A store that cannot be asked takes nothing
    /// away.
    pub async fn still_holds(&self, bearer: &str, held: &[Right]) -> bool {
        match self.store.key_holder(&self.keys.api_key_hash(bearer)).await {
            Ok(Some(holder)) => {
                let valid = holder.expires_at.is_none_or(|end| end > self.clock.now());
                let principal = Principal::User { user: holder.user, key: Some(holder.key) };
                let request = RequestId::from_uuid(self.ids.next());
                let actor = Actor::authenticated(holder.tenant, principal, holder.roles, holder.scopes, request);
                valid && held.iter().all(|right| actor.may(*right))
            }
            Ok(None) => false,
            Err(error) => {
                tracing::debug!(%error, "could not check whether the API key is still valid");
                true
            }
        }
    }

    async fn cross(&self, actor: &Actor, tenant: TenantId, reason: &str) -> Result<Actor> {
        let sudo = Sudo::cross(actor, tenant, reason).map_err(|error| match error {
            SudoError::NotPlatformAdmin => Error::new(ErrorCode::PermissionDenied, error.to_string()),
            SudoError::NoReason => {
                let message = format!("{error}, which is audited: send it in the header X-Sudo-Reason");
                Error::invalid("", message)
            }
        })?;
        if self.store.tenant(tenant).await?.is_none() {
            return Err(Error::not_found("tenant", tenant));
        }
        let detail = json!({"reason": sudo.reason(), "fromTenant": actor.tenant()});
        let event = AuditEvent::by(actor, "tenant.sudo", format!("tenant:{tenant}"), detail);
        self.audit.append_audit(sudo.scope(), self.clock.now(), event).await?;
        Ok(actor.acting_in(&sudo))
    }

    /// An actor for a channel that proves itself in another way: a mailbox, a signed webhook.
    #[must_use]
    pub fn channel_actor(&self, tenant: TenantId, channel: &str, request: RequestId) -> Actor {
        let principal = Principal::Channel { name: channel.to_owned() };
        Actor::authenticated(tenant, principal, vec![Role::Operator], Vec::new(), request)
    }

    /// Makes sure that there is a first tenant with an admin. With `key` that key works afterwards, unless it was
    /// revoked; without one a fresh key is made when there was no tenant before.
    ///
    /// # Errors
    /// When the key is malformed, or the store fails.
    pub async fn bootstrap(&self, key: Option<&str>, fresh: impl FnOnce() -> String) -> Result<FirstAdmin> {
        if let Some(key) = key {
            well_formed(key)?;
        }
        match (self.store.tenant(TenantId::DEFAULT).await?, key) {
            (Some(_), None) => Ok(FirstAdmin::Works),
            (Some(_), Some(key)) => self.admin_key(key).await,
            (None, Some(key)) => {
                self.first_tenant(key).await?;
                Ok(FirstAdmin::Works)
            }
            (None, None) => {
                let made = fresh();
                self.first_tenant(&made).await?;
                Ok(FirstAdmin::Made(made))
            }
        }
    }

    async fn first_tenant(&self, key: &str) -> Result<()> {
        let now = self.clock.now();
        let name = Tenant::FIRST.to_owned();
        let tenant = Tenant { id: TenantId::DEFAULT, slug: name.clone(), name, created_at: now };
        let admin = self.new_platform_admin("admin");
        let record = self.key_record(KeyId::from_uuid(self.ids.next()), admin.id, "first admin key", key, now);
        let event =
            AuditEvent::by_executor(audit::TENANT_CREATED, format!("tenant:{}", tenant.id), json!({"first": true}));
        self.store.create_tenant(&tenant, &admin, &record, &self.keys.api_key_hash(key), event).await
    }

    fn new_platform_admin(&self, mailbox: &str) -> User {
        User {
            id: UserId::from_uuid(self.ids.next()),
            name: "Administrator".to_owned(),
            email: format!("{mailbox}@localhost"),
            roles: vec![Role::Admin, Role::PlatformAdmin],
            timezone: "UTC".to_owned(),
            created_at: self.clock.now(),
            made_by_user_id: None,
        }
    }

    /// Makes a key that stands nowhere yet work as platform admin, and a platform admin in the first tenant where none is
    /// left. For whoever can write the database. Tells in which tenant the key works.
    ///
    /// # Errors
    /// When it is malformed, or the store fails.
    pub async fn recover(&self, key: &str) -> Result<TenantId> {
        well_formed(key)?;
        if let Some((tenant, _)) = self.platform_admin().await? {
            self.admin_key(key).await?;
            return Ok(tenant);
        }
        let actor = self.executor_in(TenantId::DEFAULT);
        let admin = self.new_platform_admin(&format!("admin-{}", self.ids.next()));
        let event = AuditEvent::by(&actor, "user.create", format!("user:{}", admin.id), json!({"roles": admin.roles}));
        self.store.create_user(actor.scope(), &admin, event).await?;
        self.admin_key(key).await?;
        Ok(TenantId::DEFAULT)
    }

    /// The platform admin who stands for whoever has the machine: one of the first tenant, before those of others.
    async fn platform_admin(&self) -> Result<Option<(TenantId, User)>> {
        let admins = self.store.platform_admins().await?;
        let Some((tenant, id)) = admins.into_iter().min_by_key(|(tenant, _)| *tenant != TenantId::DEFAULT) else {
            return Ok(None);
        };
        Ok(self.store.user(self.executor_in(tenant).scope(), id).await?.map(|user| (tenant, user)))
    }

    /// Makes a key work as that of a platform admin, unless it was revoked: what was revoked stays so. For whoever can
    /// write the database.
    ///
    /// # Errors
    /// When it is malformed, or the store fails; `UNPROCESSABLE` when nobody is a platform admin any more.
    pub async fn admin_key(&self, key: &str) -> Result<FirstAdmin> {
        well_formed(key)?;
        let hash = self.keys.api_key_hash(key);
        if self.store.key_holder(&hash).await?.is_some() {
            return Ok(FirstAdmin::Works);
        }
        let Some((tenant, admin)) = self.platform_admin().await? else {
            let message = "no user has the role platform_admin any more: make a new platform admin with \
                           `kybern key recover`";
            return Err(Error::new(ErrorCode::Unprocessable, message));
        };
        let actor = self.executor_in(tenant);
        let record =
            self.key_record(KeyId::from_uuid(self.ids.next()), admin.id, "recovered admin key", key, self.clock.now());
        let event = AuditEvent::by(&actor, "key.recover", format!("key:{}", record.id), json!({"user": admin.id}));
        match self.store.create_key(actor.scope(), &record, &hash, event).await {
            Ok(()) => Ok(FirstAdmin::Works),
            // The key is there. Either another process has just made it, or nobody holds it any more.
            Err(error) if error.code() == ErrorCode::Conflict => match self.store.key_holder(&hash).await? {
                Some(_) => Ok(FirstAdmin::Works),
                None => Ok(FirstAdmin::Revoked),
            },
            Err(error) => Err(error),
        }
    }

    /// The first tenant's platform admin, for the command line's own run on the machine that has the database. Needs no
    /// key, and stores none.
    pub async fn local_actor(&self, request: RequestId) -> Result<Actor> {
        // In another tenant nothing is done unasked.
        let Some((tenant, admin)) = self.platform_admin().await?.filter(|(tenant, _)| *tenant == TenantId::DEFAULT)
        else {
            // Nothing has been set up yet, or nobody has the role there any more: there is nobody to act for.
            return Ok(self.executor_in(TenantId::DEFAULT));
        };
        let principal = Principal::User { user: admin.id, key: None };
        Ok(Actor::authenticated(tenant, principal, admin.roles, Vec::new(), request))
    }

    fn executor_in(&self, tenant: TenantId) -> Actor {
        let request = RequestId::from_uuid(self.ids.next());
        Actor::authenticated(tenant, Principal::Executor, vec![Role::Admin], Vec::new(), request)
    }
}
