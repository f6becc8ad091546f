//! Tenants, users, keys and completion webhooks.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kybern_core::actor::Role;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::{KeyId, TenantId, UserId, WebhookId};
use kybern_core::identity::{AccountMakers, ApiKey, KeyHolder, OutboundWebhook, Tenant, User};
use kybern_core::ports::IdentityStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::MemStore;
use super::state::{MemState, conflict};

#[async_trait]
impl IdentityStore for MemStore {
    async fn create_tenant(
        &self,
        tenant: &Tenant,
        admin: &User,
        key: &ApiKey,
        key_hash: &str,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run(|state| {
            let taken =
                |known: &Tenant| known.id == tenant.id || known.name == tenant.name || known.slug == tenant.slug;
            if state.tenants.values().any(taken) {
                return Err(conflict(format!(
                    "the tenant name {:?} or its slug {:?} is taken",
                    tenant.name, tenant.slug
                )));
            }
            state.free_hash(key_hash)?;
            state.tenants.insert(tenant.id, tenant.clone());
            state.users.insert((tenant.id, admin.id), admin.clone());
            state.api_keys.insert((tenant.id, key.id), (key.clone(), key_hash.to_owned()));
            state.append_audit(tenant.id, state.now, audit);
            Ok(())
        })
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.run(|state| Ok(oldest_first(state.tenants.values(), |tenant| tenant.created_at)))
    }

    async fn tenant(&self, id: TenantId) -> Result<Option<Tenant>> {
        self.run(|state| Ok(state.tenants.get(&id).cloned()))
    }

    async fn tenant_by_slug(&self, slug: &str) -> Result<Option<Tenant>> {
        self.run(|state| Ok(state.tenants.values().find(|tenant| tenant.slug == slug).cloned()))
    }

    async fn create_user(&self, scope: TenantScope, user: &User, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            if state.users_of(scope).any(|known| known.email == user.email || known.id == user.id) {
                return Err(conflict("that address is taken"));
            }
            state.users.insert((scope.tenant(), user.id), user.clone());
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn users(&self, scope: TenantScope) -> Result<Vec<User>> {
        self.run(|state| Ok(oldest_first(state.users_of(scope), |user| user.created_at)))
    }

    async fn user(&self, scope: TenantScope, id: UserId) -> Result<Option<User>> {
        self.run(|state| Ok(state.users.get(&(scope.tenant(), id)).cloned()))
    }

    async fn user_abroad(&self, id: UserId) -> Result<Option<User>> {
        self.run(|state| Ok(state.users.values().find(|user| user.id == id).cloned()))
    }

    async fn platform_admins(&self) -> Result<Vec<(TenantId, UserId)>> {
        self.run(|state| {
            let admins = state.users.iter().filter(|(_, user)| user.roles.contains(&Role::PlatformAdmin));
            let mut admins: Vec<_> = admins.map(|(place, _)| *place).collect();
            admins.sort_by_key(|(_, id)| *id);
            Ok(admins)
        })
    }

    async fn set_roles(&self, scope: TenantScope, id: UserId, roles: &[Role], audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            let user = state.users.get_mut(&(scope.tenant(), id)).ok_or_else(|| Error::not_found("user", id))?;
            user.roles = roles.to_vec();
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn create_key(&self, scope: TenantScope, key: &ApiKey, key_hash: &str, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            if !state.users.contains_key(&(scope.tenant(), key.user_id)) {
                return Err(Error::not_found("user", key.user_id));
            }
            state.free_hash(key_hash)?;
            state.api_keys.insert((scope.tenant(), key.id), (key.clone(), key_hash.to_owned()));
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn keys(&self, scope: TenantScope) -> Result<Vec<ApiKey>> {
        self.run(|state| {
            let own = state.api_keys.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let keys = oldest_first(own.map(|(_, (key, _))| key), |key| key.created_at);
            Ok(keys.into_iter().map(|key| ApiKey { revoked_at: state.fell_at(&key), ..key }).collect())
        })
    }

    async fn revoke_key(&self, scope: TenantScope, id: KeyId, at: Timestamp, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            if !state.api_keys.contains_key(&(scope.tenant(), id)) {
                return Err(Error::not_found("key", id));
            }
            let elsewhere: Vec<(TenantId, KeyId, UserId)> = match state.stands(id) {
                true => state.below(id, at).into_iter().filter(|(tenant, ..)| *tenant != scope.tenant()).collect(),
                false => Vec::new(),
            };
            let (mut line, mut changed) = (vec![id], false);
            while let Some(id) = line.pop() {
                let own = state.api_keys.iter_mut().filter(|((tenant, _), _)| *tenant == scope.tenant());
                for (_, (key, _)) in own {
                    if key.made_by_key_id == Some(id) {
                        line.push(key.id);
                    }
                    if key.id == id && key.revoked_at.is_none() {
                        (key.revoked_at, changed) = (Some(at), true);
                    }
                }
            }
            if changed {
                state.append_audit(scope.tenant(), at, audit);
                for (tenant, key, _) in elsewhere {
                    let detail = json!({"fellWithItsMaker": true});
                    state.append_audit(tenant, at, AuditEvent::by_executor("key.revoke", format!("key:{key}"), detail));
                }
            }
            Ok(())
        })
    }

    async fn key_holder(&self, key_hash: &str) -> Result<Option<KeyHolder>> {
        self.run(|state| Ok(state.holders().find(|(hash, _)| *hash == key_hash).map(|(_, holder)| holder)))
    }

    async fn key_stands(&self, id: KeyId) -> Result<bool> {
        self.run(|state| Ok(state.stands(id)))
    }

    async fn keys_below(&self, id: KeyId, at: Timestamp) -> Result<Vec<(KeyId, UserId)>> {
        self.run(|state| Ok(state.below(id, at).into_iter().map(|(_, key, user)| (key, user)).collect()))
    }

    async fn platform_keys(&self, at: Timestamp) -> Result<Vec<KeyId>> {
        self.run(|state| {
            let working = state.holders().map(|(_, holder)| holder);
            let working = working.filter(|holder| holder.expires_at.is_none_or(|end| end > at));
            Ok(working.filter(KeyHolder::opens_all).map(|holder| holder.key).collect())
        })
    }

    async fn account_makers(&self, of: &[UserId]) -> Result<AccountMakers> {
        self.run(|state| {
            let owner = |id: KeyId| state.api_keys.values().find(|(key, _)| key.id == id).map(|(key, _)| key.user_id);
            let (mut pairs, mut open) = (BTreeSet::new(), of.to_vec());
            while let Some(made) = open.pop() {
                let users = state.users.values().filter(|user| user.id == made);
                let keys = state.api_keys.values().map(|(key, _)| key).filter(|key| key.user_id == made);
                // Keys of earlier versions name only the key that they were made with.
                let by_keys = keys.filter_map(|key| key.made_by_user_id.or_else(|| owner(key.made_by_key_id?)));
                let makers = users.filter_map(|user| user.made_by_user_id).chain(by_keys);
                open.extend(makers.filter(|maker| pairs.insert((made, *maker))));
            }
            Ok(pairs.into_iter().collect())
        })
    }

    async fn create_webhook(&self, scope: TenantScope, webhook: &OutboundWebhook, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.webhooks.insert((scope.tenant(), webhook.id), webhook.clone());
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }

    async fn webhooks(&self, scope: TenantScope) -> Result<Vec<OutboundWebhook>> {
        self.run(|state| {
            let own = state.webhooks.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            Ok(oldest_first(own.map(|(_, hook)| hook), |hook| hook.created_at))
        })
    }

    async fn delete_webhook(&self, scope: TenantScope, id: WebhookId, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.webhooks.remove(&(scope.tenant(), id)).ok_or_else(|| Error::not_found("webhook", id))?;
            state.append_audit(scope.tenant(), state.now, audit);
            Ok(())
        })
    }
}

impl MemState {
    fn users_of(&self, scope: TenantScope) -> impl Iterator<Item = &User> {
        self.users.iter().filter(move |((tenant, _), _)| *tenant == scope.tenant()).map(|(_, user)| user)
    }

    /// Since when a key is revoked, or one in the line of those that made it.
    fn fell_at(&self, key: &ApiKey) -> Option<Timestamp> {
        let maker = |id| self.api_keys.values().map(|(key, _)| key).find(|key| key.id == id);
        let with_its_maker = key.made_by_key_id.and_then(maker).and_then(|maker| self.fell_at(maker));
        [key.revoked_at, with_its_maker].into_iter().flatten().min()
    }

    fn stands(&self, id: KeyId) -> bool {
        self.api_keys.values().any(|(key, _)| key.id == id && self.fell_at(key).is_none())
    }

    /// The keys that stand, by their hashes, with who holds them.
    fn holders(&self) -> impl Iterator<Item = (&str, KeyHolder)> {
        let standing = self.api_keys.iter().filter(|(_, (key, _))| self.fell_at(key).is_none());
        standing.filter_map(|((tenant, _), (key, hash))| {
            let user = self.users.get(&(*tenant, key.user_id))?;
            let holder = KeyHolder {
                tenant: *tenant,
                user: user.id,
                key: key.id,
                roles: Role::limited(&key.roles, &user.roles),
                scopes: key.scopes.clone(),
                expires_at: key.expires_at,
            };
            Some((hash.as_str(), holder))
        })
    }

    /// The keys that were made with one, with those, and so on, and work at that time, with their tenants and users.
    fn below(&self, id: KeyId, at: Timestamp) -> Vec<(TenantId, KeyId, UserId)> {
        let (mut line, mut below) = (vec![id], Vec::new());
        while let Some(maker) = line.pop() {
            let all = self.api_keys.iter().map(|((tenant, _), (key, _))| (tenant, key));
            let made = all.filter(|(_, key)| key.made_by_key_id == Some(maker) && key.revoked_at.is_none());
            for (tenant, key) in made {
                line.push(key.id);
                if key.expires_at.is_none_or(|end| end > at) {
                    below.push((*tenant, key.id, key.user_id));
                }
            }
        }
        below
    }

    fn free_hash(&self, key_hash: &str) -> Result<()> {
        if self.api_keys.values().any(|(_, hash)| hash == key_hash) {
            return Err(conflict("there is such a key already"));
        }
        Ok(())
    }
}

/// In order of time; what has the same time, in order of id.
fn oldest_first<'a, T: Clone + 'a>(rows: impl Iterator<Item = &'a T>, made: impl Fn(&T) -> Timestamp) -> Vec<T> {
    let mut rows: Vec<T> = rows.cloned().collect();
    rows.sort_by_key(made);
    rows
}
