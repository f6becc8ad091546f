//! Who is who: tenants, users, keys, completion webhooks, and proving an identity.

mod authenticate;
mod keys;
mod permission;

use std::sync::Arc;

use kybern_core::actor::{Actor, Principal, Right, Role};
use kybern_core::audit::{self, AuditEvent};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{KeyId, TenantId, UserId, WebhookId};
use kybern_core::identity::{ApiKey, OutboundWebhook, Tenant, User};
use kybern_core::policy::place::{host_of, is_http};
use kybern_core::ports::{AuditStore, Clock, HttpClient, IdSource, IdentityStore, Keys, PermissionStore};
use kybern_core::tenant::TenantScope;
use serde_json::json;

pub use authenticate::FirstAdmin;
pub use keys::{NewKey, Revoke};
pub use permission::PermissionsView;

use crate::command::{id_for, once};
use crate::tools::ToolCatalogue;

/// Characters of the address of a completion webhook.
pub const MAX_WEBHOOK_URL: usize = 2_000;
/// Events to which a completion webhook can subscribe.
const EVENTS: [&str; 4] = ["task.completed", "task.failed", "task.cancelled", "task.needs_review"];

/// A user to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
    /// Their roles.
    pub roles: Vec<Role>,
    /// Their IANA time zone; UTC when empty.
    pub timezone: String,
}

/// Tenants, users, keys, webhooks and permissions.
#[derive(Clone)]
pub struct Identity {
    pub(crate) store: Arc<dyn IdentityStore>,
    pub(crate) permissions: Arc<dyn PermissionStore>,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Identity {
    /// Creates a tenant with its first admin; returns the admin's key, which is shown once.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` without the platform right; `VALIDATION_ERROR`; `CONFLICT` when the name is taken.
    pub async fn create_tenant(&self, actor: &Actor, name: &str) -> Result<(Tenant, String)> {
        require(actor, Right::Platform)?;
        let name = one_line("/name", name, 100)?;
        let slug = slug_of(&name);
        if slug.is_empty() {
            return Err(Error::invalid("/name", "name must hold at least one letter or digit"));
        }
        let now = self.clock.now();
        let tenant =
            Tenant { id: TenantId::from_uuid(id_for(self.ids.as_ref(), actor, "tenant")), name, slug, created_at: now };
        let admin = User {
            id: UserId::from_uuid(id_for(self.ids.as_ref(), actor, "user")),
            name: "Administrator".to_owned(),
            email: "admin@localhost".to_owned(),
            roles: vec![Role::Admin],
            timezone: "UTC".to_owned(),
            created_at: now,
            made_by_user_id: actor.user(),
        };
        let (key, key_id) = (self.key_to_make(actor), KeyId::from_uuid(id_for(self.ids.as_ref(), actor, "key")));
        let mut record = self.key_record(key_id, admin.id, "first admin key", &key, now);
        record.made_by_user_id = actor.user();
        let detail = json!({"slug": tenant.slug, "adminUserId": admin.id, "adminKeyId": record.id});
        let event = AuditEvent::by(actor, audit::TENANT_CREATED, format!("tenant:{}", tenant.id), detail);
        let hash = self.keys.api_key_hash(&key);
        let make = async {
            self.store.create_tenant(&tenant, &admin, &record, &hash, event).await?;
            Ok(tenant.clone())
        };
        Ok((once(actor, || self.store.tenant(tenant.id), make).await?, key))
    }

    /// Every tenant.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` without the platform right.
    pub async fn tenants(&self, actor: &Actor) -> Result<Vec<Tenant>> {
        require(actor, Right::Platform)?;
        self.store.tenants().await
    }

    /// Creates a user.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`; `PERMISSION_DENIED` for a role beyond the caller's; `CONFLICT` when the address is taken.
    pub async fn create_user(&self, actor: &Actor, new: NewUser) -> Result<User> {
        let email = new.email.trim().to_ascii_lowercase();
        if !email.contains('@') || email.len() > 254 || email.contains(char::is_whitespace) {
            return Err(Error::invalid("/email", "email must be an address: a name, an @ and a host"));
        }
        grantable(actor, &new.roles)?;
        let user = User {
            id: UserId::from_uuid(id_for(self.ids.as_ref(), actor, "user")),
            name: one_line("/name", &new.name, 200)?,
            email,
            roles: new.roles,
            timezone: if new.timezone.is_empty() { "UTC".to_owned() } else { new.timezone },
            created_at: self.clock.now(),
            made_by_user_id: actor.user(),
        };
        let event = AuditEvent::by(actor, "user.create", format!("user:{}", user.id), json!({"roles": user.roles}));
        let make = async {
            self.store.create_user(actor.scope(), &user, event).await?;
            Ok(user.clone())
        };
        once(actor, || self.store.user(actor.scope(), user.id), make).await
    }

    /// The tenant's users.
    pub async fn users(&self, scope: TenantScope) -> Result<Vec<User>> {
        self.store.users(scope).await
    }

    /// Replaces a user's roles.
    ///
    /// # Errors
    /// `NOT_FOUND`; `PERMISSION_DENIED` for a role beyond the caller's.
    pub async fn set_roles(&self, actor: &Actor, id: UserId, roles: Vec<Role>) -> Result<()> {
        grantable(actor, &roles)?;
        self.within_reach(actor, id).await?;
        let event = AuditEvent::by(actor, "user.set_roles", format!("user:{id}"), json!({"roles": roles}));
        self.store.set_roles(actor.scope(), id, &roles, event).await
    }

    /// Nobody changes what a platform admin may do, or takes their place, but a platform admin.
    pub(crate) async fn within_reach(&self, actor: &Actor, user: UserId) -> Result<User> {
        let target = self.store.user_to_keep(actor.scope(), user, actor.user()).await?;
        if target.roles.contains(&Role::PlatformAdmin) && actor.principal() != &Principal::Executor {
            require(actor, Right::Platform)?;
        }
        Ok(target)
    }

    /// Subscribes an address to the ends of tasks; returns the secret its deliveries are signed with.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`.
    pub async fn create_webhook(
        &self,
        actor: &Actor,
        url: &str,
        events: Vec<String>,
    ) -> Result<(OutboundWebhook, String)> {
        if !is_http(url) || url.chars().count() > MAX_WEBHOOK_URL {
            let message = format!("url must be an http(s) URL of at most {MAX_WEBHOOK_URL} characters");
            return Err(Error::invalid("/url", message));
        }
        if let Some(event) = events.iter().find(|event| !EVENTS.contains(&event.as_str())) {
            let message = format!("unknown event {event:?}, use {}", EVENTS.join(", "));
            return Err(Error::invalid("/events", message));
        }
        // Otherwise each task that ends would leave a delivery behind that can never be made.
        if let Some(denied) = self.http.refusal(url).await {
            return Err(Error::invalid("/url", denied.to_string()));
        }
        let webhook = OutboundWebhook {
            id: WebhookId::from_uuid(id_for(self.ids.as_ref(), actor, "webhook")),
            url: url.to_owned(),
            events,
            active: true,
            created_at: self.clock.now(),
        };
        let event = about_webhook(actor, "webhook.create", &webhook);
        let find = || async {
            let webhooks = self.store.webhooks(actor.scope()).await?;
            Ok(webhooks.into_iter().find(|known| known.id == webhook.id))
        };
        let make = async {
            self.store.create_webhook(actor.scope(), &webhook, event).await?;
            Ok(webhook.clone())
        };
        Ok((once(actor, find, make).await?, self.keys.webhook_secret(actor.tenant(), "outbound")))
    }

    /// The tenant's completion webhooks.
    pub async fn webhooks(&self, scope: TenantScope) -> Result<Vec<OutboundWebhook>> {
        self.store.webhooks(scope).await
    }

    /// Removes a completion webhook.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn delete_webhook(&self, actor: &Actor, id: WebhookId) -> Result<()> {
        let known = self.store.webhooks(actor.scope()).await?.into_iter().find(|known| known.id == id);
        let known = known.ok_or_else(|| Error::not_found("webhook", id))?;
        let event = about_webhook(actor, "webhook.delete", &known);
        self.store.delete_webhook(actor.scope(), id, event).await
    }
}

/// The audit of an act on a webhook. The path of its address may be what its receiver knows it by, so the host is all
/// that is told of it.
fn about_webhook(actor: &Actor, action: &str, webhook: &OutboundWebhook) -> AuditEvent {
    let detail = json!({"host": host_of(&webhook.url), "events": webhook.events});
    AuditEvent::by(actor, action, format!("webhook:{}", webhook.id), detail)
}

fn require(actor: &Actor, right: Right) -> Result<()> {
    if actor.may(right) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::PermissionDenied, format!("this needs the right {}", right.as_str())))
}

/// Nobody gives what they do not have.
fn grantable(actor: &Actor, roles: &[Role]) -> Result<()> {
    if roles.contains(&Role::PlatformAdmin) {
        return require(actor, Right::Platform);
    }
    Ok(())
}

fn well_formed(key: &str) -> Result<()> {
    match ApiKey::fault_of(key) {
        None => Ok(()),
        Some(fault) => Err(Error::new(ErrorCode::Validation, format!("the API key {fault}"))),
    }
}

fn one_line(path: &str, text: &str, most: usize) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.contains(char::is_control) {
        return Err(Error::invalid(path, format!("must be one line of 1 to {most} characters")));
    }
    Ok(text.to_owned())
}

fn slug_of(name: &str) -> String {
    let dashed: String = name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-").chars().take(60).collect()
}
