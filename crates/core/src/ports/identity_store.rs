//! Tenants, users, keys and completion webhooks.

use async_trait::async_trait;

use crate::audit::AuditEvent;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{KeyId, TenantId, UserId, WebhookId};
use crate::identity::{AccountMakers, ApiKey, KeyHolder, OutboundWebhook, Tenant, User};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Where identities are kept.
#[async_trait]
pub trait IdentityStore: Send + Sync {
    /// Creates a tenant with its first user and key, all or nothing.
    ///
    /// # Errors
    /// `CONFLICT` when the name or the slug is taken.
    async fn create_tenant(
        &self,
        tenant: &Tenant,
        admin: &User,
        key: &ApiKey,
        key_hash: &str,
        audit: AuditEvent,
    ) -> Result<()>;

    /// Every tenant, oldest first. For platform admins and channels that find out a tenant.
    async fn tenants(&self) -> Result<Vec<Tenant>>;

    async fn tenant(&self, id: TenantId) -> Result<Option<Tenant>>;

    /// The tenant whose intake address has that local part.
    async fn tenant_by_slug(&self, slug: &str) -> Result<Option<Tenant>>;

    /// Creates a user.
    ///
    /// # Errors
    /// `CONFLICT` when the address is taken.
    async fn create_user(&self, scope: TenantScope, user: &User, audit: AuditEvent) -> Result<()>;

    /// The tenant's users, oldest first.
    async fn users(&self, scope: TenantScope) -> Result<Vec<User>>;

    async fn user(&self, scope: TenantScope, id: UserId) -> Result<Option<User>>;

    /// A user of another tenant, of whom nobody asks but because they act in this one.
    async fn user_abroad(&self, id: UserId) -> Result<Option<User>>;

    /// A user of the tenant, or a platform admin of another who acts there, and whether they are the tenant's own.
    async fn acting_user(&self, scope: TenantScope, id: UserId) -> Result<Option<(User, bool)>> {
        match self.user(scope, id).await? {
            Some(user) => Ok(Some((user, true))),
            None => Ok(self.user_abroad(id).await?.map(|user| (user, false))),
        }
    }

    /// A user of the tenant, as whom something is to be kept there. `caller` is whoever wants it.
    ///
    /// # Errors
    /// `NOT_FOUND`; a caller who acts in a tenant that is not theirs, and means themselves, is told so.
    async fn user_to_keep(&self, scope: TenantScope, id: UserId, caller: Option<UserId>) -> Result<User> {
        let known = self.user(scope, id).await?;
        known.ok_or_else(|| match caller == Some(id) {
            true => Error::new(
                ErrorCode::NotFound,
                format!(
                    "the user {id} belongs to another tenant, which alone keeps their keys, preferences, memories and \
                     budgets: act in that tenant, without X-Tenant-Id, or name a user of this one"
                ),
            ),
            false => Error::not_found("user", id),
        })
    }

    /// Who is a platform admin, in whichever tenant, the oldest first.
    async fn platform_admins(&self) -> Result<Vec<(TenantId, UserId)>>;

    /// Replaces a user's roles.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    async fn set_roles(
        &self,
        scope: TenantScope,
        id: UserId,
        roles: &[crate::actor::Role],
        audit: AuditEvent,
    ) -> Result<()>;

    /// Stores a key under its hash.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no such user; `CONFLICT` when the hash is taken.
    async fn create_key(&self, scope: TenantScope, key: &ApiKey, key_hash: &str, audit: AuditEvent) -> Result<()>;

    /// The tenant's keys, oldest first. One that has fallen with a key in the line of those that made it, in whichever
    /// tenant, counts as revoked since then.
    async fn keys(&self, scope: TenantScope) -> Result<Vec<ApiKey>>;

    /// Revokes a key at once, and every key that was made with it, with those and so on. Other tenants whose keys fall
    /// with it have an event for each, which names nothing of this one. Revoking it again changes nothing.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    async fn revoke_key(&self, scope: TenantScope, id: KeyId, at: Timestamp, audit: AuditEvent) -> Result<()>;

    /// Who holds the key with that hash; `None` when there is none, or when it is revoked, or a key in the line of those
    /// that made it. Expiry is the caller's to judge.
    async fn key_holder(&self, key_hash: &str) -> Result<Option<KeyHolder>>;

    /// Whether there is a key of that id, in whichever tenant, and neither it nor a key in the line of those that made it
    /// is revoked. Expiry is the caller's to judge.
    async fn key_stands(&self, id: KeyId) -> Result<bool>;

    /// The keys, in whichever tenant, that were made with that one, with those, and so on, and work at that time, with
    /// their users: they fall with it.
    async fn keys_below(&self, id: KeyId, at: Timestamp) -> Result<Vec<(KeyId, UserId)>>;

    /// The keys, in whichever tenant, that work at that time and have the right to everything.
    async fn platform_keys(&self, at: Timestamp) -> Result<Vec<KeyId>>;

    /// Who made the accounts and keys of these users, who made those, and so on, in whichever tenants they are: a platform
    /// admin makes accounts in one tenant, and acts in another.
    async fn account_makers(&self, users: &[UserId]) -> Result<AccountMakers>;

    /// Creates a completion webhook.
    async fn create_webhook(&self, scope: TenantScope, webhook: &OutboundWebhook, audit: AuditEvent) -> Result<()>;

    /// The tenant's completion webhooks, oldest first.
    async fn webhooks(&self, scope: TenantScope) -> Result<Vec<OutboundWebhook>>;

    /// Removes a completion webhook.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    async fn delete_webhook(&self, scope: TenantScope, id: WebhookId, audit: AuditEvent) -> Result<()>;
}
