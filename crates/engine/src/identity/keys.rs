//! API keys: made, listed, revoked.

use kybern_core::actor::{Actor, Right, Role};
use kybern_core::audit::AuditEvent;
use kybern_core::count::count;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::{KeyId, UserId};
use kybern_core::identity::ApiKey;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::{Identity, grantable, one_line, require};
use crate::command::{id_for, once};

/// How a key is revoked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revoke {
    /// `Some(false)` refuses when keys were made with it, in whichever tenant; `None` only when the caller's own would
    /// fall with it.
    pub cascade: Option<bool>,
    /// Revokes the last key of a platform admin that works as well.
    pub force: bool,
}

/// A key to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub name: String,
    /// Whose it is; the caller's own otherwise.
    pub user_id: Option<UserId>,
    /// Roles; its user's otherwise.
    pub roles: Vec<Role>,
    /// What narrows it.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

impl Identity {
    pub(super) fn key_record(&self, id: KeyId, user: UserId, name: &str, key: &str, now: Timestamp) -> ApiKey {
        ApiKey {
            id,
            user_id: user,
            name: name.to_owned(),
            prefix: key.chars().take(8).collect(),
            roles: Vec::new(),
            scopes: Vec::new(),
            expires_at: None,
            revoked_at: None,
            created_at: now,
            made_by_key_id: None,
            made_by_user_id: None,
        }
    }

    /// An API key: `kyb_` and 64 hex digits. A fresh one, or the one that the caller's command makes at every try.
    pub(super) fn key_to_make(&self, actor: &Actor) -> String {
        // Ids hold less than 256 random bits; the keyed hash over them and the master key makes the key unguessable,
        // because the master key is.
        let fresh = || format!("{}{}", self.ids.next(), self.ids.next());
        let seed = actor.command().map_or_else(fresh, |command| format!("command:{}", command.seed()));
        format!("kyb_{}", self.keys.callback_secret(&format!("api-key:{seed}")))
    }

    /// Creates a key and returns it, once. It is no wider than the key it is made with, ends no later, and stops
    /// working with it.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`, also for a role that its user lacks; `NOT_FOUND` for an unknown user, and for oneself in a tenant
    /// that is not one's own; `PERMISSION_DENIED` for a role beyond the caller's.
    pub async fn create_key(&self, actor: &Actor, new: NewKey) -> Result<(ApiKey, String)> {
        grantable(actor, &new.roles)?;
        let user = new.user_id.or_else(|| actor.user());
        let user = user.ok_or_else(|| Error::invalid("/userId", "userId is needed, because the caller is no user"))?;
        let holder = self.within_reach(actor, user).await?;
        let known = ["read", "operate", "review", "administer", "platform", "*"];
        if let Some(scope) = new.scopes.iter().find(|scope| !known.contains(&scope.as_str())) {
            let message = format!("unknown scope {scope:?}, use {}", known.join(", "));
            return Err(Error::invalid("/scopes", message));
        }
        let covers = |scope: &String| actor.scopes().iter().any(|own| own == "*" || own == scope);
        if !actor.scopes().is_empty() && (new.scopes.is_empty() || !new.scopes.iter().all(covers)) {
            let message = format!("a key may be no wider than its maker's: {}", actor.scopes().join(", "));
            return Err(Error::new(ErrorCode::PermissionDenied, message));
        }
        let (key, id) = (self.key_to_make(actor), KeyId::from_uuid(id_for(self.ids.as_ref(), actor, "key")));
        let mut record = self.key_record(id, user, &one_line("/name", &new.name, 200)?, &key, self.clock.now());
        record.roles = new.roles.clone();
        record.scopes = new.scopes;
        // A key never outlives the one it is made with.
        record.expires_at = [new.expires_at, actor.ends_at()].into_iter().flatten().min();
        record.made_by_key_id = actor.key();
        record.made_by_user_id = actor.user();
        let detail = json!({
            "user": user,
            "roles": record.roles,
            "scopes": record.scopes,
            "expiresAt": record.expires_at,
            "madeByKeyId": record.made_by_key_id,
            "madeByUserId": record.made_by_user_id,
        });
        let event = AuditEvent::by(actor, "key.create", format!("key:{}", record.id), detail);
        let hash = self.keys.api_key_hash(&key);
        let find = || async {
            let keys = self.store.keys(actor.scope()).await?;
            Ok(keys.into_iter().find(|known| known.id == id))
        };
        let make = async {
            // What may have changed since is no reason to refuse a key that an earlier try has made.
            all_held(&new.roles, &holder.roles)?;
            if new.expires_at.is_some_and(|end| end <= self.clock.now()) {
                return Err(Error::invalid("/expiresAt", "expiresAt must lie in the future"));
            }
            self.store.create_key(actor.scope(), &record, &hash, event).await?;
            Ok(record.clone())
        };
        Ok((once(actor, find, make).await?, key))
    }

    /// The tenant's keys.
    pub async fn keys(&self, scope: TenantScope) -> Result<Vec<ApiKey>> {
        self.store.keys(scope).await
    }

    /// Revokes a key at once, with the keys that were made with it, and tells which of the caller's tenant those were.
    ///
    /// # Errors
    /// `NOT_FOUND`; `PERMISSION_DENIED` where a platform admin's key would fall with it and the caller is none; `CONFLICT`
    /// with the keys that would fall with it, of other tenants with their number, see
    /// [`Revoke::cascade`]; `CONFLICT` when no key of a platform admin would be left that works, see [`Revoke::force`].
    pub async fn revoke_key(&self, actor: &Actor, id: KeyId, how: Revoke) -> Result<Vec<ApiKey>> {
        let now = self.clock.now();
        let keys = self.store.keys(actor.scope()).await?;
        let key = keys.iter().find(|key| key.id == id).ok_or_else(|| Error::not_found("key", id))?;
        self.within_reach(actor, key.user_id).await?;
        // With a key that has fallen already nothing falls any more.
        let below = match key.revoked_at {
            Some(_) => Vec::new(),
            None => self.store.keys_below(id, now).await?,
        };
        let admins = self.store.platform_admins().await?;
        // What falls with it is not only its own: nobody takes a platform admin's key, however limited, but one of them.
        if below.iter().any(|(_, user)| admins.iter().any(|(_, admin)| admin == user)) {
            require(actor, Right::Platform)?;
        }
        let below: Vec<KeyId> = below.into_iter().map(|(key, _)| key).collect();
        let open = self.store.platform_keys(now).await?;
        // Keys of other tenants fall too: they are counted here, and named only in their own tenant.
        let made: Vec<&ApiKey> = keys.iter().filter(|key| below.contains(&key.id)).collect();
        let own = actor.key().is_some_and(|key| below.contains(&key));
        if how.cascade == Some(false) && !below.is_empty() || how.cascade.is_none() && own {
            let (all, elsewhere) = (below.len(), below.len() - made.len());
            let whose = if own { "your own key among them, " } else { "" };
            let abroad = match elsewhere {
                0 => String::new(),
                some if some == all => "in other organisations, ".to_owned(),
                some => format!("{some} of them in other organisations, "),
            };
            let (was, stop) = if all == 1 { ("was", "stops") } else { ("were", "stop") };
            let message = format!(
                "{} {was} made with this one, {whose}{abroad}and {stop} working with it: revoke it with cascade=true, \
                 or make new ones with another key first",
                count(all, "more key")
            );
            let told = made.iter().map(|key| Detail::new(format!("/{}", key.id), format!("key {:?}", key.name)));
            return Err(Error::new(ErrorCode::Conflict, message).with_details(told.collect()));
        }
        if !how.force && !open.is_empty() && open.iter().all(|key| *key == id || below.contains(key)) {
            let message = "this is the last key of a platform admin that works: make another that was not made with \
                           it first, or revoke it with force=true";
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        let ids: Vec<KeyId> = made.iter().map(|key| key.id).collect();
        let event = AuditEvent::by(actor, "key.revoke", format!("key:{id}"), json!({"with": ids}));
        self.store.revoke_key(actor.scope(), id, now, event).await?;
        Ok(made.into_iter().map(|key| ApiKey { revoked_at: Some(now), ..key.clone() }).collect())
    }
}

/// Refuses roles with more rights than their user's: they would give a key nothing, and nobody would be told.
fn all_held(roles: &[Role], users: &[Role]) -> Result<()> {
    let held = Role::limited(roles, users);
    let lacked: Vec<(usize, &Role)> = roles.iter().enumerate().filter(|(_, role)| !held.contains(role)).collect();
    if lacked.is_empty() {
        return Ok(());
    }
    let message = |role: &Role| {
        format!(
            "the role {role} has rights that the key's user lacks, so the key would not get it: leave it out, or give \
             the user that role first"
        )
    };
    let told = lacked.iter().map(|(_, role)| message(role)).collect::<Vec<_>>().join("; ");
    let details = lacked.into_iter().map(|(n, role)| Detail::new(format!("/roles/{n}"), message(role))).collect();
    Err(Error::new(ErrorCode::Validation, told).with_details(details))
}
